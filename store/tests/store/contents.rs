use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use domain::id::{ContentId, OrgId};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use md5::Digest;
use sea_orm::{ConnectionTrait, Database, Statement};
use store::{
    Change, Clock, CommitError, Store, StoreError,
    blobs::contents::{
        ContentError, ContentPart, ContentSource, DOOMED_FOR, NewContent, PENDING_FOR, SMALL_MAX,
        scrub::{self, Scrubbed},
    },
    copying::BlobHold,
    testing::{self, Scratch},
};

use crate::{START, commit, open};

/// Any size.
pub(crate) const ANY: ContentSource = ContentSource { size: None, limit: u64::MAX };
const MEBIBYTE: usize = 1024 * 1024;

/// Bytes that tell their place.
pub(crate) fn bytes(len: usize, seed: u8) -> Bytes {
    (0..len).map(|at| ((at / 251) ^ (at % 251)).to_le_bytes()[0] ^ seed).collect::<Vec<_>>().into()
}

/// The same in uneven pieces.
pub(crate) fn pieces(bytes: &Bytes) -> impl Stream<Item = Result<Bytes, io::Error>> + Send + use<> {
    let pieces: Vec<_> = bytes.chunks(70_001).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    stream::iter(pieces)
}

pub(crate) async fn write(store: &Store, org_id: OrgId, bytes: &Bytes) -> NewContent {
    store.content_write(org_id, ANY, pieces(bytes)).await.expect("is taken")
}

pub(crate) async fn put(store: &Store, org_id: OrgId, bytes: &Bytes) -> NewContent {
    let content = write(store, org_id, bytes).await;
    commit(store, |change| change.content_put(store.now(), &content)).await;
    content
}

pub(crate) async fn read(store: &Store, org_id: OrgId, id: ContentId) -> Option<Vec<u8>> {
    read_range(store, org_id, id, 0..u64::MAX).await.expect("reads")
}

async fn read_range(
    store: &Store,
    org_id: OrgId,
    id: ContentId,
    range: std::ops::Range<u64>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(content) = store.content_read(org_id, id, Some(range)).await? else { return Ok(None) };
    let read = content.bytes.map_ok(|bytes| bytes.to_vec()).try_concat().await?;
    assert_eq!(read.len() as u64, content.range.end - content.range.start);
    Ok(Some(read))
}

/// All files of blobs.
pub(crate) fn files(scratch: &Scratch) -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { collect(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    collect(&scratch.folder().join("blobs"), &mut found);
    found
}

/// How many rows each of the tables has: contents, segments, pending and doomed blobs.
pub(crate) async fn rows(scratch: &Scratch) -> [i64; 4] {
    let database = Database::connect(scratch.url()).await.expect("opens");
    let mut counts = [0; 4];
    for (count, table) in counts.iter_mut().zip(["contents", "content_segments", "blob_pending", "blob_doomed"]) {
        let sql = Statement::from_string(database.get_database_backend(), format!("SELECT COUNT(*) AS c FROM {table}"));
        *count = database.query_one_raw(sql).await.expect("reads").expect("a row").try_get("", "c").expect("a count");
    }
    database.close().await.expect("closes");
    counts
}

pub(crate) async fn unref(store: &Store, org_id: OrgId, id: ContentId) -> Result<(), CommitError> {
    let mut change = Change::new();
    change.contents_unref(store.now(), org_id, [id]);
    store.commit(change).await
}

async fn refs(store: &Store, org_id: OrgId, id: ContentId) -> u64 {
    store.content(org_id, id).await.expect("reads").map_or(0, |content| content.refs)
}

#[tokio::test]
async fn a_small_content_is_a_row_and_goes_with_its_last_reference() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let org_id = OrgId::new(START);
        for len in [0, 1, SMALL_MAX] {
            let text = bytes(len, 1);
            let content = put(&store, org_id, &text).await;
            let same = NewContent::of_bytes(org_id, START, text.clone()).expect("is small");
            assert_eq!((content.md5(), content.sha256()), (same.md5(), same.sha256()));
            assert_eq!(content.md5(), <[u8; 16]>::from(md5::Md5::digest(&text)));
            assert!(content.is_small() && files(&scratch).is_empty());
            assert_eq!(read(&store, org_id, content.id()).await.as_deref(), Some(&text[..]));
            let head = store.content(org_id, content.id()).await.expect("reads").expect("is there");
            assert_eq!((head.size, head.refs, head.md5), (len as u64, 1, Some(content.md5())));
            commit(&store, |change| change.contents_ref(org_id, [content.id(), content.id()])).await;
            assert_eq!(refs(&store, org_id, content.id()).await, 3);
            commit(&store, |change| change.contents_unref(START, org_id, [content.id(); 3])).await;
            assert_eq!(rows(&scratch).await, [0; 4]);
        }
        assert_eq!(NewContent::of_bytes(org_id, START, bytes(SMALL_MAX + 1, 1)), None);
    }
}

