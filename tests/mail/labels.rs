//! Labels of a mailbox, and the conversations that have them.

use std::time::Duration;

use domain::{
    Timestamp,
    id::MailLabelId,
    mail::{LabelColor, MailLabel, Placed},
};
use serde_json::{Value, json};
use store::Change;

use super::threads::{Post, message};
use crate::{
    accounts::join,
    harness::{Answer, Socket},
};

impl Post {
    async fn make_label(&self, body: Value) -> Answer {
        self.ada.client.post(&self.at("labels")).json(&body).send().await
    }

    /// Makes a label; its id.
    pub async fn label(&self, name: &str) -> String {
        self.make_label(json!({ "name": name })).await.expect(201).str("/label/labelId").to_owned()
    }

    async fn patch_label(&self, id: &str, body: Value) -> Answer {
        self.ada.client.patch(&self.at(&format!("labels/{id}"))).json(&body).send().await
    }

    async fn delete_label(&self, id: &str) -> Answer {
        self.ada.client.delete(&self.at(&format!("labels/{id}"))).send().await
    }

    /// Gives conversations a label, or takes it from them; how many changed.
    pub async fn labels(&self, ids: &[String], action: &str, label: &str) -> i64 {
        let acted = self.act(json!({"threadIds": ids, "action": action, "labelId": label})).await.expect(200);
        acted.int("/changed")
    }

    /// Name, conversations and unread ones of each label.
    async fn listed(&self) -> Vec<(String, i64, i64)> {
        let list = self.get("labels").await.expect(200);
        let row = |it: &Value| {
            let number = |name: &str| it[name].as_i64().expect("a number");
            (it["name"].as_str().expect("a name").to_owned(), number("threadCount"), number("unreadCount"))
        };
        list.list("/labels").iter().map(row).collect()
    }

    /// The ids of the conversations of a list.
    pub async fn ids(&self, query: &str) -> Vec<String> {
        let list = self.get(&format!("threads?{query}")).await.expect(200);
        list.list("/threads").iter().map(|it| it["threadId"].as_str().expect("an id").to_owned()).collect()
    }
}

#[tokio::test]
async fn a_label_is_made_listed_renamed_recoloured_and_deleted() {
    let post = Post::new().await;
    let made = post.make_label(json!({"name": " Work ", "color": "teal"})).await.expect(201);
    let id = made.str("/label/labelId").to_owned();
    assert_eq!(made.json, json!({"label": {"labelId": id, "name": "Work", "color": "teal"}}));
    let inner = post.make_label(json!({"name": "Work/Bills"})).await.expect(201);
    assert_eq!(inner.str("/label/color"), "blue");
    post.label("workshop").await;
    let changed = post.patch_label(&id, json!({"name": "Job", "color": "red"})).await.expect(200);
    assert_eq!(changed.json, json!({"label": {"labelId": id, "name": "Job", "color": "red"}}));
    let names: Vec<_> = post.listed().await.into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["Job", "Job/Bills", "workshop"]);
    post.delete_label(&id).await.expect(204);
    for answer in [post.delete_label(&id).await, post.patch_label(&id, json!({"name": "New"})).await] {
        answer.expect_error(404, "not_found", "Label not found");
    }
    post.delete_label("nothing").await.expect_error(404, "not_found", "Label not found");
    assert_eq!(post.listed().await.len(), 2);
}

#[tokio::test]
async fn names_of_labels_are_checked_and_each_once() {
    let post = Post::new().await;
    let taken = "A label has this name already.";
    let id = post.label("Work").await;
    let other = post.label("Home").await;
    for name in ["Work", "WORK", " work "] {
        post.make_label(json!({ "name": name })).await.expect_error(409, "label_exists", taken);
        post.patch_label(&other, json!({ "name": name })).await.expect_error(409, "label_exists", taken);
    }
    post.patch_label(&id, json!({"name": "WORK"})).await.expect(200);
    for name in ["", "a//b", "/a", "Inbox", "trash/a", &"a".repeat(101)] {
        post.make_label(json!({ "name": name })).await.expect_problems(&["name"]);
        post.patch_label(&id, json!({ "name": name })).await.expect_problems(&["name"]);
    }
    post.make_label(json!({"name": "a".repeat(100)})).await.expect(201);
    post.make_label(json!({"name": "b", "color": "black"})).await.expect_problems(&["color"]);
    post.patch_label(&id, json!({"color": "black"})).await.expect_problems(&["color"]);
}

#[tokio::test]
async fn a_mailbox_has_five_hundred_labels_at_most() {
    let post = Post::new().await;
    let mut change = Change::new();
    for number in 0..499 {
        let name = format!("Label {number}");
        let label = MailLabel { id: MailLabelId::new(Timestamp(number)), name, color: LabelColor::Blue };
        change.mail_label_add(post.mailbox.parse().expect("a mailbox"), &label, Timestamp(number));
    }
    post.store.commit(change).await.expect("a commit");
    let last = post.label("The last").await;
    let refused = post.make_label(json!({"name": "One more"})).await;
    refused.expect_error(400, "limit_reached", "A mailbox has at most 500 labels.");
    post.delete_label(&last).await.expect(204);
    post.label("One more").await;
}

