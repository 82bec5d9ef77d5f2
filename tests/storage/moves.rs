//! `POST /v1/orgs/:orgId/storage/:resourceId/objects/move`

use std::time::Duration;

use domain::{
    Timestamp,
    id::OrgId,
    storage::{MoveCursor, MovePair, MoveRequest},
};
use serde_json::{Value, json};
use store::{
    Change,
    storage::StoredMoves,
    testing::recount::{self, Depth},
};

use super::{Files, keys};

fn pair(from: &str, to: &str) -> Value {
    json!({ "from": from, "to": to })
}

fn file(from: &str, to: &str) -> Value {
    json!({ "files": [pair(from, to)] })
}

fn folder(from: &str, to: &str) -> Value {
    json!({ "folders": [pair(from, to)] })
}

#[tokio::test]
async fn files_and_folders_get_other_names() {
    let files = Files::new().await;
    for key in ["a", "f/", "f/x", "f/y/z", "g"] {
        files.put(key, if key == "f/" { "" } else { key }).await;
    }
    let body = json!({ "files": [pair("a", "b/a")], "folders": [pair("f/", "h/i/")] });
    assert_eq!(files.moves(body).await.expect(200).json, json!({ "moved": 4, "done": true }));
    for (key, text) in [("b/a", "a"), ("h/i/x", "f/x"), ("h/i/y/z", "f/y/z"), ("g", "g")] {
        assert_eq!(files.text(key).await, text);
    }
    files.get("h/i/").await.expect(200);
    for key in ["a", "f/", "f/x", "f/y/z"] {
        files.get(key).await.expect(404);
    }
    assert_eq!(files.usage().await, (5, 0, 10));
    assert_eq!(files.moves(json!({})).await.expect(200).json, json!({ "moved": 0, "done": true }));
}

