use std::{io::Cursor, sync::mpsc, thread};

use domain::git::wire::PackRequest;
use futures::TryStreamExt;

use super::*;

/// What a test's answers may have, in bytes: two of the smallest size.
const SIZE_MAX: u64 = 2 * SIZE_MIN;

fn answers() -> (Arc<Answers>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Arc::new(Answers::new(folder.path().join("answers"), SIZE_MAX)), folder)
}

fn key(number: u8) -> AnswerName {
    let body = format!("0011command=fetch0001000adone{number:02}0008done0000");
    PackRequest::of_v2(body.as_bytes()).unwrap().answer_name("1", b"")
}

fn begun(answers: &Arc<Answers>, number: u8) -> (Following, Writing) {
    match answers.look_up(key(number), 1) {
        Found::Begun(following, writing) => (following, writing),
        other => panic!("{other:?}"),
    }
}

fn there(answers: &Arc<Answers>, number: u8) -> Following {
    match answers.look_up(key(number), 1) {
        Found::There(following) => following,
        other => panic!("{other:?}"),
    }
}

async fn whole(following: Following) -> io::Result<Vec<u8>> {
    let pieces: Vec<_> = following.pieces().try_collect().await?;
    Ok(pieces.concat())
}

/// Writes an answer of this text.
async fn write(writing: Writing, text: &'static str) {
    writing.done(writing.copy(Cursor::new(text))).await;
}

#[tokio::test]
async fn who_asks_for_the_same_reads_what_is_written_once() {
    let (answers, _folder) = answers();
    let (first, writing) = begun(&answers, 1);
    let second = there(&answers, 1);
    let reading = tokio::spawn(whole(second));
    write(writing, "all of it").await;
    assert_eq!(reading.await.unwrap().unwrap(), b"all of it");
    assert_eq!(whole(first).await.unwrap(), b"all of it");
    assert_eq!(whole(there(&answers, 1)).await.unwrap(), b"all of it");
    assert_eq!(answers.state.lock().size, 9);
}

#[tokio::test]
async fn it_is_written_for_as_long_as_somebody_reads_it() {
    let (answers, _folder) = answers();
    let (first, writing) = begun(&answers, 1);
    let second = there(&answers, 1);
    drop(first);
    write(writing, "for the second").await;
    assert_eq!(whole(second).await.unwrap(), b"for the second");

    let (third, writing) = begun(&answers, 2);
    drop(third);
    // What is never answered ends.
    writing.done(std::future::pending()).await;
    drop(writing);
    drop(begun(&answers, 2));
}

#[tokio::test]
async fn what_breaks_off_is_seen_to_and_asked_for_anew() {
    let (answers, _folder) = answers();
    let (mut first, writing) = begun(&answers, 1);
    let second = there(&answers, 1);
    assert!(matches!(writing.copy(Cursor::new("half")).await, Ok(Copied::All)));
    assert!(first.has_begun().await);
    drop(writing);
    for following in [first, second] {
        assert_eq!(whole(following).await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
    let (mut third, writing) = begun(&answers, 1);
    drop(writing);
    assert!(!third.has_begun().await);

    let (fourth, writing) = begun(&answers, 1);
    let said = async {
        writing.copy(Cursor::new("not our ref")).await?;
        Ok(Copied::Said)
    };
    writing.done(said).await;
    assert_eq!(whole(fourth).await.unwrap(), b"not our ref");
    drop(begun(&answers, 1));
}

#[tokio::test]
async fn what_nobody_asked_for_longest_makes_room_and_can_be_read_to_its_end() {
    let (answers, _folder) = answers();
    for number in [1, 2, 3] {
        let (_, writing) = begun(&answers, number);
        let following = there(&answers, number);
        write(writing, "an answer").await;
        drop(following);
    }
    // Three are small, and there is room for one more that may become larger.
    let first = there(&answers, 1);
    let (_four, _writing) = begun(&answers, 4);
    assert!(matches!(answers.look_up(key(5), SIZE_MAX), Found::Nothing), "what grows has its room");
    let (_six, _writing) = begun(&answers, 6);
    assert_eq!(answers.state.lock().kept.len(), 2);
    assert_eq!(whole(first).await.unwrap(), b"an answer");
    assert!(matches!(answers.look_up(key(1), 1), Found::Nothing));
}

#[tokio::test]
async fn nothing_is_kept_for_a_while_where_nothing_can_be_written() {
    let (answers, folder) = answers();
    let (_, writing) = begun(&answers, 1);
    let following = there(&answers, 1);
    writing.done(async { Ok(Copied::Failed(io::ErrorKind::StorageFull.into())) }).await;
    drop(writing);
    assert!(whole(following).await.is_err());
    assert!(matches!(answers.look_up(key(1), 1), Found::Nothing));
    assert_eq!(fs::read_dir(folder.path().join("answers")).unwrap().count(), 0);
}

#[tokio::test]
async fn nothing_is_left_of_a_process_that_ended() {
    let (answers, folder) = answers();
    let (following, writing) = begun(&answers, 1);
    write(writing, "an answer").await;
    drop(following);
    assert_eq!(fs::read_dir(folder.path().join("answers")).unwrap().count(), 1);
    drop(Answers::new(folder.path().join("answers"), SIZE_MAX));
    assert!(!folder.path().join("answers").exists());
    // Whoever still had them asks git.
    assert!(matches!(answers.look_up(key(1), 1), Found::Nothing));
    drop(begun(&answers, 1));
}

#[tokio::test]
async fn who_asks_waits_for_a_disk_without_holding_up_others() {
    let (answers, _folder) = answers();
    let (following, writing) = begun(&answers, 1);
    let ((locked, is_locked), (release, is_released)) = (mpsc::channel(), mpsc::channel::<()>());
    let slow = Arc::clone(&answers);
    let holder = thread::spawn(move || {
        let _state = slow.state.lock();
        locked.send(()).unwrap();
        is_released.recv().unwrap();
    });
    is_locked.recv().unwrap();
    let asked = tokio::time::timeout(Duration::from_millis(50), answers.find(key(2), 1)).await;
    assert!(asked.is_err(), "{asked:?}");
    drop(writing);
    assert_eq!(whole(following).await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    release.send(()).unwrap();
    holder.join().unwrap();
    assert!(matches!(answers.find(key(3), 1).await, Found::Begun(..)));
}
