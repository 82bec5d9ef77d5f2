//! Two buckets, one of which keeps old versions, and what is done to them.

use std::{collections::BTreeMap, time::Duration};

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use store::testing::recount;

use super::acts::Act;
use crate::{
    crash::stage::Stage,
    harness::{Answer, Client},
};

const MIB: u64 = 1024 * 1024;
/// Files of the folder that moves in batches: a thousand, and some.
const IN_FOLDER: usize = 1_100;
/// What is written at the same time.
const AT_ONCE: usize = 32;
/// The keys that are looked at, beside the folders.
const KEYS: [&str; 5] = ["small", "large", "file", "moved", "uploaded"];
const FOLDERS: [&str; 2] = ["from/", "to/"];

/// Each key's versions, the newest first: the sizes of contents, which no two have in common, and none for delete markers;
/// and how many files lie in each folder.
pub type Seen = BTreeMap<String, Vec<Option<u64>>>;

pub struct World {
    pub stage: Stage,
    /// `/v1/orgs/:orgId/storage/:resourceId` of the bucket that keeps no versions, of the one that does, of the one with
    /// lifecycle rules, and of the one that is deleted next.
    plain: String,
    kept: String,
    aged: String,
    doomed: String,
    made: u64,
    /// The size of what the next write says.
    next: u64,
    upload: Upload,
    is_filled: bool,
    /// Which of the folders has the files.
    at: usize,
}

/// An upload of two parts.
#[derive(Clone, Debug, Default)]
struct Upload {
    id: String,
    /// What its size ends with.
    number: u64,
    etags: Vec<String>,
}

fn object(bucket: &str, key: &str) -> String {
    format!(
        "{bucket}/object?overwrite=1&key={}",
        percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC)
    )
}

async fn put(client: &Client, bucket: &str, key: &str, size: u64) -> Option<Answer> {
    let body = vec![u8::try_from(size % 251).unwrap(); usize::try_from(size).unwrap()];
    client.put(&object(bucket, key)).body("text/plain", body).try_send().await
}

impl World {
    pub async fn new() -> Self {
        let stage = Stage::new().await;
        let mut world = Self {
            stage,
            plain: String::new(),
            kept: String::new(),
            aged: String::new(),
            doomed: String::new(),
            made: 0,
            next: 0,
            upload: Upload::default(),
            is_filled: false,
            at: 0,
        };
        world.plain = world.bucket(json!({})).await;
        world.kept = world.bucket(json!({ "versioning": "Enabled" })).await;
        world
    }

    fn client(&self) -> &Client {
        &self.stage.client
    }

    async fn bucket(&mut self, mut settings: Value) -> String {
        self.made += 1;
        settings["name"] = json!(format!("bucket-{}", self.made));
        let buckets = format!("{}/storage", self.stage.org);
        let made = self.client().post(&buckets).json(&settings).send().await.expect(201);
        format!("{buckets}/{}", made.str("/bucket/resourceId"))
    }

    async fn put(&mut self, bucket: &str, key: &str) {
        self.next += 1;
        put(self.client(), bucket, key, self.next).await.expect("an answer").expect(200);
    }

    async fn put_large(&mut self, bucket: &str, key: &str) {
        self.next += 1;
        put(self.client(), bucket, key, 2 * MIB + self.next).await.expect("an answer").expect(200);
    }

    async fn versions(&self, bucket: &str, key: &str) -> Vec<Value> {
        let answer = self.client().get(&format!("{bucket}/object/versions?key={key}")).send().await;
        if answer.status == 404 { Vec::new() } else { answer.expect(200).list("/versions").to_vec() }
    }

    /// What the act needs, without a fault.
    pub async fn prepare(&mut self, act: Act) {
        let (plain, kept) = (self.plain.clone(), self.kept.clone());
        match act {
            Act::PutSmall | Act::PutVersion | Act::BeginUpload => {}
            Act::PutLarge | Act::PutAddress | Act::Delete => self.put_large(&plain, "large").await,
            Act::LayMarker | Act::MoveFile => self.put(&kept, "file").await,
            Act::Undelete => {
                self.put_large(&kept, "file").await;
                self.client().delete(&object(&kept, "file")).send().await.expect(204);
            }
            Act::RestoreOld | Act::DeleteVersion => {
                self.put_large(&kept, "file").await;
                self.put(&kept, "file").await;
            }
            Act::MoveFiles => self.put(&plain, "small").await,
            Act::MoveFolder => self.fill().await,
            Act::PutPart => self.upload(&plain, 1).await,
            Act::CompleteUpload | Act::AbortUpload | Act::EndUpload => self.upload(&plain, 2).await,
            Act::Expire => self.fill_aged().await,
            Act::DeleteBucket => self.fill_doomed().await,
            Act::Sweep => {
                self.put_large(&plain, "large").await;
                self.client().delete(&object(&plain, "large")).send().await.expect(204);
                self.upload(&plain, 2).await;
                self.post(&plain, "uploads/multipart/abort", self.named()).await.expect("an answer").expect(204);
            }
        }
        if matches!(act, Act::MoveFile | Act::MoveFiles) {
            // Nothing may be where it goes.
            let bucket = if act == Act::MoveFile { kept } else { plain };
            drop(self.client().delete(&object(&bucket, "moved")).send().await);
        }
    }

