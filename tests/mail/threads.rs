//! What arrives is filed, listed, counted and read.

use std::time::Duration;

use bytes::Bytes;
use domain::{
    Timestamp,
    id::{MailArrivalId, MailboxId, OrgId},
    mail::{Arrival, Placed, Verdict},
};
use serde_json::{Value, json};
use store::{Change, Store, mail::NewRaw};

use super::make_mailbox;
use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

/// An organization with a mailbox of Ada's.
pub struct Post {
    pub server: Server,
    pub ada: Person,
    pub org: String,
    pub mailbox: String,
    pub store: Store,
}

impl Post {
    pub async fn new() -> Self {
        Self::on(Server::start().await).await
    }

    pub async fn on(server: Server) -> Self {
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let mailbox = make_mailbox(&ada, &org, "ada", &[&ada.user_id]).await.str("/mailbox/mailboxId").to_owned();
        let store = server.store().await;
        Self { server, ada, org, mailbox, store }
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}/mail/mailboxes/{}/{path}", self.org, self.mailbox)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ada.client.get(&self.at(path)).send().await
    }

    pub async fn act(&self, body: Value) -> Answer {
        self.ada.client.post(&self.at("threads/actions")).json(&body).send().await
    }

    /// Has a message arrive, without waiting until it is filed.
    pub async fn bring(&self, mailbox: &str, message: &str, placed: Placed) {
        let raw = self.written(message).await;
        self.take_in(mailbox, &raw, placed).await;
    }

    fn org_id(&self) -> OrgId {
        self.org.rsplit('/').next().expect("an id").parse().expect("an organization")
    }

    /// The bytes of a message, as they are kept.
    pub async fn written(&self, message: &str) -> NewRaw {
        let bytes = Bytes::from(message.replace('\n', "\r\n"));
        self.store.mail_raw_write(self.org_id(), bytes).await.expect("bytes")
    }

    /// Has a message arrive whose bytes are kept.
    pub async fn take_in(&self, mailbox: &str, raw: &NewRaw, placed: Placed) {
        let (now, org_id) = (self.server.clock.now(), self.org_id());
        let mailbox_id: MailboxId = mailbox.parse().expect("a mailbox");
        let arrival = Arrival {
            id: MailArrivalId::new(now),
            org_id,
            mailbox_id,
            raw_id: raw.id(),
            envelope_from: "bob@example.com".to_owned(),
            envelope_to: "ada".to_owned(),
            received_at: now,
            head: "Return-Path: <bob@example.com>\r\n".to_owned(),
            verdict: Verdict { placed, ..Verdict::default() },
            tries: 0,
        };
        let mut change = Change::new();
        change.mail_arrive(now, raw, &[arrival]);
        self.store.commit(change).await.expect("a commit");
    }

    /// Has a message arrive and waits until it is filed; time goes on by a second.
    pub async fn deliver(&self, message: &str) {
        self.deliver_as(message, Placed::Inbox).await;
    }

    pub async fn deliver_as(&self, message: &str, placed: Placed) {
        self.server.clock.advance(Duration::from_secs(1));
        self.bring(&self.mailbox, message, placed).await;
        self.filed().await;
    }

    /// Waits until everything that arrived is filed.
    pub async fn filed(&self) {
        let wait = async {
            while self.store.mail_arrivals_waiting(1).await.expect("a count") > 0 {
                self.server.clock.advance(Duration::from_millis(10));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.expect("it is filed");
    }

    /// The subjects of a list.
    pub async fn subjects(&self, query: &str) -> Vec<String> {
        let list = self.get(&format!("threads?{query}")).await.expect(200);
        list.list("/threads").iter().map(|it| it["subject"].as_str().expect("a subject").to_owned()).collect()
    }

    /// The id of the only conversation of a list.
    pub async fn only(&self, query: &str) -> String {
        let list = self.get(&format!("threads?{query}")).await.expect(200);
        let [thread] = list.list("/threads") else { panic!("{}", list.json) };
        thread["threadId"].as_str().expect("an id").to_owned()
    }
}

/// A message of few lines.
pub fn message(id: &str, from: &str, subject: &str, more: &str) -> String {
    format!(
        "From: {from}\nTo: Ada <ada@example.org>\nSubject: {subject}\nMessage-ID: <{id}@example.com>\n\
         Date: Wed, 13 Jan 2027 12:00:00 +0000\n{more}\nHello from {id}\n"
    )
}

#[tokio::test]
async fn what_arrives_is_listed_counted_and_read() {
    let post = Post::new().await;
    assert_eq!(post.get("threads").await.expect(200).json, json!({"threads": [], "cursor": null}));
    post.deliver(&message("1", "Bob B. <Bob@example.com>", "Lunch", "")).await;
    let at = post.server.clock.now().0;
    let list = post.get("threads").await.expect(200);
    let [row] = list.list("/threads") else { panic!("{}", list.json) };
    let (thread_id, last_at) = (row["threadId"].clone(), row["lastAt"].as_i64().expect("a time"));
    assert!((at - 60_000..=at).contains(&last_at), "{last_at}");
    let bob = json!({"name": "Bob B.", "email": "bob@example.com"});
    let expected = json!({
        "mailboxId": post.mailbox, "orgId": post.org.rsplit('/').next(), "threadId": thread_id, "subject": "Lunch",
        "snippet": "Hello from 1", "participants": [bob], "lastAt": last_at, "messageCount": 1, "unreadCount": 1,
        "starred": false, "labels": [], "box": "inbox", "hasAttachments": false, "category": "primary", "sender": bob
    });
    assert_eq!(*row, expected);
    let all = post.ada.client.get(&format!("{}/mail/threads", post.org)).send().await.expect(200);
    assert_eq!(all.json, list.json);
    let counts = json!({"primary": 1, "transactions": 0, "updates": 0, "promotions": 0});
    assert_eq!(post.get("counts").await.expect(200).json, json!({"counts": counts, "complete": true}));
    let all = post.ada.client.get(&format!("{}/mail/counts", post.org)).send().await.expect(200);
    let expected_counts = json!({"counts": counts, "mailboxes": {&post.mailbox: counts}, "badge": 1, "complete": true});
    assert_eq!(all.json, expected_counts);
    let thread = post.get(&format!("threads/{}", thread_id.as_str().expect("an id"))).await.expect(200);
    assert_eq!(thread.json["thread"], expected);
    let [it] = thread.list("/messages") else { panic!("{}", thread.json) };
    assert_eq!((&it["from"], &it["text"], &it["box"]), (&bob, &json!("Hello from 1\r\n"), &json!("inbox")));
    assert_eq!(it["to"], json!([{"name": "Ada", "email": "ada@example.org"}]));
    assert_eq!(it["sentAt"], json!(1_799_841_600_000_i64));
    let none = post.get(&format!("threads/{}?bodies=none", thread_id.as_str().expect("an id"))).await.expect(200);
    assert_eq!(none.json["messages"][0].get("text"), None);
}

#[tokio::test]
async fn answers_are_of_one_conversation_and_late_ones_join_what_was_two() {
    let post = Post::new().await;
    post.deliver(&message("a", "bob@example.com", "Lunch", "")).await;
    post.deliver(&message("c", "eve@example.com", "Re: Lunch", "In-Reply-To: <b@example.com>\n")).await;
    let list = post.get("threads").await.expect(200);
    let ids: Vec<_> = list.list("/threads").iter().map(|it| it["threadId"].as_str().expect("an id")).collect();
    let [younger, older] = ids.as_slice() else { panic!("{}", list.json) };
    post.deliver(&message("b", "kim@example.com", "RE: Lunch", "In-Reply-To: <a@example.com>\n")).await;
    assert_eq!(post.only("view=inbox").await, *older);
    for id in [older, younger] {
        let thread = post.get(&format!("threads/{id}")).await.expect(200);
        assert_eq!(thread.str("/thread/threadId"), *older);
        assert_eq!(thread.list("/messages").len(), 3);
    }
    assert_eq!(post.get("counts").await.expect(200).json["counts"]["primary"], 1);
    // Another subject is another conversation, whatever it refers to.
    post.deliver(&message("d", "kim@example.com", "Dinner", "In-Reply-To: <a@example.com>\n")).await;
    assert_eq!(post.subjects("").await, ["Dinner", "Lunch"]);
    let acted = post.act(json!({"threadIds": [younger, older], "action": "archive"})).await.expect(200);
    assert_eq!(acted.json, json!({"changed": 1}));
}

#[tokio::test]
async fn many_that_arrive_at_once_are_each_filed_and_a_message_that_is_sent_again_is_filed_once() {
    let post = Post::new().await;
    for number in 0..60 {
        let text = message(&number.to_string(), "bob@example.com", &format!("Number {number}"), "");
        post.bring(&post.mailbox, &text, Placed::Inbox).await;
    }
    let again = message("7", "bob@example.com", "Number 7", "");
    post.bring(&post.mailbox, &again, Placed::Inbox).await;
    post.filed().await;
    post.deliver(&again).await;
    let page = post.get("threads").await.expect(200);
    let next = post.get(&format!("threads?cursor={}", page.str("/cursor"))).await.expect(200);
    let mut ids: Vec<_> = page.list("/threads").iter().chain(next.list("/threads")).collect();
    assert_eq!((page.list("/threads").len(), ids.len(), &next.json["cursor"]), (50, 60, &Value::Null));
    ids.sort_by_key(|it| it["threadId"].as_str());
    ids.dedup();
    assert_eq!(ids.len(), 60);
    assert_eq!(post.get("counts").await.expect(200).json["counts"]["primary"], 60);
    post.get("threads?cursor=nothing").await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn spam_and_trash_are_searched_only_where_they_are_asked_for() {
    let post = Post::new().await;
    post.deliver(&message("1", "Bob <bob@example.com>", "Lunch", "")).await;
    post.deliver_as(&message("2", "Eve <eve@example.com>", "Lunch money", ""), Placed::Spam).await;
    assert_eq!(post.subjects("").await, ["Lunch"]);
    assert_eq!(post.subjects("view=spam").await, ["Lunch money"]);
    assert_eq!(post.subjects("q=lunch").await, ["Lunch"]);
    assert_eq!(post.subjects("q=LUNCH%20hello%20bob").await, ["Lunch"]);
    assert_eq!(post.subjects("q=l_nch").await, Vec::<String>::new());
    assert_eq!(post.subjects("view=spam&q=money").await, ["Lunch money"]);
    assert_eq!(post.subjects(&format!("q={}", "x".repeat(200))).await, Vec::<String>::new());
    post.get(&format!("threads?q={}", "x".repeat(201))).await.expect_problems(&["q"]);
    post.get("threads?view=attic").await.expect_problems(&["view"]);
    post.get("threads?category=some").await.expect_problems(&["category"]);
    post.get("threads?view=label").await.expect_error(400, "label_required", "Choose a label.");
    post.get("threads?view=label&label=lbl_1").await.expect_error(404, "not_found", "Label not found");
}

#[tokio::test]
async fn html_is_shown_without_what_runs_and_hostile_messages_are_filed_too() {
    let post = Post::new().await;
    let html = "MIME-Version: 1.0\nContent-Type: text/html\n\n<p onclick=x()>Hi</p><script>x()</script>\
                <img src=\"https://spy.example/p.gif\">\n";
    post.deliver(&message("1", "bob@example.com", "Markup", html)).await;
    let id = post.only("view=inbox").await;
    let thread = post.get(&format!("threads/{id}")).await.expect(200);
    let shown = thread.str("/messages/0/html");
    assert!(shown.contains("<p>Hi</p>") && !shown.contains("script") && !shown.contains("spy.example"), "{shown}");
    for (number, hostile) in [
        "no head at all".to_owned(),
        format!("Subject: =?x?q?=?=\nContent-Type: multipart/mixed; boundary=x\n\n{}", "--x\n\n1\n".repeat(3_000)),
        "Content-Type: text/plain; charset=lies\n\n\0\u{fffd}".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        post.deliver(hostile).await;
        let list = post.get("threads").await.expect(200);
        assert_eq!(list.list("/threads").len(), number + 2);
        post.get(&format!("threads/{}", list.str("/threads/0/threadId"))).await.expect(200);
    }
}

#[tokio::test]
async fn nobody_but_members_reads_a_mailbox() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Secret", "")).await;
    let id = post.only("view=inbox").await;
    let bob = post.server.person("bob").await;
    join(&post.ada, &post.org, &bob, "admin").await;
    for path in ["threads", "counts", &format!("threads/{id}")] {
        let answer = bob.client.get(&post.at(path)).send().await;
        answer.expect_error(404, "not_found", "Mailbox not found");
    }
    let body = json!({"threadIds": [id], "action": "trash"});
    let acted = bob.client.post(&post.at("threads/actions")).json(&body).send().await;
    acted.expect_error(404, "not_found", "Mailbox not found");
    let all = bob.client.get(&format!("{}/mail/threads", post.org)).send().await.expect(200);
    assert_eq!(all.list("/threads").len(), 0);
    let unknown = domain::id::MailThreadId::new(Timestamp(1));
    for id in ["nothing".to_owned(), unknown.to_string()] {
        post.get(&format!("threads/{id}")).await.expect_error(404, "not_found", "Thread not found");
    }
}
