//! What is thrown away goes after 30 days, and what can't be filed is kept in nobody's way.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use domain::mail::{Placed, RawId};
use serde_json::json;
use store::Change;

use super::threads::{Post, message};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

impl Post {
    /// Waits until a list has these subjects.
    async fn becomes(&self, query: &str, subjects: &[&str]) {
        let is_so = async || (self.subjects(query).await == subjects).then_some(());
        self.server.in_time("a list", is_so).await;
    }

    async fn throw(&self, id: &str, action: &str) {
        self.act(json!({"threadIds": [id], "action": action})).await.expect(200);
    }
}

#[tokio::test]
async fn trash_and_spam_are_deleted_after_thirty_days_there() {
    let post = Post::new().await;
    let stays = message("1", "bob@example.com", "Stays", "");
    let thrown = message("2", "bob@example.com", "Thrown", "");
    post.deliver(&stays).await;
    post.deliver(&thrown).await;
    // However long it was in the inbox: the days begin in the trash.
    post.server.clock.advance(40 * DAY);
    post.deliver_as(&message("3", "eve@example.com", "Bad", ""), Placed::Spam).await;
    let ids = post.ids("view=inbox").await;
    post.throw(&ids[0], "trash").await;
    post.server.clock.advance(29 * DAY + 23 * HOUR);
    post.deliver(&message("4", "bob@example.com", "News", "")).await;
    assert_eq!((post.subjects("view=trash").await.len(), post.subjects("view=spam").await.len()), (1, 1));
    post.server.clock.advance(2 * DAY);
    post.becomes("view=trash", &[]).await;
    post.becomes("view=spam", &[]).await;
    assert_eq!(post.subjects("view=all").await, ["News", "Stays"]);
    post.get(&format!("threads/{}", ids[0])).await.expect_error(404, "not_found", "Thread not found");
    assert_eq!(post.subjects("q=thrown%20in:anywhere").await, Vec::<String>::new());
    // Bytes that nothing names go a day later.
    let raw_id = |text: &str| RawId::of(text.replace('\n', "\r\n").as_bytes());
    post.server.clock.advance(2 * DAY);
    let gone = async || post.store.mail_raw(raw_id(&thrown)).await.expect("a read").is_none().then_some(());
    post.server.in_time("the bytes are swept", gone).await;
    assert!(post.store.mail_raw(raw_id(&stays)).await.expect("a read").is_some());
}

#[tokio::test]
async fn only_the_messages_of_a_conversation_that_lie_in_the_trash_are_deleted() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    let id = post.only("view=inbox").await;
    post.throw(&id, "trash").await;
    post.deliver(&message("2", "bob@example.com", "Re: Lunch", "In-Reply-To: <1@example.com>\n")).await;
    let thread = post.get(&format!("threads/{id}?bodies=none")).await.expect(200);
    assert_eq!((thread.list("/messages").len(), thread.str("/thread/box")), (2, "inbox"));
    post.server.clock.advance(31 * DAY);
    post.becomes("view=trash", &[]).await;
    let thread = post.get(&format!("threads/{id}?bodies=none")).await.expect(200);
    assert_eq!((thread.list("/messages").len(), thread.str("/thread/subject")), (1, "Re: Lunch"));
    assert_eq!(thread.json["thread"]["unreadCount"], 1);
    assert_eq!(post.get("counts").await.expect(200).json["counts"]["primary"], 1);
}

#[tokio::test]
async fn what_came_back_from_the_trash_stays() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    post.deliver(&message("2", "bob@example.com", "Dinner", "")).await;
    let ids = post.ids("view=inbox").await;
    post.throw(&ids[1], "trash").await;
    post.server.clock.advance(20 * DAY);
    post.throw(&ids[1], "inbox").await;
    post.throw(&ids[0], "trash").await;
    post.throw(&ids[1], "trash").await;
    post.server.clock.advance(20 * DAY);
    post.throw(&ids[1], "inbox").await;
    assert_eq!(post.subjects("view=trash").await, ["Dinner"]);
    post.server.clock.advance(12 * DAY);
    post.becomes("view=trash", &[]).await;
    assert_eq!(post.subjects("view=inbox").await, ["Lunch"]);
}

#[tokio::test]
async fn many_thrown_messages_are_deleted_some_at_a_time() {
    let post = Post::new().await;
    for number in 0..505 {
        let text = message(&number.to_string(), "bob@example.com", &format!("Plan {number}"), "");
        post.bring(&post.mailbox, &text, Placed::Spam).await;
    }
    post.filed().await;
    assert_eq!(post.subjects("view=spam").await.len(), 50);
    post.server.clock.advance(32 * DAY);
    post.becomes("view=spam", &[]).await;
}

