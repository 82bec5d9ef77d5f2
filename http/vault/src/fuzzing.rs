//! What fuzzing has vaults read. Built with the feature `fuzzing` only.

use http_shell::{
    body::parse,
    fuzzing::{Kinds, reads, structure},
};

use crate::{changes, create, devices, items, keyset};

/// The kinds of bodies by name.
pub const BODIES: Kinds = &[
    ("vault", |raw| parse::<create::VaultCreate>(raw)?.draft().map(drop)),
    ("vault-keyset", |raw| parse::<keyset::VaultKeysetPut>(raw)?.draft().map(drop)),
    ("vault-items", |raw| parse::<changes::VaultItemsChange>(raw)?.changes().map(drop)),
    ("vault-device", structure::<devices::VaultDevicePut>),
];

/// Reads a query as each of the area's lists does.
pub fn query(query: &str) {
    reads::<items::VaultItemsQuery>(query);
}
