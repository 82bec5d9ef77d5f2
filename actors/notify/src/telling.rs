//! The record of who was told of an escalation.

use domain::{
    Timestamp,
    id::{EscalationId, UserId},
    notify::{Outcome, WhyNot, escalation::Passed},
};
use store::{
    Change,
    notify::escalations::{Occasion, Telling},
};

use super::tell::Told;

/// Notes what became of telling somebody. A channel over which nobody wanted them told needs no word.
pub(super) fn note(
    change: &mut Change,
    id: EscalationId,
    occasion: Occasion,
    user_id: UserId,
    told: &[Told],
    at: Timestamp,
) {
    let asked = told.iter().filter(|told| told.reach.outcome != Outcome::Not(WhyNot::NotChosen));
    for Told { reach, delivery_id } in asked {
        let (held_until, why_not) = match &reach.outcome {
            Outcome::Now(_) => (None, None),
            Outcome::Held { until, .. } => (Some(*until), None),
            Outcome::Not(why) => (None, Some(why.to_string())),
        };
        let (user_id, channel, delivery_id) = (Some(user_id), Some(reach.channel), *delivery_id);
        change
            .escalation_telling_add(id, &Telling { occasion, user_id, channel, delivery_id, held_until, why_not, at });
    }
}

/// Notes that somebody wasn't told at all, or that there was nobody to tell.
pub(super) fn note_passed(
    change: &mut Change,
    id: EscalationId,
    occasion: Occasion,
    (user_id, why): (Option<UserId>, Passed),
    at: Timestamp,
) {
    let why_not = Some(why.to_string());
    let telling = Telling { occasion, user_id, channel: None, delivery_id: None, held_until: None, why_not, at };
    change.escalation_telling_add(id, &telling);
}
