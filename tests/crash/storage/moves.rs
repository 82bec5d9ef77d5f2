//! A folder that moves to and fro while the program is killed at random moments, and listers look on.
//!
//! Whoever lists the folder's old name and then its new one finds each file; whoever lists them the other way round finds none
//! twice. Where the folder moves in one commit, each page shows all of it or nothing. In the end each file says what it said.
//!
//! `TROUPE_CRASH_FILES`, `TROUPE_CRASH_MOVES` and `TROUPE_CRASH_KILLS` set how many there are of each; `TROUPE_CRASH_SEED`
//! repeats a run's choices.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream};
use serde_json::json;
use store::testing::recount::{self, Depth};

use crate::{
    crash::stage::Stage,
    harness::{Client, Dice, number},
};

const FILES: usize = 300;
const MOVES: usize = 6;
const KILLS: usize = 3;
/// How long the program lives before it is killed, at most, in milliseconds.
const LIFE_MAX_MS: u64 = 1_500;
const AT_ONCE: usize = 32;
/// Files that move in one commit.
const ONE_COMMIT: usize = 1_000;
const LISTERS: usize = 2;
const NAMES: [&str; 2] = ["one/", "two/"];

/// What everybody knows of the folder.
struct Folder {
    /// Where the program is by now.
    client: Mutex<Client>,
    /// `/v1/orgs/:orgId/storage/:resourceId`
    bucket: String,
    /// Counts the moves that were begun: the folder goes from the name of the number before to that of this one.
    begun: AtomicUsize,
    is_over: AtomicBool,
    files: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_moves_under_kills_has_each_file_under_one_name() {
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let files = number("TROUPE_CRASH_FILES", FILES);
    let (moves, kills) = (number("TROUPE_CRASH_MOVES", MOVES), number("TROUPE_CRASH_KILLS", KILLS));
    let mut stage = Stage::new().await;
    let folder = Arc::new(Folder::filled(&stage, files).await);
    let bytes = folder.listed(NAMES[0]).await.expect("a list");
    assert_eq!(bytes.len(), files);
    let listers: Vec<_> = (0..LISTERS).map(|_| tokio::spawn(Arc::clone(&folder).look_on())).collect();
    let runner = tokio::spawn(Arc::clone(&folder).play(moves));
    let mut killed = 0;
    while killed < kills || !runner.is_finished() {
        tokio::time::sleep(Duration::from_millis(dice.below(LIFE_MAX_MS))).await;
        if killed < kills {
            stage.kill();
            *folder.client.lock().unwrap() = stage.client.clone();
            killed += 1;
        }
    }
    let played = runner.await.expect("a mover without complaints");
    folder.is_over.store(true, Ordering::Release);
    let mut looks = 0;
    for lister in listers {
        looks += lister.await.expect("a lister without complaints");
    }
    eprintln!("{played} moves of {files} files under {killed} kills, seen by {looks} lists");
    assert!(looks > 0);
    let (one, two) = (folder.listed(NAMES[0]).await.unwrap(), folder.listed(NAMES[1]).await.unwrap());
    assert!(one.is_empty() || two.is_empty());
    assert_eq!(if one.is_empty() { two } else { one }, bytes, "each file is what it was");
    let wrong = recount::storage(&stage.store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

impl Folder {
    async fn filled(stage: &Stage, files: usize) -> Self {
        let buckets = format!("{}/storage", stage.org);
        let made = stage.client.post(&buckets).json(&json!({ "name": "folders" })).send().await.expect(201);
        let bucket = format!("{buckets}/{}", made.str("/bucket/resourceId"));
        let writes = (0..files).map(|at| {
            let path = format!("{bucket}/object?key={}{at:05}", NAMES[0]);
            let request = stage.client.put(&path).body("text/plain", format!("file {at}"));
            async move { request.send().await.expect(200) }
        });
        stream::iter(writes).buffer_unordered(AT_ONCE).for_each(async |_| {}).await;
        let (client, begun) = (Mutex::new(stage.client.clone()), AtomicUsize::new(0));
        Self { client, bucket, begun, is_over: AtomicBool::new(false), files }
    }

    fn client(&self) -> Client {
        self.client.lock().unwrap().clone()
    }

    /// Moves the folder so often, to and fro; how often it was asked for.
    async fn play(self: Arc<Self>, moves: usize) -> usize {
        let mut asked = 0;
        for at in 0..moves {
            let (from, to) = (NAMES[at % 2], NAMES[(at + 1) % 2]);
            self.begun.store(at + 1, Ordering::Release);
            let mut body = json!({ "folders": [{ "from": from, "to": to }] });
            loop {
                asked += 1;
                let path = format!("{}/objects/move", self.bucket);
                let answer = self.client().post(&path).json(&body).try_send().await;
                let Some(answer) = answer.filter(|answer| answer.status != 503) else {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                match (answer.status, answer.json["code"].as_str()) {
                    (200, _) if answer.json["done"] == true && !self.is_still(from).await => break,
                    // It was begun by a request whose answer a kill took, or isn't begun yet.
                    (200, _) => body["resume"] = json!(answer.json["done"] == false),
                    (409, Some("move_under_way")) => body["resume"] = json!(true),
                    // All of it was done by a request whose answer a kill took, or by nobody's asking.
                    (404, _) => break,
                    // The timer has a step of it under way.
                    (409, _) => tokio::time::sleep(Duration::from_millis(20)).await,
                    _ => panic!("{from} to {to}: {} {}", answer.status, answer.text),
                }
            }
        }
        asked
    }

    /// Whether something lies under this name.
    async fn is_still(&self, name: &str) -> bool {
        loop {
            if let Some(files) = self.listed(name).await {
                return !files.is_empty();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lists both names until it is over; how often that was done without another move's beginning.
    async fn look_on(self: Arc<Self>) -> usize {
        let mut looks = 0;
        while !self.is_over.load(Ordering::Acquire) {
            let begun = self.begun.load(Ordering::Acquire);
            let (from, to) = (NAMES[(begun + 1) % 2], NAMES[begun % 2]);
            let is_this_move = || self.begun.load(Ordering::Acquire) == begun;
            let old_first = (self.listed(from).await, self.listed(to).await);
            if let (Some(from), Some(to), true) = (old_first.0, old_first.1, is_this_move()) {
                looks += 1;
                let all: BTreeSet<_> = from.keys().chain(to.keys()).collect();
                assert_eq!(all.len(), self.files, "a file has no name");
                self.check_pages([&from, &to]);
            }
            let new_first = (self.listed(to).await, self.listed(from).await);
            if let (Some(to), Some(from), true) = (new_first.0, new_first.1, is_this_move()) {
                looks += 1;
                let twice: Vec<_> = to.keys().filter(|file| from.contains_key(*file)).collect();
                assert!(twice.is_empty(), "files have two names: {twice:?}");
                self.check_pages([&to, &from]);
            }
        }
        looks
    }

    /// Where the folder moves in one commit, a page shows all of it or nothing.
    fn check_pages(&self, lists: [&BTreeMap<String, String>; 2]) {
        for list in lists.into_iter().filter(|_| self.files <= ONE_COMMIT) {
            assert!(list.is_empty() || list.len() == self.files, "a page shows {} of {}", list.len(), self.files);
        }
    }

    /// The files under one name, with the tags of their contents; none when the program went meanwhile.
    async fn listed(&self, name: &str) -> Option<BTreeMap<String, String>> {
        let (client, mut files, mut cursor) = (self.client(), BTreeMap::new(), String::new());
        loop {
            let path = format!("{}/objects?limit=1000&prefix={name}{cursor}", self.bucket);
            let page = client.get(&path).try_send().await.filter(|page| page.status != 503)?.expect(200);
            for file in page.list("/files") {
                let key = file["key"].as_str().unwrap().strip_prefix(name).unwrap().to_owned();
                files.insert(key, file["etag"].as_str().unwrap().to_owned());
            }
            let Some(next) = page.json["cursor"].as_str() else { return Some(files) };
            cursor = format!("&cursor={next}");
        }
    }
}
