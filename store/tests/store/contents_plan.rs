//! Random plans of all that is done with contents: what is left in the end is what a model says, in rows and on the disk.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use domain::id::{ContentId, OrgId};
use futures::{StreamExt, stream};
use store::{
    Change, Clock, Store,
    blobs::contents::{ContentPart, DOOMED_FOR, NewContent, PENDING_FOR},
    testing::{self, Scratch},
};

use crate::{
    START,
    contents::{ANY, bytes, files, pieces, read, rows, write},
    open,
};

const STEPS: u32 = 160;

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What there should be of a content.
struct Expected {
    refs: u64,
    bytes: Bytes,
    /// In how many blobs it is, and how many segments it has.
    blobs: usize,
    segments: i64,
}

struct Plan {
    store: Store,
    org_id: OrgId,
    dice: Dice,
    there: BTreeMap<ContentId, Expected>,
    gone: Vec<ContentId>,
}

impl Plan {
    fn some_bytes(&mut self) -> Bytes {
        let len = match self.dice.roll(8) {
            0 => 0,
            1..=3 => self.dice.roll(32 * 1024 + 1),
            4..=6 => 32 * 1024 + self.dice.roll(300_000),
            _ => 1_000_000 + self.dice.roll(1_500_000),
        };
        let seed = self.dice.roll(256);
        bytes(usize::try_from(len).expect("fits"), u8::try_from(seed).expect("fits"))
    }

    fn pick(&mut self) -> Option<ContentId> {
        let place = self.dice.roll(self.there.len().max(1) as u64);
        self.there.keys().nth(usize::try_from(place).expect("fits")).copied()
    }

    /// Commits, at times with an outcome that is unknown; whether it was done.
    async fn commit(&mut self, change: Change, is_done: impl AsyncFn(&Store) -> bool) -> bool {
        let rule = match self.dice.roll(8) {
            0 => "commit:=lose;times=1",
            1 => "commit:=away;times=1",
            _ => "",
        };
        self.store.faults().set(rule).expect("a rule");
        let outcome = self.store.commit(change).await;
        self.store.faults().clear();
        let done = is_done(&self.store).await;
        assert!(done || outcome.is_err(), "what was committed is there");
        done
    }

    async fn put(&mut self) {
        let text = self.some_bytes();
        let content = write(&self.store, self.org_id, &text).await;
        let mut change = Change::new();
        change.content_put(self.store.now(), &content);
        let (org_id, id) = (self.org_id, content.id());
        if self.commit(change, async |store| store.content(org_id, id).await.expect("reads").is_some()).await {
            let blobs = usize::from(!content.is_small());
            self.there.insert(id, Expected { refs: 1, bytes: text, blobs, segments: i64::from(!content.is_small()) });
        } else if self.dice.roll(2) == 0 {
            self.store.content_abandon(&content).await.expect("deletes");
        }
    }

    async fn count(&mut self, is_more: bool) {
        let Some(id) = self.pick() else { return };
        let (times, org_id) = (1 + self.dice.roll(2), self.org_id);
        let ids: Vec<_> = (0..times).map(|_| id).collect();
        let before = self.there[&id].refs;
        let mut change = Change::new();
        if is_more {
            change.contents_ref(org_id, ids);
        } else {
            change.contents_unref(self.store.now(), org_id, ids);
        }
        let after = if is_more { Some(before + times) } else { before.checked_sub(times) };
        let refs = async |store: &Store| store.content(org_id, id).await.expect("reads").map_or(0, |found| found.refs);
        let is_done = self.commit(change, async |store| Some(refs(store).await) == after).await;
        match after {
            Some(0) if is_done => {
                self.there.remove(&id);
                self.gone.push(id);
            }
            Some(after) if is_done => self.there.get_mut(&id).expect("is there").refs = after,
            _ => assert_eq!(refs(&self.store).await, before),
        }
    }

