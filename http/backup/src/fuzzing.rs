//! What fuzzing has backups read. Built with the feature `fuzzing` only.

use http_shell::{body::parse, fuzzing::Kinds};

use crate::endpoints;

/// The kinds of bodies by name.
pub const BODIES: Kinds = &[("backup", |raw| parse::<endpoints::BackupPut>(raw)?.draft().map(drop))];
