//! The disk as a test has it: full, or not any more.

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr};

use super::group::Fault;
use crate::{
    Faults,
    connection::{FILL_THE_DISK, MAKE_ROOM},
};

pub(super) struct Disk {
    faults: Faults,
    is_full: bool,
}

impl Disk {
    pub const fn new(faults: Faults) -> Self {
        Self { faults, is_full: false }
    }

    /// Fills the disk or makes room again, as the faults say by now. SQLite then really finds no page to write to;
    /// PostgreSQL has a disk of its own, and what it would say is said here.
    pub async fn follow(&mut self, connection: &DatabaseConnection) -> Result<(), Fault> {
        let is_full = self.faults.disk_is_full();
        if connection.get_database_backend() != DbBackend::Sqlite {
            return if is_full { Err(Fault::Full("could not extend a file".to_owned())) } else { Ok(()) };
        }
        if self.is_full != is_full {
            let limited = connection.execute_unprepared(if is_full { FILL_THE_DISK } else { MAKE_ROOM }).await;
            limited.map_err(|error: DbErr| Fault::Away(error.to_string()))?;
            self.is_full = is_full;
        }
        Ok(())
    }
}
