//! What is there of the work of some topics, for operators.

use domain::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};

use super::{DEAD, Work, row};
use crate::{Store, StoreError, reader::Reads};

/// How an entry that was not given up stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkState {
    /// It waits for a node to take it.
    Waiting,
    /// A node works on it.
    Running,
    /// It waits until it is due, or until it is tried again.
    Delayed,
}

impl WorkState {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Delayed => "delayed",
        }
    }
}

impl Work {
    /// How it stands at `now`; none for one that was given up. Whoever took it and let the lease end works on it no more.
    pub fn state(&self, now: Timestamp) -> Option<WorkState> {
        Some(match self.wake_at? {
            wake_at if wake_at <= now => WorkState::Waiting,
            _ if self.is_claimed => WorkState::Running,
            _ => WorkState::Delayed,
        })
    }
}

impl Store {
    /// The entries of these topics that were not given up, newest first, at most `limit`.
    pub async fn work_listed(&self, topics: &[&str], limit: u32) -> Result<Vec<Work>, StoreError> {
        let select = of_topics(topics).order_by_desc(row::Column::Seq).limit(u64::from(limit));
        Ok(select.read_all(self.reader()).await?.into_iter().map(Work::from).collect())
    }

    /// How many entries of these topics there are that were not given up.
    pub async fn work_listed_len(&self, topics: &[&str]) -> Result<u64, StoreError> {
        of_topics(topics).read_count(self.reader()).await
    }
}

fn of_topics(topics: &[&str]) -> Select<row::Entity> {
    row::Entity::find().filter(row::Column::Topic.is_in(topics.iter().copied())).filter(row::Column::WakeAt.lt(DEAD.0))
}
