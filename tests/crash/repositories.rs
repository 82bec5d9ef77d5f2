//! What repositories are given without git, killed at every step of it: commits of the web, the files that are sent for them, and
//! the large files of Git LFS.
//!
//! What was answered as saved is there afterwards, what was under way is there whole or not at all, and can be asked for again.
//! A commit is noted and takes its upload along, or neither.
//!
//! `TROUPE_CRASH_STEPS` sets how many steps are played, of all that there are; `TROUPE_CRASH_SEED` repeats a run's choices.

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::git::LfsOid;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::testing::recount::{self, Depth};

use super::{
    definite,
    pushes::{address, noted, repository, well},
    stage::{Stage, Step, chosen},
};
use crate::harness::{Answer, Dice};

/// Steps of a run that doesn't say how many.
const STEPS: usize = 4;
const LFS: &str = "application/vnd.git-lfs+json";
/// Characters of a file that is in the database, and of one that takes two parts of a blob, once git has packed it, too.
const SMALL: usize = 100;
const LARGE: usize = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    CommitSmall,
    CommitLarge,
    CommitUploaded,
    SendFile,
    SendLarge,
}

const ACTS: &[Act] = &[Act::CommitSmall, Act::CommitLarge, Act::CommitUploaded, Act::SendFile, Act::SendLarge];

/// A blob's way to the disk: its pending row, the first of its parts, the next one.
const WRITING: [&str; 4] = ["commit=kill;times=1", "commit=kill_after;times=1", "blob=kill", "blob=kill;after=1"];

