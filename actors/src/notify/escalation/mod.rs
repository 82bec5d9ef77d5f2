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

use domain::{
    Caller, Error, Result, Scope,
    id::{EscalationId, UserId},
};
use serde_json::Value;
use store::{
    AuditEntry, AuditTarget, Change,
    notify::escalations::{Escalation as Row, TIMER_KIND},
};

pub use self::{
    answer::{Acknowledge, HandOver, Resolve, Snooze},
    rehearse::Rehearse,
};
use crate::{
    Services,
    kernel::{Resource, Turn},
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
        self.row.as_ref().ok_or_else(|| Error::not_found("Escalation not found."))
    }

    /// Applies what was committed at the version that was read.
    fn applied(&mut self, row: Row) {
        self.row = Some(Row { version: row.version + 1, ..row });
    }
}

/// Somebody who may do something about an escalation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// They were told of it, or Troupe acts for somebody who was.
    Told,
    /// They run the organization.
    Operator,
}

/// How `by` stands to the escalation now. People who were told and who still belong to the organization may act, and so
/// may operators; to others it doesn't exist, or they lack the permission. A key, which is told nothing, acts as an
/// operator in the name of its maker.
async fn standing(turn: &Turn<'_, Escalation>, row: &Row, by: UserId) -> Result<Standing> {
    if turn.context().caller == Caller::System {
        return Ok(Standing::Told);
    }
    let store = &turn.services().store;
    let part = store.membership(row.org_id, by).await?;
    let part = part.ok_or_else(|| Error::not_found("Escalation not found."))?;
    if let Caller::Key(key) = &turn.context().caller {
        let may_write = key.scopes.intersection(part.scopes()).contains(Scope::OrgWrite);
        return if may_write { Ok(Standing::Operator) } else { Err(Error::MissingScope(Scope::OrgWrite)) };
    }
    if row.handed_to == Some(by) || store.escalation_told(row.id).await?.iter().any(|told| told.user_id == by) {
        return Ok(Standing::Told);
    }
    if part.scopes().contains(Scope::OrgWrite) {
        Ok(Standing::Operator)
    } else {
        Err(Error::MissingScope(Scope::OrgWrite))
    }
}

fn audit(change: &mut Change, turn: &Turn<'_, Escalation>, row: &Row, action: &str, metadata: Option<Value>) {
    let target = AuditTarget::new("escalation", row.id).labelled(&row.title);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(row.org_id);
    change.audit_add(turn.now(), AuditEntry { metadata, ..entry });
}

/// 409: nothing more comes of it.
fn over() -> Error {
    Error::conflict("escalation_over", "This escalation is over.")
}