    async fn fill(&mut self) {
        if self.is_filled {
            return;
        }
        let writes = (0..IN_FOLDER).map(|at| {
            let (client, bucket) = (self.client().clone(), self.plain.clone());
            async move {
                put(&client, &bucket, &format!("{}{at:04}", FOLDERS[0]), 5_000 + at as u64).await.unwrap().expect(200)
            }
        });
        stream::iter(writes).buffer_unordered(AT_ONCE).for_each(async |_| {}).await;
        self.is_filled = true;
    }

    /// What is over in a few days: files with and without old versions, and an upload that was begun before there were rules,
    /// so that its own timer is for later.
    async fn fill_aged(&mut self) {
        let bucket = self.bucket(json!({ "versioning": "Enabled" })).await;
        self.put_large(&bucket, "file").await;
        self.put(&bucket, "file").await;
        self.put(&bucket, "small").await;
        self.upload(&bucket, 2).await;
        let rule = json!({ "enabled": true, "expireDays": 1, "oldVersionDays": 1, "abortUploadDays": 1 });
        self.put_lifecycle(&bucket, json!([rule])).await;
        self.aged = bucket;
    }

    async fn put_lifecycle(&self, bucket: &str, rules: Value) {
        let put = self.client().put(&format!("{bucket}/lifecycle")).json(&json!({ "rules": rules }));
        put.send().await.expect(200);
    }

    async fn fill_doomed(&mut self) {
        let bucket = self.bucket(json!({ "versioning": "Enabled" })).await;
        self.put(&bucket, "a").await;
        self.put_large(&bucket, "a").await;
        self.put(&bucket, "b").await;
        self.client().delete(&object(&bucket, "b")).send().await.expect(204);
        self.upload(&bucket, 2).await;
        self.doomed = bucket;
    }

    /// The upload, as a body names it.
    fn named(&self) -> Value {
        json!({ "key": "uploaded", "uploadId": self.upload.id })
    }

    async fn post(&self, bucket: &str, about: &str, body: Value) -> Option<Answer> {
        self.client().post(&format!("{bucket}/{about}")).json(&body).try_send().await
    }

    async fn begin(&mut self, bucket: &str) -> Option<Answer> {
        let number = self.next;
        let body = json!({ "key": "uploaded", "contentType": "text/plain", "size": 9 * MIB + number });
        let begun = self.post(bucket, "uploads/multipart", body).await?;
        self.upload = Upload { id: begun.str("/uploadId").to_owned(), number, etags: Vec::new() };
        Some(begun)
    }

    /// Begins an upload, and sends so many of its parts.
    async fn upload(&mut self, bucket: &str, parts: u64) {
        self.next += 1;
        self.begin(bucket).await.expect("an answer").expect(201);
        for number in 1..=parts {
            let sent = self.part(bucket, number).await.expect("an answer").expect(200);
            self.upload.etags.push(sent.header("etag").unwrap().to_owned());
        }
    }

    async fn part(&self, bucket: &str, number: u64) -> Option<Answer> {
        let mut body = self.named();
        body["partNumbers"] = json!([number]);
        let urls = self.post(bucket, "uploads/multipart/parts", body).await.expect("an answer").expect(200);
        let url = urls.str("/urls/0/url");
        let size = if number == 1 { 8 * MIB } else { MIB + self.upload.number };
        let bytes = vec![u8::try_from(self.upload.number % 251).unwrap(); usize::try_from(size).unwrap()];
        let address = &url[url.find("/v1/storage/files/").unwrap()..];
        self.client().nobody().put(address).body("application/octet-stream", bytes).try_send().await
    }