    async fn join(&mut self) {
        let mut parts = Vec::new();
        for _ in 0..=self.dice.roll(4) {
            parts.extend(self.pick().filter(|id| !parts.contains(id)));
        }
        let may = !parts.is_empty() && parts.iter().all(|id| self.there[id].refs == 1);
        let named: Vec<_> =
            parts.iter().map(|&id| ContentPart { id, size: self.there[&id].bytes.len() as u64 }).collect();
        if named.is_empty() {
            return;
        }
        let (mut change, org_id) = (Change::new(), self.org_id);
        let joined = change.content_join(self.store.now(), org_id, &named);
        let is_done =
            self.commit(change, async |store| store.content(org_id, joined).await.expect("reads").is_some()).await;
        assert!(may || !is_done, "what is shared is not taken");
        if is_done {
            let mut whole = Expected { refs: 1, bytes: Bytes::new(), blobs: 0, segments: 0 };
            for id in parts {
                let part = self.there.remove(&id).expect("is there");
                whole.blobs += part.blobs;
                whole.segments += if part.segments == 0 && !part.bytes.is_empty() { 1 } else { part.segments };
                whole.bytes = [whole.bytes, part.bytes].concat().into();
                self.gone.push(id);
            }
            self.there.insert(joined, whole);
        }
    }

    async fn break_off(&mut self) {
        let text = self.some_bytes();
        if self.dice.roll(2) == 0 {
            let broken = pieces(&text).chain(stream::once(async { Err(std::io::Error::other("gone")) }));
            assert!(self.store.content_write(self.org_id, ANY, broken).await.is_err());
        } else {
            self.store.faults().set("blob@=fail;after=1").expect("a rule");
            let _: Result<NewContent, _> = self.store.content_write(self.org_id, ANY, pieces(&text)).await;
            self.store.faults().clear();
        }
    }

    async fn step(&mut self) {
        match self.dice.roll(16) {
            0..=4 => self.put().await,
            5..=7 => self.count(true).await,
            8..=11 => self.count(false).await,
            12 => self.join().await,
            13 => self.break_off().await,
            14 => self.store.clock().advance(Duration::from_mins(9)),
            _ => drop(self.store.contents_sweep_all(3).await.expect("sweeps")),
        }
    }

    async fn compare(&self, scratch: &Scratch) {
        for (&id, expected) in &self.there {
            let found = self.store.content(self.org_id, id).await.expect("reads").expect("is there");
            assert_eq!((found.refs, found.size), (expected.refs, expected.bytes.len() as u64));
            assert_eq!(read(&self.store, self.org_id, id).await.as_deref(), Some(&expected.bytes[..]));
        }
        for &id in &self.gone {
            assert_eq!(self.store.content(self.org_id, id).await.expect("reads"), None);
        }
        let contents = i64::try_from(self.there.len()).expect("fits");
        let segments = self.there.values().map(|content| content.segments).sum();
        assert_eq!(rows(scratch).await, [contents, segments, 0, 0]);
        assert_eq!(files(scratch).len(), self.there.values().map(|content| content.blobs).sum::<usize>());
    }
}

#[tokio::test]
async fn after_any_plan_rows_blobs_and_references_are_what_was_done() {
    for scratch in testing::backends().await {
        let (clock, mut contents) = (Clock::manual(START), 0);
        for seed in 0..4 {
            let (store, org_id) = (open(&scratch, &clock).await, OrgId::new(START));
            let mut plan = Plan { store, org_id, dice: Dice(seed), there: BTreeMap::new(), gone: Vec::new() };
            for _ in 0..STEPS {
                plan.step().await;
            }
            clock.advance(PENDING_FOR + DOOMED_FOR);
            plan.store.contents_sweep_all(7).await.expect("sweeps");
            plan.compare(&scratch).await;
            contents += plan.there.len() + plan.gone.len();
            clear(&plan, &clock).await;
            assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
        }
        assert!(contents > 50, "the plans did something: {contents}");
    }
}

/// Refers to nothing any more.
async fn clear(plan: &Plan, clock: &Clock) {
    for (&id, expected) in &plan.there {
        let mut change = Change::new();
        change.contents_unref(clock.now(), plan.org_id, (0..expected.refs).map(|_| id));
        plan.store.commit(change).await.expect("commits");
    }
    clock.advance(DOOMED_FOR);
    plan.store.contents_sweep_all(1_000).await.expect("sweeps");
}