#[tokio::test]
async fn a_large_content_is_a_blob_that_is_read_whole_and_in_part_by_its_organization_only() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (org_id, other) = (OrgId::new(START), OrgId::new(START));
        for len in [SMALL_MAX + 1, MEBIBYTE - 1, MEBIBYTE, 3 * MEBIBYTE + 17] {
            let text = bytes(len, 2);
            let content = write(&store, org_id, &text).await;
            assert_eq!((content.size(), content.is_small()), (len as u64, false));
            assert_eq!(content.md5(), <[u8; 16]>::from(md5::Md5::digest(&text)));
            assert_eq!(content.sha256(), <[u8; 32]>::from(sha2::Sha256::digest(&text)));
            assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0, 0, 1, 0], 1));
            assert_eq!(read(&store, org_id, content.id()).await, None, "no commit names it yet");
            commit(&store, |change| change.content_put(START, &content)).await;
            assert_eq!(rows(&scratch).await, [1, 1, 0, 0]);
            assert_eq!(read(&store, org_id, content.id()).await.as_deref(), Some(&text[..]));
            for range in [0..1, 5..5, len - 1..len, 10..262_155, 0..len + 9, len + 1..len + 2] {
                let cut = range.start.min(len)..range.end.min(len).max(range.start.min(len));
                let read = read_range(&store, org_id, content.id(), range.start as u64..range.end as u64).await;
                assert_eq!(read.expect("reads").as_deref(), Some(&text[cut]), "{range:?}");
            }
            assert_eq!(read(&store, other, content.id()).await, None);
            assert_eq!(unref(&store, other, content.id()).await, Err(CommitError::Stale));
            let mut change = Change::new();
            change.contents_ref(other, [content.id()]);
            assert_eq!(store.commit(change).await, Err(CommitError::Stale));
            unref(&store, org_id, content.id()).await.expect("commits");
            assert_eq!(unref(&store, org_id, content.id()).await, Err(CommitError::Stale));
            assert_eq!(store.content(org_id, content.id()).await.expect("reads"), None);
            store.clock().advance(DOOMED_FOR);
            store.contents_sweep_all(1).await.expect("sweeps");
            assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
        }
    }
}

#[tokio::test]
async fn all_bytes_are_shown_in_their_order() {
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = open(&scratch, &Clock::manual(START)).await;
    let text = bytes(2 * MEBIBYTE + 5, 3);
    let (shown, told) = std::sync::mpsc::channel();
    let seen = Box::new(move |bytes: &[u8]| shown.send(bytes.to_vec()).expect("somebody listens"));
    store.content_write_seen(OrgId::new(START), ANY, pieces(&text), seen).await.expect("is taken");
    assert_eq!(told.iter().flatten().collect::<Vec<_>>(), text);
}

#[tokio::test]
async fn nothing_is_left_of_what_has_another_size_or_breaks_off() {
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = open(&scratch, &Clock::manual(START)).await;
    let org_id = OrgId::new(START);
    for len in [100, 2 * MEBIBYTE] {
        let (text, size) = (bytes(len, 4), len as u64);
        for announced in [size - 1, size + 1] {
            let source = ContentSource { size: Some(announced), limit: u64::MAX };
            let outcome = store.content_write(org_id, source, pieces(&text)).await;
            assert!(matches!(outcome, Err(ContentError::Size { expected }) if expected == announced));
        }
        let source = ContentSource { size: None, limit: size - 1 };
        let outcome = store.content_write(org_id, source, pieces(&text)).await;
        assert!(matches!(outcome, Err(ContentError::TooLong { limit }) if limit == size - 1));
        let broken = pieces(&text).chain(stream::once(async { Err(io::Error::other("gone")) }));
        let outcome = store.content_write(org_id, ANY, broken).await;
        assert!(matches!(outcome, Err(ContentError::Source(error)) if error.to_string() == "gone"));
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
        let exact = ContentSource { size: Some(size), limit: size };
        store.content_write(org_id, exact, pieces(&text)).await.expect("is taken");
    }
}

