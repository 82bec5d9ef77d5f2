//! Showing somebody what a protocol does: all of its steps at once, to them only.

use domain::{
    Result, Timestamp,
    id::{EscalationId, UserId},
    notify::{
        Protocol,
        escalation::{EscalationState, Next, Plan, PlannedStep, Progress},
    },
};
use kernel::{Command, Handle, Turn};
use store::{Change, notify::escalations::Escalation as Row};

use super::{Escalation, audit, step::step};

/// What the headline of a rehearsal starts with.
const TEST: &str = "Test: ";

/// Runs all steps of a protocol at once, to one person only, whatever the protocol's state. Asked of a new escalation.
#[derive(Clone, Debug)]
pub struct Rehearse {
    /// The protocol.
    pub protocol: Protocol,
    /// Who is told.
    pub user_id: UserId,
}

impl Command for Rehearse {
    type Reply = Row;

    const NAME: &'static str = "rehearse";
}

impl Handle<Rehearse> for Escalation {
    async fn handle(&mut self, command: &Rehearse, turn: &mut Turn<'_, Self>) -> Result<Row> {
        let now = turn.now();
        if self.row.is_none() {
            let row = rehearsal(*turn.key(), command, now);
            let mut change = Change::new();
            change.escalation_add(&row);
            audit(&mut change, turn, &row, "protocol.tested", None);
            turn.commit(change).await?;
            self.row = Some(row);
        }
        // Its timer would do the same; but whoever asked wants to see who was told.
        while let Some(Next::Step { place, .. }) = self.row()?.progress.next() {
            let (after, change) = step(turn.services(), self.row()?, place, now).await?;
            turn.commit(change).await?;
            self.applied(after);
        }
        Ok(self.row()?.clone())
    }
}

fn rehearsal(id: EscalationId, Rehearse { protocol, user_id }: &Rehearse, now: Timestamp) -> Row {
    let rules = protocol.draft.rules.clone();
    let steps = rules.iter().enumerate().flat_map(|(rule, it)| (0..it.steps.len()).map(move |step| (rule, step)));
    let planned = |(rule, step)| PlannedStep { rule, step, at: now, due: now, before_event: false };
    let title = format!("{TEST}{}", protocol.draft.name);
    let kind = rules.first().and_then(|rule| rule.events.first()).cloned().unwrap_or_default();
    Row {
        id,
        version: 1,
        org_id: protocol.org_id,
        protocol_id: protocol.id,
        protocol_name: protocol.draft.name.clone(),
        source: format!("test:{id}"),
        is_test: true,
        kind,
        title: title.clone(),
        body: Some("This is a test of a notification protocol. Nothing is wrong.".to_owned()),
        url: None,
        concerned: vec![*user_id],
        progress: Progress::new(Plan::new(steps.map(planned))),
        rules,
        state: EscalationState::Running,
        dedup_key: None,
        is_open: false,
        event_count: 1,
        last_title: title,
        last_event_at: now,
        handed_to: Some(*user_id),
        acked: None,
        ended: None,
        event_at: now,
        created_at: now,
    }
}
