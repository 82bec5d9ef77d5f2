//! Hashing passwords: argon2id, off the arbiters, and just as long for an account that doesn't exist.

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version, password_hash::phc::PasswordHash};
use domain::{Error, Result, tenant::Tenant};
use kernel::{CpuKind, Kernel, Resource, Turn};

/// How much work a hash takes (`accounts.argon2_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory, in KiB; at least eight for each lane.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Default for PasswordCost {
    /// What OWASP recommends, and `config/default.toml` says.
    fn default() -> Self {
        Self { memory_kib: 19_456, passes: 2, lanes: 1 }
    }
}

impl PasswordCost {
    /// Whether argon2id takes these; says why not.
    pub fn check(self) -> Result<(), String> {
        self.argon2().map(drop).map_err(|error| error.to_string())
    }

    fn argon2(self) -> Result<Argon2<'static>, argon2::Error> {
        let params = Params::new(self.memory_kib, self.passes, self.lanes, None)?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// What every hash of this cost starts with.
    fn prefix(self) -> String {
        format!("$argon2id$v=19$m={},t={},p={}$", self.memory_kib, self.passes, self.lanes)
    }

    /// Whether `hash` was made at this cost. Others are made anew at the next sign-in, because a hash of another cost
    /// takes another time than the decoy.
    pub fn made(self, hash: &str) -> bool {
        hash.starts_with(&self.prefix())
    }

    /// A hash that no password has, for an account that doesn't exist.
    fn decoy(self) -> String {
        format!("{}{}${}", self.prefix(), "A".repeat(22), "A".repeat(43))
    }

    fn hash(self, password: &str) -> Result<String> {
        let argon2 = self.argon2().map_err(Error::internal)?;
        let hash: PasswordHash = argon2.hash_password(password.as_bytes()).map_err(Error::internal)?;
        Ok(hash.to_string())
    }
}

fn is_right(password: &str, hash: &str) -> bool {
    // The cost is read from the hash.
    Argon2::default().verify_password(password.as_bytes(), hash).is_ok()
}

/// The hash of a new password.
pub(crate) async fn hash<R: Resource>(turn: &Turn<'_, R>, cost: PasswordCost, password: &str) -> Result<String> {
    let password = password.to_owned();
    turn.cpu(CpuKind::Password, move || cost.hash(&password)).await?
}

/// The same outside an actor.
pub(crate) async fn hash_on(kernel: &Kernel, cost: PasswordCost, password: &str) -> Result<String> {
    let password = password.to_owned();
    kernel.cpu().run(Tenant::System, CpuKind::Password, move || cost.hash(&password)).await?
}

/// Whether the password is the one with this hash. Without a hash it never is, and takes as long to say so.
pub(crate) async fn verify<R: Resource>(
    turn: &Turn<'_, R>,
    cost: PasswordCost,
    password: &str,
    hash: Option<&str>,
) -> Result<bool> {
    let exists = hash.is_some();
    let hash = hash.map_or_else(|| cost.decoy(), str::to_owned);
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
        let hash = CHEAP.hash("correct horse").unwrap();
        assert!(is_right("correct horse", &hash));
        assert!(!is_right("correct horse ", &hash));
        assert!(!is_right("", &hash));
    }

    #[test]
    fn two_hashes_of_one_password_differ() {
        assert_ne!(CHEAP.hash("correct horse").unwrap(), CHEAP.hash("correct horse").unwrap());
    }

    #[test]
    fn a_hash_of_another_cost_is_noticed() {
        let hash = CHEAP.hash("correct horse").unwrap();
        assert!(CHEAP.made(&hash));
        assert!(!PasswordCost { passes: 2, ..CHEAP }.made(&hash));
        assert!(!PasswordCost::default().made(&hash));
    }

    #[test]
    fn the_decoy_costs_what_a_hash_costs_and_matches_nothing() {
        let decoy = CHEAP.decoy();
        assert!(CHEAP.made(&decoy));
        assert_eq!(decoy.len(), CHEAP.hash("correct horse").unwrap().len());
        assert!(PasswordHash::new(&decoy).is_ok());
        assert!(!is_right("correct horse", &decoy));
    }

    #[test]
    fn impossible_costs_are_reported() {
        assert!(CHEAP.check().is_ok());
        assert!(PasswordCost { memory_kib: 7, ..CHEAP }.check().is_err());
        assert!(PasswordCost { passes: 0, ..CHEAP }.check().is_err());
    }
}
