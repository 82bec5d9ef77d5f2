//! `/v1/orgs/:orgId/pages/:pageId/comments`

use domain::{id::PageCommentId, pages::comment::Comment};
use serde_json::{Value, json};
use store::Change;

use super::Notes;
use crate::{
    accounts::org,
    harness::{Answer, Client, Person},
};

const NEVER: &str = "pgc_01jd7rt4m5e9fv2w8x3c6k0hqz";
const IN_TRASH: &str = "This page is in the trash. Restore it to edit.";

/// A page, and who comments on it.
struct Talk {
    notes: Notes,
    path: String,
}

impl Talk {
    async fn new() -> Self {
        let notes = Notes::new().await;
        let path = format!("{}/comments", notes.at(&notes.page("root", "Plans").await));
        Self { notes, path }
    }

    fn ada(&self) -> &Client {
        &self.notes.ada.client
    }

    /// Asks for a comment, a moment after the one before: comments stand in the order of when they were made.
    async fn try_say(&self, by: &Client, body: Value) -> Answer {
        self.notes.server.clock.advance(std::time::Duration::from_millis(1));
        by.post(&self.path).json(&body).send().await
    }

    /// Writes a comment; its id.
    async fn say(&self, by: &Client, body: Value) -> String {
        self.try_say(by, body).await.expect(201).str("/comment/commentId").to_owned()
    }

    async fn change(&self, by: &Client, id: &str, body: Value) -> Answer {
        by.patch(&format!("{}/{id}", self.path)).json(&body).send().await
    }

    async fn delete(&self, by: &Client, id: &str) -> Answer {
        by.delete(&format!("{}/{id}", self.path)).send().await
    }

    async fn list(&self, query: &str) -> Answer {
        self.ada().get(&format!("{}{query}", self.path)).send().await
    }

    /// What the comments say.
    async fn said(&self, query: &str) -> Vec<String> {
        let list = self.list(query).await.expect(200);
        list.list("/comments").iter().map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }
}

/// What notices tell of mentions.
async fn mentioned(person: &Person) -> Vec<Value> {
    let notices = person.client.get("/v1/me/notifications").send().await.expect(200);
    notices.list("/notices").iter().filter(|notice| notice["event"] == "page.mentioned").cloned().collect()
}

#[tokio::test]
async fn a_page_and_a_block_are_commented_on_and_answered() {
    let talk = Talk::new().await;
    let made = talk.try_say(talk.ada(), json!({ "body": " Is this\nso? " })).await.expect(201);
    let (id, now) = (made.str("/comment/commentId").to_owned(), talk.notes.server.clock.now().0);
    assert!(id.starts_with("pgc_"), "{id}");
    let page_id = talk.path.rsplit('/').nth(1).unwrap();
    let comment = json!({
        "commentId": id, "pageId": page_id, "body": "Is this\nso?", "mentions": [], "deleted": false,
        "resolved": false, "createdBy": talk.notes.ada.user_id, "createdAt": now
    });
    assert_eq!(made.json["comment"], comment);
    assert_eq!(talk.list("").await.expect(200).json, json!({ "comments": [comment] }));
    let on_block = talk.say(talk.ada(), json!({ "body": "And this?", "blockId": "b1" })).await;
    let answer = talk.try_say(talk.ada(), json!({ "body": "No.", "threadId": on_block })).await.expect(201);
    assert_eq!((answer.str("/comment/threadId"), answer.str("/comment/blockId")), (on_block.as_str(), "b1"));
    assert_eq!(talk.said("").await, ["Is this\nso?", "And this?", "No."]);
    assert_eq!(talk.said("?blockId=b1").await, ["And this?", "No."]);
    assert_eq!(talk.said(&format!("?threadId={on_block}")).await, ["And this?", "No."]);
    assert_eq!(talk.said(&format!("?threadId={id}")).await, ["Is this\nso?"]);
}

