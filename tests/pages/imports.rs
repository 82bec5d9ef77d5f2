//! Imports that are large, crowded or broken off.

use std::{
    fs,
    io::{Cursor, Write},
    time::Duration,
};

use domain::{Timestamp, id::OrgId};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::Notes;
use crate::harness::{Answer, Client, Launch, Process};

const MB: usize = 1024 * 1024;
/// How long an import may wait for its pages, and a little more.
const STAGED_LASTS: Duration = Duration::from_mins(61);

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

fn small_zip() -> Vec<u8> {
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

impl Notes {
    fn org_id(&self) -> OrgId {
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
async fn an_import_that_breaks_off_shows_nothing_and_leaves_nothing() {
    let notes = Notes::new().await;
    let store = notes.server.store().await;
    let left = async || store.page_remains_next(notes.org_id()).await.unwrap();
    notes.server.faults.set("handler:page_tree/import_pages=fail").unwrap();
    assert_eq!(notes.import_small().await.status, 500);
    notes.server.faults.clear();
    assert_eq!((notes.list().await, notes.found("xylophones").await), (Vec::<Value>::new(), 0));
    assert!(left().await.is_some_and(|due| due > Timestamp(0)), "what was staged is named");
    notes.server.clock.advance(STAGED_LASTS);
    notes.server.eventually("it is deleted", async || left().await.is_none().then_some(())).await;
    notes.import_small().await.expect(201);
    notes.server.clock.advance(STAGED_LASTS);
    assert_eq!((notes.list().await.len(), notes.found("xylophones").await), (3, 3));
    assert_eq!(left().await, None, "what has come is not deleted");
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
