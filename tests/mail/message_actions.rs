//! What people do with single messages leaves the others of a conversation as they are.

use serde_json::{Value, json};

use super::threads::{Post, message};
use crate::harness::Answer;

impl Post {
    async fn act_on(&self, body: Value) -> Answer {
        self.ada.client.post(&self.at("messages/actions")).json(&body).send().await
    }

    async fn changes(&self, ids: &[&str], action: &str) -> i64 {
        let acted = self.act_on(json!({"messageIds": ids, "action": action})).await.expect(200);
        acted.json["changed"].as_i64().expect("a number")
    }

    async fn messages(&self, thread: &str) -> Vec<Value> {
        self.get(&format!("threads/{thread}?bodies=none")).await.expect(200).list("/messages").to_vec()
    }
}

#[tokio::test]
async fn one_message_of_a_conversation_is_moved_marked_and_deleted() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    post.deliver(&message("2", "bob@example.com", "Re: Lunch", "In-Reply-To: <1@example.com>\n")).await;
    let thread = post.only("view=inbox").await;
    let ids: Vec<String> =
        post.messages(&thread).await.iter().map(|it| it["messageId"].as_str().expect("an id").to_owned()).collect();
    let [first, second] = [ids[0].as_str(), ids[1].as_str()];
    assert_eq!(post.changes(&[first], "read").await, 1);
    assert_eq!(post.changes(&[first], "read").await, 0);
    assert_eq!(post.changes(&[first, second, "msg_none"], "star").await, 2);
    assert_eq!(post.changes(&[second], "trash").await, 1);
    let states: Vec<Value> = post.messages(&thread).await;
    let of = |it: &Value| (it["box"].clone(), it["unread"].clone(), it["starred"].clone());
    assert_eq!(of(&states[0]), (json!("inbox"), json!(false), json!(true)));
    assert_eq!(of(&states[1]), (json!("trash"), json!(true), json!(true)));
    // What lies elsewhere than in the trash keeps all of them.
    let body = json!({"messageIds": ids, "action": "delete"});
    post.act_on(body).await.expect_error(400, "not_in_trash", "Move the message to trash first.");
    assert_eq!(post.changes(&[second], "delete").await, 1);
    assert_eq!(post.messages(&thread).await.len(), 1);
    assert_eq!(post.subjects("q=lunch%20in:anywhere").await.len(), 1);
    for action in ["trash", "delete"] {
        assert_eq!(post.changes(&[first], action).await, 1);
    }
    post.get(&format!("threads/{thread}")).await.expect_error(404, "not_found", "Thread not found");
}

#[tokio::test]
async fn what_cannot_be_done_with_messages_is_refused() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    let thread = post.only("view=inbox").await;
    let id = post.messages(&thread).await[0]["messageId"].clone();
    let label = post.label("Food").await;
    let body = json!({"messageIds": [id], "action": "label", "labelId": label});
    assert_eq!(post.act_on(body).await.expect(200).json, json!({"changed": 1}));
    assert_eq!(post.subjects(&format!("view=label&label={label}")).await, ["Lunch"]);
    let body = json!({"messageIds": [id], "action": "label"});
    post.act_on(body).await.expect_error(400, "label_required", "Choose a label.");
    let body = json!({"messageIds": [id], "action": "label", "labelId": "lbl_none"});
    post.act_on(body).await.expect_error(404, "not_found", "Label not found");
    for (ids, action, problem) in [
        (vec![], "read", "messageIds"),
        (vec!["msg_none"; 101], "read", "messageIds"),
        (vec!["msg_none"], "snooze", "action"),
        (vec!["msg_none"], "", "action"),
    ] {
        post.act_on(json!({"messageIds": ids, "action": action})).await.expect_problems(&[problem]);
    }
    assert_eq!(post.changes(&["msg_none"; 100], "read").await, 0);
    // A mailbox is its members' alone.
    let eve = post.server.person("eve").await;
    eve.client
        .post(&post.at("messages/actions"))
        .json(&json!({"messageIds": [id], "action": "read"}))
        .send()
        .await
        .expect(404);
}
