//! Senders who are kept out, lists that are left, and people whom an address field suggests.

use std::time::Duration;

use bytes::Bytes;
use domain::{
    id::MailArrivalId,
    mail::{Arrival, Outcome, Placed, Verdict},
};
use serde_json::{Value, json};
use store::Change;

use super::{
    peer::Peer,
    threads::{Post, message},
};
use crate::{
    accounts::join,
    harness::{Answer, Server},
};

const SIGNED: &str =
    "DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=a; h=From:List-Unsubscribe:List-Unsubscribe-Post; b=a\n";
const ONE_CLICK: &str = "List-Unsubscribe-Post: List-Unsubscribe=One-Click\n";

impl Post {
    async fn block(&self, sender: &str, is_blocked: bool) -> Answer {
        let path = self.at(&format!("senders/{sender}/blocked"));
        self.ada.client.put(&path).json(&json!({ "blocked": is_blocked })).send().await
    }

    /// Has a message arrive whose signature holds; its id.
    async fn deliver_signed(&self, text: &str) -> String {
        self.server.clock.advance(Duration::from_secs(1));
        let now = self.server.clock.now();
        let org_id = self.org.rsplit('/').next().expect("an id").parse().expect("an organization");
        let raw = self.store.mail_raw_write(org_id, Bytes::from(text.replace('\n', "\r\n"))).await.expect("bytes");
        let arrival = Arrival {
            id: MailArrivalId::new(now),
            org_id,
            mailbox_id: self.mailbox.parse().expect("a mailbox"),
            raw_id: raw.id(),
            envelope_from: "bounces@example.com".to_owned(),
            envelope_to: "ada".to_owned(),
            received_at: now,
            head: String::new(),
            verdict: Verdict { dkim: Outcome::Pass, dmarc: Outcome::Pass, placed: Placed::Inbox, ..Verdict::default() },
            tries: 0,
        };
        let mut change = Change::new();
        change.mail_arrive(now, &raw, &[arrival]);
        self.store.commit(change).await.expect("a commit");
        self.filed().await;
        let newest = self.ids("view=inbox").await;
        let thread = self.get(&format!("threads/{}?bodies=none", newest[0])).await.expect(200);
        thread.str("/messages/0/messageId").to_owned()
    }

    async fn unsubscribe(&self, id: &str) -> Answer {
        self.ada.client.post(&self.at(&format!("messages/{id}/unsubscribe"))).send().await
    }

    async fn suggested(&self, written: &str) -> Vec<String> {
        let found = self.get(&format!("suggest?q={written}")).await.expect(200);
        found.list("/people").iter().map(|it| it["email"].as_str().expect("an address").to_owned()).collect()
    }
}

#[tokio::test]
async fn what_a_blocked_sender_sends_is_spam_whatever_filters_say() {
    let post = Post::new().await;
    post.filter("from:bob", json!({"neverSpam": true, "box": "inbox"})).await;
    post.deliver(&message("1", "bob@example.com", "Before", "")).await;
    let blocked = post.block("BOB@example.com", true).await.expect(200);
    assert_eq!(blocked.json, json!({"address": "bob@example.com", "blocked": true}));
    post.block("bob@example.com", true).await.expect(200);
    post.deliver(&message("2", "Bob <Bob@Example.com>", "After", "")).await;
    assert_eq!(post.subjects("view=inbox").await, ["Before"]);
    assert_eq!(post.subjects("view=spam").await, ["After"]);
    let why = post.whole("view=spam").await["why"].clone();
    assert_eq!((&why["placed"], &why["points"]), (&json!("spam"), &json!([{"rule": "blocked_sender", "points": 5.0}])));
    post.block("bob@example.com", false).await.expect(200);
    post.deliver(&message("3", "bob@example.com", "Again", "")).await;
    assert_eq!(post.subjects("view=inbox").await, ["Again", "Before"]);
    post.block("nobody", true).await.expect_error(400, "sender_invalid", "Enter a valid email address.");
    let own = post.get_own_address().await;
    post.block(&own, true).await.expect_error(400, "own_address", "A mailbox can't block its own address.");
}

impl Post {
    async fn get_own_address(&self) -> String {
        format!("ada@{}", super::lent_domain(&self.ada, &self.org).await)
    }
}

#[tokio::test]
async fn senders_for_whom_something_was_chosen_are_listed() {
    let post = Post::new().await;
    assert_eq!(post.get("senders").await.expect(200).json, json!({"senders": [], "cursor": null}));
    post.block("carol@example.com", true).await.expect(200);
    post.block("bob@example.com", true).await.expect(200);
    for sender in ["ada@example.com", "bob@example.com"] {
        let path = post.at(&format!("senders/{sender}/category"));
        post.ada.client.put(&path).json(&json!({"category": "updates"})).send().await.expect(200);
    }
    let row = |address: &str, category: Option<&str>, blocked: bool| {
        let mut row = json!({ "address": address, "blocked": blocked });
        if let Some(category) = category {
            row["category"] = json!(category);
        }
        row
    };
    let all = [
        row("ada@example.com", Some("updates"), false),
        row("bob@example.com", Some("updates"), true),
        row("carol@example.com", None, true),
    ];
    let list = post.get("senders").await.expect(200);
    assert_eq!((&list.json["senders"], &list.json["cursor"]), (&json!(all), &Value::Null));
    let first = post.get("senders?limit=2").await.expect(200);
    assert_eq!(first.json["senders"], json!(all[..2]));
    let rest = post.get(&format!("senders?limit=2&cursor={}", first.str("/cursor"))).await.expect(200);
    assert_eq!((&rest.json["senders"], &rest.json["cursor"]), (&json!(all[2..]), &Value::Null));
}

