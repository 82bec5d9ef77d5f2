//! The ends of a socket that come from outside: its sign-in dies, its person's rights change, the server shuts down.
//!
//! A watch looks whether the socket may go on when a revocation concerns it, when its sign-in is due to expire, and
//! [whenever it is asked to](Watch::look_is_due), which the runner does with each ping: what no revocation told is found
//! then. A look goes on beside the conversation. One that fails ends nothing; it is repeated.

use std::time::Duration;

use domain::Timestamp;
use futures::future::{LocalBoxFuture, OptionFuture};
use gateways::hub::Ticket;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};

use super::Farewell;
use crate::{revocations::Subscription, state::State};

/// How long the store may take to say whether a socket may go on.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a look that failed.
const LOOK_PAUSE: Duration = if cfg!(test) { Duration::from_millis(5) } else { Duration::from_secs(1) };

/// What watches one socket.
pub(super) struct Watch {
    state: State,
    ticket: Ticket,
    subscription: Subscription,
    shutdown: watch::Receiver<bool>,
    /// When the sign-in ends unless it is used; none where there is no sign-in, or nobody has looked yet.
    expires_at: Option<Timestamp>,
    due: Due,
    look: Option<LocalBoxFuture<'static, domain::Result<Look>>>,
}

/// When to look next.
enum Due {
    /// When something happens.
    Sometime,
    /// After the pause that follows a failure.
    At(Instant),
    Now,
}

/// What a look found.
struct Look {
    ending: Option<Farewell>,
    expires_at: Option<Timestamp>,
}

/// What happened outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    /// The socket ends.
    Ends(Farewell),
    /// The watch wants to [look](Watch::look).
    LookIsDue,
}

impl Watch {
    pub(super) fn new(state: State, ticket: Ticket) -> Self {
        let subscription = state.credentials.subscribe(ticket.user_id, ticket.sign_in_id);
        let shutdown = state.shutdown.subscribe();
        Self { state, ticket, subscription, shutdown, expires_at: None, due: Due::Sometime, look: None }
    }

    /// The next thing that happens outside. Safe to cancel.
    pub(super) async fn next(&mut self) -> Outside {
        loop {
            if self.look.is_none() && matches!(self.due, Due::Now) {
                return Outside::LookIsDue;
            }
            let can_wait = self.look.is_none();
            tokio::select! {
                () = down(&mut self.shutdown) => return Outside::Ends(Farewell::ShuttingDown),
                heard = self.subscription.next() => {
                    if heard.is_signed_out {
                        return Outside::Ends(Farewell::SignedOut);
                    }
                    self.due = Due::Now;
                }
                Some(look) = OptionFuture::from(self.look.as_mut()) => {
                    self.look = None;
                    if let Some(farewell) = self.found(look) {
                        return Outside::Ends(farewell);
                    }
                }
                () = due(&self.state, &self.due, self.expires_at), if can_wait => self.due = Due::Now,
            }
        }
    }

    /// Has the watch look soon.
    pub(super) fn look_is_due(&mut self) {
        self.due = Due::Now;
    }

    /// Begins to look whether the sign-in is good still, and whether `right`, which is asked of the store, is there.
    pub(super) fn look(&mut self, right: LocalBoxFuture<'static, domain::Result<bool>>) {
        self.due = Due::Sometime;
        let (state, ticket) = (State::clone(&self.state), self.ticket.clone());
        self.look = Some(Box::pin(async move {
            let look = timeout(LOOK_TIMEOUT, look(&state, &ticket, right)).await;
            look.unwrap_or_else(|_elapsed| Err(domain::Error::busy(LOOK_PAUSE)))
        }));
    }

    /// What follows from a look.
    fn found(&mut self, look: domain::Result<Look>) -> Option<Farewell> {
        match look {
            Ok(look) => {
                self.expires_at = look.expires_at;
                look.ending
            }
            Err(error) => {
                tracing::debug!(%error, "it could not be found out whether a socket may go on");
                if !matches!(self.due, Due::Now) {
                    self.due = Due::At(Instant::now() + LOOK_PAUSE);
                }
                None
            }
        }
    }

    /// Whether the sign-in that asked for the ticket is still there.
    pub(super) async fn sign_in_is_good(&mut self) -> domain::Result<bool> {
        let right = Box::pin(async { Ok(true) });
        let look = look(&self.state, &self.ticket, right).await?;
        self.expires_at = look.expires_at;
        Ok(look.ending.is_none())
    }
}

async fn down(shutdown: &mut watch::Receiver<bool>) {
    // Without a sender there is no server either.
    let _ = shutdown.wait_for(|down| *down).await;
}

async fn due(state: &State, due: &Due, expires_at: Option<Timestamp>) {
    match (due, expires_at) {
        (Due::Now, _) => {}
        (Due::At(at), _) => sleep_until(*at).await,
        (Due::Sometime, Some(at)) => state.store.clock().sleep_until(at).await,
        (Due::Sometime, None) => std::future::pending().await,
    }
}

async fn look(
    state: &State,
    ticket: &Ticket,
    right: LocalBoxFuture<'static, domain::Result<bool>>,
) -> domain::Result<Look> {
    let mut expires_at = None;
    if let Some(sign_in_id) = ticket.sign_in_id {
        let sign_in = state.store.sign_in(ticket.user_id, sign_in_id).await?;
        expires_at = sign_in.map(|sign_in| sign_in.expires_at).filter(|at| state.store.now() < *at);
        if expires_at.is_none() {
            return Ok(Look { ending: Some(Farewell::SignedOut), expires_at });
        }
    }
    let ending = if right.await? { None } else { Some(Farewell::LostRight) };
    Ok(Look { ending, expires_at })
}
