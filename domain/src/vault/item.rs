//! Changing items: one request, many changes, each answered on its own (contract A 3, 4.2).

use std::collections::{HashMap, HashSet};

use super::{CHANGES_PER_REQUEST, ItemId, Sealed};
use crate::{
    error::{Error, Result},
    problems::Problems,
    time::Timestamp,
};

/// What a device sealed of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemContent {
    /// The item's key, sealed with the vault's.
    pub key: Sealed,
    /// What lists show, sealed.
    pub overview: Sealed,
    /// The rest, sealed.
    pub details: Sealed,
}

impl ItemContent {
    /// Bytes of all that is sealed, as JSON text.
    pub fn bytes(&self) -> usize {
        [&self.key, &self.overview, &self.details].map(Sealed::bytes).iter().sum()
    }
}

/// An item as it is kept. A deleted one keeps its id and revision, so that other devices learn of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The id that a device made.
    pub item_id: ItemId,
    /// Rises by one with every change; the first is 1.
    pub revision: i64,
    /// What the device sealed; nothing for a deleted item.
    pub content: Option<ItemContent>,
    /// When the item was first made.
    pub created_at: Timestamp,
    /// When this revision was made.
    pub updated_at: Timestamp,
}

/// What is known of an item without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemHead {
    /// The revision now.
    pub revision: i64,
    /// Whether only its tombstone is left.
    pub deleted: bool,
    /// When the item was first made.
    pub created_at: Timestamp,
}

/// Where every item of a vault stands, tombstones included.
pub type ItemHeads = HashMap<ItemId, ItemHead>;

/// One change, as a device asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemChange {
    /// The item.
    pub item_id: ItemId,
    /// The revision that the device last saw; 0 for a new item.
    pub base_revision: i64,
    /// Whether the item is to be deleted.
    pub deleted: bool,
    /// The item's key, sealed.
    pub key: Option<Sealed>,
    /// What lists show, sealed.
    pub overview: Option<Sealed>,
    /// The rest, sealed.
    pub details: Option<Sealed>,
}

/// What a change comes to, once its form is known to be sound.
enum Edit<'a> {
    Delete,
    Put { key: &'a Sealed, overview: &'a Sealed, details: &'a Sealed },
}

impl ItemChange {
    fn edit(&self) -> std::result::Result<Edit<'_>, Rejection> {
        let rejected = |why| Err(Rejection::Invalid(why));
        match (self.deleted, &self.key, &self.overview, &self.details) {
            (true, None, None, None) if self.base_revision > 0 => Ok(Edit::Delete),
            (true, None, None, None) => rejected("A deletion needs the revision that it deletes."),
            (true, ..) => rejected("A deletion has no key, overview or details."),
            (false, Some(key), Some(overview), Some(details)) => {
                if key.bytes() > Sealed::KEY_BYTES_MAX {
                    return rejected("The key is over 8 KB.");
                }
                if overview.bytes() > Sealed::OVERVIEW_BYTES_MAX {
                    return rejected("The overview is over 64 KB.");
                }
                if details.bytes() > Sealed::DETAILS_BYTES_MAX {
                    return rejected("The details are over 1 MB.");
                }
                Ok(Edit::Put { key, overview, details })
            }
            (false, ..) => rejected("An item needs a key, an overview and details."),
        }
    }
}

/// The changes of one request: 1 to 50, of different items.
#[derive(Clone, Debug)]
pub struct ItemChanges(Vec<ItemChange>);

impl ItemChanges {
    /// Checks how many changes there are (contract A 8), and that each item changes once (contract A 4.2).
    pub fn check(changes: Vec<ItemChange>) -> Result<Self> {
        if !CHANGES_PER_REQUEST.contains(&changes.len()) {
            return Err(Error::invalid("changes", "Send 1 to 50 changes."));
        }
        let mut problems = Problems::new();
        let mut seen = HashSet::with_capacity(changes.len());
        for (place, change) in changes.iter().enumerate() {
            if !seen.insert(change.item_id) {
                problems.add(format!("changes[{place}].itemId"), "Each item may change once in a request.");
            }
        }
        problems.into_result().map(|()| Self(changes))
    }

    /// The changes in the order in which they were sent.
    pub fn as_slice(&self) -> &[ItemChange] {
        &self.0
    }
}

