//! Every kind of actor of a node, started and stopped together.

use std::{io, time::Duration};

use crate::{
    Services,
    backup::Backup,
    kernel::{Kernel, KernelOptions, Leftover, Registry},
    vault::Vault,
};

/// The registries of all kinds of actor. A cheap handle.
#[derive(Clone)]
pub struct Actors {
    /// What runs them.
    pub kernel: Kernel,
    /// Authenticator backups, by person.
    pub backup: Registry<Backup>,
    /// Passwords vaults, by person.
    pub vault: Registry<Vault>,
}

impl Actors {
    /// Starts the kernel and registers every kind.
    ///
    /// # Errors
    /// When the operating system gives no threads.
    pub fn start(services: &Services, options: KernelOptions) -> io::Result<Self> {
        let kernel = Kernel::start(services.store.clone(), options)?;
        let actors =
            Self { backup: kernel.registry(services.clone()), vault: kernel.registry(services.clone()), kernel };
        actors.kernel.start_timers();
        Ok(actors)
    }

    /// Takes nothing new, lets what was taken finish within `grace`, and ends; what was left.
    pub async fn shutdown(&self, grace: Duration) -> Leftover {
        self.kernel.shutdown(grace).await
    }
}
