//! The ends of a socket that come from outside: its sign-in dies, its person's rights change, the server shuts down.

use std::sync::Arc;

use gateways::hub::Ticket;
use store::{Revocation, RevocationKind};
use tokio::sync::{
    broadcast::{Receiver, error::RecvError},
    watch,
};

use super::{Farewell, Source};
use crate::state::State;

/// What watches one socket.
pub(super) struct Watch {
    state: State,
    ticket: Ticket,
    revocations: Receiver<Arc<Revocation>>,
    shutdown: watch::Receiver<bool>,
}

/// What happened outside.
pub(super) enum Outside {
    Revoked(Arc<Revocation>),
    /// So much was revoked that some of it was not heard.
    RevokedUnheard,
    ShuttingDown,
}

impl Watch {
    pub(super) fn new(state: State, ticket: Ticket) -> Self {
        let revocations = state.credentials.revocations();
        let shutdown = state.shutdown.subscribe();
        Self { state, ticket, revocations, shutdown }
    }

    /// The next thing that happens outside. Safe to cancel.
    pub(super) async fn next(&mut self) -> Outside {
        tokio::select! {
            _ = self.shutdown.wait_for(|down| *down) => Outside::ShuttingDown,
            heard = self.revocations.recv() => match heard {
                Ok(revocation) => Outside::Revoked(revocation),
                Err(RecvError::Lagged(_)) => Outside::RevokedUnheard,
                Err(RecvError::Closed) => Outside::ShuttingDown,
            },
        }
    }

    /// Whether that ends this socket.
    pub(super) async fn judge(&self, outside: Outside, source: &impl Source) -> Option<Farewell> {
        match outside {
            Outside::ShuttingDown => Some(Farewell::ShuttingDown),
            Outside::Revoked(revocation) => match revocation.kind {
                RevocationKind::SignIn if self.is_own_sign_in(&revocation.target_id) => Some(Farewell::SignedOut),
                RevocationKind::User if self.ticket.user_id.to_string() == revocation.target_id => {
                    self.look_closer(source).await
                }
                _ => None,
            },
            Outside::RevokedUnheard => self.look_closer(source).await,
        }
    }

    fn is_own_sign_in(&self, target_id: &str) -> bool {
        self.ticket.sign_in_id.is_some_and(|sign_in_id| sign_in_id.to_string() == target_id)
    }

    /// What can't be found out ends the socket too: its client comes back and is told.
    async fn look_closer(&self, source: &impl Source) -> Option<Farewell> {
        match self.sign_in_is_good().await {
            Err(_) => return Some(Farewell::Failed),
            Ok(false) => return Some(Farewell::SignedOut),
            Ok(true) => {}
        }
        match source.is_still_allowed().await {
            Err(_) => Some(Farewell::Failed),
            Ok(allowed) => (!allowed).then_some(Farewell::LostRight),
        }
    }

    /// Whether the sign-in that asked for the ticket is still there.
    pub(super) async fn sign_in_is_good(&self) -> domain::Result<bool> {
        let Some(sign_in_id) = self.ticket.sign_in_id else { return Ok(true) };
        let sign_in = self.state.store.sign_in(self.ticket.user_id, sign_in_id).await?;
        Ok(sign_in.is_some_and(|sign_in| self.state.store.now() < sign_in.expires_at))
    }
}
