//! Hashing passwords: argon2id, off the arbiters, and just as long for an account that doesn't exist.

use actors_base::PasswordCost;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version, password_hash::phc::PasswordHash};
use domain::{Error, Result, tenant::Tenant};
use kernel::{CpuKind, Kernel, Resource, Turn};

fn hasher(cost: PasswordCost) -> Result<Argon2<'static>, argon2::Error> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// What every hash of this cost starts with.
fn prefix(cost: PasswordCost) -> String {
    format!("$argon2id$v=19$m={},t={},p={}$", cost.memory_kib, cost.passes, cost.lanes)
}

/// Whether `hash` was made at `cost`. Others are made anew at the next sign-in, because a hash of another cost takes another
/// time than the decoy.
pub(crate) fn made_at(cost: PasswordCost, hash: &str) -> bool {
    hash.starts_with(&prefix(cost))
}

/// A hash that no password has, for an account that doesn't exist.
fn decoy(cost: PasswordCost) -> String {
    format!("{}{}${}", prefix(cost), "A".repeat(22), "A".repeat(43))
}

fn hash_at(cost: PasswordCost, password: &str) -> Result<String> {
    let hasher = hasher(cost).map_err(Error::internal)?;
    let hash: PasswordHash = hasher.hash_password(password.as_bytes()).map_err(Error::internal)?;
    Ok(hash.to_string())
}

fn is_right(password: &str, hash: &str) -> bool {
    // The cost is read from the hash.
    Argon2::default().verify_password(password.as_bytes(), hash).is_ok()
}

/// The hash of a new password.
pub(crate) async fn hash<R: Resource>(turn: &Turn<'_, R>, cost: PasswordCost, password: &str) -> Result<String> {
    let password = password.to_owned();
    turn.cpu(CpuKind::Password, move || hash_at(cost, &password)).await?
}

/// The same outside an actor.
pub(crate) async fn hash_on(kernel: &Kernel, cost: PasswordCost, password: &str) -> Result<String> {
    let password = password.to_owned();
    kernel.cpu().run(Tenant::System, CpuKind::Password, move || hash_at(cost, &password)).await?
}

/// Whether the password is the one with this hash. Without a hash it never is, and takes as long to say so.
pub(crate) async fn verify<R: Resource>(
    turn: &Turn<'_, R>,
    cost: PasswordCost,
    password: &str,
    hash: Option<&str>,
) -> Result<bool> {
    let exists = hash.is_some();
    let hash = hash.map_or_else(|| decoy(cost), str::to_owned);
    let password = password.to_owned();
    let matches = turn.cpu(CpuKind::Password, move || is_right(&password, &hash)).await?;
    Ok(matches && exists)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: PasswordCost = PasswordCost { memory_kib: 8, passes: 1, lanes: 1 };

    #[test]
    fn only_the_right_password_matches_its_hash() {
        let hash = hash_at(CHEAP, "correct horse").unwrap();
        assert!(is_right("correct horse", &hash));
        assert!(!is_right("correct horse ", &hash));
        assert!(!is_right("", &hash));
    }

    #[test]
    fn two_hashes_of_one_password_differ() {
        assert_ne!(hash_at(CHEAP, "correct horse").unwrap(), hash_at(CHEAP, "correct horse").unwrap());
    }

    #[test]
    fn a_hash_of_another_cost_is_noticed() {
        let hash = hash_at(CHEAP, "correct horse").unwrap();
        assert!(made_at(CHEAP, &hash));
        assert!(!made_at(PasswordCost { passes: 2, ..CHEAP }, &hash));
        assert!(!made_at(PasswordCost::default(), &hash));
    }

    #[test]
    fn the_decoy_costs_what_a_hash_costs_and_matches_nothing() {
        let decoy = decoy(CHEAP);
        assert!(made_at(CHEAP, &decoy));
        assert_eq!(decoy.len(), hash_at(CHEAP, "correct horse").unwrap().len());
        assert!(PasswordHash::new(&decoy).is_ok());
        assert!(!is_right("correct horse", &decoy));
    }

    #[test]
    fn impossible_costs_are_refused() {
        assert!(hasher(CHEAP).is_ok());
        assert!(hasher(PasswordCost { memory_kib: 7, ..CHEAP }).is_err());
        assert!(hasher(PasswordCost { passes: 0, ..CHEAP }).is_err());
    }
}