#[tokio::test]
async fn a_list_that_takes_a_message_is_left_by_one() {
    let peer = Peer::start().await;
    let post = Post::on(Server::with(&[&format!("mail_server.smarthost={}", peer.address)]).await).await;
    let list = "List-Unsubscribe: <mailto:leave@lists.example.com?subject=unsubscribe%20me>\n";
    let id = post.deliver_signed(&message("1", "news@example.com", "News", &format!("{SIGNED}{list}"))).await;
    assert_eq!(post.get(&format!("messages/{id}")).await.expect(200).str("/message/unsubscribe"), "message");
    assert_eq!(post.unsubscribe(&id).await.expect(200).json, json!({"by": "message"}));
    let left = async || {
        post.server.clock.advance(Duration::from_millis(10));
        peer.taken().into_iter().next()
    };
    let taken = post.server.eventually("a message to the list", left).await;
    assert_eq!(taken.to, ["leave@lists.example.com"]);
    assert!(taken.message.contains("Subject: unsubscribe me"), "{}", taken.message);
    assert_eq!(post.subjects("view=sent").await, ["unsubscribe me"]);
    let bob = post.server.person("bob").await;
    join(&post.ada, &post.org, &bob, "viewer").await;
    let members = json!({"members": [post.ada.user_id, bob.user_id]});
    let admin = format!("{}/mail/admin/mailboxes/{}", post.org, post.mailbox);
    post.ada.client.patch(&admin).json(&members).send().await.expect(200);
    let refused = bob.client.post(&post.at(&format!("messages/{id}/unsubscribe"))).send().await;
    refused.expect_error(403, "missing_scope", "This needs the mail:send permission.");
}

#[tokio::test]
async fn a_list_is_left_at_once_only_at_public_addresses_that_its_sender_signed() {
    let post = Post::new().await;
    let list = "List-Unsubscribe: <https://127.0.0.1/leave>\n";
    let id = post.deliver_signed(&message("1", "news@example.com", "A", &format!("{SIGNED}{list}{ONE_CLICK}"))).await;
    assert_eq!(post.get(&format!("messages/{id}")).await.expect(200).str("/message/unsubscribe"), "request");
    let failed = "The sender's server didn't take it. Try again later.";
    post.unsubscribe(&id).await.expect_error(502, "unsubscribe_failed", failed);
    let unsigned = post.deliver_signed(&message("2", "news@example.com", "B", &format!("{list}{ONE_CLICK}"))).await;
    let text = "Nobody vouches for what this message says about unsubscribing.";
    post.unsubscribe(&unsigned).await.expect_error(409, "unsubscribe_unverified", text);
    assert_eq!(post.get(&format!("messages/{unsigned}")).await.expect(200).json["message"].get("unsubscribe"), None);
    let page = post.deliver_signed(&message("3", "news@example.com", "C", &format!("{SIGNED}{list}"))).await;
    let text = "This sender's list is only left by following the link in the message.";
    post.unsubscribe(&page).await.expect_error(409, "unsubscribe_by_hand", text);
    let no_list = post.deliver_signed(&message("4", "bob@example.com", "D", "")).await;
    let text = "This message says no way to unsubscribe.";
    post.unsubscribe(&no_list).await.expect_error(400, "no_list", text);
    for gone in ["msg_01jd7rt4m5e9fv2w8x3c6k0hqz", "nothing"] {
        post.unsubscribe(gone).await.expect_error(404, "not_found", "Message not found");
    }
}

#[tokio::test]
async fn people_are_suggested_whom_the_mailbox_wrote_to_then_those_it_heard_from_then_members() {
    let peer = Peer::start().await;
    let post = Post::on(Server::with(&[&format!("mail_server.smarthost={}", peer.address)]).await).await;
    let kim = post.server.person("kimberly").await;
    join(&post.ada, &post.org, &kim, "viewer").await;
    post.deliver(&message("1", "Kim Possible <kim@example.com>", "Hello", "")).await;
    post.deliver_as(&message("2", "Kim Spam <kimspam@example.com>", "Hello", ""), Placed::Spam).await;
    let people = json!([{"name": "Kim Wrote", "email": "wrote@example.org"}]);
    post.sent(json!({"to": people, "subject": "Hello", "text": "Kim"})).await;
    assert_eq!(post.suggested("ki").await, ["wrote@example.org", "kim@example.com", kim.email.as_str()]);
    assert_eq!(post.suggested("kim%20poss").await, ["kim@example.com"]);
    assert_eq!(post.suggested("im").await, Vec::<String>::new());
    let all = post.suggested("").await;
    assert!(all.starts_with(&["wrote@example.org".to_owned(), "kim@example.com".to_owned()]), "{all:?}");
    post.get(&format!("suggest?q={}", "a".repeat(100))).await.expect(200);
    post.get(&format!("suggest?q={}", "a".repeat(101))).await.expect_problems(&["q"]);
}
