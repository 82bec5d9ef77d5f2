//! What is sent, and what becomes of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    lent_domain, make_mailbox,
    peer::{Fault, Moment, Peer},
    threads::Post,
};
use crate::harness::{Answer, Server};

/// A mailbox of Ada's on a server whose mail goes to a peer.
async fn sending(peer: &Peer) -> Post {
    let smarthost = format!("mail_server.smarthost={}", peer.address);
    Post::on(Server::with(&[&smarthost]).await).await
}

impl Post {
    /// Writes a message and sends it.
    pub async fn send(&self, message: Value, how: Value) -> Answer {
        let draft = self.write(message).await.expect(201);
        self.send_draft(draft.str("/draft/draftId"), how).await
    }

    pub async fn send_draft(&self, draft: &str, mut how: Value) -> Answer {
        if how.get("version").is_none() {
            how["version"] = json!(1);
        }
        self.ada.client.post(&self.at(&format!("drafts/{draft}/send"))).json(&how).send().await
    }

    /// Sends a message at once; its id.
    pub async fn sent(&self, message: Value) -> String {
        self.send(message, json!({"undoSeconds": 0})).await.expect(202).str("/messageId").to_owned()
    }

    /// What became of a message, once no recipient is in these states.
    pub async fn delivery(&self, id: &str, not_in: &[&str]) -> Vec<Value> {
        let path = format!("messages/{id}/delivery");
        let settled = async || {
            let found = self.get(&path).await.expect(200);
            let all = found.list("/recipients").to_vec();
            let is_settled = all.iter().all(|it| !not_in.contains(&it["state"].as_str().unwrap_or_default()));
            is_settled.then_some(all)
        };
        self.server.eventually("a delivery", settled).await
    }

    async fn unsend(&self, id: &str) -> Answer {
        self.ada.client.post(&self.at(&format!("messages/{id}/unsend"))).send().await
    }
}

fn to(addresses: &[&str]) -> Value {
    json!(addresses.iter().map(|email| json!({ "email": email })).collect::<Vec<_>>())
}

fn lunch(addresses: &[&str]) -> Value {
    json!({"to": to(addresses), "subject": "Lunch", "text": "Today?\n.\nÄ"})
}

#[tokio::test]
async fn what_is_sent_to_a_mailbox_of_this_server_arrives_there() {
    let post = Post::new().await;
    let domain = lent_domain(&post.ada, &post.org).await;
    let bob = make_mailbox(&post.ada, &post.org, "bob", &[&post.ada.user_id]).await;
    let (bobs, nobodys) = (format!("bob@{domain}"), format!("nobody@{domain}"));
    let message = json!({"to": to(&[&bobs, &nobodys]), "bcc": to(&[&format!("ada@{domain}")]), "subject": "Lunch", "text": "Today?"});
    let id = post.sent(message).await;
    let states = post.delivery(&id, &["held", "queued"]).await;
    let states: Vec<_> = states.iter().map(|it| (it["address"].as_str(), it["state"].as_str())).collect();
    let ada = format!("ada@{domain}");
    let expected = [(ada.as_str(), "sent"), (bobs.as_str(), "sent"), (nobodys.as_str(), "failed")];
    assert_eq!(states, expected.map(|(address, state)| (Some(address), Some(state))));
    post.filed().await;
    let path = format!("{}/mail/mailboxes/{}", post.org, bob.str("/mailbox/mailboxId"));
    let list = post.ada.client.get(&format!("{path}/threads")).send().await.expect(200);
    let [row] = list.list("/threads") else { panic!("{}", list.json) };
    assert_eq!((&row["subject"], &row["box"], &row["category"]), (&json!("Lunch"), &json!("inbox"), &json!("primary")));
    let thread = format!("{path}/threads/{}", row["threadId"].as_str().expect("an id"));
    let read = post.ada.client.get(&thread).send().await.expect(200);
    let message = &read.list("/messages")[0];
    assert_eq!((message["bcc"].clone(), &message["from"]["email"]), (json!([]), &json!(ada)));
    assert_eq!(
        (&message["authentication"]["spf"], &message["authentication"]["dmarc"]),
        (&json!("pass"), &json!("pass"))
    );
    assert_eq!(post.subjects("view=sent").await, ["Lunch"]);
    // The copy to Ada herself and the report of the address that isn't there stand in the same conversation.
    let own = post.get(&format!("threads/{}", post.only("view=sent").await)).await.expect(200);
    let subjects: Vec<_> = own.list("/messages").iter().map(|it| it["subject"].as_str().expect("a subject")).collect();
    assert_eq!(subjects.len(), 3, "{}", own.json);
    assert!(subjects.contains(&"[Undelivered] Lunch"), "{subjects:?}");
}

