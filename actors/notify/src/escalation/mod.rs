//! One escalation: the actor that does its steps, each at its time and once, until somebody takes it on.
//!
//! Its one timer, `step`, is set for what comes next in the commit that starts it and in each that does a step; a step's
//! commit settles the timer that it came from. So a step is done by exactly one commit, however often a process dies and
//! however many nodes there are, and none is lost. Several that are due at once, after an outage, are done one after the
//! other, in order.
//!
//! What it ends is decided in three places: here, where its event is resolved (`notify::fan_out`), and where its protocol
//! ends. Each moves the row's version, so that whoever decided on an older one decides again.

mod answer;
mod rehearse;
mod step;

use actors_base::Services;
use domain::{
    Caller, Error, Result,
    id::{EscalationId, UserId},
    notify::escalation::Standing,
};
use kernel::{Resource, Turn};
use serde_json::Value;
use store::{
    AuditEntry, AuditTarget, Change,
    notify::escalations::{Escalation as Row, TIMER_KIND},
};

pub use self::{
    answer::{Acknowledge, HandOver, Resolve, Snooze},
    rehearse::Rehearse,
};

/// An escalation, as far as decisions go: its row; nothing before it is started.
#[derive(Debug)]
pub struct Escalation {
    row: Option<Row>,
}

impl Resource for Escalation {
    type Key = EscalationId;
    type Services = Services;

    const KIND: &'static str = TIMER_KIND;

    async fn load(key: &EscalationId, services: &Services) -> Result<Self> {
        Ok(Self { row: services.store.escalation(*key).await? })
    }
}

impl Escalation {
    fn row(&self) -> Result<&Row> {
        self.row.as_ref().ok_or_else(not_found)
    }

    /// Applies what was committed at the version that was read.
    fn applied(&mut self, row: Row) {
        self.row = Some(Row { version: row.version + 1, ..row });
    }
}

/// How the caller stands to the escalation now. To who doesn't belong to the organization it doesn't exist.
async fn standing(turn: &Turn<'_, Escalation>, row: &Row, by: UserId) -> Result<Standing> {
    let store = &turn.services().store;
    let authority = match turn.context().caller {
        // Nobody signs in to answer a text or a call; the delivery that is answered says who it is.
        Caller::Nobody => store.authority_of_person(row.org_id, by).await,
        _ => turn.authority(row.org_id).await,
    };
    let authority = authority.map_err(|error| match error {
        Error::NotFound { .. } => not_found(),
        other => other,
    })?;
    let told = store.escalation_told(row.id).await?;
    Standing::of(&authority, told.iter().map(|told| told.user_id).chain(row.handed_to))
}

fn audit(change: &mut Change, turn: &Turn<'_, Escalation>, row: &Row, action: &str, metadata: Option<Value>) {
    let target = AuditTarget::new("escalation", row.id).labelled(&row.title);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(row.org_id);
    change.audit_add(turn.now(), AuditEntry { metadata, ..entry });
}

/// 404: there is no such escalation, or it is not for the caller to see.
fn not_found() -> Error {
    Error::not_found("Escalation not found.")
}

/// 409: nothing more comes of it.
fn over() -> Error {
    Error::conflict("escalation_over", "This escalation is over.")
}
