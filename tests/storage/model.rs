//! Random plans against a model: a bucket of few keys, written at once and in parts, deleted, restored, moved and switched at
//! random, shows what a model of nothing but the rules shows; and contents are referred to as often as they say.
//!
//! `TROUPE_STORAGE_STEPS` sets how many steps are played, `TROUPE_STORAGE_SEED` repeats a run's choices.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    storage::{FileState, RowChange, Version, VersionName, Versioning},
};
use serde_json::{Value, json};
use store::{
    Store,
    testing::recount::{self, Depth},
};

use super::Files;
use crate::harness::{Dice, number};

const KEYS: [&str; 9] = ["a", "a/", "a/b", "a/c/d", "b", "z/", "z/b", "z/c/d", "é"];
/// Folders that move, each to the other's name.
const FOLDERS: [&str; 2] = ["a/", "z/"];
/// Steps of all plans, where it isn't said.
const STEPS: usize = 600;
const PLANS: usize = 4;
/// Steps between two looks at what is shown, and between two at all rows.
const COMPARE_EVERY: usize = 10;
const RECOUNT_EVERY: usize = 50;

/// A version, as the model keeps it: what decisions see, and the text of a content.
#[derive(Clone, Debug)]
struct Kept {
    version: Version,
    text: Option<String>,
}

/// A bucket of nothing but decisions; each key's versions, the newest first.
#[derive(Debug, Default)]
struct Model {
    versioning: Option<Versioning>,
    files: BTreeMap<String, Vec<Kept>>,
}

impl Model {
    fn versions(&self, key: &str) -> &[Kept] {
        self.files.get(key).map_or(&[], Vec::as_slice)
    }

    fn state(&self, key: &str) -> FileState {
        let versions = self.versions(key);
        let is_null = |kept: &&Kept| kept.version.name == VersionName::Null;
        let null = versions.iter().skip(1).find(is_null).map(|kept| kept.version);
        FileState { newest: versions.first().map(|kept| kept.version), older_null: null }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.versions(key).first().and_then(|kept| kept.text.as_deref())
    }

    fn apply(&mut self, key: &str, changes: &[RowChange], text: Option<&str>) {
        let versions = self.files.entry(key.to_owned()).or_default();
        for change in changes {
            match change {
                RowChange::Keep(_) => {}
                RowChange::Drop(stamp) | RowChange::DropOld(stamp) => {
                    versions.retain(|kept| kept.version.stamp != *stamp);
                }
                RowChange::Promote(stamp) => assert_eq!(versions.first().map(|kept| kept.version.stamp), Some(*stamp)),
                RowChange::Insert(version) => {
                    versions.insert(0, Kept { version: *version, text: text.map(str::to_owned) });
                }
            }
        }
        if versions.is_empty() {
            self.files.remove(key);
        }
    }

    fn usage(&self) -> (i64, i64, i64) {
        let all = self.files.values().flatten();
        let bytes: usize = all.clone().filter_map(|kept| kept.text.as_ref()).map(String::len).sum();
        let live = self.files.values().filter(|versions| versions[0].text.is_some()).count();
        let number = |count: usize| i64::try_from(count).unwrap();
        (number(live), number(all.count() - live), number(bytes))
    }
}

/// The bucket and its model.
struct Plan {
    files: Files,
    store: Store,
    model: Model,
    dice: Dice,
    now: Timestamp,
}

#[tokio::test(flavor = "multi_thread")]
async fn random_plans_come_to_what_the_rules_say() {
    let mut dice = Dice::from_environment("TROUPE_STORAGE_SEED");
    let steps = number("TROUPE_STORAGE_STEPS", STEPS);
    for _ in 0..PLANS {
        let (seed, files) = (dice.next(), Files::new().await);
        let mut plan = Plan {
            store: files.server.store().await,
            files,
            model: Model::default(),
            dice: Dice::new(seed),
            now: Timestamp(1_700_000_000_000),
        };
        for step in 1..=steps / PLANS {
            plan.now.0 += 1;
            plan.step().await;
            if step % COMPARE_EVERY == 0 {
                plan.compare().await;
            }
            if step % RECOUNT_EVERY == 0 {
                plan.recount().await;
            }
        }
        plan.compare().await;
        plan.recount().await;
    }
}