#[tokio::test]
async fn what_can_not_be_moved_is_refused_before_anything_moves() {
    let files = Files::new().await;
    for key in ["a", "b", "f/x", "g/x"] {
        files.put(key, key).await;
    }
    let long = format!("{}/", "l".repeat(1_023));
    for (body, status, code, message) in [
        (file("a", "c/"), 400, "invalid_key", "File names can't end with /."),
        (file("a/", "c"), 400, "invalid_key", "File names can't end with /."),
        (file("a", "a"), 400, "invalid_move", "The file is already there."),
        (folder("", "h/"), 400, "invalid_move", "Pick a folder, not the whole bucket."),
        (folder("f/", ""), 400, "invalid_move", "Pick a folder, not the whole bucket."),
        (folder("f", "h/"), 400, "invalid_folder", "Folder paths end with /."),
        (folder("f/", "h"), 400, "invalid_folder", "Folder paths end with /."),
        (folder("f/", "f/h/"), 400, "invalid_move", "A folder can't be moved into itself."),
        (file("none", "c"), 404, "not_found", "File not found."),
        (folder("none/", "h/"), 404, "not_found", "Folder not found."),
        (file("a", "b"), 409, "file_exists", "A file with this name already exists."),
        (folder("f/", "g/"), 409, "folder_exists", "A folder with this name already exists."),
        (
            json!({ "files": [pair("a", "c"), pair("a", "d")] }),
            400,
            "invalid_move",
            "The same file or folder is listed twice.",
        ),
        (
            json!({ "files": [pair("a", "c"), pair("b", "c")] }),
            400,
            "invalid_move",
            "Two of the moves have the same place.",
        ),
        (json!({ "files": [pair("a", "c"), pair("none", "d")] }), 404, "not_found", "File not found."),
        (folder("f/", &long), 400, "invalid_key", "Keys have at most 1,024 bytes."),
    ] {
        files.moves(body).await.expect_error(status, code, message);
    }
    assert_eq!(keys(files.list("").await.list("/files")), ["a", "b"]);
    let pairs: Vec<_> = (0..1_001).map(|at| pair(&format!("f{at}"), &format!("t{at}"))).collect();
    files.moves(json!({ "files": pairs })).await.expect_problems(&["files"]);
    let pairs: Vec<_> = (0..101).map(|at| pair(&format!("f{at}/"), &format!("t{at}/"))).collect();
    files.moves(json!({ "folders": pairs })).await.expect_problems(&["folders"]);
    files.moves(json!({ "files": [{ "from": 1 }] })).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_written_while_its_folder_moves_goes_along_as_it_was_written() {
    let files = Files::new().await;
    for key in ["f/a", "f/b", "f/c"] {
        files.put(key, "before").await;
    }
    // The move has read what it moves, and isn't committed before all of these writes.
    files.server.faults.set("commit:bucket=stall(2s);times=1").unwrap();
    let moving = async { files.moves(folder("f/", "g/")).await.expect(200) };
    let writing = async {
        let held = async || (files.server.faults.happened() > 0).then_some(());
        files.server.eventually("the move's commit", held).await;
        files.put("f/a", "meanwhile").await;
        files.delete("f/b").await;
    };
    let (moved, ()) = tokio::join!(moving, writing);
    assert_eq!(moved.json, json!({ "moved": 2, "done": true }));
    assert_eq!((files.text("g/a").await.as_str(), files.text("g/c").await.as_str()), ("meanwhile", "before"));
    for key in ["f/a", "f/b", "f/c", "g/b"] {
        files.get(key).await.expect(404);
    }
    assert_eq!(files.usage().await, (2, 0, 15));
    let wrong = recount::storage(&files.server.store().await, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_versioned_file_keeps_its_history_under_its_old_name() {
    let files = Files::versioned().await;
    files.put("a", "one").await;
    files.put("a", "two").await;
    files.moves(file("a", "b")).await.expect(200);
    assert_eq!(files.text("b").await, "two");
    files.get("a").await.expect(404);
    assert_eq!(files.versions("a").await.list("/versions").len(), 3);
    assert_eq!(files.usage().await, (1, 3, 9));
    // A deleted name can be taken; its history stays below.
    files.moves(file("b", "a")).await.expect(200);
    assert_eq!((files.text("a").await.as_str(), files.versions("a").await.list("/versions").len()), ("two", 4));
}

#[tokio::test]
async fn more_than_1000_files_move_in_batches_which_are_resumed() {
    let files = filled(6_001).await;
    let whole = folder("f/", "g/");
    let first = files.moves(whole.clone()).await.expect(200);
    assert_eq!(first.json, json!({ "moved": 5_000, "done": false }));
    let under_way = "This move is already under way.";
    files.moves(whole.clone()).await.expect_error(409, "move_under_way", under_way);
    let moving = "This folder is being moved.";
    for key in ["f/new", "g/new", "f/"] {
        files.try_put(key, "").await.expect_error(409, "folder_moving", moving);
    }
    files.moves(file("g/0000", "h")).await.expect_error(409, "folder_moving", moving);
    files.try_put("other", "").await.expect(200);
    let mut resumed = whole.clone();
    resumed["resume"] = json!(true);
    assert_eq!(files.moves(resumed.clone()).await.expect(200).json, json!({ "moved": 1_001, "done": true }));
    assert_eq!(files.moves(resumed).await.expect(200).json, json!({ "moved": 0, "done": true }));
    assert_eq!(files.list("prefix=f/").await.list("/files").len(), 0);
    assert_eq!(files.text("g/6000").await, "");
    files.try_put("f/new", "").await.expect(200);
    assert_eq!(files.usage().await.0, 6_003);
}

#[tokio::test]
async fn moves_that_nobody_resumes_finish_by_themselves() {
    let files = filled(6_500).await;
    assert_eq!(files.moves(folder("f/", "g/")).await.expect(200).json["done"], false);
    files
        .server
        .eventually("the end of the moves", async || {
            files.server.clock.advance(Duration::from_secs(31));
            let left = files.list("prefix=f/").await.expect(200);
            left.list("/files").is_empty().then_some(())
        })
        .await;
    files
        .server
        .eventually("the folder's being free", async || {
            files.server.clock.advance(Duration::from_secs(31));
            (files.try_put("f/again", "").await.status == 200).then_some(())
        })
        .await;
    assert_eq!(files.usage().await.0, 6_501);
}

/// Writes moves of a folder into the journal, as a node leaves them that stops before it has made any of them.
async fn journal(files: &Files, from: &str, to: &str, touched_at: Timestamp) {
    let store = files.server.store().await;
    let id = files.path.rsplit('/').next().unwrap().parse().unwrap();
    let bucket = store.bucket_of(id).await.unwrap().unwrap();
    let pair = MovePair { from: from.to_owned(), to: to.to_owned() };
    let moves = MoveRequest { folders: vec![pair], ..MoveRequest::default() }.check().unwrap();
    let journaled = StoredMoves {
        id: moves.id(),
        moves,
        cursor: MoveCursor::default(),
        moved: 0,
        created_by: files.ada.user_id.parse().unwrap(),
        touched_at,
    };
    let mut change = Change::new();
    change.bucket_epoch_end(bucket.seen);
    change.bucket_moves_begin(bucket.seen.no, &journaled);
    store.commit(change).await.unwrap();
}

/// Sets the timer of the bucket's moves.
async fn arm(files: &Files, due: Timestamp) {
    let mut change = Change::new();
    let (org, id) = (files.buckets.split('/').nth(3).unwrap(), files.path.rsplit('/').next().unwrap());
    change.timer_set_for(org.parse::<OrgId>().unwrap(), "bucket", id, "moves", due);
    files.server.store().await.commit(change).await.unwrap();
}

async fn is_free(files: &Files, key: &str) -> Option<()> {
    (files.try_put(key, "").await.status == 200).then_some(())
}

#[tokio::test]
async fn each_of_two_moves_is_gone_on_with_when_it_was_left_alone() {
    let files = Files::new().await;
    for key in ["f/x", "g/x"] {
        files.put(key, key).await;
    }
    let now = files.server.clock.now();
    journal(&files, "f/", "f2/", now).await;
    journal(&files, "g/", "g2/", now.after(Duration::from_secs(20))).await;
    // Too early for both of them: the timer is set again all the same.
    arm(&files, now).await;
    files.server.clock.advance(Duration::from_secs(31));
    files.server.eventually("the end of the first moves", async || is_free(&files, "f/y").await).await;
    assert_eq!(files.text("f2/x").await, "f/x");
    files.try_put("g/y", "").await.expect_error(409, "folder_moving", "This folder is being moved.");
    files.server.clock.advance(Duration::from_secs(20));
    files.server.eventually("the end of the second moves", async || is_free(&files, "g/y").await).await;
    assert_eq!(files.text("g2/x").await, "g/x");
}

#[tokio::test]
async fn moves_that_can_not_be_made_any_more_leave_the_journal_and_hold_up_no_others() {
    let files = Files::new().await;
    for key in ["f/x", "f2/x", "g/x"] {
        files.put(key, key).await;
    }
    let now = files.server.clock.now();
    // Something came to where the folder goes, between the check and the journal's entry.
    journal(&files, "f/", "f2/", now).await;
    journal(&files, "g/", "g2/", now.after(Duration::from_secs(1))).await;
    let resumed = json!({ "folders": [pair("f/", "f2/")], "resume": true });
    files.try_put("f/y", "").await.expect_error(409, "folder_moving", "This folder is being moved.");
    arm(&files, now).await;
    files.server.clock.advance(Duration::from_secs(31));
    files.server.eventually("the end of both", async || is_free(&files, "g/y").await).await;
    assert_eq!(files.text("g2/x").await, "g/x");
    files.try_put("f/y", "").await.expect(200);
    assert_eq!((files.text("f/x").await, files.text("f2/x").await), ("f/x".to_owned(), "f2/x".to_owned()));
    assert_eq!(files.moves(resumed.clone()).await.expect(200).json, json!({ "moved": 0, "done": true }));
    // Whoever resumes them is told why.
    journal(&files, "f/", "f2/", files.server.clock.now()).await;
    files.moves(resumed).await.expect_error(409, "folder_exists", "A folder with this name already exists.");
    files.try_put("f/z", "").await.expect(200);
}

/// A bucket with so many files in the folder `f/`.
async fn filled(count: usize) -> Files {
    let files = Files::new().await;
    for start in (0..count).step_by(64) {
        let puts = (start..(start + 64).min(count)).map(|at| files.put_in_folder(at));
        futures::future::join_all(puts).await;
    }
    files
}
