//! The passwords vault of one person, changed several items at a time.

use std::collections::BTreeMap;

use serde_json::Value;
use store::Clock;

use super::{
    definite,
    known::{Known, Outcome},
};
use crate::harness::{Answer, Client, Dice, VaultDevice, item_deletion, item_put};

/// Items that a vault's changes pick from.
const ITEMS: usize = 12;
/// Items changed by one request, at most.
const CHANGES_MAX: u64 = 5;

/// A vault as its owner knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub revision: i64,
    items: BTreeMap<String, Item>,
}

/// An item: its revision, and its content unless it was deleted.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    revision: i64,
    content: Option<String>,
}

#[derive(Debug)]
pub struct Vault {
    device: VaultDevice,
    item_ids: Vec<String>,
    known: Known<State>,
}

impl Vault {
    pub async fn create(client: Client, dice: &mut Dice) -> Self {
        Self::create_at(client, dice, Clock::system()).await
    }

    /// With a device whose clock this is.
    pub async fn create_at(client: Client, dice: &mut Dice, clock: Clock) -> Self {
        let device = VaultDevice::new(client, clock, dice);
        let answer = device.create().await;
        let state = State { revision: answer.int("/vaults/0/revision"), items: BTreeMap::new() };
        Self { device, item_ids: (0..ITEMS).map(|_| dice.device_made_id()).collect(), known: Known::new(state) }
    }

    pub fn revision(&self) -> i64 {
        self.known.sure.revision
    }

    /// Changes some items in one request; `None` when no answer came.
    pub async fn write(&mut self, client: &Client, dice: &mut Dice) -> Option<Answer> {
        let changes = self.decide(dice);
        let answer = definite(self.send(client, &changes).await)?.expect(200);
        self.acknowledge(&answer);
        Some(answer)
    }

    /// What shall be changed next, all in one request.
    pub fn decide(&mut self, dice: &mut Dice) -> Vec<Value> {
        let mut next = self.known.sure.clone();
        next.revision += 1;
        let count = usize::try_from(1 + dice.below(CHANGES_MAX)).unwrap();
        let changes = dice.pick_some(&self.item_ids, count).into_iter().map(|id| next.change(id, dice)).collect();
        self.known.perhaps = Some(next);
        changes
    }

    /// Asks for these changes, signed now; again is another signature on the same.
    pub async fn send(&self, client: &Client, changes: &[Value]) -> Option<Answer> {
        self.device.at(client.base()).change(changes).try_send().await
    }

    /// It was answered that the changes were made.
    pub fn acknowledge(&mut self, answer: &Answer) {
        let next = self.known.perhaps.as_ref().expect("a decision");
        assert!(answer.list("/results").iter().all(|result| result["status"] == "ok"), "{}", answer.text);
        assert_eq!(answer.int("/vault/revision"), next.revision);
        assert_eq!(answer.int("/vault/itemCount"), next.live());
        self.known.acknowledge();
    }

    /// The changes turned out to have been made.
    pub fn was_done(&mut self) {
        self.known.acknowledge();
    }

    pub async fn verify(&mut self, client: &Client, whose: &str) -> Outcome {
        let device = self.device.at(client.base());
        let (index, items) = (device.index().await, device.items(&self.item_ids).await);
        let found = State::read(index.int("/revision"), &items);
        assert_eq!(sorted(index.list("/items")), sorted(&items), "{whose}: the index tells what the items are");
        let overview = client.get("/v1/me/vault").send().await.expect(200);
        assert_eq!(overview.int("/vaults/0/revision"), found.revision, "{whose}");
        assert_eq!(overview.int("/vaults/0/itemCount"), found.live(), "{whose}");
        self.known.settle(found, &format!("the vault of {whose}"))
    }
}

/// What the index tells of each item, in the order of their ids.
fn sorted(items: &[Value]) -> BTreeMap<&str, (&Value, &Value)> {
    items.iter().map(|item| (item["itemId"].as_str().unwrap(), (&item["revision"], &item["deleted"]))).collect()
}

impl State {
    /// Applies a change to one item, and words it for the server.
    fn change(&mut self, item_id: String, dice: &mut Dice) -> Value {
        let known = self.items.get(&item_id);
        let base = known.map_or(0, |item| item.revision);
        let is_live = known.is_some_and(|item| item.content.is_some());
        let content = (!is_live || dice.percent(75)).then(|| format!("content {:016x}", dice.next()));
        let change =
            content.as_ref().map_or_else(|| item_deletion(&item_id, base), |content| item_put(&item_id, base, content));
        self.items.insert(item_id, Item { revision: base + 1, content });
        change
    }

    fn live(&self) -> i64 {
        self.items.values().map(|item| i64::from(item.content.is_some())).sum()
    }

    fn read(revision: i64, items: &[Value]) -> Self {
        let items = items.iter().map(|item| {
            let content = item["details"].as_str().map(str::to_owned);
            assert_eq!(content.is_none(), item["deleted"] == true, "{item}");
            if let Some(content) = &content {
                assert_eq!(item["key"], format!("key of {content}"), "{item} is of two changes");
                assert_eq!(item["overview"], format!("overview of {content}"), "{item} is of two changes");
            }
            (
                item["itemId"].as_str().unwrap().to_owned(),
                Item { revision: item["revision"].as_i64().unwrap(), content },
            )
        });
        Self { revision, items: items.collect() }
    }
}
