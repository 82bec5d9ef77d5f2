//! Imports that are large, crowded or broken off, and what becomes of them behind their request: `GET` and `DELETE
//! /v1/orgs/:orgId/pages/imports/:importId`

use std::{
    fs,
    io::{Cursor, Write},
    time::Duration,
};

use domain::id::OrgId;
use serde_json::{Value, json};
use store::blobs::BlobKey;
use tokio::{io::AsyncWriteExt, net::TcpStream};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::Notes;
use crate::harness::{Answer, Client, Launch, Process};

const MB: usize = 1024 * 1024;
const HOUR: Duration = Duration::from_hours(1);
/// How often something that follows is looked for, and how long between.
pub(super) const LOOKS: u32 = 3_000;
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A ZIP of so many pages that say about a megabyte each, not compressed.
fn large_zip(pages: usize) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::with_capacity(pages * MB)));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let line = "All work and no play makes Jack a dull boy. ";
    let text = line.repeat(MB / line.len() - 1);
    for page in 0..pages {
        zip.start_file(format!("Page {page}.md"), stored).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(super) fn small_zip() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["One.md", "One/Below.md", "Two.md"] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"Something about xylophones").unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The most memory that the process ever had, in bytes.
fn peak(process: &Process) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<usize>().unwrap() * 1024
}

async fn import_into(client: &Client, pages: &str, zip: Vec<u8>) -> Answer {
    client.post(&format!("{pages}/import")).body("application/zip", zip).send().await
}

/// Has an import begin, and is answered at once; the import's path.
async fn begin(client: &Client, pages: &str, zip: Vec<u8>) -> String {
    let path = format!("{pages}/import");
    let begun = client.post(&path).header("prefer", "respond-async").body("application/zip", zip).send().await;
    let begun = begun.expect(202);
    assert_eq!(begun.str("/state"), "running", "{}", begun.text);
    format!("{pages}/imports/{}", begun.str("/importId"))
}