impl Act {
    /// The points at which it is killed, each of which it comes to.
    fn rules(self) -> Vec<String> {
        let command = match self {
            Self::CommitSmall | Self::CommitLarge | Self::CommitUploaded => "land_web_commit",
            Self::SendFile => "put_uploaded_file",
            Self::SendLarge => "keep_lfs_object",
        };
        let landing = ["commit:repository=kill", "commit:repository=kill_after"];
        let writing = if self == Self::CommitSmall { &WRITING[..0] } else { &WRITING[..] };
        let rules = writing.iter().chain(&landing).map(|&rule| rule.to_owned());
        rules.chain([format!("handler:repository/{command}=kill")]).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_step_of_a_commit_or_a_large_file_loses_nothing_that_was_saved() {
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let steps = chosen(ACTS, Act::rules, STEPS, &mut dice);
    let mut world = World::new(dice).await;
    for step in &steps {
        eprintln!("{:?} with {}", step.act, step.rule);
        match step.act {
            Act::CommitSmall => world.commit(step, SMALL).await,
            Act::CommitLarge => world.commit(step, LARGE).await,
            Act::CommitUploaded => world.commit_uploaded(step).await,
            Act::SendFile => world.send_file(step).await,
            Act::SendLarge => world.send_large(step).await,
        }
        let wrong = recount::storage(&world.stage.store, Depth::Rows).await.unwrap();
        assert!(wrong.is_empty(), "{step:?}: {wrong:#?}");
    }
    world.is_whole().await;
    let wrong = recount::storage(&world.stage.store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

struct World {
    stage: Stage,
    dice: Dice,
    key: String,
    folder: tempfile::TempDir,
    made: u32,
}

/// An upload of one file.
struct Upload {
    id: String,
    /// The path to send the file to.
    place: String,
}

impl World {
    async fn new(dice: Dice) -> Self {
        let stage = Stage::new().await;
        let key = repository(&stage).await;
        let mut world = Self { stage, dice, key, folder: tempfile::tempdir().unwrap(), made: 0 };
        let (name, text) = world.file(SMALL);
        world.ask(&body("", &put(&name, &text))).await.unwrap().expect(201);
        world
    }

    fn at(&self, rest: &str) -> String {
        format!("{}/repos/web/{rest}", self.stage.org)
    }

    /// The name of a file that there isn't, and what is to be in it.
    fn file(&mut self, len: usize) -> (String, String) {
        self.made += 1;
        let text = (0..len).map(|_| char::from(b'a' + u8::try_from(self.dice.below(26)).unwrap())).collect();
        (format!("file-{}", self.made), text)
    }

    /// The commit that `main` names.
    async fn head(&self) -> String {
        let url = address(&self.stage.client, &self.stage.org, &self.key);
        let listed = well(self.folder.path(), &["ls-remote", &url, "refs/heads/main"]).await;
        listed.split_whitespace().next().unwrap_or_default().to_owned()
    }

    /// Asks for a commit; none when no answer came that says what was done.
    async fn ask(&self, body: &Value) -> Option<Answer> {
        definite(self.stage.client.post(&self.at("contents")).json(body).try_send().await)
    }

    async fn read(&self, name: &str) -> Answer {
        self.stage.client.get(&self.at(&format!("contents/raw?ref=main&path={name}"))).send().await
    }

    /// Asks for a commit while the step's rule holds, and sees what became of it; whether it is there.
    async fn commit_killed(&mut self, step: &Step<Act>, body: &Value, (name, text): (&str, &str)) -> bool {
        let (before, noted_before) = (self.head().await, noted(&self.stage).await.len());
        self.stage.rule(&step.rule).await;
        let answer = self.ask(body).await.map(|answer| answer.expect(201));
        self.stage.killed(&format!("{step:?}")).await;
        let after = self.head().await;
        let is_there = after != before;
        match &answer {
            Some(answer) => assert_eq!(answer.str("/commitId"), after, "{step:?}: a commit that was answered"),
            None if is_there => eprintln!("it is done, though nobody heard so"),
            None => {}
        }
        let noted = noted(&self.stage).await;
        assert_eq!(noted.len(), noted_before + usize::from(is_there), "{step:?}: what is noted");
        if is_there {
            assert!(noted.iter().any(|(new, _)| *new == after), "{step:?}: {after} isn't noted");
            assert!(self.read(name).await.expect(200).text == text, "{step:?}: another file");
            let commits = self.stage.client.get(&self.at("commits?ref=main&limit=2")).send().await.expect(200);
            let found: Vec<_> = commits.list("/commits").iter().map(|commit| commit["id"].as_str().unwrap()).collect();
            assert_eq!(found, [after.as_str(), before.as_str()]);
        } else {
            self.read(name).await.expect(404);
        }
        self.is_whole().await;
        is_there
    }

    async fn commit(&mut self, step: &Step<Act>, len: usize) {
        let (name, text) = self.file(len);
        let body = body(&self.head().await, &put(&name, &text));
        if !self.commit_killed(step, &body, (&name, &text)).await {
            self.ask(&body).await.unwrap().expect(201);
        }
        assert!(self.read(&name).await.expect(200).text == text);
    }

    async fn begin(&self, len: usize) -> Upload {
        let body = json!({ "files": [{ "size": len }] });
        let begun = self.stage.client.post(&self.at("contents/uploads")).json(&body).send().await.expect(201);
        let url = begun.str("/uploads/0/url");
        Upload { id: begun.str("/uploadId").to_owned(), place: url[url.find("/v1/").unwrap()..].to_owned() }
    }

    /// Sends bytes to a signed address.
    async fn send(&self, place: &str, text: &str) -> Option<Answer> {
        let nobody = self.stage.client.nobody();
        definite(nobody.put(place).body("application/octet-stream", text.to_owned()).try_send().await)
    }

    /// What commits the file of an upload.
    async fn body_of(&self, upload: &Upload, name: &str) -> Value {
        let mut body = body(&self.head().await, &json!({ "op": "put", "path": name, "upload": 0 }));
        body["uploadId"] = json!(upload.id);
        body
    }

    async fn commit_uploaded(&mut self, step: &Step<Act>) {
        let (name, text) = self.file(LARGE);
        let upload = self.begin(LARGE).await;
        self.send(&upload.place, &text).await.unwrap().expect(204);
        let body = self.body_of(&upload, &name).await;
        if !self.commit_killed(step, &body, (&name, &text)).await {
            self.ask(&body).await.unwrap().expect(201);
        }
        assert!(self.read(&name).await.expect(200).text == text);
        let again = self.body_of(&upload, "again").await;
        let spent = self.ask(&again).await.unwrap().expect(400);
        assert_eq!(spent.str("/code"), "upload_missing");
    }

    async fn send_file(&mut self, step: &Step<Act>) {
        let (name, text) = self.file(LARGE);
        let upload = self.begin(LARGE).await;
        self.stage.rule(&step.rule).await;
        let answer = self.send(&upload.place, &text).await.map(|answer| answer.expect(204));
        self.stage.killed(&format!("{step:?}")).await;
        let body = self.body_of(&upload, &name).await;
        let committed = self.ask(&body).await.unwrap();
        if committed.status != 201 {
            assert!(answer.is_none(), "{step:?}: a file that was answered is gone");
            assert_eq!(committed.expect(400).str("/code"), "upload_missing");
            self.read(&name).await.expect(404);
            self.send(&upload.place, &text).await.unwrap().expect(204);
            self.ask(&body).await.unwrap().expect(201);
        }
        assert!(self.read(&name).await.expect(200).text == text, "{step:?}: another file");
    }

    /// What Git LFS may do with an object: where, unless it may not.
    async fn link(&self, operation: &str, oid: &str) -> Option<String> {
        let path = format!("/git/{}/web.git/info/lfs/objects/batch", self.stage.org.rsplit('/').next().unwrap());
        let body = json!({
            "operation": operation, "transfers": ["basic"], "hash_algo": "sha256", "objects": [{ "oid": oid, "size": LARGE }]
        });
        let client = self.stage.client.with_token(&self.key);
        let answer = client.post(&path).body(LFS, body.to_string()).send().await.expect(200);
        let href = answer.json.pointer(&format!("/objects/0/actions/{operation}/href"))?.as_str().unwrap();
        Some(href[href.find("/v1/").unwrap()..].to_owned())
    }

    async fn send_large(&mut self, step: &Step<Act>) {
        let (_, text) = self.file(LARGE);
        let oid = LfsOid::of_bytes(Sha256::digest(text.as_bytes()).into()).to_string();
        let place = self.link("upload", &oid).await.expect("a place");
        self.stage.rule(&step.rule).await;
        let answer = self.send(&place, &text).await.map(|answer| answer.expect(200));
        self.stage.killed(&format!("{step:?}")).await;
        if self.link("download", &oid).await.is_none() {
            assert!(answer.is_none(), "{step:?}: a large file that was answered is gone");
            let place = self.link("upload", &oid).await.expect("a place");
            self.send(&place, &text).await.unwrap().expect(200);
        }
        let place = self.link("download", &oid).await.expect("a place");
        let found = self.stage.client.nobody().get(&place).send().await.expect(200);
        assert!(found.text == text, "{step:?}: another large file");
    }

    /// All of the repository can be cloned.
    async fn is_whole(&self) {
        let (work, url) = (self.folder.path(), address(&self.stage.client, &self.stage.org, &self.key));
        well(work, &["clone", "--quiet", "--mirror", &url, "clone"]).await;
        well(&work.join("clone"), &["fsck", "--full", "--strict"]).await;
        std::fs::remove_dir_all(work.join("clone")).unwrap();
    }
}

/// What asks for a commit of this change that follows `parent`, or none where that is empty.
fn body(parent: &str, change: &Value) -> Value {
    let mut body = json!({ "branch": "main", "message": "Change it", "changes": [change] });
    if !parent.is_empty() {
        body["parentCommitId"] = json!(parent);
    }
    body
}

fn put(path: &str, text: &str) -> Value {
    json!({ "op": "put", "path": path, "content": STANDARD.encode(text) })
}