/// Why a change is refused whatever the item's revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The vault is full (`limit`).
    Limit,
    /// The change makes no sense as it stands (`invalid`), for this reason.
    Invalid(&'static str),
}

/// What became of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done; this is the item's head now.
    Done(ItemHead),
    /// The item is at another revision, or there is none.
    Conflict,
    /// Refused.
    Rejected(Rejection),
}

/// How many items a vault holds, and how many it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRoom {
    /// Live items now.
    pub live: u64,
    /// Live items at most (`vault.max_items`).
    pub live_max: u64,
}

impl ItemRoom {
    /// Ids that a vault may use up, as a multiple of `live_max`: tombstones are kept for ever, so there is an end.
    const IDS_PER_LIVE_MAX: u64 = 10;

    fn ids_max(self) -> u64 {
        self.live_max.saturating_mul(Self::IDS_PER_LIVE_MAX)
    }
}

/// What becomes of a request's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// One for each change, in the order in which they were sent.
    pub outcomes: Vec<Outcome>,
    /// Live items afterwards.
    pub live: u64,
}

impl Decision {
    /// Whether anything was changed.
    pub fn changes_anything(&self) -> bool {
        self.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Done(_)))
    }
}

/// Decides what becomes of the changes: deletions first, then the rest, each group in the order of the request.
///
/// A change whose form is unsound is refused whatever the item's revision; then a change of another revision than the
/// current one is a conflict; then a change that would make one live item too many is refused. A change at a
/// tombstone's revision brings the item back, and counts as one more live item.
pub fn decide(changes: &ItemChanges, heads: &ItemHeads, room: ItemRoom, now: Timestamp) -> Decision {
    let mut tally = Tally { heads, room, ids: heads.len() as u64, now };
    let mut outcomes = vec![Outcome::Conflict; changes.0.len()];
    for deletions in [true, false] {
        for (change, outcome) in changes.0.iter().zip(&mut outcomes) {
            if change.deleted == deletions {
                *outcome = tally.outcome(change);
            }
        }
    }
    Decision { outcomes, live: tally.room.live }
}

/// What the changes decided so far add up to. No item changes twice in a request, so the heads need no change.
struct Tally<'a> {
    heads: &'a ItemHeads,
    room: ItemRoom,
    ids: u64,
    now: Timestamp,
}

impl Tally<'_> {
    fn outcome(&mut self, change: &ItemChange) -> Outcome {
        let edit = match change.edit() {
            Ok(edit) => edit,
            Err(rejection) => return Outcome::Rejected(rejection),
        };
        let head = self.heads.get(&change.item_id).copied();
        if head.map_or(0, |head| head.revision) != change.base_revision {
            return Outcome::Conflict;
        }
        let was_live = head.is_some_and(|head| !head.deleted);
        let is_live = matches!(edit, Edit::Put { .. });
        if is_live && !was_live {
            if self.room.live >= self.room.live_max || (head.is_none() && self.ids >= self.room.ids_max()) {
                return Outcome::Rejected(Rejection::Limit);
            }
            self.room.live += 1;
            self.ids += u64::from(head.is_none());
        } else if was_live && !is_live {
            self.room.live -= 1;
        }
        Outcome::Done(ItemHead {
            revision: change.base_revision + 1,
            deleted: !is_live,
            created_at: head.map_or(self.now, |head| head.created_at),
        })
    }
}

/// The items that a decision changes, as they are afterwards.
pub fn changed_items<'a>(
    changes: &'a ItemChanges,
    decision: &'a Decision,
    now: Timestamp,
) -> impl Iterator<Item = Item> + 'a {
    changes.0.iter().zip(&decision.outcomes).filter_map(move |(change, outcome)| {
        let (Outcome::Done(head), Ok(edit)) = (outcome, change.edit()) else { return None };
        let content = match edit {
            Edit::Delete => None,
            Edit::Put { key, overview, details } => {
                Some(ItemContent { key: key.clone(), overview: overview.clone(), details: details.clone() })
            }
        };
        Some(Item {
            item_id: change.item_id,
            revision: head.revision,
            content,
            created_at: head.created_at,
            updated_at: now,
        })
    })
}

#[cfg(test)]
mod tests;
