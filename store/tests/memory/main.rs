//! How much memory contents take on their way, in a process that does nothing else.
#![cfg(target_os = "linux")]

extern crate troupe_store as store;

use bytes::Bytes;
use domain::{id::OrgId, time::Timestamp};
use futures::{StreamExt, TryStreamExt, stream};
use store::{Change, Clock, Store, blobs::contents::ContentSource, testing::Scratch};

const MEBIBYTE: u64 = 1024 * 1024;
/// What is streamed.
const LEN: u64 = 256 * MEBIBYTE;
/// What it may take.
const MORE_MAX: u64 = 20 * MEBIBYTE;

/// The most memory that this process ever had, in bytes.
fn most() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("reads");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") * 1024
}

async fn in_and_out(store: &Store, org_id: OrgId, len: u64) {
    let piece = Bytes::from(vec![7; 64 * 1024]);
    let source = stream::iter(0..len / piece.len() as u64).map(move |_| Ok::<_, std::io::Error>(piece.clone()));
    let content = store.content_write(org_id, ContentSource { size: Some(len), limit: len }, source).await;
    let content = content.expect("is taken");
    let mut change = Change::new();
    change.content_put(store.now(), &content);
    store.commit(change).await.expect("commits");
    let read = store.content_read(org_id, content.id(), None).await.expect("reads").expect("is there");
    let count = async |sum: u64, bytes: Bytes| Ok(sum + bytes.len() as u64);
    assert_eq!(read.bytes.try_fold(0, count).await.expect("reads"), len);
}

#[tokio::test]
async fn a_large_content_goes_in_and_out_in_little_memory() {
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = scratch.store(Clock::system()).await.expect("opens");
    let org_id = OrgId::new(Timestamp(1_700_000_000_000));
    in_and_out(&store, org_id, 2 * MEBIBYTE).await;
    let before = most();
    in_and_out(&store, org_id, LEN).await;
    let more = most() - before;
    println!("{} MiB in and out took {} KiB", LEN / MEBIBYTE, more / 1024);
    assert!(more < MORE_MAX, "{more} bytes more");
}
