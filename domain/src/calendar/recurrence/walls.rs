//! The occurrences that a rule gives, on the wall.

use super::{
    blocks::Blocks,
    leaps::Leaps,
    plan::Plan,
    rule::{Frequency, Rule},
    wall::Wall,
};

/// Places that are looked at in vain before a walk gives up. No window of 400 days has a quarter of that, whatever the
/// rule.
pub const STEPS_MAX: u64 = 5_000_000;

/// What a rule gives, from a place on, in order. Nothing is walked over that lies before.
///
/// Neither the count of a rule nor its end, nor that its first occurrence counts when the rule doesn't give it, is
/// known here.
#[derive(Clone, Debug)]
pub struct Walls {
    plan: Plan,
    walk: Walk,
    steps: u64,
}

#[derive(Clone, Debug)]
enum Walk {
    Blocks(Blocks),
    Leaps(Leaps),
}

impl Walls {
    /// What `rule` gives between `from` and `to`, both included, for a series that begins at `start`.
    pub fn new(rule: &Rule, start: Wall, from: Wall, to: Wall) -> Self {
        let plan = Plan::new(rule, start);
        let walk = if plan.frequency < Frequency::Daily {
            Walk::Blocks(Blocks::new(&plan, from, to))
        } else {
            Walk::Leaps(Leaps::new(&plan, from, to))
        };
        Self { plan, walk, steps: STEPS_MAX }
    }

    /// Whether the walk ended because too much was looked at in vain, and not because there is nothing more.
    pub const fn gave_up(&self) -> bool {
        self.steps == 0
    }
}

impl Iterator for Walls {
    type Item = Wall;

    fn next(&mut self) -> Option<Wall> {
        match &mut self.walk {
            Walk::Blocks(blocks) => blocks.next(&self.plan, &mut self.steps),
            Walk::Leaps(leaps) => leaps.next(&self.plan, &mut self.steps),
        }
    }
}