/// Waits until there is nothing.
async fn nothing_is_left(scratch: &Scratch) {
    let until = tokio::time::Instant::now() + Duration::from_secs(20);
    while rows(scratch).await != [0; 4] || !files(scratch).is_empty() {
        assert!(tokio::time::Instant::now() < until, "{:?} {:?}", rows(scratch).await, files(scratch));
    }
}

#[tokio::test]
async fn nothing_is_left_when_nobody_waits_any_longer() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (org_id, begun) = (OrgId::new(START), bytes(3 * MEBIBYTE, 5));
        let (last, stalled) = tokio::sync::oneshot::channel();
        let source = pieces(&begun).chain(stream::once(async move {
            last.send(()).expect("somebody listens");
            std::future::pending().await
        }));
        let writing = tokio::spawn({
            let store = store.clone();
            async move { store.content_write(org_id, ANY, Box::pin(source)).await.map(drop) }
        });
        stalled.await.expect("it comes so far");
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0, 0, 1, 0], 1));
        writing.abort();
        nothing_is_left(&scratch).await;
    }
}

#[tokio::test]
async fn a_place_or_a_database_that_fails_is_an_error_and_nothing_is_left() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (org_id, text) = (OrgId::new(START), bytes(3 * MEBIBYTE, 6));
        let rules =
            ["blob@=fail", "blob@=away;after=1", "blob@=fail;after=2", "commit:=away;times=1", "commit:=lose;times=1"];
        for rule in rules {
            store.faults().set(rule).expect("a rule");
            let happened = store.faults().happened();
            let outcome = store.content_write(org_id, ANY, pieces(&text)).await;
            assert!(matches!(outcome, Err(ContentError::Store(_))), "{rule}");
            assert!(store.faults().happened() > happened, "{rule}");
            store.faults().clear();
            nothing_is_left(&scratch).await;
        }
    }
}

#[tokio::test]
async fn what_was_written_and_never_named_is_swept_a_day_later_and_can_not_be_named_then() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let (org_id, text) = (OrgId::new(START), bytes(100_000, 7));
        // A process that is killed leaves the row, with the whole blob or a part of it.
        let content = write(&store, org_id, &text).await;
        let file = files(&scratch).pop().expect("a blob");
        fs::write(format!("{}#1", file.display()), b"a part").expect("writes");
        store.close().await;
        let store = open(&scratch, &clock).await;
        clock.set(START.after(PENDING_FOR).before(Duration::from_millis(1)));
        assert_eq!(store.contents_sweep_all(10).await, Ok(0));
        assert_eq!(files(&scratch).len(), 2);
        clock.set(START.after(PENDING_FOR));
        assert_eq!(store.contents_sweep_all(10).await, Ok(2), "once as pending, once as doomed");
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
        let mut change = Change::new();
        change.content_put(clock.now(), &content);
        assert_eq!(store.commit(change).await, Err(CommitError::Stale));
        assert_eq!(rows(&scratch).await, [0; 4]);
    }
}

#[tokio::test]
async fn a_content_that_is_abandoned_goes_unless_a_commit_named_it() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (org_id, text) = (OrgId::new(START), bytes(100_000, 8));
        let abandoned = write(&store, org_id, &text).await;
        store.content_abandon(&abandoned).await.expect("deletes");
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
        let named = write(&store, org_id, &text).await;
        let mut change = Change::new();
        change.content_put(START, &named);
        store.faults().set("commit:=lose;times=1").expect("a rule");
        assert!(matches!(store.commit(change).await, Err(CommitError::Unavailable(_))));
        store.content_abandon(&named).await.expect("leaves it");
        assert_eq!(read(&store, org_id, named.id()).await.as_deref(), Some(&text[..]));
    }
}

async fn hold(scratch: &Scratch, until: i64) {
    let database = Database::connect(scratch.url()).await.expect("opens");
    let sql = format!("INSERT INTO blob_holds (id, until) VALUES ('a', {until})");
    database.execute_unprepared(&sql).await.expect("inserts");
    database.close().await.expect("closes");
}

