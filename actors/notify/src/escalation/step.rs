//! Doing a step.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use actors_base::Services;
use domain::{
    Result, Timestamp,
    id::{NoticeId, UserId},
    notify::{
        Asked, Channel, Channels, DeliveryState, EventType, Recipient, Rota, Rule, Step,
        escalation::{Audience, EndReason, EscalationState, Next, Pick, pick},
    },
};
use kernel::{Handle, TimerFired, Turn};
use serde_json::json;
use store::{
    Change, Delivery, Store,
    notify::escalations::{Acked, Ended, Escalation as Row, Occasion},
};

use super::{
    Escalation,
    answer::{Forwarded, taken_on},
    audit,
};
use crate::{
    tell::{Message, Notifier},
    telling::{note, note_passed},
};

/// How long something that was sent says what a step would say.
const SAID_FOR: Duration = Duration::from_secs(30);

impl Handle<TimerFired> for Escalation {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(row) = self.row.as_ref().filter(|row| row.is_running()) else { return Ok(()) };
        let now = turn.now();
        let (after, change) = match (Forwarded::read(&fired.name), row.progress.next()) {
            (Some(forwarded), _) => match forwarded_here(turn, row, forwarded).await? {
                Some(taken_on) => taken_on,
                None => return Ok(()),
            },
            (None, Some(Next::Step { place, due })) if due <= now => step(turn.services(), row, place, now).await?,
            (None, Some(Next::End { at })) if at <= now => {
                let (after, mut change) = unanswered(row, now);
                audit(&mut change, turn, row, "escalation.ended", None);
                (after, change)
            }
            // Moved meanwhile.
            (None, _) => {
                let mut change = Change::new();
                change.escalation_set(row);
                (row.clone(), change)
            }
        };
        turn.commit(change).await?;
        self.applied(after);
        Ok(())
    }
}

/// The escalation once somebody who was told of it has taken on another one of the same event.
async fn forwarded_here(
    turn: &Turn<'_, Escalation>,
    row: &Row,
    Forwarded { by, via }: Forwarded,
) -> Result<Option<(Row, Change)>> {
    let told = turn.services().store.escalation_told(row.id).await?;
    if !told.iter().any(|told| told.user_id == by) {
        return Ok(None);
    }
    let (after, mut change) = taken_on(turn.services(), row, Acked { by, via, at: turn.now() }).await?;
    audit(&mut change, turn, row, "escalation.acknowledged", Some(json!({ "via": via, "by": by })));
    Ok(Some((after, change)))
}

/// The escalation after the step at `place`, and the change that does it.
pub(super) async fn step(services: &Services, row: &Row, place: usize, now: Timestamp) -> Result<(Row, Change)> {
    let mut after = row.clone();
    after.progress.step_done(now);
    let mut change = Change::new();
    if let Some((rule, step)) = planned(row, place) {
        let pick = people(&services.store, row, rule, step, now).await?;
        let asked = |event: &EventType| {
            let asked = rule.asked(step, event);
            Asked { overrides_quiet_hours: asked.overrides_quiet_hours || row.is_test, ..asked }
        };
        change = tell(services, row, Occasion::Step(place), &pick, asked, now).await?;
    }
    change.escalation_set(&after);
    Ok((after, change))
}

/// The rule and the step at a place of the plan.
fn planned(row: &Row, place: usize) -> Option<(&Rule, &Step)> {
    let planned = row.progress.plan.steps().get(place)?;
    let rule = row.rules.get(planned.rule)?;
    Some((rule, rule.steps.get(planned.step)?))
}

/// Whom a step is for now.
async fn people(store: &Store, row: &Row, rule: &Rule, step: &Step, now: Timestamp) -> Result<Pick> {
    let mut audience = Audience {
        handed_to: row.handed_to,
        is_rota: step.rota.is_some(),
        names_anybody: rule.names_anybody(),
        concerned: row.concerned.clone(),
        ..Audience::default()
    };
    let rota = match step.rota {
        Some(rota_id) => store.rotas_by_id(row.org_id, &[rota_id]).await?.pop(),
        None => None,
    };
    let mut candidates: BTreeSet<_> = rota.iter().flat_map(Rota::everybody).collect();
    candidates.extend(rule.user_ids.iter().chain(&row.concerned).chain(&row.handed_to));
    let candidates: Vec<_> = candidates.into_iter().collect();
    let members = store.members_among(row.org_id, &candidates, &rule.roles).await?;
    let by_role = members.iter().filter(|(_, role)| rule.roles.contains(role)).map(|(user_id, _)| *user_id);
    audience.named = rule.user_ids.iter().copied().chain(by_role).collect();
    audience.members = members.iter().map(|(user_id, _)| *user_id).collect();
    let is_member = |user_id| audience.members.contains(&user_id);
    audience.on_call = rota.and_then(|rota| rota.on_call(now, is_member)).map(|on_call| on_call.user_id);
    let people: Vec<_> = audience.members.iter().copied().collect();
    audience.acknowledged = acknowledged(store, row, &people).await?;
    Ok(pick(&audience))
}

