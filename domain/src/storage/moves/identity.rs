//! Moves that are under way: which of them a request means, and whether it may go on with them.

use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::Moves;
use crate::{error::Result, storage::move_under_way};

/// How long moves wait for whoever asked for them to resume them, before they finish by themselves.
pub const MOVE_LEFT_ALONE: Duration = Duration::from_secs(30);

/// What the same moves are recognized by, in whichever order a request names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MoveId([u8; 32]);

/// Whether a request goes on with what is under way (contract C 4.4, `resume`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub enum Resume {
    /// It begins.
    #[default]
    No,
    /// It goes on.
    Yes,
}

impl From<bool> for Resume {
    fn from(resume: bool) -> Self {
        if resume { Self::Yes } else { Self::No }
    }
}

/// What the journal has of the moves that a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveJournal {
    /// Nothing: they never began, or have ended.
    Nothing,
    /// They are under way.
    UnderWay,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStart {
    /// Checks what there is, and begins.
    Begin,
    /// Goes on from the journal's cursor.
    Continue,
    /// Nothing: all was moved before (`{moved: 0, done: true}`).
    Done,
}

impl MoveStart {
    /// Decides; 409 where moves that are under way would begin again.
    pub fn decide(journal: MoveJournal, resume: Resume) -> Result<Self> {
        match (journal, resume) {
            (MoveJournal::Nothing, Resume::No) => Ok(Self::Begin),
            (MoveJournal::UnderWay, Resume::Yes) => Ok(Self::Continue),
            (MoveJournal::Nothing, Resume::Yes) => Ok(Self::Done),
            (MoveJournal::UnderWay, Resume::No) => Err(move_under_way()),
        }
    }
}

impl Moves {
    /// What these moves are recognized by.
    pub fn id(&self) -> MoveId {
        let mut files: Vec<_> = self.files.iter().map(|it| [it.from.as_str(), it.to.as_str()]).collect();
        let mut folders: Vec<_> = self.folders.iter().map(|it| [it.from.as_str(), it.to.as_str()]).collect();
        files.sort_unstable();
        folders.sort_unstable();
        let mut digest = Sha256::new();
        for path in files.iter().chain(&folders).flatten() {
            // No path has a zero in it, and only those of folders end with `/`.
            digest.update(path.as_bytes());
            digest.update([0]);
        }
        MoveId(digest.finalize().into())
    }
}

impl MoveId {
    /// The bytes, as they are kept.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The id that was kept.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}
