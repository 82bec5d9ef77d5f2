//! Changes of items, signed before the clock starts.

use std::collections::VecDeque;

use serde_json::Value;

use super::owner::{Owner, ciphertext, device_made_id};
use crate::{
    load::{Bytes, Request, Traffic},
    report::Result,
    server::{Server, call},
};

/// Changes of one request, the contract's maximum (contract A 8).
pub const CHANGES: usize = 50;
/// Items of a vault before the load.
pub const ITEMS: usize = 200;
/// Bytes of ciphertext in one item: its key, what lists show, and the rest.
const ITEM_BYTES: [usize; 3] = [48, 192, 384];

/// A vault whose first items are changed again and again, each time all of them.
pub struct ChangedVault {
    owner: Owner,
    items: Vec<ItemText>,
    /// The revision that the changed items have once what was sent is answered.
    revision: u64,
    prepared: VecDeque<Bytes>,
}

/// The JSON of an item around its `baseRevision`.
pub(super) struct ItemText {
    start: String,
    end: String,
}

impl ItemText {
    pub fn new(number: usize) -> Self {
        let [key, overview, details] = ITEM_BYTES.map(ciphertext);
        Self {
            start: format!(r#"{{"itemId":"{}","baseRevision":"#, device_made_id("item", number)),
            end: format!(r#","key":"{key}","overview":"{overview}","details":"{details}"}}"#),
        }
    }
}

impl ItemText {
    /// The change of the item from this revision.
    pub fn change(&self, base_revision: u64) -> String {
        format!("{}{base_revision}{}", self.start, self.end)
    }
}

/// A request that changes these items, each from the same revision.
pub(super) fn change(owner: &Owner, items: &[ItemText], base_revision: u64) -> Result<Request> {
    let changes: Vec<_> = items.iter().map(|item| item.change(base_revision)).collect();
    owner.signed("POST", &owner.target("items"), format!(r#"{{"changes":[{}]}}"#, changes.join(",")))
}

impl ChangedVault {
    /// Fills a new vault.
    pub fn fill(server: &Server, owner: Owner) -> Result<Self> {
        let items: Vec<_> = (0..ITEMS).map(ItemText::new).collect();
        let mut vault = Self { owner, items, revision: 0, prepared: VecDeque::new() };
        for items in vault.items.chunks(CHANGES) {
            let answer = call(server.address(), change(&vault.owner, items, 0)?)?.success()?;
            every_result_is_ok(&answer)?;
        }
        vault.revision = 1;
        Ok(vault)
    }

    /// The owner of the vault.
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Signs the next requests, in place of those that were not sent.
    fn prepare(&mut self, count: usize) -> Result<()> {
        self.prepared.clear();
        for revision in (self.revision..).take(count) {
            let request = change(&self.owner, &self.items[..CHANGES], revision)?;
            self.prepared.push_back(request.bytes());
        }
        Ok(())
    }

    /// Fails unless every change that was sent was made: the index shows the revision that follows from them.
    fn check(&self, server: &Server) -> Result<()> {
        let index = call(server.address(), self.owner.get(&self.owner.target("index")))?.success()?;
        let items = index["items"].as_array().ok_or("an index without items")?;
        let changed = items.iter().filter(|item| item["revision"] == self.revision).count();
        let whole = items.len() == ITEMS && (changed == CHANGES || self.revision == 1);
        if whole { Ok(()) } else { Err("changes of items were not made".into()) }
    }
}

pub(super) fn every_result_is_ok(answer: &Value) -> Result<()> {
    let results = answer["results"].as_array().ok_or("an answer without results")?;
    let ok = results.len() == CHANGES && results.iter().all(|result| result["status"] == "ok");
    if ok { Ok(()) } else { Err(format!("items were not changed: {answer}").into()) }
}

/// One vault for each connection.
pub struct Changes(pub Vec<ChangedVault>);

impl Changes {
    /// Signs this many requests for each connection.
    pub fn prepare(&mut self, count: usize) -> Result<()> {
        self.0.iter_mut().try_for_each(|vault| vault.prepare(count))
    }

    /// Fails unless every change that was sent was made.
    pub fn check(&self, server: &Server) -> Result<()> {
        self.0.iter().try_for_each(|vault| vault.check(server))
    }
}

impl Traffic for Changes {
    fn next(&mut self, connection: usize) -> Option<Bytes> {
        let vault = self.0.get_mut(connection)?;
        let request = vault.prepared.pop_front()?;
        vault.revision += 1;
        Some(request)
    }
}