/// Who acknowledged the same event, in the escalation of another protocol.
async fn acknowledged(store: &Store, row: &Row, people: &[UserId]) -> Result<BTreeSet<UserId>> {
    let notices = store.notices_of_source(&row.source, people).await?;
    Ok(notices.into_iter().filter(|notice| notice.acked_at.is_some()).map(|notice| notice.user_id).collect())
}

/// Tells everybody who was picked, and notes who was told and who wasn't.
pub(super) async fn tell(
    services: &Services,
    row: &Row,
    occasion: Occasion,
    pick: &Pick,
    asked: impl Fn(&EventType) -> Asked,
    now: Timestamp,
) -> Result<Change> {
    let mut change = Change::new();
    for passed in &pick.passed {
        note_passed(&mut change, row.id, occasion, *passed, now);
    }
    let Some(event) = EventType::find(&row.kind) else { return Ok(change) };
    let recipients: BTreeMap<UserId, Recipient> =
        services.store.recipients(&pick.told).await?.into_iter().map(|it| (it.user_id, it)).collect();
    let notices: BTreeMap<UserId, NoticeId> = services
        .store
        .notices_of_source(&row.source, &pick.told)
        .await?
        .into_iter()
        .map(|it| (it.user_id, it.id))
        .collect();
    let under_way = under_way(services, occasion, notices.values().copied().collect(), now).await?;
    let mut notifier = Notifier::new(services, &recipients.keys().copied().collect()).await?.spare(under_way);
    let message = message(row, event);
    for recipient in pick.told.iter().filter_map(|user_id| recipients.get(user_id)) {
        let known = notices.get(&recipient.user_id).copied();
        let told = notifier.tell(recipient, asked(event), &message, known);
        note(&mut change, row.id, occasion, recipient.user_id, &told, now);
    }
    change.append(notifier.into_change());
    Ok(change)
}

/// What people's own settings have just had sent of the same event. A step that comes with the event itself doesn't say it
/// twice; texts and calls it makes itself, because they can be answered.
async fn under_way(
    services: &Services,
    occasion: Occasion,
    notices: Vec<NoticeId>,
    now: Timestamp,
) -> Result<Vec<Delivery>> {
    if !matches!(occasion, Occasion::Step(_)) {
        return Ok(Vec::new());
    }
    let deliveries = services.store.deliveries_of_notices(&notices).await?;
    let says_so = |delivery: &Delivery| {
        delivery.escalation_id.is_none()
            && matches!(delivery.channel, Channel::Email | Channel::Push)
            && matches!(delivery.state, DeliveryState::Queued | DeliveryState::Sent)
            && now.since(delivery.created_at) < SAID_FOR
    };
    Ok(deliveries.into_iter().filter(says_so).collect())
}

fn message<'a>(row: &'a Row, event: &'static EventType) -> Message<'a> {
    Message {
        event,
        org_id: Some(row.org_id),
        title: &row.title,
        body: row.body.as_deref(),
        url: row.url.as_deref(),
        source: &row.source,
        escalation_id: Some(row.id),
    }
}

/// The channels of the last step that was done, or of the first when none was: those on which the escalation stands.
pub(super) fn standing_channels(row: &Row) -> Channels {
    let place = row.progress.done.saturating_sub(1);
    planned(row, place).map_or(Channels::EMPTY, |(_, step)| step.channels.0)
}

/// Whether the rule of that step interrupts quiet hours.
pub(super) fn overrides_quiet_hours(row: &Row) -> bool {
    let place = row.progress.done.saturating_sub(1);
    planned(row, place).is_some_and(|(rule, _)| rule.override_quiet_hours)
}

fn unanswered(row: &Row, now: Timestamp) -> (Row, Change) {
    let after = Row {
        state: EscalationState::Ended,
        ended: Some(Ended { reason: EndReason::Unanswered, at: now }),
        is_open: false,
        ..row.clone()
    };
    let mut change = Change::new();
    change.escalation_set(&after);
    (after, change)
}