/// The import once this holds of it.
async fn once(client: &Client, import: &str, holds: impl Fn(&Answer) -> bool) -> Answer {
    for _ in 0..LOOKS {
        let seen = client.get(import).send().await.expect(200);
        if holds(&seen) {
            return seen;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    panic!("the import never got there")
}

async fn over(client: &Client, import: &str) -> Answer {
    once(client, import, |seen| seen.str("/state") != "running").await
}

impl Notes {
    async fn begin_small(&self) -> String {
        begin(&self.ada.client, &self.path, small_zip()).await
    }

    /// Waits until nothing is left of an import that came to nothing, and makes sure that nobody saw anything of it.
    async fn nothing_is_left(&self, import: &str) {
        let store = self.server.store().await;
        let archive = BlobKey::new("imports", &[import.rsplit('/').next().unwrap()]).unwrap();
        let is_gone = async || {
            let staged = store.page_remains_next(self.org_id()).await.unwrap();
            (staged.is_none() && store.blobs().size(&archive).await.unwrap().is_none()).then_some(())
        };
        self.server.eventually("what it left is deleted", is_gone).await;
        assert_eq!((self.list().await, self.found("xylophones").await), (Vec::<Value>::new(), 0));
    }

    pub(super) fn org_id(&self) -> OrgId {
        self.path.split('/').nth(3).unwrap().parse().unwrap()
    }

    /// An upload of which the most is still to come, for as long as the connection is kept.
    async fn unfinished_upload(&self) -> TcpStream {
        let mut wire = TcpStream::connect(self.server.url.trim_start_matches("http://")).await.unwrap();
        let head = format!(
            "POST {}/import HTTP/1.1\r\nHost: troupe\r\nAuthorization: Bearer {}\r\nContent-Type: application/zip\r\n\
             Content-Length: 1000\r\n\r\nPK",
            self.path,
            self.ada.client.token.as_deref().unwrap(),
        );
        wire.write_all(head.as_bytes()).await.unwrap();
        wire
    }

    async fn import_small(&self) -> Answer {
        import_into(&self.ada.client, &self.path, small_zip()).await
    }

    async fn found(&self, word: &str) -> usize {
        let answer = self.ada.client.get(&format!("{}/search?q={word}", self.path)).send().await.expect(200);
        answer.list("/results").len()
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn an_import_of_forty_megabytes_takes_a_fraction_of_that_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let process = Launch::in_folder(folder.path()).start();
    let owner = process.client().with_token(process.owner_token.as_deref().unwrap());
    let org_id = owner.post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await.expect(201);
    let pages = format!("/v1/orgs/{}/pages", org_id.str("/org/orgId"));
    // What a first import brings along, such as caches of the database, is there for good.
    import_into(&owner, &pages, large_zip(4)).await.expect(201);
    let before = peak(&process);
    let made = import_into(&owner, &pages, large_zip(40)).await.expect(201);
    assert_eq!(made.int("/imported"), 40);
    let grown = peak(&process) - before;
    assert!(grown < 30 * MB, "40 MB were imported, and memory grew by {} KB", grown / 1024);
    process.terminate();
}

#[tokio::test]
async fn an_import_that_can_not_be_made_shows_nothing_and_leaves_nothing() {
    let notes = Notes::new().await;
    notes.server.faults.set("handler:page_tree/import_pages=fail").unwrap();
    let import = notes.begin_small().await;
    let mut tries = 0;
    while notes.ada.client.get(&import).send().await.expect(200).str("/state") == "running" {
        tries += 1;
        assert!(tries < 1_000, "it is never given up");
        notes.server.clock.advance(HOUR);
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    let failed = notes.ada.client.get(&import).send().await.expect(200);
    assert_eq!((failed.str("/state"), failed.str("/error/code")), ("failed", "internal"));
    notes.server.faults.clear();
    notes.nothing_is_left(&import).await;
    let dead = notes.server.owner().get("/v1/platform/dead-letters").send().await.expect(200);
    assert_eq!((dead.int("/total"), dead.str("/deadLetters/0/topic")), (1, "pages.import"));
    // Repeated, it finds nothing to do.
    let path = format!("/v1/platform/dead-letters/{}/repeat", dead.int("/deadLetters/0/seq"));
    notes.server.owner().post(&path).send().await.expect(200);
    notes.import_small().await.expect(201);
    notes.server.clock.advance(HOUR);
    assert_eq!((notes.list().await.len(), notes.found("xylophones").await), (3, 3));
    assert_eq!(notes.server.store().await.page_remains_next(notes.org_id()).await.unwrap(), None);
}

#[tokio::test]
async fn an_import_goes_on_without_its_request_and_says_how_it_stands() {
    let notes = Notes::new().await;
    let import = notes.begin_small().await;
    let done = over(&notes.ada.client, &import).await;
    assert_eq!((done.str("/state"), done.int("/pages"), done.int("/pagesDone")), ("done", 3, 3));
    assert_eq!((&done.json["error"], done.list("/pageIds").len()), (&json!(null), 2));
    assert!(done.int("/endedAt") >= done.int("/createdAt"));
    let listed = notes.list().await;
    assert_eq!(listed.len(), 3);
    for id in done.list("/pageIds") {
        assert!(listed.iter().any(|page| page["pageId"] == *id), "{}", done.text);
    }
    notes.ada.client.delete(&import).send().await.expect_error(409, "import_over", "This import is over.");

    let made = notes.import_small().await.expect(201);
    let seen = notes.ada.client.get(&format!("{}/imports/{}", notes.path, made.str("/importId"))).send().await;
    let ids: Vec<_> = made.list("/pages").iter().map(|page| page["pageId"].clone()).collect();
    assert_eq!(seen.expect(200).list("/pageIds"), ids);
    let never = format!("{}/imports/imp_01jd7rt4m5e9fv2w8x3c6k0hqz", notes.path);
    notes.ada.client.get(&never).send().await.expect_error(404, "not_found", "Import not found.");
}

#[tokio::test]
async fn an_import_that_is_cancelled_shows_nothing_and_leaves_nothing() {
    let notes = Notes::new().await;
    // Its first step takes long.
    notes.server.faults.set("commit:pages.import=stall(2s);times=1").unwrap();
    let import = notes.begin_small().await;
    notes.ada.client.delete(&import).send().await.expect(200);
    let seen = notes.ada.client.get(&import).send().await.expect(200);
    assert_eq!((seen.str("/state"), seen.list("/pageIds").len()), ("cancelled", 0));
    notes.ada.client.delete(&import).send().await.expect_error(409, "import_over", "This import is over.");
    notes.nothing_is_left(&import).await;
    notes.import_small().await.expect(201);
}

#[tokio::test]
async fn operators_see_an_import_and_cancel_it_with_its_job() {
    let notes = Notes::new().await;
    notes.server.faults.set("commit:pages.import=stall(5s);after=1;times=1").unwrap();
    let import = begin(&notes.ada.client, &notes.path, large_zip(4)).await;
    once(&notes.ada.client, &import, |seen| seen.int("/pagesDone") > 0).await;
    let operator = notes.server.owner();
    let jobs = operator.get("/v1/platform/jobs").send().await.expect(200);
    let job = jobs.list("/jobs").iter().find(|job| job["topic"] == "pages.import").expect("a job");
    assert!(job["progress"]["pages"].as_u64() > Some(0) && job["canBeCancelled"] == true, "{job}");
    operator.post(&format!("/v1/platform/jobs/{}/cancel", job["seq"])).send().await.expect(200);
    assert_eq!(over(&notes.ada.client, &import).await.str("/state"), "cancelled");
    notes.nothing_is_left(&import).await;
}

#[tokio::test]
async fn whoever_loses_the_right_to_write_while_their_import_goes_on_imports_nothing() {
    let notes = Notes::new().await;
    let grace = notes.member("grace", "developer").await;
    notes.server.faults.set("commit:pages.import=stall(1s);times=1").unwrap();
    let import = begin(&grace.client, &notes.path, small_zip()).await;
    let role = json!({ "role": "viewer" });
    let member = format!("{}/members/{}", notes.path.trim_end_matches("/pages"), grace.user_id);
    notes.ada.client.patch(&member).json(&role).send().await.expect(200);
    let failed = over(&notes.ada.client, &import).await;
    assert_eq!((failed.str("/state"), failed.str("/error/code")), ("failed", "missing_scope"));
    assert_eq!(failed.str("/error/error"), "This needs the knowledge:write permission.");
    notes.nothing_is_left(&import).await;
}

#[tokio::test]
async fn an_import_whose_parent_goes_meanwhile_says_so() {
    let notes = Notes::new().await;
    let parent = notes.page("root", "parent").await;
    notes.server.faults.set("commit:pages.import=stall(1s);times=1").unwrap();
    let path = format!("{}/import?parentId={parent}", notes.path);
    let importing = notes.ada.client.post(&path).body("application/zip", small_zip()).send();
    let archiving = async {
        let store = notes.server.store().await;
        let begun = async || (store.page_imports_running(notes.org_id()).await.unwrap() > 0).then_some(());
        notes.server.eventually("the import has begun", begun).await;
        notes.archive(&parent).await;
    };
    let (refused, ()) = tokio::join!(importing, archiving);
    refused.expect_error(400, "parent_in_trash", "The parent page is in the trash.");
}

#[tokio::test]
async fn two_imports_of_an_organization_are_under_way_at_once_whoever_waits_for_them() {
    let notes = Notes::new().await;
    notes.server.faults.set("commit:pages.import=stall(3s);times=2").unwrap();
    let begun = [notes.begin_small().await, notes.begin_small().await];
    let refused = notes.import_small().await;
    assert_eq!(refused.header("retry-after"), Some("10"));
    refused.expect_error(503, "busy", "Other imports are under way; try again in a moment.");
    for import in begun {
        assert_eq!(over(&notes.ada.client, &import).await.str("/state"), "done");
    }
    notes.import_small().await.expect(201);
    assert_eq!(notes.list().await.len(), 9);
}

#[tokio::test]
async fn an_import_goes_on_after_the_program_was_killed_in_the_middle_of_it() {
    const PAGES: usize = 6;
    let folder = tempfile::tempdir().unwrap();
    let faults = folder.path().join("faults");
    fs::write(&faults, "commit:pages.import=stall;after=2").unwrap();
    let launch = Launch::in_folder(folder.path()).faults(&faults);
    let process = launch.start();
    let owner = process.client().with_token(process.owner_token.as_deref().unwrap());
    let org_id = owner.post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await.expect(201);
    let pages = format!("/v1/orgs/{}/pages", org_id.str("/org/orgId"));
    let import = begin(&owner, &pages, large_zip(PAGES)).await;
    let half = once(&owner, &import, |seen| seen.int("/pagesDone") >= 2).await;
    assert!(half.int("/pagesDone") < i64::try_from(PAGES).unwrap(), "{}", half.text);
    assert_eq!(owner.get(&pages).send().await.expect(200).list("/pages").len(), 0);
    process.kill();

    fs::write(&faults, "").unwrap();
    let process = launch.start();
    let owner = process.client().with_token(owner.token.as_deref().unwrap());
    let done = over(&owner, &import).await;
    assert_eq!((done.str("/state"), done.list("/pageIds").len()), ("done", PAGES));
    let listed = owner.get(&pages).send().await.expect(200);
    assert_eq!(listed.list("/pages").len(), PAGES, "each once");
    for page in listed.list("/pages") {
        let said = owner.get(&format!("{pages}/{}", page["pageId"].as_str().unwrap())).send().await.expect(200);
        assert!(said.text.contains("All work and no play"), "a page without what it says");
    }
    process.terminate();
}

#[tokio::test]
async fn an_organization_imports_two_archives_at_once_and_the_next_one_waits() {
    let notes = Notes::new().await;
    let mut uploads = Vec::new();
    // One more each time: an upload that came while an import was looked for may have been refused itself.
    let is_refused = async || {
        uploads.push(notes.unfinished_upload().await);
        Some(notes.import_small().await).filter(|answer| answer.status == 503)
    };
    let refused = notes.server.eventually("both uploads are under way", is_refused).await;
    assert_eq!(refused.header("retry-after"), Some("10"));
    refused.expect_error(503, "busy", "Other imports are under way; try again in a moment.");
    drop(uploads);
    let is_made = async || Some(notes.import_small().await).filter(|answer| answer.status == 201);
    notes.server.eventually("there is a place again", is_made).await;
}
