//! Every kind of actor of a node, started and stopped together.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{Context, Origin};

use crate::{
    Services,
    backup::Backup,
    housekeeping::{Arm, House, Housekeeping},
    kernel::{Kernel, KernelOptions, Leftover, Registry},
    organization::Organization,
    outbox::{Dispatcher, RunningDispatcher},
    person::Person,
    sign_in::SignInDesk,
    vault::Vault,
};

/// How long arming the housekeeping's timer may take.
const ARM_TIMEOUT: Duration = Duration::from_mins(1);

/// The registries of all kinds of actor. A cheap handle.
#[derive(Clone)]
pub struct Actors {
    /// What runs them.
    pub kernel: Kernel,
    /// Authenticator backups, by person.
    pub backup: Registry<Backup>,
    /// The one that throws away what is over.
    pub housekeeping: Registry<Housekeeping>,
    /// Organizations.
    pub organization: Registry<Organization>,
    /// People's accounts.
    pub person: Registry<Person>,
    /// Desks to sign in at, by e-mail address.
    pub sign_in: Registry<SignInDesk>,
    /// Passwords vaults, by person.
    pub vault: Registry<Vault>,
    /// What delivers the outbox, on a node that serves.
    outbox: Option<Arc<RunningDispatcher>>,
}

impl Actors {
    /// Starts all that a node that serves does: takes commands, delivers timers and the outbox, keeps the house. Must be
    /// called on a tokio runtime that outlives the actors.
    ///
    /// # Errors
    /// When the operating system gives no threads.
    pub fn start(services: &Services, options: KernelOptions) -> io::Result<Self> {
        let outbox = Arc::new(Dispatcher::new(services.clone()).start());
        let actors = Self { outbox: Some(outbox), ..Self::for_commands(services, options)? };
        actors.kernel.deliver_timers_to(&actors.housekeeping);
        actors.kernel.start_timers();
        let context = Context::system(Origin::Actor, Instant::now() + ARM_TIMEOUT);
        if let Err(error) = actors.housekeeping.tell(&House, Arm, context) {
            tracing::warn!(%error, "housekeeping was not armed; the next start does so");
        }
        Ok(actors)
    }

    /// Starts what an operator's command needs: it takes commands, and leaves timers and the outbox to the nodes that
    /// serve, or to the next start.
    ///
    /// # Errors
    /// When the operating system gives no threads.
    pub fn for_commands(services: &Services, options: KernelOptions) -> io::Result<Self> {
        let kernel = Kernel::start(services.store.clone(), options)?;
        Ok(Self {
            backup: kernel.registry(services.clone()),
            housekeeping: kernel.registry(services.clone()),
            organization: kernel.registry(services.clone()),
            outbox: None,
            person: kernel.registry(services.clone()),
            sign_in: kernel.registry(services.clone()),
            vault: kernel.registry(services.clone()),
            kernel,
        })
    }

    /// Takes nothing new, lets what was taken finish and what it left in the outbox be delivered within `grace`, and
    /// ends; what was left.
    pub async fn shutdown(&self, grace: Duration) -> Leftover {
        let until = Instant::now() + grace;
        let leftover = self.kernel.shutdown(grace).await;
        if let Some(outbox) = &self.outbox {
            outbox.stop(until.saturating_duration_since(Instant::now())).await;
        }
        leftover
    }
}