    /// Asks for it; none when no answer came.
    pub async fn ask(&mut self, act: Act) -> Option<Answer> {
        self.next += 1;
        let (plain, kept, next) = (self.plain.clone(), self.kept.clone(), self.next);
        let client = self.client().clone();
        let moves = |from: &str, to: &str| json!({ "files": [{ "from": from, "to": to }] });
        match act {
            Act::PutSmall => put(&client, &plain, "small", next).await,
            Act::PutLarge => put(&client, &plain, "large", 2 * MIB + next).await,
            Act::PutAddress => self.put_address(&plain, "large", 2 * MIB + next).await,
            Act::PutVersion => put(&client, &kept, "file", next).await,
            Act::Delete => client.delete(&object(&plain, "large")).try_send().await,
            Act::LayMarker => client.delete(&object(&kept, "file")).try_send().await,
            Act::Undelete => self.restore(&kept, 0).await,
            Act::RestoreOld => self.restore(&kept, 1).await,
            Act::DeleteVersion => {
                let id = self.versions(&kept, "file").await[0]["versionId"].clone();
                self.post(&kept, "object/versions/delete", json!({ "key": "file", "versionId": id })).await
            }
            Act::MoveFile => self.post(&kept, "objects/move", moves("file", "moved")).await,
            Act::MoveFiles => self.post(&plain, "objects/move", moves("small", "moved")).await,
            Act::MoveFolder => {
                let body = json!({ "folders": [{ "from": FOLDERS[self.at], "to": FOLDERS[1 - self.at] }] });
                self.post(&plain, "objects/move", body).await
            }
            Act::BeginUpload => self.begin(&plain).await,
            Act::PutPart => self.part(&plain, 2).await,
            Act::CompleteUpload => {
                let parts: Vec<_> = (1..)
                    .zip(&self.upload.etags)
                    .map(|(number, etag)| json!({ "partNumber": number, "etag": etag }))
                    .collect();
                let mut body = self.named();
                body["parts"] = json!(parts);
                self.post(&plain, "uploads/multipart/complete", body).await
            }
            Act::AbortUpload => self.post(&plain, "uploads/multipart/abort", self.named()).await,
            // What follows is done by nobody's asking.
            Act::EndUpload | Act::Expire | Act::Sweep => None,
            Act::DeleteBucket => {
                drop(client.delete(&format!("{}?force=1", self.doomed)).try_send().await);
                None
            }
        }
    }

    async fn put_address(&self, bucket: &str, key: &str, size: u64) -> Option<Answer> {
        let body = json!({ "key": key, "size": size, "overwrite": true });
        let url = self.post(bucket, "uploads", body).await?.expect(201).str("/url").to_owned();
        let bytes = vec![u8::try_from(size % 251).unwrap(); usize::try_from(size).unwrap()];
        let address = &url[url.find("/v1/storage/files/").unwrap()..];
        self.client().nobody().put(address).body("text/plain", bytes).try_send().await
    }

    async fn restore(&self, bucket: &str, place: usize) -> Option<Answer> {
        let id = self.versions(bucket, "file").await[place]["versionId"].clone();
        self.post(bucket, "object/restore", json!({ "key": "file", "versionId": id })).await
    }

    /// Waits for what goes on by itself after the program has started again.
    pub async fn settle(&mut self, act: Act) {
        match act {
            Act::MoveFolder => self.moves_end().await,
            Act::DeleteBucket => self.doomed_goes().await,
            Act::Sweep => self.swept().await,
            Act::EndUpload => self.upload_ends().await,
            Act::Expire => {
                // The upload is what is looked at last.
                self.upload_ends().await;
                self.put_lifecycle(&self.aged, json!([])).await;
            }
            _ => {}
        }
    }

    async fn upload_ends(&self) {
        let (id, store) = (self.upload.id.parse().unwrap(), &self.stage.store);
        let ended = async || store.upload(id).await.unwrap().is_none().then_some(());
        self.stage.eventually("the upload's end", ended).await;
    }

    /// Waits until the folder lies under one of its names, and nothing is in the journal.
    async fn moves_end(&mut self) {
        let id = self.plain.rsplit('/').next().unwrap().parse().unwrap();
        let store = &self.stage.store;
        let no = store.bucket_of(id).await.unwrap().unwrap().seen.no;
        let ended = async || store.bucket_moves(no).await.unwrap().is_empty().then_some(());
        self.stage.eventually("the end of the moves", ended).await;
        let seen = self.seen().await;
        let there: usize = FOLDERS.iter().map(|folder| seen[*folder].len()).sum();
        assert_eq!(there, IN_FOLDER, "each file has one of its names");
    }

