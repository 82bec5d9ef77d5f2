//! What a handler sees of the world while it runs.

use std::time::Instant;

use domain::{Authority, Context, Error, Result, Timestamp, id::OrgId, tenant::Tenant};
use store::{
    Change, Timer,
    faults::{Place, Stage},
};

use super::{
    cell::ActorCell,
    cpu::{Cpu, CpuKind},
    envelope::Progress,
    node::Kind,
    resource::{Decided, Resource},
    self_ref::SelfRef,
};

/// One run of one command: who asks, for which key, with which services, and the way to make the outcome durable.
pub struct Turn<'a, R: Resource> {
    cell: &'a ActorCell<R>,
    context: &'a Context,
    firing: Option<&'a Timer>,
    progress: &'a mut Progress,
}

impl<'a, R: Resource> Turn<'a, R> {
    /// `progress` is what earlier runs and commits of the same command came to.
    pub(super) fn new(
        cell: &'a ActorCell<R>,
        context: &'a Context,
        firing: Option<&'a Timer>,
        progress: &'a mut Progress,
    ) -> Self {
        Self { cell, context, firing, progress }
    }

    fn kind(&self) -> &'a Kind<R> {
        &self.cell.kind
    }

    /// What the caller may do in the organization now: their role may have changed since the request came in.
    ///
    /// # Errors
    /// 401 for who is not signed in; 404 for who has no part in the organization.
    pub async fn authority(&self, org_id: OrgId) -> Result<Authority> {
        self.kind().node.store().authority(org_id, &self.context.caller).await
    }

    /// The key whose turn it is.
    pub fn key(&self) -> &'a R::Key {
        &self.cell.key
    }

    /// The same key for later: a turn's tasks ask things of it, and a turn that wants to go on behind what waits does too.
    pub fn self_ref(&self) -> SelfRef<R> {
        let slots = self.kind().slots.get().cloned().unwrap_or_default();
        SelfRef { slots, key: self.cell.key.clone() }
    }

    /// What resources of this kind work with.
    pub fn services(&self) -> &'a R::Services {
        &self.kind().services
    }

    /// Who asks, from where, and until when.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// What the clock shows.
    pub fn now(&self) -> Timestamp {
        self.kind().node.clock().now()
    }

    /// Makes `change` durable: it is on disk when this returns `Ok`. The command's first commit also settles the timer
    /// that it came from and the idempotency key that it carries.
    ///
    /// [`Error::Stale`](domain::Error::Stale) goes straight out of the handler, which then runs again on a fresh load.
    pub async fn commit(&mut self, change: Change) -> Result<()> {
        let started = Instant::now();
        let place = Place { stage: Stage::Commit, kind: R::KIND, command: "", key: &self.cell.key };
        let outcome = self.kind().node.store().commit_at(self.whole(change), place).await;
        self.progress.committing += started.elapsed();
        outcome?;
        self.progress.is_settled = true;
        Ok(())
    }

    /// Commits what a command of its own turn decided, where that needs a commit. What needs none is decided again where
    /// the resource isn't what it was taken for.
    pub async fn settle<T>(&mut self, resource: &R, decided: Result<Decided<T>>) -> Result<T> {
        let decided = match decided {
            Ok(Decided { reply, change: Some(change) }) => return self.commit(change).await.map(|()| reply),
            Ok(Decided { reply, change: None }) => Ok(reply),
            Err(error @ (Error::Busy { .. } | Error::Stale | Error::Internal { .. })) => return Err(error),
            Err(refusal) => Err(refusal),
        };
        if resource.is_current(self.services()).await? { decided } else { Err(Error::Stale) }
    }

    /// The change, with what the command's first commit settles beside it.
    pub(super) fn whole(&self, change: Change) -> Change {
        if self.progress.is_settled {
            return change;
        }
        let mut whole = Change::new();
        if let Some(timer) = self.firing {
            whole.timer_done(timer);
        }
        if let Some(claim) = &self.context.idempotency {
            whole.idempotency_commit(claim);
        }
        whole.append(change);
        whole
    }

    /// Runs work that takes the processor (hashing, encoding, compression) where it holds up no actor, in the turns of the
    /// organization or person whose id the key is. Work for another tenant goes to [`Turn::processor`].
    pub async fn cpu<T: Send + 'static>(&self, kind: CpuKind, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let tenant = Tenant::of_key(&self.cell.key.to_string());
        self.processor().run(tenant, kind, work).await
    }

    /// Where work that takes the processor holds up no actor.
    pub fn processor(&self) -> &'a Cpu {
        self.kind().node.cpu()
    }
}
