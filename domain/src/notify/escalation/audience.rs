//! Whom a step is for.

use std::collections::BTreeSet;

use crate::{app::names, id::UserId};

/// Who could be meant when a step runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audience {
    /// To whom the rest of the escalation was handed.
    pub handed_to: Option<UserId>,
    /// Whether the step goes to a rota.
    pub is_rota: bool,
    /// Who is on call there now.
    pub on_call: Option<UserId>,
    /// The people whom the rule names, and the members with its roles.
    pub named: Vec<UserId>,
    /// Whether the rule names people or roles at all.
    pub names_anybody: bool,
    /// The people whom the event concerns.
    pub concerned: Vec<UserId>,
    /// Those of all these who belong to the organization now.
    pub members: BTreeSet<UserId>,
    /// Those who acknowledged the event.
    pub acknowledged: BTreeSet<UserId>,
}

names! {
    /// Why a step tells somebody nothing.
    Passed {
        NotAMember = "not_a_member", Acknowledged = "already_acknowledged", NobodyOnCall = "nobody_on_call",
        Nobody = "nobody_named",
    }
}

/// Whom a step tells, and whom it doesn't.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// Who is told, each once.
    pub told: Vec<UserId>,
    /// Who isn't, and why; nobody in particular when there is nobody to tell.
    pub passed: Vec<(Option<UserId>, Passed)>,
}

/// Whom a step is for: whoever the escalation was handed to, else whoever is on call, else whom the rule names, else whom
/// the event concerns; but nobody who doesn't belong to the organization any more or who has acknowledged.
pub fn pick(audience: &Audience) -> Pick {
    let (candidates, nobody) = match audience {
        Audience { handed_to: Some(user_id), .. } => (vec![*user_id], Passed::Nobody),
        Audience { is_rota: true, on_call, .. } => (on_call.iter().copied().collect(), Passed::NobodyOnCall),
        Audience { names_anybody: true, named, .. } => (named.clone(), Passed::Nobody),
        Audience { concerned, .. } => (concerned.clone(), Passed::Nobody),
    };
    let mut pick = Pick::default();
    let mut seen = BTreeSet::new();
    for user_id in candidates.into_iter().filter(|user_id| seen.insert(*user_id)) {
        if !audience.members.contains(&user_id) {
            pick.passed.push((Some(user_id), Passed::NotAMember));
        } else if audience.acknowledged.contains(&user_id) {
            pick.passed.push((Some(user_id), Passed::Acknowledged));
        } else {
            pick.told.push(user_id);
        }
    }
    if seen.is_empty() {
        pick.passed.push((None, nobody));
    }
    pick
}