    async fn doomed_goes(&mut self) {
        let delete = async || self.client().delete(&format!("{}?force=1", self.doomed)).send().await.status;
        // Again, where it hadn't begun.
        assert!(matches!(delete().await, 202 | 404 | 409));
        let gone = async || (self.client().get(&self.doomed).send().await.status == 404).then_some(());
        self.stage.eventually("the bucket's end", gone).await;
    }

    /// Lets a day pass, with this rule, and waits until a sweep has been.
    pub async fn sweep(&mut self, rule: &str) {
        self.stage.jump(Duration::from_hours(25), rule).await;
        self.swept().await;
    }

    async fn swept(&mut self) {
        for _ in 0..3 {
            let store = &self.stage.store;
            let swept = async || (recount::unswept(store).await.unwrap() == 0).then_some(());
            if tokio::time::timeout(Duration::from_secs(20), self.stage.eventually("a sweep", swept)).await.is_ok() {
                return;
            }
            // What was doomed by what this sweep did is due at the next one.
            self.stage.jump(Duration::from_hours(2), "").await;
        }
        panic!("what nobody refers to is never swept");
    }

    /// What is there.
    pub async fn seen(&self) -> Seen {
        let mut seen = Seen::new();
        for (name, bucket) in [("plain", &self.plain), ("kept", &self.kept), ("aged", &self.aged)] {
            for key in KEYS.into_iter().filter(|_| !bucket.is_empty()) {
                let sizes = self.versions(bucket, key).await.iter().map(|version| version["size"].as_u64()).collect();
                seen.insert(format!("{name} {key}"), sizes);
            }
        }
        for folder in FOLDERS {
            seen.insert(folder.to_owned(), self.listed(folder).await);
        }
        seen
    }

    async fn listed(&self, folder: &str) -> Vec<Option<u64>> {
        let (mut sizes, mut cursor) = (Vec::new(), String::new());
        loop {
            let page =
                self.client().get(&format!("{}/objects?limit=1000&prefix={folder}{cursor}", self.plain)).send().await;
            let page = page.expect(200);
            sizes.extend(page.list("/files").iter().map(|file| file["size"].as_u64()));
            let Some(next) = page.json["cursor"].as_str() else { return sizes };
            cursor = format!("&cursor={next}");
        }
    }

    /// What the act makes of what was there, where it is done.
    pub fn effect(&mut self, act: Act, seen: &mut Seen) {
        let mut of = |name: &str| std::mem::take(seen.get_mut(name).unwrap());
        let next = Some(self.next);
        match act {
            Act::PutSmall => drop(seen.insert("plain small".to_owned(), vec![next])),
            Act::PutLarge | Act::PutAddress => {
                drop(seen.insert("plain large".to_owned(), vec![Some(2 * MIB + self.next)]));
            }
            Act::Delete => drop(of("plain large")),
            Act::PutVersion => seen.get_mut("kept file").unwrap().insert(0, next),
            Act::LayMarker => seen.get_mut("kept file").unwrap().insert(0, None),
            Act::Undelete | Act::DeleteVersion => drop(seen.get_mut("kept file").unwrap().remove(0)),
            Act::RestoreOld => {
                let versions = seen.get_mut("kept file").unwrap();
                versions.insert(0, versions[1]);
            }
            Act::MoveFile => {
                let newest = seen["kept file"][0];
                seen.get_mut("kept file").unwrap().insert(0, None);
                seen.get_mut("kept moved").unwrap().insert(0, newest);
            }
            Act::MoveFiles => {
                let moved = of("plain small");
                seen.insert("plain moved".to_owned(), moved);
            }
            Act::MoveFolder => {
                let moved = of(FOLDERS[self.at]);
                seen.insert(FOLDERS[1 - self.at].to_owned(), moved);
            }
            Act::CompleteUpload => {
                drop(seen.insert("plain uploaded".to_owned(), vec![Some(9 * MIB + self.upload.number)]));
            }
            Act::Expire => {
                // A delete marker on what was the newest one, and no others.
                for name in ["aged file", "aged small"] {
                    let newest = seen[name][0];
                    seen.insert(name.to_owned(), vec![None, newest]);
                }
            }
            Act::BeginUpload | Act::PutPart | Act::AbortUpload | Act::EndUpload | Act::DeleteBucket | Act::Sweep => {}
        }
    }

    /// Which folder has the files by now.
    pub fn note(&mut self, seen: &Seen) {
        self.at = usize::from(!seen[FOLDERS[1]].is_empty());
    }
}
