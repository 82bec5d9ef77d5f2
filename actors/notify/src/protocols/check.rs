//! Once a night: whether each protocol would reach anybody.
//!
//! An organization that has a protocol has one durable timer. When it fires, every enabled protocol is held against the
//! people, telephones and devices that there are; of rules that would reach nobody, and of protocols that are attached to
//! nothing and so apply to no event, the owners hear by e-mail, at most once a week as long as nothing changes about the
//! protocol.

use std::{fmt::Write, time::Duration};

use domain::{
    Result, Timestamp,
    id::OrgId,
    notify::{Inactive, Rule, preview::reaches_somebody},
};
use kernel::{Handle, Resource, TimerFired, Turn};
use serde_json::{Value, json};
use store::{
    Change, EmailTo, OutboxEntry,
    audit::{AuditEntry, AuditTarget},
    notify::WatchedProtocol,
};

use super::{Protocols, target};
use crate::cast;

/// The name of the timer.
const TIMER: &str = "check";
/// How often it is done.
const EVERY: Duration = Duration::from_hours(24);
/// When in the day, UTC.
const AT: Duration = Duration::from_hours(2);
/// How often at most the owners hear of a protocol that nothing changes about.
const WARN_EVERY: Duration = Duration::from_hours(7 * 24);

/// Sets the organization's timer to the coming night.
pub(super) fn arm(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.timer_set(Protocols::KIND, &org_id.to_string(), TIMER, next_night(now));
}

/// The first such time of day after `now`.
fn next_night(now: Timestamp) -> Timestamp {
    let day = i64::try_from(EVERY.as_millis()).unwrap_or(i64::MAX);
    let tonight = Timestamp(now.0 - now.0.rem_euclid(day)).after(AT);
    if tonight > now { tonight } else { tonight.after(EVERY) }
}

/// A protocol that reaches nobody, as a whole or with some of its rules.
struct Silent<'a> {
    watched: &'a WatchedProtocol,
    why: Why,
}

/// Why a protocol reaches nobody.
enum Why {
    /// It is attached to nothing.
    NotAttached,
    /// The rules at these places would tell nobody.
    Rules(Vec<usize>),
}

impl Why {
    /// What the audit trail says of it.
    fn metadata(&self) -> Value {
        match self {
            Self::NotAttached => json!({ "reason": Inactive::NotAttached, "rules": [] }),
            Self::Rules(places) => json!({ "reason": "rules_reach_nobody", "rules": places }),
        }
    }
}

impl Handle<TimerFired> for Protocols {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (org_id, now, services) = (*turn.key(), turn.now(), turn.services());
        let watched = services.store.protocols_watched(org_id).await?;
        let organization = services.store.organization(org_id).await?;
        // Without a protocol nothing is left to check; the next one that is made sets the timer again.
        let Some(organization) = organization.filter(|_| !watched.is_empty()) else { return Ok(()) };
        let due: Vec<_> = watched.iter().filter(|watched| is_due(watched, now)).collect();
        let rules: Vec<Rule> = due.iter().flat_map(|watched| watched.protocol.draft.rules.iter().cloned()).collect();
        let cast = cast(&services.store, services.calls_available(), org_id, &rules, &[]).await?;
        let reaches_nobody = |rule: &Rule| !reaches_somebody(rule, now, &cast);
        let silent: Vec<_> = due.into_iter().filter_map(|watched| silent(watched, reaches_nobody)).collect();

        let mut change = Change::new();
        for Silent { watched, why } in &silent {
            change.protocol_warned(watched.protocol.id, now);
            let about: AuditTarget = target(&watched.protocol);
            let entry = AuditEntry::new(turn.context(), "protocol.reaches_nobody", about).in_org(org_id);
            change.audit_add(now, AuditEntry { metadata: Some(why.metadata()), ..entry });
        }
        if !silent.is_empty() {
            let subject = format!("Notification protocols of {} reach nobody", organization.name);
            let body = letter(&organization.name, &silent);
            for owner in services.store.owners(org_id).await? {
                let (to, subject, body) = (EmailTo::Person(owner), subject.clone(), body.clone());
                change.outbox_add_for(org_id, now, &OutboxEntry::Email { to, subject, body, calendar: None });
            }
        }
        arm(&mut change, org_id, now);
        turn.commit(change).await
    }
}

fn is_due(watched: &WatchedProtocol, now: Timestamp) -> bool {
    let protocol = &watched.protocol;
    protocol.draft.enabled && watched.warned_at.is_none_or(|at| protocol.updated_at > at || now >= at.after(WARN_EVERY))
}

fn silent(watched: &WatchedProtocol, reaches_nobody: impl Fn(&Rule) -> bool) -> Option<Silent<'_>> {
    if watched.protocol.inactive() == Some(Inactive::NotAttached) {
        return Some(Silent { watched, why: Why::NotAttached });
    }
    let rules = watched.protocol.draft.rules.iter().enumerate();
    let rules: Vec<_> = rules.filter_map(|(place, rule)| reaches_nobody(rule).then_some(place)).collect();
    (!rules.is_empty()).then_some(Silent { watched, why: Why::Rules(rules) })
}

fn letter(organization: &str, silent: &[Silent<'_>]) -> String {
    let mut text = format!("When something happens in {organization}, these would tell nobody:\n\n");
    for Silent { watched, why } in silent {
        let draft = &watched.protocol.draft;
        // Writing to a String can't fail.
        let _ = match why {
            Why::NotAttached => {
                writeln!(text, "- {}: it is attached to nothing, and so applies to no event", draft.name)
            }
            Why::Rules(places) => places.iter().try_for_each(|place| {
                let events = draft.rules[*place].events.join(", ");
                writeln!(text, "- {}, rule {} ({events})", draft.name, place + 1)
            }),
        };
    }
    text.push_str(
        "\nOf a rule that tells nobody, the people whom it names have left, nobody is on call, or none of them has a \
         confirmed telephone number or a device for the channels of the steps. The protocol's preview says which.\n\nYou hear of a protocol once a week \
         while this is so. Whoever doesn't need it can disable it or detach it.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn the_next_night_is_the_first_after_now() {
        let two = Timestamp(2 * HOUR);
        for (now, night) in [(0, two.0), (two.0 - 1, two.0), (two.0, 26 * HOUR), (12 * HOUR, 26 * HOUR)] {
            assert_eq!(next_night(Timestamp(now)), Timestamp(night), "{now}");
        }
    }
}