#[tokio::test]
async fn limits_hold_on_either_side() {
    let talk = Talk::new().await;
    for (length, fits) in [(0, false), (1, true), (4_000, true), (4_001, false)] {
        let answer = talk.try_say(talk.ada(), json!({ "body": format!(" {} ", "é".repeat(length)) })).await;
        if fits { drop(answer.expect(201)) } else { drop(answer.expect_problems(&["body"])) }
    }
    for (length, fits) in [(0, false), (1, true), (64, true), (65, false)] {
        let answer = talk.try_say(talk.ada(), json!({ "body": "x", "blockId": "é".repeat(length) })).await;
        if fits { drop(answer.expect(201)) } else { drop(answer.expect_problems(&["blockId"])) }
    }
    let me = talk.notes.ada.user_id.clone();
    for (count, fits) in [(49, true), (50, true), (51, false)] {
        let answer = talk.try_say(talk.ada(), json!({ "body": "x", "mentions": vec![&me; count] })).await;
        if fits { drop(answer.expect(201)) } else { drop(answer.expect_problems(&["mentions"])) }
    }
    talk.try_say(talk.ada(), json!({ "body": "a\u{0}b" })).await.expect_problems(&["body"]);
    talk.try_say(talk.ada(), json!({})).await.expect_problems(&["body"]);
    let whole = json!({ "body": "", "mentions": ["ann"], "blockId": "", "threadId": "t" });
    talk.try_say(talk.ada(), whole).await.expect(400);
    for thread in [NEVER, "x", ""] {
        let answer = talk.try_say(talk.ada(), json!({ "body": "x", "threadId": thread })).await;
        answer.expect_problems(&["threadId"]);
    }
    for query in ["?resolved=2", "?blockId=", "?threadId=x", "?limit=0"] {
        talk.list(query).await.expect(400);
    }
}

#[tokio::test]
async fn an_answer_belongs_to_the_thread_and_not_to_another_answer_or_page() {
    let talk = Talk::new().await;
    let thread = talk.say(talk.ada(), json!({ "body": "One" })).await;
    let answer = talk.say(talk.ada(), json!({ "body": "Two", "threadId": thread })).await;
    talk.try_say(talk.ada(), json!({ "body": "x", "threadId": answer })).await.expect_problems(&["threadId"]);
    talk.try_say(talk.ada(), json!({ "body": "x", "threadId": thread, "blockId": "b" }))
        .await
        .expect_problems(&["blockId"]);
    let other = Talk { path: format!("{}/comments", talk.notes.at(&talk.notes.page("root", "Other").await)), ..talk };
    other.try_say(other.ada(), json!({ "body": "x", "threadId": thread })).await.expect_problems(&["threadId"]);
    let there = |id: &str| format!("{}/{id}", other.path);
    other.ada().patch(&there(&thread)).json(&json!({ "body": "x" })).send().await.expect(404);
    other.ada().delete(&there(&thread)).send().await.expect_error(404, "not_found", "Comment not found.");
}

#[tokio::test]
async fn who_is_mentioned_hears_of_it_once() {
    let talk = Talk::new().await;
    let ben = talk.notes.member("ben", "viewer").await;
    let cleo = talk.notes.member("cleo", "developer").await;
    let body = json!({ "body": "What do\nyou think?", "mentions": [ben.user_id, talk.notes.ada.user_id, ben.user_id] });
    let id = talk.say(talk.ada(), body).await;
    let heard = talk
        .notes
        .server
        .eventually("the notice", async || Some(mentioned(&ben).await).filter(|notices| !notices.is_empty()))
        .await;
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["title"], "ada mentioned you on “Plans”");
    assert_eq!(heard[0]["body"], "What do you think?");
    assert!(heard[0]["url"].as_str().unwrap().ends_with(&format!("?comment={id}")), "{}", heard[0]);
    let both = json!({ "mentions": [ben.user_id, cleo.user_id] });
    let changed = talk.change(talk.ada(), &id, both).await.expect(200);
    assert_eq!(changed.list("/comment/mentions").len(), 2);
    talk.notes
        .server
        .eventually("the other notice", async || Some(mentioned(&cleo).await).filter(|notices| !notices.is_empty()))
        .await;
    assert_eq!(mentioned(&ben).await.len(), 1, "one who knew already");
    assert_eq!(mentioned(&talk.notes.ada).await.len(), 0, "the author");
}