#[tokio::test]
async fn blobs_stay_for_a_quarter_of_an_hour_and_as_long_as_somebody_holds_them() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let (org_id, text) = (OrgId::new(START), bytes(3 * MEBIBYTE, 9));
        let content = put(&store, org_id, &text).await;
        unref(&store, org_id, content.id()).await.expect("commits");
        assert_eq!(read(&store, org_id, content.id()).await, None);
        clock.advance(DOOMED_FOR - Duration::from_millis(1));
        assert_eq!(store.contents_sweep_all(10).await, Ok(0));
        clock.advance(Duration::from_millis(1));
        hold(&scratch, clock.now().0 + 1).await;
        assert_eq!(store.contents_sweep_all(10).await, Ok(0));
        clock.advance(Duration::from_millis(1));
        assert_eq!(store.contents_sweep_all(10).await, Ok(2), "a hold that nobody renews is over");
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
    }
}

#[tokio::test]
async fn a_copy_of_the_database_holds_blobs_until_it_lets_go() {
    let scratch = Scratch::sqlite().expect("makes a folder");
    // Holds end by the system's clock, as the blobs' owner is another program.
    let clock = Clock::manual(Clock::system().now().before(DOOMED_FOR));
    let store = open(&scratch, &clock).await;
    let org_id = OrgId::new(START);
    let content = put(&store, org_id, &bytes(100_000, 1)).await;
    unref(&store, org_id, content.id()).await.expect("commits");
    clock.advance(DOOMED_FOR);
    let hold = BlobHold::take(&scratch.folder().join("troupe.sqlite")).expect("takes").expect("has the table");
    assert_eq!(store.contents_sweep_all(10).await, Ok(0));
    hold.release().expect("stood");
    assert_eq!(store.contents_sweep_all(10).await, Ok(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn references_are_exact_whoever_counts_them_at_once() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let nodes = [open(&scratch, &clock).await, open(&scratch, &clock).await];
        let org_id = OrgId::new(START);
        let (one, two) = (put(&nodes[0], org_id, &bytes(9, 1)).await, put(&nodes[0], org_id, &bytes(99_999, 1)).await);
        commit(&nodes[0], |change| change.contents_ref(org_id, [[one.id(); 20], [two.id(); 20]].concat())).await;
        let counts = (0..60).map(|number| {
            let (store, mut ids) = (nodes[number % 2].clone(), [one.id(), two.id()]);
            if number % 3 == 0 {
                ids.reverse();
            }
            tokio::spawn(async move {
                let mut change = Change::new();
                if number % 4 == 0 {
                    change.contents_unref(START, org_id, ids);
                } else {
                    change.contents_ref(org_id, ids);
                }
                let added = if number % 4 == 0 { -1 } else { 1 };
                match store.commit(change).await {
                    Ok(()) => added,
                    Err(CommitError::Stale) => 0,
                    Err(error) => panic!("{error}"),
                }
            })
        });
        let mut expected = 21;
        for count in counts.collect::<Vec<_>>() {
            expected += count.await.expect("runs");
        }
        for content in [&one, &two] {
            assert_eq!(refs(&nodes[0], org_id, content.id()).await, u64::try_from(expected).expect("positive"));
        }
    }
}

fn parts(contents: &[NewContent]) -> Vec<ContentPart> {
    contents.iter().map(|content| ContentPart { id: content.id(), size: content.size() }).collect()
}

#[tokio::test]
async fn joined_contents_are_one_that_has_their_bytes() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let org_id = OrgId::new(START);
        let texts = [(200_000, 1), (0, 2), (1_200_000, 3), (40_000, 4), (77, 5)].map(|(len, seed)| bytes(len, seed));
        let mut contents = Vec::new();
        for text in &texts {
            contents.push(put(&store, org_id, text).await);
        }
        let mut joined = None;
        commit(&store, |change| joined = Some(change.content_join(START, org_id, &parts(&contents)))).await;
        let (joined, whole) = (joined.expect("an id"), texts.concat());
        let head = store.content(org_id, joined).await.expect("reads").expect("is there");
        assert_eq!((head.size, head.refs, head.md5, head.sha256), (whole.len() as u64, 1, None, None));
        assert_eq!(read(&store, org_id, joined).await.as_deref(), Some(&whole[..]));
        for range in [199_990..200_010, 1_399_999..1_440_077, 1_440_000..1_440_001, 0..1] {
            let read = read_range(&store, org_id, joined, range.start as u64..range.end as u64).await;
            assert_eq!(read.expect("reads").as_deref(), Some(&whole[range]));
        }
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([1, 4, 0, 0], 3));
        assert_eq!(read(&store, org_id, contents[0].id()).await, None);
        unref(&store, org_id, joined).await.expect("commits");
        clock.advance(DOOMED_FOR);
        store.contents_sweep_all(2).await.expect("sweeps");
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
    }
}