#[tokio::test]
async fn a_message_can_be_taken_back_for_a_moment() {
    let peer = Peer::start().await;
    let post = sending(&peer).await;
    let sent = post.send(lunch(&["bob@example.com"]), json!({})).await.expect(202);
    let id = sent.str("/messageId").to_owned();
    assert_eq!(sent.json["undoUntil"], json!(post.server.clock.now().0 + 10_000));
    assert_eq!(post.subjects("view=sent").await, ["Lunch"]);
    post.get(&format!("drafts/{id}")).await.expect(404);
    post.server.clock.advance(Duration::from_millis(9_000));
    let draft = post.unsend(&id).await.expect(200);
    assert_eq!((draft.str("/draft/draftId"), &draft.json["draft"]["version"]), (id.as_str(), &json!(3)));
    assert_eq!((post.subjects("view=sent").await.len(), post.subjects("view=drafts").await.len()), (0, 1));
    post.unsend(&id).await.expect_error(404, "not_found", "Message not found");
    post.send_draft(&id, json!({"version": 3})).await.expect(202);
    post.server.clock.advance(Duration::from_millis(10_000));
    post.unsend(&id).await.expect_error(409, "already_sent", "It's already on its way.");
    post.delivery(&id, &["held", "queued"]).await;
    assert_eq!(peer.taken().len(), 1);
    post.unsend(&id).await.expect_error(409, "already_sent", "It's already on its way.");
    for (seconds, status) in [(119, 202), (120, 202), (121, 400)] {
        post.send(lunch(&["bob@example.com"]), json!({ "undoSeconds": seconds })).await.expect(status);
    }
}

#[tokio::test]
async fn a_message_leaves_when_it_is_scheduled() {
    let peer = Peer::start().await;
    let post = sending(&peer).await;
    let hour = 3_600_000;
    let at = post.server.clock.now().0 + hour;
    for at in [at - hour, at + 367 * 24 * hour] {
        post.send(lunch(&["bob@example.com"]), json!({ "sendAt": at })).await.expect_problems(&["sendAt"]);
    }
    let sent = post.send(lunch(&["bob@example.com"]), json!({ "sendAt": at })).await.expect(202);
    let id = sent.str("/messageId");
    assert_eq!((post.subjects("view=scheduled").await.len(), post.subjects("view=sent").await.len()), (1, 0));
    let later = at + hour;
    let path = post.at(&format!("messages/{id}/schedule"));
    let moved = post.ada.client.patch(&path).json(&json!({ "sendAt": later })).send().await.expect(200);
    assert_eq!(moved.json["sendAt"], json!(later));
    post.server.clock.advance(Duration::from_millis(hour.unsigned_abs()));
    // What is sent meanwhile leaves before it.
    let other = post.sent(json!({"to": to(&["dan@example.com"]), "subject": "Dinner"})).await;
    post.delivery(&other, &["held", "queued"]).await;
    assert_eq!((peer.taken().len(), post.subjects("view=scheduled").await.len()), (1, 1));
    post.server.clock.advance(Duration::from_millis(hour.unsigned_abs()));
    let delivery = post.delivery(id, &["held", "queued"]).await;
    assert_eq!(delivery[0]["state"], "sent");
    assert_eq!((post.subjects("view=scheduled").await.len(), post.subjects("view=sent").await.len()), (0, 2));
    let [_, taken] = &peer.taken()[..] else { panic!("{:?}", peer.taken()) };
    let date = domain::mail::mail_date(domain::Timestamp(later));
    assert!(taken.message.contains(&format!("Date: {date}\r\n")), "{date}: {}", taken.message);
    let moved = post.ada.client.patch(&path).json(&json!({ "sendAt": later + hour })).send().await;
    moved.expect_error(409, "already_sent", "It's already on its way.");
}

