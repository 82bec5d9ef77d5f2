//! Escalations, and who was told of them.
//!
//! A row is decided on by its own actor, by the fan-out of events (which takes in what belongs to a running one, and ends
//! what is resolved) and by its protocol's end; so each write names the version that it was decided on, except two that
//! need none: taking in an event only counts, and a protocol's end stands whatever was decided meanwhile.

mod ending;
mod reads;
mod row;
mod tellings;

use domain::{
    Timestamp,
    id::{EscalationId, OrgId, ProtocolId, UserId},
    notify::{
        Rule,
        escalation::{AckVia, EndReason, EscalationState, Progress},
    },
};

pub use self::reads::EscalationQuery;
pub use self::tellings::{Occasion, Telling, ToldOver};

/// The kind of resource under which timers know escalations.
pub const TIMER_KIND: &str = "escalation";
/// The name of an escalation's one timer: for its next step, or its end.
pub const TIMER_STEP: &str = "step";

/// What a protocol does about an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Escalation {
    /// Its id.
    pub id: EscalationId,
    /// Counts what was decided about it.
    pub version: i64,
    /// The organization.
    pub org_id: OrgId,
    /// The protocol.
    pub protocol_id: ProtocolId,
    /// What the protocol was called when it started.
    pub protocol_name: String,
    /// The event that started it; notices of the same event carry the same.
    pub source: String,
    /// Whether it only shows somebody what the protocol does.
    pub is_test: bool,
    /// The event's type.
    pub kind: String,
    /// The event's headline.
    pub title: String,
    /// What happened.
    pub body: Option<String>,
    /// Where more about it is shown.
    pub url: Option<String>,
    /// Whom the event concerns.
    pub concerned: Vec<UserId>,
    /// The rules that applied, as they were when it started.
    pub rules: Vec<Rule>,
    /// How far it has come.
    pub progress: Progress,
    /// Where it stands.
    pub state: EscalationState,
    /// The event's `dedupKey`.
    pub dedup_key: Option<String>,
    /// Whether it takes in events with the same `dedupKey`.
    pub is_open: bool,
    /// How many events it stands for.
    pub event_count: i64,
    /// The headline of the last of them.
    pub last_title: String,
    /// When that one came.
    pub last_event_at: Timestamp,
    /// To whom what is left was handed.
    pub handed_to: Option<UserId>,
    /// Who took it on.
    pub acked: Option<Acked>,
    /// Why and when it ended without that, or after it.
    pub ended: Option<Ended>,
    /// When the event happened.
    pub event_at: Timestamp,
    /// When it started.
    pub created_at: Timestamp,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// By whom.
    pub by: UserId,
    /// Over what.
    pub via: AckVia,
    /// When.
    pub at: Timestamp,
}

/// An end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: EndReason,
    /// When.
    pub at: Timestamp,
}

impl Escalation {
    /// Whether steps may still come.
    pub fn is_running(&self) -> bool {
        self.state == EscalationState::Running
    }
}
