//! Changing items.

use domain::{
    Result, Timestamp,
    vault::{
        Decision, Item, ItemChanges, ItemHead, ItemId, ItemRoom, Outcome, Proof, Rejection, VaultId, VaultRecord,
        changed_items, decide, not_your_vault,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
};

use super::{Signer, Vault, tell};

/// Changes items, each answered on its own.
#[derive(Debug)]
pub struct ChangeItems {
    /// The vault that the request named.
    pub vault_id: VaultId,
    /// The changes.
    pub changes: ItemChanges,
    /// The signature.
    pub proof: Proof,
}

/// What became of the changes.
#[derive(Debug)]
pub struct ItemsChanged {
    /// One for each change, in the order in which they were sent.
    pub results: Vec<ItemResult>,
    /// The vault's revision now.
    pub revision: i64,
    /// The vault's live items now.
    pub item_count: u64,
}

/// What became of one change.
#[derive(Debug)]
pub enum ItemResult {
    /// Done.
    Done {
        /// The item.
        item_id: ItemId,
        /// Where it stands now.
        head: ItemHead,
        /// When it was changed.
        updated_at: Timestamp,
    },
    /// The item is at another revision.
    Conflict {
        /// The item.
        item_id: ItemId,
        /// The item as it is, where there is one.
        current: Option<Item>,
    },
    /// Refused.
    Rejected {
        /// The item.
        item_id: ItemId,
        /// Why.
        rejection: Rejection,
    },
}

impl Command for ChangeItems {
    type Reply = ItemsChanged;

    const NAME: &'static str = "change_items";
}

impl Handle<ChangeItems> for Vault {
    async fn handle(&mut self, command: &ChangeItems, turn: &mut Turn<'_, Self>) -> Result<ItemsChanged> {
        let outcome = self.change_items(command, turn).await;
        self.answer(outcome, turn).await
    }
}

impl Vault {
    async fn change_items(&mut self, command: &ChangeItems, turn: &mut Turn<'_, Self>) -> Result<ItemsChanged> {
        let (user_id, now) = (*turn.key(), turn.now());
        let ChangeItems { vault_id, changes, proof } = command;
        if self.open()?.record.vault_id != *vault_id {
            return Err(not_your_vault());
        }
        let signed = self.signed(proof, Signer::Registered, now)?;
        let open = self.open()?;
        let room = ItemRoom { live: open.record.item_count, live_max: turn.services().settings.vault_items_max };
        let decision = decide(changes, &open.items, room, now);
        // Read before the commit, whose version check then vouches for what was read.
        let current = turn.services().store.vault_items(user_id, &conflicts(changes, &decision)).await?;

        let mut record = open.record.clone();
        let mut change = Change::new();
        if decision.changes_anything() {
            record =
                VaultRecord { revision: record.revision + 1, item_count: decision.live, updated_at: now, ..record };
            change.vault_items_changed(open.seen, &record);
            change.vault_items_put(user_id, changed_items(changes, &decision, now));
            tell::changed(&mut change, user_id, (record.vault_id, record.revision), now);
            let entry = AuditEntry::new(turn.context(), "vault.items_changed", AuditTarget::new("vault", vault_id));
            change.audit_add(now, entry.with_metadata(json!({ "revision": record.revision })));
        } else {
            change.vault_confirm(open.seen);
        }
        self.commit(change, signed, turn).await?;

        let answer = ItemsChanged {
            results: results(changes, &decision, current, now),
            revision: record.revision,
            item_count: record.item_count,
        };
        let open = self.open_mut()?;
        open.seen = open.seen.next();
        open.record = record;
        open.items.extend(answer.results.iter().filter_map(ItemResult::new_head));
        Ok(answer)
    }
}

impl ItemResult {
    fn new_head(&self) -> Option<(ItemId, ItemHead)> {
        match self {
            Self::Done { item_id, head, .. } => Some((*item_id, *head)),
            Self::Conflict { .. } | Self::Rejected { .. } => None,
        }
    }
}

fn conflicts(changes: &ItemChanges, decision: &Decision) -> Vec<ItemId> {
    let decided = changes.as_slice().iter().zip(&decision.outcomes);
    decided.filter(|(_, outcome)| matches!(outcome, Outcome::Conflict)).map(|(change, _)| change.item_id).collect()
}

fn results(changes: &ItemChanges, decision: &Decision, current: Vec<Item>, now: Timestamp) -> Vec<ItemResult> {
    let mut current: std::collections::HashMap<_, _> = current.into_iter().map(|item| (item.item_id, item)).collect();
    let decided = changes.as_slice().iter().zip(&decision.outcomes);
    decided
        .map(|(change, outcome)| {
            let item_id = change.item_id;
            match *outcome {
                Outcome::Done(head) => ItemResult::Done { item_id, head, updated_at: now },
                Outcome::Conflict => ItemResult::Conflict { item_id, current: current.remove(&item_id) },
                Outcome::Rejected(rejection) => ItemResult::Rejected { item_id, rejection },
            }
        })
        .collect()
}
