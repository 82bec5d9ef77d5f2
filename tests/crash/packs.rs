//! Packs that are joined, killed at every step of it: all that was pushed is there, in the old packs or in the new one.

use std::time::Duration;

use domain::git::RepositoryName;
use store::testing::recount::{self, Depth};

use super::{
    pushes::{address, repository, well},
    stage::Stage,
};
use crate::harness::Dice;

/// Before and behind the commit that puts the new pack in the place of the old ones, and the end of the job; the new pack's way
/// to the disk.
const RULES: [&str; 5] = [
    "blob=kill",
    "commit:git.packs=kill",
    "commit:git.packs=kill_after",
    "commit:git.packs=kill;after=1",
    "commit:git.packs=kill_after;after=1",
];
/// Characters of a file that isn't small any more once git has packed it.
const NOISE: usize = 100_000;
/// Longer than two packs stay apart.
const LATER: Duration = Duration::from_hours(25);

/// How many packs the repository has.
async fn packs(stage: &Stage) -> usize {
    let org_id = stage.org.rsplit('/').next().unwrap().parse().unwrap();
    let name = RepositoryName::parse("name", "web").unwrap();
    let stored = stage.store.repository_named(org_id, &name).await.unwrap().unwrap();
    stage.store.repository_packs(stored.no).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn packs_that_are_joined_under_kills_have_all_that_was_pushed() {
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let mut stage = Stage::new().await;
    let key = repository(&stage).await;
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    well(work, &["init", "--quiet", "--initial-branch=main", "."]).await;
    for (round, rule) in RULES.iter().enumerate() {
        let url = address(&stage.client, &stage.org, &key);
        for at in 0..2 {
            let text: String = (0..NOISE).map(|_| char::from(b'a' + u8::try_from(dice.below(26)).unwrap())).collect();
            std::fs::write(work.join(format!("file-{round}-{at}")), text).unwrap();
            well(work, &["add", "file-*"]).await;
            well(work, &["commit", "--quiet", "-m", "Another one"]).await;
            well(work, &["push", "--quiet", &url, "main"]).await;
        }
        assert_eq!(packs(&stage).await, 2 + usize::from(round > 0));
        stage.jump(LATER, rule).await;
        stage.killed(rule).await;
        let url = address(&stage.client, &stage.org, &key);
        let whole = async |name: String| {
            well(work, &["clone", "--quiet", "--mirror", &url, &name]).await;
            let clone = work.join(&name);
            well(&clone, &["fsck", "--full", "--strict"]).await;
            assert_eq!(well(&clone, &["rev-parse", "main"]).await, well(work, &["rev-parse", "main"]).await);
            std::fs::remove_dir_all(clone).unwrap();
        };
        whole(format!("clone-{round}")).await;
        stage.eventually("joining packs", async || (packs(&stage).await == 1).then_some(())).await;
        whole(format!("joined-{round}")).await;
    }
    let wrong = recount::storage(&stage.store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