#[tokio::test]
async fn a_message_that_cannot_be_filed_is_set_aside_and_the_next_ones_are_filed() {
    let post = Post::new().await;
    // So often is the first one tried: three times as it reads, and three times as it came.
    post.server.faults.set("handler:mailbox/mail_file=fail;times=6").expect("a rule");
    for (id, subject) in [("1", "Stuck"), ("2", "Next")] {
        post.bring(&post.mailbox, &message(id, "bob@example.com", subject, ""), Placed::Inbox).await;
        post.server.clock.advance(Duration::from_millis(2));
    }
    let filed = async {
        while post.subjects("view=inbox").await != ["Next"] {
            post.server.clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), filed).await.expect("the next one is filed");
    assert_eq!(post.store.mail_arrivals_waiting(10).await.expect("a count"), 0);
    let dead = post.store.work_dead(10).await.expect("dead letters");
    let [letter] = dead.as_slice() else { panic!("{dead:?}") };
    assert_eq!(letter.topic, "mail.filing");
    let said = letter.last_error.as_deref().unwrap_or_default();
    assert!(said.contains("could not be filed in 6 tries"), "{said}");
    let raw_id = RawId::of(message("1", "bob@example.com", "Stuck", "").replace('\n', "\r\n").as_bytes());
    assert!(post.store.mail_raw(raw_id).await.expect("a read").is_some());
    // Operators repeat it once what was wrong is mended.
    let mut change = Change::new();
    change.work_repeat(letter.seq);
    post.store.commit(change).await.expect("a commit");
    let both = async {
        while post.subjects("view=inbox").await.len() < 2 {
            post.server.clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), both).await.expect("it is filed");
    assert_eq!(post.store.work_dead_len().await.expect("a count"), 0);
    assert!(post.get("threads?q=hello").await.expect(200).list("/threads").len() == 2);
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let each = entries.map(|entry| entry.expect("an entry").path());
    each.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn a_message_that_lost_its_bytes_is_set_aside_and_the_others_are_filed() {
    let post = Post::new().await;
    // So many that they aren't in the database.
    let long = message("1", "bob@example.com", "Lost", "") + &"x\n".repeat(100_000);
    let raw = post.written(&long).await;
    let [bytes] = <[_; 1]>::try_from(files(&post.server.folder().join("blobs/contents"))).expect("one blob");
    let away = post.server.folder().join("away");
    fs::rename(&bytes, &away).expect("a file");
    post.take_in(&post.mailbox, &raw, Placed::Inbox).await;
    post.server.clock.advance(Duration::from_millis(2));
    post.bring(&post.mailbox, &message("2", "bob@example.com", "Next", ""), Placed::Inbox).await;
    post.filed().await;
    assert_eq!(post.subjects("view=inbox").await, ["Next"]);
    let letter = async || post.store.work_dead(10).await.expect("dead letters").pop();
    let first = post.server.eventually("a dead letter", &letter).await;
    assert!(first.last_error.as_deref().is_some_and(|it| it.contains("has lost its bytes")), "{first:?}");
    // Repeated too early it is a dead letter again, and is filed once the bytes are back.
    for is_back in [false, false, true] {
        if is_back {
            fs::rename(&away, &bytes).expect("a file");
        }
        let seq = letter().await.expect("a letter").seq;
        let mut change = Change::new();
        change.work_repeat(seq);
        post.store.commit(change).await.expect("a commit");
        let is_over = async || {
            post.server.clock.advance(Duration::from_secs(1));
            let is_dead = letter().await.is_some_and(|letter| letter.seq != seq);
            let is_filed = post.subjects("view=inbox").await.len() == 2;
            (if is_back { is_filed } else { is_dead }).then_some(())
        };
        post.server.eventually("it was tried again", is_over).await;
    }
    assert_eq!(post.store.work_dead_len().await.expect("a count"), 0);
}

#[tokio::test]
async fn a_message_that_was_set_aside_goes_with_its_dead_letter() {
    let post = Post::new().await;
    post.server.faults.set("handler:mailbox/mail_file=fail;times=12").expect("a rule");
    let stuck = |id: &str| message(id, "bob@example.com", "Stuck", "");
    for id in ["1", "2"] {
        post.bring(&post.mailbox, &stuck(id), Placed::Inbox).await;
        let is_aside = async || {
            post.server.clock.advance(Duration::from_secs(1));
            let waiting = post.store.mail_arrivals_waiting(1).await.expect("a count");
            (waiting == 0).then_some(())
        };
        post.server.eventually("it is set aside", is_aside).await;
    }
    let dead = post.store.work_dead(10).await.expect("dead letters");
    assert_eq!(dead.len(), 2);
    post.server.clock.advance(2 * DAY);
    let over = post.store.mail_set_aside_sweep_next(10).await.expect("a look");
    assert!(over.rows.is_empty(), "both have their letters");
    let mut change = Change::new();
    change.work_drop(dead[1].seq);
    post.store.commit(change).await.expect("a commit");
    let is_kept = async |id: &str| {
        let raw_id = RawId::of(stuck(id).replace('\n', "\r\n").as_bytes());
        post.store.mail_raw(raw_id).await.expect("a read").is_some()
    };
    let is_gone = async |id: &str| {
        post.server.clock.advance(DAY);
        (!is_kept(id).await).then_some(())
    };
    post.server.in_time("the first one's bytes are gone", async || is_gone("1").await).await;
    let is_young = post.store.work_dead_len().await.expect("a count") == 1;
    assert!(is_kept("2").await || !is_young, "its letter is there");
    // Dead letters are kept for 30 days.
    post.server.in_time("the other's are, too", async || is_gone("2").await).await;
    assert_eq!(post.store.work_dead_len().await.expect("a count"), 0);
}