#[tokio::test]
async fn only_members_are_mentioned() {
    let talk = Talk::new().await;
    let stranger = talk.notes.server.person("stranger").await;
    org(&stranger, "Elsewhere").await;
    let me = &talk.notes.ada.user_id;
    let body = json!({ "body": "x", "mentions": [me, stranger.user_id] });
    talk.try_say(talk.ada(), body).await.expect_problems(&["mentions[1]"]);
    talk.try_say(talk.ada(), json!({ "body": "x", "mentions": ["stranger"] })).await.expect_problems(&["mentions[0]"]);
    let id = talk.say(talk.ada(), json!({ "body": "x" })).await;
    let answer = talk.change(talk.ada(), &id, json!({ "mentions": [stranger.user_id] })).await;
    answer.expect_problems(&["mentions[0]"]);
}

#[tokio::test]
async fn its_author_changes_a_comment_and_nobody_else() {
    let talk = Talk::new().await;
    let ben = talk.notes.member("ben", "developer").await;
    let id = talk.say(&ben.client, json!({ "body": "One" })).await;
    let answer = talk.change(talk.ada(), &id, json!({ "body": "Two" })).await;
    answer.expect_error(403, "not_yours", "Only its author can change a comment.");
    let unchanged = talk.change(&ben.client, &id, json!({ "body": " One " })).await.expect(200);
    assert_eq!(unchanged.json["comment"].get("editedAt"), None);
    let changed = talk.change(&ben.client, &id, json!({ "body": "Two" })).await.expect(200);
    assert_eq!(
        (changed.str("/comment/body"), changed.int("/comment/editedAt")),
        ("Two", talk.notes.server.clock.now().0)
    );
    assert_eq!(talk.said("").await, ["Two"]);
    talk.change(&ben.client, &id, json!({ "body": "" })).await.expect_problems(&["body"]);
    talk.change(&ben.client, NEVER, json!({ "body": "x" })).await.expect_error(404, "not_found", "Comment not found.");
}

#[tokio::test]
async fn a_thread_is_resolved_and_opened_again() {
    let talk = Talk::new().await;
    let ben = talk.notes.member("ben", "developer").await;
    let thread = talk.say(&ben.client, json!({ "body": "One" })).await;
    let answer = talk.say(&ben.client, json!({ "body": "Two", "threadId": thread })).await;
    talk.say(&ben.client, json!({ "body": "Open" })).await;
    let only_threads = talk.change(talk.ada(), &answer, json!({ "resolved": true })).await;
    only_threads.expect_error(400, "not_a_thread", "Only a whole thread can be resolved.");
    let resolved = talk.change(talk.ada(), &thread, json!({ "resolved": true })).await.expect(200);
    assert_eq!(resolved.str("/comment/resolvedBy"), talk.notes.ada.user_id);
    assert_eq!(resolved.int("/comment/resolvedAt"), talk.notes.server.clock.now().0);
    assert_eq!(talk.said("?resolved=1").await, ["One", "Two"]);
    assert_eq!(talk.said("?resolved=0").await, ["Open"]);
    talk.say(talk.ada(), json!({ "body": "Late", "threadId": thread })).await;
    assert_eq!(talk.said("?resolved=1").await, ["One", "Two", "Late"]);
    let open = talk.change(&ben.client, &thread, json!({ "resolved": false })).await.expect(200);
    assert_eq!(open.json["comment"]["resolved"], false);
    assert_eq!(talk.said("?resolved=1").await, [] as [&str; 0]);
    assert_eq!(talk.said("?resolved=0").await, ["One", "Two", "Open", "Late"]);
}