impl Plan {
    async fn step(&mut self) {
        let key = *self.dice.pick(&KEYS);
        let act = self.dice.below(15);
        // Shown where the test fails.
        eprintln!("{act} {key}");
        match act {
            0..=4 => self.put(key).await,
            5..=6 => self.delete(key).await,
            7..=8 => self.restore(key).await,
            9 => self.delete_version(key).await,
            10 => self.rename(key).await,
            12..=13 => self.upload(key).await,
            14 => self.rename_folder().await,
            _ => self.switch().await,
        }
    }

    async fn put(&mut self, key: &str) {
        let len = if key.ends_with('/') { 0 } else { self.dice.below(40) };
        let text = "x".repeat(usize::try_from(len).unwrap());
        self.files.put(key, &text).await;
        let changes = self.model.state(key).put(self.model.versioning, self.now).unwrap();
        self.model.apply(key, &changes, Some(&text));
    }

    async fn delete(&mut self, key: &str) {
        self.files.delete(key).await;
        let changes = self.model.state(key).delete(self.model.versioning, self.now).unwrap();
        self.model.apply(key, &changes, None);
    }

    /// One of the key's versions: its place, and its id at the server.
    async fn pick(&mut self, key: &str) -> Option<(usize, String)> {
        let count = self.model.versions(key).len();
        let place = usize::try_from(self.dice.below(u64::try_from(count).ok().filter(|count| *count > 0)?)).unwrap();
        let listed = self.files.versions(key).await.expect(200);
        Some((place, listed.list("/versions")[place]["versionId"].as_str().unwrap().to_owned()))
    }

    async fn restore(&mut self, key: &str) {
        let Some((place, id)) = self.pick(key).await else { return };
        let answer = self.files.restore(key, &id).await;
        let versions = self.model.versions(key).to_vec();
        let target = versions[place].clone();
        let older = versions.iter().skip(1).map(|kept| kept.version);
        let decided = self.model.state(key).restore(Some(target.version), older, self.model.versioning, self.now);
        match decided {
            Ok((restored, changes)) => {
                assert_eq!(answer.expect(200).str("/restored"), restored.as_str());
                self.model.apply(key, &changes, target.text.as_deref());
            }
            Err(refusal) => {
                assert_eq!((answer.status, answer.str("/error")), (refusal.status(), &*refusal.to_string()));
            }
        }
    }

    async fn delete_version(&mut self, key: &str) {
        let Some((place, id)) = self.pick(key).await else { return };
        self.files.delete_version(key, &id).await.expect(204);
        let versions = self.model.versions(key).to_vec();
        let below = versions.get(1).map(|kept| kept.version);
        let changes = self.model.state(key).delete_version(Some(versions[place].version), below, self.now).unwrap();
        self.model.apply(key, &changes, None);
    }

    async fn rename(&mut self, from: &str) {
        let to = *self.dice.pick(&KEYS);
        let answer = self.files.moves(json!({ "files": [{ "from": from, "to": to }] })).await;
        let is_file = |key: &str| !key.ends_with('/');
        if !is_file(from) || !is_file(to) || from == to {
            return drop(answer.expect(400));
        }
        let Some(text) = self.model.text(from).map(str::to_owned) else { return drop(answer.expect(404)) };
        if self.model.text(to).is_some() {
            return drop(answer.expect(409));
        }
        answer.expect(200);
        self.moved(from, to, &text);
    }

    /// A file has got another name.
    fn moved(&mut self, from: &str, to: &str, text: &str) {
        let leaves = self.model.state(from).delete(self.model.versioning, self.now).unwrap();
        self.model.apply(from, &leaves, None);
        let comes = self.model.state(to).put(self.model.versioning, self.now).unwrap();
        self.model.apply(to, &comes, Some(text));
    }

    async fn rename_folder(&mut self) {
        let from = *self.dice.pick(&FOLDERS);
        let to = if from == FOLDERS[0] { FOLDERS[1] } else { FOLDERS[0] };
        let live = |folder: &str| {
            let keys = KEYS.into_iter().filter(|key| key.starts_with(folder));
            keys.filter_map(|key| Some((key, self.model.text(key)?.to_owned()))).collect::<Vec<_>>()
        };
        let (moving, there) = (live(from), live(to));
        let answer = self.files.moves(json!({ "folders": [{ "from": from, "to": to }] })).await;
        if moving.is_empty() {
            return drop(answer.expect(404));
        }
        if !there.is_empty() {
            return drop(answer.expect(409));
        }
        assert_eq!(answer.expect(200).json, json!({ "moved": moving.len(), "done": true }));
        for (key, text) in moving {
            let name = key.replacen(from, to, 1);
            self.moved(key, &name, &text);
        }
    }

