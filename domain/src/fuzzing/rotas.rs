//! Rotas, quiet hours and protocols, as requests and stored rows have them.

use std::{collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Timestamp,
    id::{OrgId, RotaId, UserId},
    notify::{
        EventType, Handover, ProtocolDraft, QuietHours, Rota, RotaDraft, RotaOverride, Rule, TurnStart, Zone,
        rota::{ASKABLE, RotaChange},
    },
    problems::Problems,
};

/// When somebody is on call, and when not to be interrupted.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    zone: Zone,
    people: Vec<UserId>,
    /// Those of the people who have left.
    left: Vec<UserId>,
    handover: Option<Handover>,
    start: Timestamp,
    overrides: Vec<RotaOverride>,
    quiet: Option<QuietHours>,
    rules: Vec<Rule>,
    /// The moments that are asked about.
    at: Vec<Timestamp>,
}

/// JSON of all that. Somebody is on call at every moment, turns join, and quiet hours end.
pub fn rotas(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    let moments = || asked.at.iter().take(8).copied();
    if let Some(handover) = &asked.handover {
        rota(&asked, handover, moments());
    }
    if let Some(quiet) = &asked.quiet {
        quiet_hours(quiet, &asked.zone, moments());
    }
    protocol(asked.rules.clone(), moments());
}

/// What comes back from where it is kept as JSON.
fn stored<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("what is kept can be written");
    serde_json::from_str(&text).expect("what was written can be read")
}

fn rota(asked: &Asked, handover: &Handover, moments: impl Iterator<Item = Timestamp>) {
    let (people, zone) = (asked.people.clone(), asked.zone.clone());
    let draft = RotaDraft { name: "Nights".to_owned(), people, handover: handover.clone(), zone };
    let Ok(draft) = draft.check() else { return };
    assert_eq!(stored(&draft.handover), draft.handover);
    let now = Timestamp(1_700_000_000_000);
    let mut rota = Rota {
        id: RotaId::new(now),
        org_id: OrgId::new(now),
        draft,
        start: TurnStart { at: asked.start, place: 0 },
        overrides: Vec::new(),
        created_by: UserId::new(now),
        created_at: now,
        updated_at: now,
    };
    for one in asked.overrides.iter().take(8) {
        let _ = rota.override_add(*one, now);
    }
    let left: BTreeSet<_> = asked.left.iter().copied().collect();
    for at in moments {
        on_call(&rota, at, &|user_id| !left.contains(&user_id));
        let renamed = rota.changed(RotaChange { name: Some("Days".to_owned()), ..RotaChange::default() }, at);
        assert_eq!(renamed.map(|renamed| renamed.start).ok(), Some(rota.start), "a name moves no turn");
    }
}

/// Who is on call at `at` is so from the first to the last moment that it is said of, and no longer.
fn on_call(rota: &Rota, at: Timestamp, is_member: &dyn Fn(UserId) -> bool) {
    let asked = at.clamp(*ASKABLE.start(), *ASKABLE.end());
    let Some(found) = rota.on_call(at, is_member) else {
        assert!(!rota.draft.people.iter().any(|user_id| is_member(*user_id)), "nobody is on call");
        return;
    };
    assert!(
        is_member(found.user_id) && found.since <= asked && asked < found.until.max(Timestamp(asked.0 + 1)),
        "{found:?}"
    );
    for moment in [found.since, Timestamp(found.until.0 - 1)] {
        if ASKABLE.contains(&moment) && moment >= found.since && moment < found.until {
            assert_eq!(rota.on_call(moment, is_member), Some(found), "asked at {moment}");
        }
    }
}

fn quiet_hours(quiet: &QuietHours, zone: &Zone, moments: impl Iterator<Item = Timestamp>) {
    assert_eq!(stored(quiet), *quiet);
    let mut problems = Problems::new();
    quiet.check("quietHours", &mut problems);
    for at in moments {
        let Some(until) = quiet.quiet_until(zone, at) else { continue };
        assert!(until > at, "they end after {at}");
        // At the ends of time there are no whole weeks.
        if problems.is_empty() && ASKABLE.contains(&at) {
            assert_eq!(quiet.quiet_until(zone, until), None, "it is quiet on");
        }
    }
}

fn protocol(rules: Vec<Rule>, moments: impl Iterator<Item = Timestamp>) {
    let draft = ProtocolDraft { name: "Nights".to_owned(), description: None, enabled: true, rules };
    let Ok(draft) = draft.check() else { return };
    assert_eq!(stored(&draft.rules), draft.rules);
    assert_eq!(draft.clone().check().ok().as_ref(), Some(&draft));
    let event = EventType::find("ops.alarm").expect("an event");
    for at in moments {
        for rule in &draft.rules {
            for starts_at in [None, Some(at.after(Duration::from_secs(600))), Some(at.before(Duration::from_secs(1)))] {
                let times = rule.step_times(at, starts_at);
                assert!(times.iter().all(|time| time.at >= at && time.step < rule.steps.len()));
            }
            let overrides = |step| rule.asked(step, event).overrides_quiet_hours;
            assert!(rule.steps.iter().all(|step| overrides(step) == rule.override_quiet_hours));
        }
    }
}