#[tokio::test]
async fn a_deleted_comment_leaves_a_place_as_long_as_there_are_answers() {
    let talk = Talk::new().await;
    let ben = talk.notes.member("ben", "developer").await;
    let thread = talk.say(&ben.client, json!({ "body": "One", "mentions": [ben.user_id] })).await;
    let answer = talk.say(talk.ada(), json!({ "body": "Two", "threadId": thread })).await;
    let message = "Only its author, an admin or an owner can delete a comment.";
    talk.delete(&ben.client, &answer).await.expect_error(403, "not_yours", message);
    talk.delete(&ben.client, &thread).await.expect(200);
    let list = talk.list("").await.expect(200);
    assert_eq!(list.json["comments"][0]["deleted"], true);
    assert_eq!((list.str("/comments/0/body"), list.list("/comments/0/mentions").len()), ("", 0));
    talk.delete(&ben.client, &thread).await.expect_error(404, "not_found", "Comment not found.");
    talk.change(&ben.client, &thread, json!({ "body": "x" })).await.expect(404);
    let later = talk.say(&ben.client, json!({ "body": "Three", "threadId": thread })).await;
    talk.delete(talk.ada(), &later).await.expect(200);
    assert_eq!(talk.said("").await, ["", "Two"]);
    talk.delete(talk.ada(), &answer).await.expect(200);
    assert_eq!(talk.said("").await, [] as [&str; 0]);
}

#[tokio::test]
async fn comments_come_page_by_page() {
    let talk = Talk::new().await;
    for number in 0..5 {
        talk.say(talk.ada(), json!({ "body": number.to_string() })).await;
    }
    let (mut query, mut seen) = ("?limit=2".to_owned(), Vec::new());
    loop {
        let page = talk.list(&query).await.expect(200);
        seen.extend(page.list("/comments").iter().map(|comment| comment["body"].as_str().unwrap().to_owned()));
        let Some(cursor) = page.json.get("cursor").and_then(Value::as_str) else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4"]);
    talk.list("?cursor=x").await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn a_page_that_is_gone_or_in_the_trash_takes_no_comment() {
    let talk = Talk::new().await;
    let id = talk.say(talk.ada(), json!({ "body": "One" })).await;
    let page_id = talk.path.rsplit('/').nth(1).unwrap();
    talk.notes.archive(page_id).await;
    talk.try_say(talk.ada(), json!({ "body": "x" })).await.expect_error(409, "in_trash", IN_TRASH);
    talk.change(talk.ada(), &id, json!({ "resolved": true })).await.expect_error(409, "in_trash", IN_TRASH);
    talk.delete(talk.ada(), &id).await.expect_error(409, "in_trash", IN_TRASH);
    assert_eq!(talk.said("").await, ["One"]);
    let gone = Talk { path: format!("{}/comments", talk.notes.at(super::NEVER)), ..talk };
    gone.try_say(gone.ada(), json!({ "body": "x" })).await.expect_error(404, "not_found", "Page not found");
    gone.list("").await.expect_error(404, "not_found", "Page not found");
}

#[tokio::test]
async fn a_comment_with_an_idempotency_key_is_written_once() {
    let talk = Talk::new().await;
    for _ in 0..2 {
        let call = talk.ada().post(&talk.path).header("idempotency-key", "one").json(&json!({ "body": "One" }));
        call.send().await.expect(201);
    }
    assert_eq!(talk.said("").await, ["One"]);
}

#[tokio::test]
async fn a_page_has_at_most_five_thousand_comments() {
    let talk = Talk::new().await;
    let id = talk.say(talk.ada(), json!({ "body": "The first" })).await;
    let store = talk.notes.server.store().await;
    let page_id = talk.path.split('/').nth(5).unwrap().parse().unwrap();
    let first = store.page_comment(page_id, id.parse().unwrap()).await.unwrap().expect("the first one");
    for _ in 0..17 {
        let mut change = Change::new();
        for _ in 0..294 {
            change.page_comment_add(&Comment { id: PageCommentId::new(first.created_at), ..first.clone() });
        }
        store.commit(change).await.unwrap();
    }
    assert_eq!(store.page_comments_count(page_id).await.unwrap(), 4_999);
    talk.say(talk.ada(), json!({ "body": "There is room for one" })).await;
    let refused = talk.try_say(talk.ada(), json!({ "body": "One too many" })).await;
    refused.expect_error(400, "limit_reached", "A page has at most 5000 comments.");
    talk.delete(talk.ada(), &id).await.expect_success();
    talk.say(talk.ada(), json!({ "body": "In its place" })).await;
}
