//! Packs that are gone from where they are kept, and come back.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use super::Workshop;
use crate::harness::Dice;

const LOST: &str = "Objects of this repository are gone on the server. Its operators are told.";
/// Bytes of a file, at random, so that its pack is a blob.
const NOISE: usize = 100_000;
/// How often a blob is read again.
const SCRUBBED_EVERY: Duration = Duration::from_hours(30 * 24);
/// When it is looked again for what is gone.
const LOOKED_AGAIN_AFTER: Duration = Duration::from_mins(10);
/// What the clock goes on by from one look of a test to the next: what the server has claimed for ten seconds, it has for a second of
/// real time at least.
const STEP: Duration = Duration::from_millis(100);

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A blob that was taken away.
struct Taken {
    from: PathBuf,
    to: PathBuf,
}

impl Taken {
    fn bring_back(self) {
        fs::rename(self.to, self.from).unwrap();
    }
}

impl Workshop {
    /// With a repository of one pack that is a blob.
    async fn with_noise(settings: &[&str]) -> Self {
        let shop = Self::with(settings).await;
        shop.begin("ada", 1).await;
        let mut dice = Dice::from_environment("TROUPE_LOST_SEED");
        let letters: Vec<u8> = (b'!'..=b'~').collect();
        let noise: String = (0..NOISE).map(|_| char::from(*dice.pick(&letters))).collect();
        shop.commit("ada", "noise", &noise).await;
        shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
        shop.comes_to_rest().await;
        shop
    }

    /// Waits until what follows from a push is done: it reads packs.
    async fn comes_to_rest(&self) {
        let owner = self.repos.server.owner();
        let rests = async || {
            let jobs = owner.get("/v1/platform/jobs").send().await.expect(200);
            let none_is_due = jobs.list("/jobs").iter().all(|job| job["state"] == "delayed");
            let outbox = owner.get("/v1/platform/outbox").send().await.expect(200);
            (none_is_due && outbox.list("/counts").is_empty()).then_some(())
        };
        self.repos.server.eventually("the end of what follows from a push", rests).await;
    }

    /// Takes the only blob away.
    fn take(&self) -> Taken {
        let folder = self.repos.server.folder();
        let [from] = <[_; 1]>::try_from(files(&folder.join("blobs/contents"))).expect("one blob");
        let to = folder.join("taken");
        // Not the same file, which a view may have, too.
        fs::copy(&from, &to).unwrap();
        fs::remove_file(&from).unwrap();
        Taken { from, to }
    }

    async fn status(&self) -> String {
        let read = self.repos.ada.client.get(&self.repos.at("web")).send().await.expect(200);
        read.str("/repository/status").to_owned()
    }

    async fn comes_to(&self, status: &str) {
        let is_it = async || (self.status().await == status).then_some(());
        self.repos.server.eventually(status, is_it).await;
    }

    /// What the platform's owner was told of objects that are gone.
    async fn alarms(&self) -> Vec<Value> {
        let answer = self.repos.server.owner().get("/v1/me/notifications").send().await.expect(200);
        answer.list("/notices").iter().filter(|notice| notice["event"] == "ops.alarm").cloned().collect()
    }

    async fn alarm(&self) -> Value {
        self.repos.server.eventually("an alarm", async || self.alarms().await.into_iter().next()).await
    }

    /// Waits until the alarm is over, of which there was one.
    async fn alarm_ends(&self) {
        let is_over = async || {
            // What was under way while the clock leapt is tried again later.
            self.repos.server.clock.advance(STEP);
            let alarms = self.alarms().await;
            alarms.iter().any(|it| it["title"] == "Resolved: Objects of the repository web are gone").then_some(alarms)
        };
        let alarms = self.repos.server.eventually("the end of an alarm", is_over).await;
        assert_eq!(alarms.len(), 2, "{alarms:?}");
    }
}