    /// Sends a file in one part, and completes or aborts that.
    async fn upload(&mut self, key: &str) {
        let text = "y".repeat(usize::try_from(1 + self.dice.below(40)).unwrap());
        let uploads = format!("{}/uploads/multipart", self.files.path);
        let post = async |about: &str, body: Value| {
            self.files.client().post(&format!("{uploads}{about}")).json(&body).send().await
        };
        let begun = post("", json!({ "key": key, "contentType": "text/plain", "size": text.len() })).await;
        if key.ends_with('/') {
            return drop(begun.expect(400));
        }
        let begun = begun.expect(201);
        let named = |mut body: Value| {
            body["key"] = json!(key);
            body["uploadId"] = begun.json["uploadId"].clone();
            body
        };
        let urls = post("/parts", named(json!({ "partNumbers": [1] }))).await.expect(200);
        let url = urls.str("/urls/0/url");
        let address = &url[url.find("/v1/storage/files/").unwrap()..];
        let mut etag = String::new();
        // Sent again, a part takes the place of the one before.
        for _ in 0..=self.dice.below(2) {
            let part =
                self.files.client().nobody().put(address).body("text/plain", text.clone()).send().await.expect(200);
            part.header("etag").unwrap().clone_into(&mut etag);
        }
        if self.dice.percent(20) {
            return drop(post("/abort", named(json!({}))).await.expect_success());
        }
        let parts = json!({ "parts": [{ "partNumber": 1, "etag": etag }] });
        post("/complete", named(parts)).await.expect(200);
        let changes = self.model.state(key).put(self.model.versioning, self.now).unwrap();
        self.model.apply(key, &changes, Some(&text));
    }

    async fn recount(&self) {
        let wrong = recount::storage(&self.store, Depth::Rows).await.unwrap();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    async fn switch(&mut self) {
        let versioning = *self.dice.pick(&[Versioning::Enabled, Versioning::Enabled, Versioning::Suspended]);
        self.files.switch(versioning.as_str()).await;
        self.model.versioning = Some(versioning);
    }

    async fn compare(&self) {
        for key in KEYS {
            let listed = self.files.versions(key).await;
            let kept = self.model.versions(key);
            assert_eq!(listed.status, if kept.is_empty() { 404 } else { 200 }, "{key}: {}", listed.text);
            let shown: Vec<_> =
                if kept.is_empty() { Vec::new() } else { listed.list("/versions").iter().map(shown).collect() };
            let expected: Vec<_> = kept
                .iter()
                .map(|kept| {
                    let is_null = kept.version.name == VersionName::Null;
                    (is_null, kept.text.as_ref().map(String::len))
                })
                .collect();
            assert_eq!(shown, expected, "{key}: {}", listed.text);
        }
        assert_eq!(self.files.usage().await, self.model.usage());
        let listed = self.files.list("prefix=a/").await.expect(200);
        let there = |key: &str| self.model.text(key).is_some();
        let files: Vec<_> = KEYS.into_iter().filter(|key| *key == "a/b" && there(key)).collect();
        assert_eq!(super::keys(listed.list("/files")), files);
        let folders = if there("a/c/d") { json!(["a/c/"]) } else { json!([]) };
        assert_eq!(listed.json["folders"], folders);
        for key in KEYS.into_iter().filter(|key| !key.ends_with('/')) {
            match self.model.text(key) {
                Some(text) => assert_eq!(self.files.text(key).await, text, "{key}"),
                None => drop(self.files.get(key).await.expect(404)),
            }
        }
    }
}

/// Whether a listed version is called `null`, and the bytes of a content.
fn shown(version: &Value) -> (bool, Option<usize>) {
    let size = version["size"].as_u64().map(|size| usize::try_from(size).unwrap());
    (version["versionId"] == "null", size)
}