#[tokio::test]
async fn one_connection_carries_a_message_for_all_recipients_of_a_domain() {
    let peer = Peer::start().await;
    let post = sending(&peer).await;
    peer.answers("carol@example.com", "550 5.1.1 No such user");
    let id = post.sent(lunch(&["bob@example.com", "carol@example.com", "dan@example.com"])).await;
    let states = post.delivery(&id, &["held", "queued"]).await;
    let states: Vec<_> = states.iter().map(|it| it["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["sent", "failed", "sent"]);
    assert_eq!(peer.connections(), 1);
    let [taken] = &peer.taken()[..] else { panic!("{:?}", peer.taken()) };
    assert_eq!(taken.to, ["bob@example.com", "dan@example.com"]);
    let domain = lent_domain(&post.ada, &post.org).await;
    assert_eq!(taken.from, format!("ada@{domain}"));
    assert!(taken.message.contains(&format!("Message-ID: <{id}@{domain}>\r\n")), "{}", taken.message);
    post.filed().await;
    let thread = post.get(&format!("threads/{}", post.only("view=sent").await)).await.expect(200);
    // Both are of one millisecond here, in which either may be the first.
    let messages = thread.list("/messages");
    let report = messages.iter().find(|it| it["direction"] == "in").expect("a report");
    assert_eq!((messages.len(), &report["subject"]), (2, &json!("[Undelivered] Lunch")));
    let text = report["text"].as_str().expect("a text");
    assert!(text.contains("carol@example.com") && text.contains("No such user"), "{text}");
}

#[tokio::test]
async fn what_is_put_off_is_tried_again() {
    let peer = Peer::start().await;
    let post = sending(&peer).await;
    peer.answers("bob@example.com", "451 4.7.1 Come again");
    let id = post.sent(lunch(&["bob@example.com", "dan@example.com"])).await;
    let first = post.delivery(&id, &["held", "queued"]).await;
    assert_eq!((&first[0]["state"], &first[0]["tries"]), (&json!("deferred"), &json!(1)));
    let wait = first[0]["nextTry"].as_i64().expect("a time") - post.server.clock.now().0;
    assert!((1..=60_000).contains(&wait), "{wait}");
    assert!(first[0]["reply"].as_str().is_some_and(|reply| reply.contains("4.7.1")), "{}", first[0]);
    peer.answers("bob@example.com", "250 2.1.5 Ok");
    post.server.clock.advance(Duration::from_secs(60));
    let second = post.delivery(&id, &["held", "queued", "deferred"]).await;
    assert_eq!((&second[0]["state"], &second[0]["tries"]), (&json!("sent"), &json!(2)));
    let recipients: Vec<_> = peer.taken().iter().map(|taken| taken.to.clone()).collect();
    assert_eq!(recipients, [["dan@example.com"], ["bob@example.com"]]);
}

#[tokio::test]
async fn a_peer_that_stalls_breaks_off_or_refuses_at_any_moment_loses_nothing() {
    let peer = Peer::start().await;
    let smarthost = format!("mail_server.smarthost={}", peer.address);
    let post = Post::on(Server::with(&[&smarthost, "mail_server.outbound_timeout=2s"]).await).await;
    for moment in Moment::ALL {
        for (fault, state) in [
            (Fault::Stalls, "deferred"),
            (Fault::Cuts, "deferred"),
            (Fault::Later, "deferred"),
            (Fault::Refuses, "failed"),
        ] {
            peer.fails(moment, fault);
            let id = post.sent(lunch(&["bob@example.com"])).await;
            let delivery = post.delivery(&id, &["held", "queued"]).await;
            assert_eq!(delivery[0]["state"], state, "{moment:?} {fault:?}: {}", delivery[0]);
        }
    }
    assert!(peer.taken().is_empty());
    peer.recovers();
    let id = post.sent(lunch(&["bob@example.com"])).await;
    assert_eq!(post.delivery(&id, &["held", "queued"]).await[0]["state"], "sent");
}

#[tokio::test]
async fn who_may_not_send_reads_so() {
    let post = Post::new().await;
    let bob = post.server.person("bob").await;
    crate::accounts::join(&post.ada, &post.org, &bob, "viewer").await;
    let path = format!("{}/mail/admin/mailboxes/{}", post.org, post.mailbox);
    let members = json!({"members": [post.ada.user_id, bob.user_id]});
    post.ada.client.patch(&path).json(&members).send().await.expect(200);
    let draft = bob.client.post(&post.at("drafts")).json(&lunch(&["bob@example.com"])).send().await.expect(201);
    let path = post.at(&format!("drafts/{}/send", draft.str("/draft/draftId")));
    let refused = bob.client.post(&path).json(&json!({"version": 1})).send().await;
    refused.expect_error(403, "missing_scope", "This needs the mail:send permission.");
}

#[tokio::test]
async fn a_message_has_recipients_and_a_mailbox_a_days_worth_of_them() {
    let post = Post::new().await;
    let hold = || json!({"undoSeconds": 120});
    post.send(lunch(&[]), hold()).await.expect_error(400, "recipients_required", "Add a recipient.");
    let many = |count: usize| {
        let addresses: Vec<String> = (0..count).map(|number| format!("p{number}@example.com")).collect();
        lunch(&addresses.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let mut beyond = many(500);
    beyond["cc"] = to(&["one@example.com"]);
    let refused = post.send(beyond, hold()).await;
    refused.expect_error(400, "limit_reached", "A message has at most 500 recipients.");
    post.send(many(499), hold()).await.expect(202);
    for _ in 0..3 {
        post.send(many(500), hold()).await.expect(202);
    }
    let last = post.send(many(1), hold()).await.expect(202);
    let refused = post.send(many(1), hold()).await;
    let after: u64 = refused.header("retry-after").and_then(|it| it.parse().ok()).expect("when");
    assert!((86_300..=86_400).contains(&after), "{after}");
    refused.expect_error(429, "rate_limited", "This mailbox has sent to 2,000 recipients in the last day.");
    post.unsend(last.str("/messageId")).await.expect(200);
    post.send(many(1), hold()).await.expect(202);
}