#[tokio::test]
async fn a_thousand_parts_are_joined_and_none_that_is_shared_foreign_gone_or_of_another_size() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (org_id, other) = (OrgId::new(START), OrgId::new(START));
        let contents: Vec<_> = (0..1_203_u32)
            .filter_map(|number| NewContent::of_bytes(org_id, START, number.to_be_bytes().to_vec().into()))
            .collect();
        commit(&store, |change| contents.iter().for_each(|content| change.content_put(START, content))).await;
        let good = parts(&contents);
        let refused = async |org_id, parts: &[ContentPart]| {
            let mut change = Change::new();
            change.content_join(START, org_id, parts);
            assert_eq!(store.commit(change).await, Err(CommitError::Stale));
            assert_eq!(rows(&scratch).await, [1_203, 0, 0, 0]);
        };
        refused(other, &good).await;
        refused(org_id, &[good[0], ContentPart { size: 5, ..good[1] }]).await;
        refused(org_id, &[good[0], ContentPart { id: ContentId::new(START), size: 4 }]).await;
        refused(org_id, &[good[0], good[1], good[0]]).await;
        commit(&store, |change| change.contents_ref(org_id, [good[600].id])).await;
        refused(org_id, &good).await;
        commit(&store, |change| change.contents_unref(START, org_id, [good[600].id])).await;
        let mut joined = None;
        commit(&store, |change| joined = Some(change.content_join(START, org_id, &good))).await;
        assert_eq!(rows(&scratch).await, [1, 1_203, 0, 0]);
        let whole: Vec<_> = (0..1_203_u32).flat_map(u32::to_be_bytes).collect();
        assert_eq!(read(&store, org_id, joined.expect("an id")).await, Some(whole));
    }
}

#[tokio::test]
async fn a_scrub_finds_what_was_lost_or_changed_and_remembers_when_all_was_well() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let (org_id, text) = (OrgId::new(START), bytes(700_000, 3));
        let content = put(&store, org_id, &text).await;
        put(&store, org_id, &bytes(9, 1)).await;
        let scrubbed = async || match store.scrub_claim().await.expect("claims") {
            Some(claim) => Some(store.scrub(&claim).await.expect("reads")),
            None => None,
        };
        assert_eq!(scrubbed().await, None);
        assert_eq!(store.scrub_next().await, Ok(Some(START.after(scrub::EVERY))));
        clock.advance(scrub::EVERY);
        let claim = store.scrub_claim().await.expect("claims").expect("is due");
        assert_eq!(scrubbed().await, None, "another node reads it");
        assert_eq!(store.scrub(&claim).await, Ok(Scrubbed::Sound));
        assert_eq!(store.content_scrubbed_at(org_id, content.id()).await, Ok(Some(clock.now())));
        clock.advance(scrub::EVERY);
        let file = files(&scratch).pop().expect("a blob");
        let mut changed = text.to_vec();
        changed[650_000] ^= 1;
        fs::write(&file, &changed).expect("writes");
        assert_eq!(scrubbed().await, Some(Scrubbed::Changed));
        assert_eq!(store.content_scrubbed_at(org_id, content.id()).await, Ok(None));
        clock.advance(scrub::EVERY_FAULT);
        fs::write(&file, &text[1..]).expect("writes");
        assert_eq!(scrubbed().await, Some(Scrubbed::Changed));
        assert!(read_range(&store, org_id, content.id(), 0..9).await.is_err(), "never a shorter stream");
        clock.advance(scrub::EVERY_FAULT);
        fs::remove_file(&file).expect("deletes");
        assert_eq!(scrubbed().await, Some(Scrubbed::Lost));
        assert!(read_range(&store, org_id, content.id(), 0..9).await.is_err());
        fs::write(&file, &text).expect("writes");
        clock.advance(scrub::EVERY_FAULT);
        assert_eq!(scrubbed().await, Some(Scrubbed::Sound));
        clock.advance(scrub::EVERY);
        let claim = store.scrub_claim().await.expect("claims").expect("is due");
        unref(&store, org_id, content.id()).await.expect("commits");
        assert_eq!(store.scrub(&claim).await, Ok(Scrubbed::Gone));
        clock.advance(scrub::EVERY);
        assert_eq!(scrubbed().await, None, "what is doomed is nobody's turn");
        assert_eq!(store.scrub_next().await, Ok(None));
    }
}
