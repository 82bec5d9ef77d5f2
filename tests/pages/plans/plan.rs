//! What a plan consists of, and how chance makes one.

use serde::{Deserialize, Serialize};

use crate::harness::Dice;

/// What is typed: letters of one to four bytes in UTF-8 and one or two units in UTF-16.
const TYPED: &[&str] = &["a", "word ", "é", "漢字", "🙂", "\n", "# Title\n", "a somewhat longer sentence. ", "👩‍👩‍👧"];
const FORMATS: &[&str] = &["bold", "italic", "link"];
const STEPS_MIN: u64 = 20;
const STEPS_MORE: u64 = 30;
const PAUSE_MS_MAX: u64 = 40;

/// Clients on documents, and what happens to them, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
    pub documents: usize,
    /// Client `n` has document `n % documents` open.
    pub clients: usize,
    pub steps: Vec<Step>,
}

/// One thing that happens. Places are counted in characters, from the start again where the text ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Step {
    Insert {
        client: usize,
        at: u32,
        text: String,
    },
    Delete {
        client: usize,
        at: u32,
        len: u32,
    },
    Format {
        client: usize,
        at: u32,
        len: u32,
        name: String,
        on: bool,
    },
    Online {
        client: usize,
        node: usize,
    },
    Offline {
        client: usize,
    },
    /// Waits until the server has answered for what the client said.
    Confirm {
        client: usize,
    },
    /// The client's document is gone, and somebody else takes its place.
    Forget {
        client: usize,
    },
    Pause {
        ms: u64,
    },
    /// SIGKILL.
    Kill {
        node: usize,
    },
    /// SIGTERM.
    Stop {
        node: usize,
    },
    Start {
        node: usize,
    },
}

impl Plan {
    /// The plan that this seed makes.
    pub fn random(seed: u64, nodes: usize) -> Self {
        let mut dice = Dice::new(seed);
        let documents = 1 + index(&mut dice, 2);
        let clients = documents * (2 + index(&mut dice, 3));
        let mut making = Making { dice, clients, up: vec![true; nodes] };
        let mut steps: Vec<_> = (0..clients).map(|client| making.online(client)).collect();
        let len = STEPS_MIN + making.dice.below(STEPS_MORE);
        while (steps.len() as u64) < len {
            let step = making.step();
            steps.push(step);
        }
        Self { seed, nodes, documents, clients, steps }
    }
}

struct Making {
    dice: Dice,
    clients: usize,
    /// Which nodes run.
    up: Vec<bool>,
}

impl Making {
    fn step(&mut self) -> Step {
        let client = index(&mut self.dice, self.clients);
        let at = self.small(2_000);
        match self.dice.below(100) {
            0..38 => Step::Insert { client, at, text: self.dice.pick(TYPED).repeat(1 + index(&mut self.dice, 3)) },
            38..52 => Step::Delete { client, at, len: 1 + self.small(12) },
            52..62 => {
                let (name, on) = ((*self.dice.pick(FORMATS)).to_owned(), self.dice.percent(70));
                Step::Format { client, at, len: 1 + self.small(20), name, on }
            }
            62..68 => Step::Offline { client },
            68..80 => self.online(client),
            80..86 => Step::Confirm { client },
            86..88 => Step::Forget { client },
            88..94 => Step::Pause { ms: self.dice.below(PAUSE_MS_MAX) },
            _ => self.node(),
        }
    }

    /// A node that runs ends, and one that doesn't starts.
    fn node(&mut self) -> Step {
        let node = index(&mut self.dice, self.up.len());
        self.up[node] = !self.up[node];
        match (self.up[node], self.dice.percent(88)) {
            (true, _) => Step::Start { node },
            (false, true) => Step::Kill { node },
            (false, false) => Step::Stop { node },
        }
    }

    fn online(&mut self, client: usize) -> Step {
        Step::Online { client, node: index(&mut self.dice, self.up.len()) }
    }

    fn small(&mut self, end: u64) -> u32 {
        u32::try_from(self.dice.below(end)).expect("a small number")
    }
}

fn index(dice: &mut Dice, end: usize) -> usize {
    usize::try_from(dice.below(end as u64)).expect("a small number")
}

#[test]
fn a_plan_is_its_seed_and_reads_back() {
    let plan = Plan::random(7, 2);
    assert_eq!(plan, Plan::random(7, 2));
    assert_ne!(plan.steps, Plan::random(8, 2).steps);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