#[tokio::test]
async fn conversations_are_labelled_listed_and_counted() {
    let post = Post::new().await;
    for (number, subject) in ["Lunch", "Dinner", "Supper"].into_iter().enumerate() {
        post.deliver(&message(&number.to_string(), "bob@example.com", subject, "")).await;
    }
    let label = post.label("Food").await;
    let view = format!("view=label&label={label}");
    assert_eq!(post.subjects(&view).await, Vec::<String>::new());
    let ids = post.ids("").await;
    assert_eq!(post.labels(&ids[1..], "label", &label).await, 2);
    assert_eq!(post.labels(&ids[1..], "label", &label).await, 0);
    assert_eq!(post.subjects(&view).await, ["Dinner", "Lunch"]);
    assert_eq!(post.listed().await, [("Food".to_owned(), 2, 2)]);
    let thread = post.get(&format!("threads/{}?bodies=none", ids[1])).await.expect(200);
    assert_eq!(thread.json["thread"]["labels"], json!([label]));
    assert_eq!(thread.json["labels"], json!([{"labelId": label, "name": "Food", "color": "blue"}]));
    post.act(json!({"threadIds": [ids[1]], "action": "read"})).await.expect(200);
    assert_eq!(post.listed().await, [("Food".to_owned(), 2, 1)]);
    post.act(json!({"threadIds": [ids[1]], "action": "trash"})).await.expect(200);
    assert_eq!((post.subjects(&view).await, post.listed().await), (vec!["Lunch".into()], vec![("Food".into(), 1, 1)]));
    post.act(json!({"threadIds": [ids[1]], "action": "inbox"})).await.expect(200);
    assert_eq!(post.labels(&ids, "unlabel", &label).await, 2);
    assert_eq!(post.listed().await, [("Food".to_owned(), 0, 0)]);
    // An answer keeps what its conversation has.
    assert_eq!(post.labels(&ids[2..], "label", &label).await, 1);
    post.deliver(&message("9", "bob@example.com", "Re: Lunch", "In-Reply-To: <0@example.com>\n")).await;
    assert_eq!(post.listed().await, [("Food".to_owned(), 1, 1)]);
}

#[tokio::test]
async fn a_label_that_is_deleted_is_taken_from_all_conversations() {
    let post = Post::new().await;
    let label = post.label("Food").await;
    for number in 0..230 {
        let placed = if number < 3 { Placed::Spam } else { Placed::Inbox };
        let text = message(&number.to_string(), "bob@example.com", &format!("Plan {number}"), "");
        post.bring(&post.mailbox, &text, placed).await;
    }
    post.filed().await;
    let mut ids = post.ids("view=spam").await;
    let (mut query, mut pages) = ("view=inbox".to_owned(), 0);
    while pages < 10 {
        let list = post.get(&format!("threads?{query}")).await.expect(200);
        ids.extend(list.list("/threads").iter().map(|it| it["threadId"].as_str().expect("an id").to_owned()));
        let Some(cursor) = list.json["cursor"].as_str() else { break };
        (query, pages) = (format!("view=inbox&cursor={cursor}"), pages + 1);
    }
    assert_eq!(ids.len(), 230);
    for some in ids.chunks(100) {
        post.labels(some, "label", &label).await;
    }
    assert_eq!(post.listed().await, [("Food".to_owned(), 227, 227)]);
    post.delete_label(&label).await.expect(204);
    let view = post.get(&format!("threads?view=label&label={label}")).await;
    view.expect_error(404, "not_found", "Label not found");
    for action in ["label", "unlabel"] {
        let refused = post.act(json!({"threadIds": ids[..1], "action": action, "labelId": label})).await;
        refused.expect_error(404, "not_found", "Label not found");
    }
    let gone = async {
        for id in &ids {
            while post.get(&format!("threads/{id}?bodies=none")).await.expect(200).json["thread"]["labels"] != json!([])
            {
                post.server.clock.advance(Duration::from_millis(10));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("no conversation has it");
}

#[tokio::test]
async fn the_labels_of_a_mailbox_stand_beside_mailboxes_where_they_are_asked_for() {
    let post = Post::new().await;
    let label = post.label("Food").await;
    let list = async |query: &str| {
        let path = format!("{}/mail/mailboxes{query}", post.org);
        post.ada.client.get(&path).send().await
    };
    assert_eq!(list("").await.expect(200).json.get("labels"), None);
    let expected = json!({"mailboxId": post.mailbox, "labels": [{"labelId": label, "name": "Food", "color": "blue"}]});
    assert_eq!(list(&format!("?labels={}", post.mailbox)).await.expect(200).json["labels"], expected);
    for unknown in ["nothing", &"a".repeat(100)] {
        assert_eq!(list(&format!("?labels={unknown}")).await.expect(200).json["labels"], Value::Null);
    }
    list(&format!("?labels={}", "a".repeat(101))).await.expect_problems(&["labels"]);
    let bob = post.server.person("bob").await;
    join(&post.ada, &post.org, &bob, "admin").await;
    let path = format!("{}/mail/mailboxes?labels={}", post.org, post.mailbox);
    assert_eq!(bob.client.get(&path).send().await.expect(200).json, json!({"mailboxes": [], "labels": null}));
    bob.client.get(&post.at("labels")).send().await.expect_error(404, "not_found", "Mailbox not found");
    let made = bob.client.post(&post.at("labels")).json(&json!({"name": "Mine"})).send().await;
    made.expect_error(404, "not_found", "Mailbox not found");
}

#[tokio::test]
async fn members_hear_of_labels() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    let ids = post.ids("").await;
    let label = post.label("Food").await;
    post.labels(&ids, "label", &label).await;
    post.delete_label(&label).await.expect(204);
    let mut socket = Socket::live(&post.ada.client, 0).await;
    let mut heard = Vec::new();
    while heard.len() < 4 {
        let message = socket.message_of("mail.changed").await;
        heard.push((message["threadIds"].clone(), message.get("labelIds").cloned()));
    }
    let (threads, labels) = (json!(ids), Some(json!([label])));
    let expected = [(threads.clone(), None), (json!([]), labels.clone()), (threads.clone(), None), (threads, labels)];
    assert_eq!(heard, expected);
}
