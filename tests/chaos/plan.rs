//! What goes wrong, and how chance chooses it.

use serde::{Deserialize, Serialize};

use crate::harness::Dice;

const ACTS_MIN: u64 = 4;
const ACTS_MORE: u64 = 3;
/// What everybody does in an act: at least, and so much more at most.
const WORK_MIN: u64 = 3;
const WORK_MORE: u64 = 5;
/// Kinds of actors that work in every act.
const KINDS: &[&str] =
    &["backup", "vault", "page_tree", "page_session", "organization", "escalation", "inbox", "person", "protocols"];

/// Acts, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub seed: u64,
    pub acts: Vec<Act>,
}

/// Everybody works while something goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// What everybody's own choices come from.
    pub seed: u64,
    /// How much each does.
    pub work: u64,
    #[serde(flatten)]
    pub trouble: Trouble,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "trouble", rename_all = "snake_case")]
pub enum Trouble {
    /// All is well.
    None,
    /// Faults of the server, as `store::faults` reads them, for a time where they don't end by themselves.
    Faults {
        rules: String,
        ms: Option<u64>,
    },
    /// PostgreSQL breaks its connections, and new ones.
    DatabaseAway {
        ms: u64,
    },
    /// PostgreSQL takes connections and says nothing.
    DatabaseHangs {
        ms: u64,
    },
    RedisAway {
        ms: u64,
    },
    RedisHangs {
        ms: u64,
    },
    ClockJumps {
        ms: i64,
    },
    /// An organization emits so many events at once.
    NoisyOrganization {
        events: u64,
    },
    /// Folds fail while the page is written from outside.
    FoldsFail {
        rules: String,
    },
    /// Somebody who may only look asks for the whole of a page so often.
    SyncFlood {
        questions: u64,
    },
}

impl Trouble {
    /// Whether some answers of 500 are what was asked for.
    pub fn may_fail(&self) -> bool {
        matches!(self, Self::Faults { rules, .. } | Self::FoldsFail { rules } if rules.contains("panic") || rules.contains("fail"))
    }
}

impl Plan {
    /// The plan that this seed makes.
    pub fn random(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let count = ACTS_MIN + dice.below(ACTS_MORE);
        let acts = (0..count).map(|_| Act {
            trouble: trouble(&mut dice),
            work: WORK_MIN + dice.below(WORK_MORE),
            seed: dice.next(),
        });
        let acts = acts.collect();
        Self { seed, acts }
    }
}

fn trouble(dice: &mut Dice) -> Trouble {
    let ms = 100 + dice.below(900);
    match dice.below(100) {
        0..4 => Trouble::None,
        4..24 => rules(handler(dice)),
        24..36 => rules(load(dice)),
        36..56 => rules(commit(dice)),
        56..62 => Trouble::Faults { rules: "disk=full".to_owned(), ms: Some(ms) },
        62..74 => Trouble::DatabaseAway { ms },
        74..80 => Trouble::DatabaseHangs { ms },
        80..86 => Trouble::RedisAway { ms },
        86..88 => Trouble::RedisHangs { ms },
        88..90 => Trouble::NoisyOrganization { events: 500 + dice.below(2_000) },
        90..92 => Trouble::FoldsFail { rules: fold(dice) },
        92..94 => Trouble::SyncFlood { questions: 500 + dice.below(3_000) },
        // Less than the five minutes that a signature counts for, which may be on its way just then.
        _ => Trouble::ClockJumps { ms: i64::try_from(dice.below(230_000)).expect("a small number") - 30_000 },
    }
}

fn rules(rules: String) -> Trouble {
    Trouble::Faults { rules, ms: None }
}

/// Handlers panic or take long; often enough for quarantine, now and then.
fn handler(dice: &mut Dice) -> String {
    let (kind, often) = (dice.pick(KINDS).to_owned(), often(dice));
    match dice.below(4) {
        0 => format!("handler:{kind}=stall(200ms);every=2;times=6"),
        1 => format!("handler:{kind}=panic;times={}", 6 + dice.below(4)),
        _ => format!("handler:{kind}=panic;{often}"),
    }
}

/// What crashed is loaded, and that fails.
fn load(dice: &mut Dice) -> String {
    let (kind, often) = (dice.pick(KINDS).to_owned(), often(dice));
    let effect = dice.pick(&["fail", "away", "panic", "stall(150ms)"]).to_owned();
    format!("load:{kind}={effect};{often}\nhandler:{kind}=panic;every=3;times=3")
}

/// Commits are not made, or made without anybody hearing so.
fn commit(dice: &mut Dice) -> String {
    let (kind, often) = (dice.pick(KINDS).to_owned(), often(dice));
    let effect = dice.pick(&["fail", "away", "lose", "panic", "stall(100ms)"]).to_owned();
    if dice.percent(30) {
        // Those of the outbox, the timers and the deliveries too.
        let effect = if effect == "panic" { "lose" } else { effect };
        return format!("commit={effect};every={};times={}", 2 + dice.below(4), 5 + dice.below(20));
    }
    format!("commit:{kind}={effect};{often}")
}

/// What was edited together can't be stored before somebody writes from outside.
fn fold(dice: &mut Dice) -> String {
    let effect = dice.pick(&["fail", "away", "lose", "stall(200ms)"]).to_owned();
    format!("commit:page_fold={effect};{}", often(dice))
}

fn often(dice: &mut Dice) -> String {
    format!("every={};times={}", 1 + dice.below(4), 1 + dice.below(5))
}

#[test]
fn a_plan_is_its_seed_reads_back_and_its_rules_say_something() {
    let plan = Plan::random(7);
    assert_eq!(plan, Plan::random(7));
    assert_ne!(plan.acts, Plan::random(8).acts);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    let faults = store::Faults::default();
    for act in (0..200).flat_map(|seed| Plan::random(seed).acts) {
        if let Trouble::Faults { rules, .. } | Trouble::FoldsFail { rules } = act.trouble {
            faults.set(&rules).expect("rules");
        }
    }
}
