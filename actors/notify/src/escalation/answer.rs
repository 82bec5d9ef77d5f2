//! What people do about an escalation: take it on, put it off, hand it over, declare it over.

use std::fmt;

use actors_base::Services;
use domain::{
    Error, Result, Timestamp,
    id::UserId,
    notify::{
        Asked, Channel, Channels, EventType,
        escalation::{AckVia, EndReason, EscalationState, Pick, Standing},
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    notify::escalations::{Acked, Escalation as Row, Occasion, TIMER_KIND},
};

use super::{Escalation, audit, over, standing, step};
use crate::{ending::Ending, tell::Notifier};

/// Takes the escalation on: it ends for everybody. Answers whether it did; `false` when somebody had before.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledge {
    /// Who.
    pub by: UserId,
    /// Over what; somebody who wasn't told and may nevertheless counts as an operator, whatever this says.
    pub via: AckVia,
}

/// Puts all that is left off.
#[derive(Clone, Copy, Debug)]
pub struct Snooze {
    /// Until when; within 24 hours.
    pub until: Timestamp,
    /// Who does.
    pub by: UserId,
}

/// Hands all that is left to somebody, who is told at once.
#[derive(Clone, Copy, Debug)]
pub struct HandOver {
    /// To whom; a member.
    pub to: UserId,
    /// Who does.
    pub by: UserId,
}

/// Declares that what it is about is over; those who were told hear of it.
#[derive(Clone, Copy, Debug)]
pub struct Resolve {
    /// Who does.
    pub by: UserId,
}

impl Command for Acknowledge {
    type Reply = bool;

    const NAME: &'static str = "acknowledge";
}

impl Handle<Acknowledge> for Escalation {
    async fn handle(&mut self, command: &Acknowledge, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let row = self.row()?;
        let standing = standing(turn, row, command.by).await?;
        if row.acked.is_some() {
            return Ok(false);
        }
        let via = if standing == Standing::Operator { AckVia::Operator } else { command.via };
        let acked = Acked { by: command.by, via, at: turn.now() };
        let (after, mut change) = taken_on(turn.services(), row, acked).await?;
        for other in turn.services().store.escalations_of_source(&row.source).await? {
            change.timer_set(TIMER_KIND, &other.id.to_string(), &Forwarded { by: acked.by, via }.to_string(), acked.at);
        }
        audit(&mut change, turn, row, "escalation.acknowledged", Some(json!({ "via": via, "by": command.by })));
        turn.commit(change).await?;
        self.applied(after);
        Ok(true)
    }
}

/// The escalation once somebody has taken it on, and the change that makes it so.
pub(super) async fn taken_on(services: &Services, row: &Row, acked: Acked) -> Result<(Row, Change)> {
    let after = acknowledged(row, acked);
    let ending = Ending::load(&services.store, after.clone()).await?;
    let mut notifier = Notifier::new(services, &ending.told()).await?;
    let mut change = Change::new();
    change.escalation_set(&after);
    ending.settle(&mut change, &mut notifier, Some(acked.by), acked.at);
    change.append(notifier.into_change());
    Ok((after, change))
}

/// An acknowledgement that goes on to the other escalations of the same event, as the name of a timer: it ends those of
/// which whoever acknowledged was told, for to them it was one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forwarded {
    pub by: UserId,
    pub via: AckVia,
}

impl Forwarded {
    pub fn read(timer: &str) -> Option<Self> {
        let (via, by) = timer.strip_prefix("acknowledged:")?.split_once(':')?;
        Some(Self { by: by.parse().ok()?, via: AckVia::from_name(via)? })
    }
}

impl fmt::Display for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "acknowledged:{}:{}", self.via, self.by)
    }
}

/// What was running, or had run out of steps, is acknowledged; what is over for another reason stays so.
fn acknowledged(row: &Row, acked: Acked) -> Row {
    let was_waiting = row.is_running() || row.ended.is_some_and(|ended| ended.reason == EndReason::Unanswered);
    let state = if was_waiting { EscalationState::Acknowledged } else { row.state };
    Row { state, acked: Some(acked), ..row.clone() }
}

impl Command for Snooze {
    type Reply = Row;

    const NAME: &'static str = "snooze";
}

impl Handle<Snooze> for Escalation {
    async fn handle(&mut self, command: &Snooze, turn: &mut Turn<'_, Self>) -> Result<Row> {
        let row = self.row()?;
        standing(turn, row, command.by).await?;
        if !row.is_running() {
            return Err(over());
        }
        let mut after = row.clone();
        after.progress.snooze(turn.now(), command.until)?;
        let mut change = Change::new();
        change.escalation_set(&after);
        audit(&mut change, turn, row, "escalation.snoozed", Some(json!({ "until": command.until })));
        turn.commit(change).await?;
        self.applied(after.clone());
        Ok(after)
    }
}

impl Command for HandOver {
    type Reply = Row;

    const NAME: &'static str = "hand_over";
}

impl Handle<HandOver> for Escalation {
    async fn handle(&mut self, command: &HandOver, turn: &mut Turn<'_, Self>) -> Result<Row> {
        let row = self.row()?;
        standing(turn, row, command.by).await?;
        if !row.is_running() {
            return Err(over());
        }
        let (services, now) = (turn.services(), turn.now());
        if services.store.membership(row.org_id, command.to).await?.is_none() {
            return Err(Error::not_found("Member not found."));
        }
        let after = Row { handed_to: Some(command.to), ..row.clone() };
        let pick = Pick { told: vec![command.to], passed: Vec::new() };
        let asked = |event: &EventType| Asked {
            app: event.app,
            channels: step::standing_channels(row) | Channels::of(&[Channel::Inapp]),
            urgent: event.urgent,
            texts_off: event.texts_off,
            overrides_quiet_hours: step::overrides_quiet_hours(row),
        };
        let mut change = step::tell(services, row, Occasion::HandOver, &pick, asked, now).await?;
        change.escalation_set(&after);
        audit(&mut change, turn, row, "escalation.handed_over", Some(json!({ "userId": command.to })));
        turn.commit(change).await?;
        self.applied(after.clone());
        Ok(after)
    }
}

impl Command for Resolve {
    type Reply = Row;

    const NAME: &'static str = "resolve";
}

impl Handle<Resolve> for Escalation {
    async fn handle(&mut self, command: &Resolve, turn: &mut Turn<'_, Self>) -> Result<Row> {
        let row = self.row()?;
        standing(turn, row, command.by).await?;
        if !row.is_running() && !row.is_open {
            return Err(over());
        }
        let (services, now) = (turn.services(), turn.now());
        let ending = Ending::load(&services.store, row.clone()).await?;
        let people: Vec<_> = ending.people().collect();
        let recipients = services.store.recipients(&people).await?;
        let recipients = recipients.into_iter().map(|recipient| (recipient.user_id, recipient)).collect();
        let mut notifier = Notifier::new(services, &ending.told()).await?;
        let mut change = ending.resolve(&mut notifier, &recipients, now);
        change.append(notifier.into_change());
        audit(&mut change, turn, row, "escalation.resolved", None);
        turn.commit(change).await?;
        let after = ending.resolved(now);
        self.applied(after.clone());
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarded_acknowledgement_is_read_as_it_was_written() {
        let forwarded = Forwarded { by: UserId::new(Timestamp(1)), via: AckVia::Voice };
        assert_eq!(Forwarded::read(&forwarded.to_string()), Some(forwarded));
        assert_eq!(Forwarded::read("step"), None);
    }
}
