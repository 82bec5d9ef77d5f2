//! Packs that are joined, and what git and others find afterwards.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use domain::git::{JOINED_AFTER, PACKS_MAX};
use store::{
    Change, CommitError,
    blobs::contents::NewContent,
    git::{NewPack, StoredPack},
    testing::recount::{self, Depth},
};

use super::Workshop;

impl Workshop {
    async fn packs(&self) -> Vec<StoredPack> {
        let (store, stored) = (self.repos.server.store().await, self.stored().await);
        store.repository_packs(stored.no).await.unwrap()
    }

    /// Commits and pushes so many times.
    async fn push_times(&self, name: &str, times: usize) {
        for at in 0..times {
            self.commit("ada", &format!("{name}/{at}"), &format!("{name} {at}\n")).await;
            self.git("ada", &["push", "--quiet", "origin", "main"]).await;
        }
    }

    /// Waits until there are up to so many packs.
    async fn joined(&self, most: usize) -> Vec<StoredPack> {
        let few = async || Some(self.packs().await).filter(|packs| packs.len() <= most);
        self.repos.server.eventually("joining packs", few).await
    }

    /// A fresh mirror has what was pushed, the repository's size is that of its packs, and contents are counted.
    async fn is_whole(&self, mirror: &str) {
        let refs = self.refs("ada").await;
        assert_eq!(self.mirrored(mirror).await, refs);
        let (packs, stored) = (self.packs().await, self.stored().await);
        assert_eq!(packs.iter().map(|pack| pack.facts.size).sum::<u64>(), stored.size);
        let wrong = recount::storage(&self.repos.server.store().await, Depth::Bytes).await.unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    /// The packs that git finds where this node has it look.
    async fn in_view(&self) -> BTreeSet<String> {
        let folder = self.repos.server.folder().join(format!("git/views/{}/objects/pack", self.stored().await.no));
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let packs = entries.filter(|path| path.extension().is_some_and(|extension| extension == "pack"));
        packs.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    }
}

#[tokio::test]
async fn many_small_pushes_become_one_pack_that_has_all_of_them() {
    let shop = Workshop::pushed(3).await;
    // Its own clone asks for what nothing leads to in the end.
    shop.commit("ada", "forgotten", "forgotten\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let forgotten = shop.tip("main").await;
    shop.git("ada", &["reset", "--quiet", "--hard", "HEAD~1"]).await;
    shop.git("ada", &["tag", "-a", "v1", "-m", "The first"]).await;
    shop.git("ada", &["push", "--quiet", "--force", "origin", "main", "v1"]).await;
    shop.push_times("more", PACKS_MAX - 4).await;
    assert_eq!(shop.packs().await.len(), PACKS_MAX - 1);
    shop.git(".", &["clone", "--quiet", &shop.web(), "before"]).await;
    shop.push_times("last", 1).await;
    let packs = shop.joined(1).await;
    shop.is_whole("after").await;
    // Whoever had a part of it gets the rest.
    shop.git("before", &["pull", "--quiet", "--ff-only"]).await;
    shop.git("before", &["fsck", "--full", "--strict"]).await;
    shop.git("before", &["fetch", "--quiet", "origin", &forgotten]).await;
    assert_eq!(shop.git("before", &["show", &format!("{forgotten}:forgotten")]).await, "forgotten");
    assert_eq!(shop.ask("contents/raw?ref=v1&path=file-2").await.expect(200).text, "text 2\n");
    // What was joined isn't kept beside.
    let name = format!("pack-{}", packs[0].hash);
    let server = &shop.repos.server;
    let alone = async || {
        shop.ask("commits?ref=main").await.expect(200);
        (shop.in_view().await == BTreeSet::from([name.clone()])).then_some(())
    };
    server.eventually("a view without what was joined", alone).await;
    shop.push_times("behind", 1).await;
    assert_eq!(shop.packs().await.len(), 2);
    shop.is_whole("later").await;
}

#[tokio::test]
async fn few_packs_are_joined_a_day_after_the_second() {
    let shop = Workshop::pushed(1).await;
    let clock = &shop.repos.server.clock;
    clock.advance(Duration::from_secs(3_600));
    shop.push_times("a", 1).await;
    clock.advance(JOINED_AFTER - Duration::from_secs(60));
    // The first is older than a day, the second isn't.
    shop.push_times("b", 1).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(shop.packs().await.len(), 3);
    clock.advance(Duration::from_secs(61));
    let packs = shop.joined(1).await;
    assert_eq!(packs[0].facts.made_at, clock.now());
    shop.is_whole("mirror").await;
    // One that came meanwhile is joined the next day.
    shop.push_times("c", 1).await;
    clock.advance(JOINED_AFTER);
    shop.joined(1).await;
    shop.is_whole("next").await;
}

#[tokio::test]
async fn a_push_that_lands_while_packs_are_joined_is_kept() {
    let shop = Workshop::pushed(1).await;
    shop.push_times("before", PACKS_MAX - 2).await;
    let faults = &shop.repos.server.faults;
    faults.set("commit:git.packs=stall(10s);times=1").unwrap();
    shop.push_times("last", 1).await;
    let server = &shop.repos.server;
    server.eventually("a pack that is to be named", async || (faults.happened() > 0).then_some(())).await;
    // The old packs are read, and another one comes.
    shop.git(".", &["clone", "--quiet", &shop.web(), "meanwhile"]).await;
    shop.push_times("meanwhile", 1).await;
    let tip = shop.tip("main").await;
    assert_eq!(shop.packs().await.len(), PACKS_MAX + 1, "not joined yet");
    assert_eq!(shop.joined(2).await.len(), 2);
    shop.is_whole("mirror").await;
    assert_eq!(shop.git("mirror", &["rev-parse", "main"]).await, tip);
    shop.git("meanwhile", &["pull", "--quiet", "--ff-only"]).await;
    shop.git("meanwhile", &["fsck", "--full", "--strict"]).await;
}

#[tokio::test]
async fn packs_are_joined_whole_while_people_push_and_clone() {
    let shop = Workshop::pushed(1).await;
    shop.git("ada", &["branch", "other"]).await;
    shop.git(".", &["clone", "--quiet", &shop.web(), "bob"]).await;
    shop.git("bob", &["checkout", "--quiet", "-b", "other"]).await;
    let bob = async {
        for at in 0..PACKS_MAX {
            shop.commit("bob", &format!("bob/{at}"), &format!("bob {at}\n")).await;
            shop.git("bob", &["push", "--quiet", "origin", "other"]).await;
        }
    };
    let cloning = async {
        for at in 0..6 {
            let folder = format!("clone-{at}");
            shop.mirrored(&folder).await;
        }
    };
    tokio::join!(shop.push_times("ada", PACKS_MAX), bob, cloning);
    shop.git("ada", &["fetch", "--quiet", "origin", "other:other"]).await;
    shop.joined(PACKS_MAX - 1).await;
    shop.is_whole("mirror").await;
    assert_eq!(shop.tip("other").await, shop.git("bob", &["rev-parse", "other"]).await);
}

#[tokio::test]
async fn of_two_who_join_the_same_packs_the_second_changes_nothing() {
    let shop = Workshop::pushed(1).await;
    shop.push_times("a", 1).await;
    let (store, stored, packs) = (shop.repos.server.store().await, shop.stored().await, shop.packs().await);
    let joined = |hash: &str, bytes: &'static [u8]| {
        let content = || NewContent::of_bytes(stored.resource.org_id, store.now(), Bytes::from_static(bytes)).unwrap();
        NewPack { hash: hash.repeat(40).parse().unwrap(), objects: 6, pack: content(), index: content() }
    };
    let change = |pack: &NewPack| {
        let mut change = Change::new();
        change.repository_packs_join(store.now(), &stored, (&packs, pack));
        change
    };
    let first = joined("a", b"the first");
    store.commit(change(&first)).await.unwrap();
    let there = shop.packs().await;
    assert_eq!((there.len(), there[0].pack), (1, first.pack.id()));
    let second = store.commit(change(&joined("b", b"the second"))).await;
    assert!(matches!(second, Err(CommitError::Stale)), "{second:?}");
    assert_eq!(shop.packs().await, there);
    let seen = shop.stored().await;
    assert_eq!((seen.size, seen.packs_version), (18, stored.packs_version + 1));
    // Nothing is joined of a repository that is deleted.
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let mut change = Change::new();
    change.repository_packs_join(store.now(), &stored, (&there, &joined("c", b"the third")));
    assert!(matches!(store.commit(change).await, Err(CommitError::Stale)));
    let wrong = recount::storage(&store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
}
