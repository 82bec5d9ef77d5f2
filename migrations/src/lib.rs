//! The schema of Troupe's database, for SQLite and PostgreSQL.
//!
//! Migrations expand first and contract later: a running older node must be able to work beside a newer schema, so a
//! column or table goes away one release after the last code that used it.

use sea_orm_migration::prelude::*;

pub use sea_orm_migration::MigratorTrait;

mod m0001_core;
mod m0002_accounts;
mod m0003_backup;
mod m0004_vault;

/// All migrations, oldest first.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_core::Migration),
            Box::new(m0002_accounts::Migration),
            Box::new(m0003_backup::Migration),
            Box::new(m0004_vault::Migration),
        ]
    }
}