#[tokio::test]
async fn a_repository_is_read_as_far_as_its_packs_go_and_says_that_one_is_gone() {
    let shop = Workshop::with_noise(&["git.view_max=1"]).await;
    shop.ask("file?path=noise&ref=main").await.expect(200);
    let (server, taken) = (&shop.repos.server, shop.take());
    // What the view has of it is counted once more, and goes for another repository's.
    shop.commit("ada", "small", "small\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    assert_eq!(shop.status().await, "active");
    let view = server.folder().join(format!("git/views/{}", shop.stored().await.no));
    shop.repos.make("other", "organization").await;
    let other = shop.url("other", &shop.key);
    shop.git(".", &["init", "--quiet", "--initial-branch=main", "beside"]).await;
    server
        .eventually("the end of a view", async || {
            shop.git("beside", &["commit", "--quiet", "--allow-empty", "-m", "Another"]).await;
            shop.git("beside", &["push", "--quiet", &other, "main"]).await;
            (!view.exists()).then_some(())
        })
        .await;

    // Of what is in other packs, a file is read, but not the history before it.
    assert_eq!(shop.ask("contents/raw?path=small&ref=main").await.expect(200).text, "small\n");
    shop.ask("file?path=small&ref=main").await.expect_error(503, "objects_lost", LOST);
    let noise = shop.ask("contents/raw?path=noise&ref=main").await;
    assert!(noise.header("retry-after").is_some());
    noise.expect_error(503, "objects_lost", LOST);
    let start = shop.git("ada", &["rev-parse", "main~1"]).await;
    shop.ask(&format!("commits/{start}")).await.expect_error(503, "objects_lost", LOST);
    shop.comes_to("error").await;
    let alarm = shop.alarm().await;
    assert_eq!(alarm["title"], "Objects of the repository web are gone");
    let body = alarm["body"].as_str().unwrap();
    let blob = taken.from.file_name().unwrap().to_str().unwrap();
    assert!(body.contains(blob) && body.contains("Bring it back from a back-up"), "{body}");
    // Nothing is added to a part of a history.
    shop.commit("ada", "more", "more\n").await;
    let ran = shop.try_git("ada", &["push", "origin", "main"]).await;
    assert!(!ran.is_ok && ran.err.contains("503"), "{}", ran.err);
    let ran = shop.try_git(".", &["clone", "--quiet", &shop.web(), "part"]).await;
    assert!(!ran.is_ok, "{ran:?}");

    taken.bring_back();
    shop.ask("contents/raw?path=noise&ref=main").await.expect(200);
    shop.comes_to("active").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    assert_eq!(shop.mirrored("mirror").await, format!("refs/heads/main {}", shop.tip("main").await));
    shop.alarm_ends().await;
    let audited = shop.repos.audited("repository.").await;
    let expected = ["repository.created", "repository.created", "repository.lost_pack", "repository.recovered"];
    assert_eq!(audited, expected);
}

#[tokio::test]
async fn reading_blobs_again_finds_a_pack_that_is_gone_before_somebody_misses_it() {
    let shop = Workshop::with_noise(&[]).await;
    let (server, taken) = (&shop.repos.server, shop.take());
    let store = server.store().await;
    server.clock.advance(SCRUBBED_EVERY + Duration::from_secs(1));
    server
        .eventually("a blob that is missed", async || {
            if let Some(claim) = store.scrub_claim().await.unwrap() {
                store.scrub(&claim).await.unwrap();
            }
            (shop.status().await == "error").then_some(())
        })
        .await;
    shop.alarm().await;
    taken.bring_back();
    // Once: an alarm of which nothing is heard for a week is over by itself.
    server.clock.advance(LOOKED_AGAIN_AFTER);
    let looked = async || {
        server.clock.advance(STEP);
        (shop.status().await == "active").then_some(())
    };
    server.eventually("the next look", looked).await;
    shop.alarm_ends().await;
}
