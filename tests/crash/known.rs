//! What a client knows of something that it writes.

use std::fmt::Debug;

/// The state that was acknowledged last, and the one that a write without an answer would lead to.
#[derive(Clone, Debug)]
pub struct Known<T> {
    pub sure: T,
    pub perhaps: Option<T>,
}

/// What became of the writes without an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub unsure: u32,
    pub survived: u32,
}

impl<T: PartialEq + Debug> Known<T> {
    pub fn new(sure: T) -> Self {
        Self { sure, perhaps: None }
    }

    /// The write has been answered: it must stay.
    pub fn acknowledge(&mut self) {
        self.sure = self.perhaps.take().expect("a write under way");
    }

    /// What is really there: what was acknowledged, or all of what was under way.
    #[track_caller]
    pub fn settle(&mut self, found: T, whose: &str) -> Outcome {
        let unsure = u32::from(self.perhaps.is_some());
        let survived = u32::from(found != self.sure);
        assert!(
            survived == 0 || self.perhaps.as_ref() == Some(&found),
            "{whose}: acknowledged was {:#?}\nunder way was {:#?}\nfound was {found:#?}",
            self.sure,
            self.perhaps
        );
        *self = Self::new(found);
        Outcome { unsure, survived }
    }
}

impl std::iter::Sum for Outcome {
    fn sum<I: Iterator<Item = Self>>(outcomes: I) -> Self {
        let add =
            |sum: Self, one: Self| Self { unsure: sum.unsure + one.unsure, survived: sum.survived + one.survived };
        outcomes.fold(Self::default(), add)
    }
}
