//! What is answered while a mailbox's people are away.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    lent_domain, make_mailbox,
    peer::{Peer, Taken},
    threads::Post,
};
use crate::harness::{Answer, Server};

/// A mailbox of Ada's on a server whose mail goes to a peer, and its address.
async fn away(peer: &Peer) -> (Post, String) {
    let smarthost = format!("mail_server.smarthost={}", peer.address);
    let post = Post::on(Server::with(&[&smarthost]).await).await;
    let address = format!("ada@{}", lent_domain(&post.ada, &post.org).await);
    (post, address)
}

fn letter(id: &str, from: &str, to: &str, more: &str) -> String {
    format!("From: {from}\nTo: {to}\nSubject: Lunch {id}\nMessage-ID: <{id}@example.com>\n{more}\nHello\n")
}

impl Post {
    async fn put_vacation(&self, body: Value) -> Answer {
        self.ada.client.put(&self.at("vacation")).json(&body).send().await
    }

    async fn goes_away(&self) {
        self.put_vacation(json!({"enabled": true, "text": "Back on Monday."})).await.expect(200);
    }
}

/// What a peer took, once there are so many.
async fn taken(post: &Post, peer: &Peer, count: usize) -> Vec<Taken> {
    let all = async || {
        post.server.clock.advance(Duration::from_millis(10));
        Some(peer.taken()).filter(|taken| taken.len() >= count)
    };
    let taken = post.server.eventually("answers", all).await;
    assert_eq!(taken.len(), count, "{taken:?}");
    taken
}

#[tokio::test]
async fn who_writes_is_answered_once_in_seven_days_by_nobody() {
    let peer = Peer::start().await;
    let (post, ada) = away(&peer).await;
    post.deliver(&letter("0", "bob@example.com", &ada, "")).await;
    post.goes_away().await;
    post.deliver(&letter("1", "Bob <bob@example.com>", &ada, "")).await;
    let [answer] = taken(&post, &peer, 1).await.try_into().expect("one answer");
    assert_eq!((answer.from.as_str(), answer.to.as_slice()), ("", ["bob@example.com".to_owned()].as_slice()));
    for line in [
        "Auto-Submitted: auto-replied",
        "Subject: Auto: Lunch 1",
        "In-Reply-To: <1@example.com>",
        "Back on Monday.",
        &format!("<{ada}>"),
    ] {
        assert!(answer.message.contains(line), "{line}: {}", answer.message);
    }
    assert_eq!(post.whole("q=subject:%22lunch%201%22").await["why"]["answered"], true);
    assert_eq!(post.subjects("view=sent").await, Vec::<String>::new());
    post.deliver(&letter("2", "bob@example.com", &ada, "")).await;
    post.deliver(&letter("3", "bob@example.com", &ada, "")).await;
    assert_eq!(post.whole("q=subject:%22lunch%202%22").await["why"].get("answered"), None);
    post.server.clock.advance(Duration::from_hours(7 * 24));
    post.deliver(&letter("4", "bob@example.com", &ada, "")).await;
    let [_, again] = taken(&post, &peer, 2).await.try_into().expect("two answers");
    assert!(again.message.contains("Subject: Auto: Lunch 4"), "{}", again.message);
}

#[tokio::test]
async fn lists_programs_and_what_went_to_others_is_not_answered() {
    let peer = Peer::start().await;
    let (post, ada) = away(&peer).await;
    post.goes_away().await;
    for (number, mark) in [
        "Auto-Submitted: auto-replied\n",
        "Precedence: bulk\n",
        "Precedence: list\n",
        "List-Id: <a.example.com>\n",
        "List-Unsubscribe: <mailto:a@example.com>\n",
        "X-Auto-Response-Suppress: OOF\n",
        "Feedback-ID: a\n",
    ]
    .into_iter()
    .enumerate()
    {
        post.deliver(&letter(&format!("m{number}"), "bob@example.com", &ada, mark)).await;
    }
    // Not the sender of the envelope, not to the mailbox, a program's address, and the mailbox itself.
    post.deliver(&letter("a", "mallory@example.org", &ada, "")).await;
    post.deliver(&letter("b", "bob@example.com", "team@example.com", "")).await;
    post.deliver(&letter("c", "noreply@example.com", &ada, "")).await;
    post.deliver(&letter("d", &ada, &ada, "")).await;
    post.deliver_as(&letter("e", "bob@example.com", &ada, ""), domain::mail::Placed::Spam).await;
    post.filter("subject:\"lunch f\"", json!({"box": "trash"})).await;
    post.deliver(&letter("f", "bob@example.com", &ada, "")).await;
    let list = post.get("threads?q=in:anywhere%20lunch").await.expect(200);
    assert_eq!(list.list("/threads").len(), 13);
    // Whoever comes last is answered, and so all before were looked at.
    post.deliver(&letter("last", "bob@example.com", &ada, "")).await;
    let [answer] = taken(&post, &peer, 1).await.try_into().expect("one answer");
    assert!(answer.message.contains("Auto: Lunch last"), "{}", answer.message);
}

#[tokio::test]
async fn answers_begin_and_end_and_may_be_for_contacts_and_the_organization_alone() {
    let peer = Peer::start().await;
    let (post, ada) = away(&peer).await;
    let now = post.server.clock.now().0;
    let hour = 3_600_000;
    let window =
        json!({"enabled": true, "text": "Away", "subject": "Out", "from": now + hour, "until": now + 2 * hour});
    let put = post.put_vacation(window).await.expect(200);
    assert_eq!(put.json["vacation"]["subject"], "Out");
    assert_eq!(post.get("vacation").await.expect(200).json, put.json);
    post.deliver(&letter("early", "bob@example.com", &ada, "")).await;
    post.server.clock.advance(Duration::from_hours(1));
    post.deliver(&letter("within", "bob@example.com", &ada, "")).await;
    taken(&post, &peer, 1).await;
    // The same domain's mail goes one after the other, so that the answer is settled when this is.
    let settled = post.sent(json!({"to": [{"email": "carol@example.com"}], "subject": "Hello", "text": "Carol"})).await;
    post.delivery(&settled, &["held", "queued"]).await;
    // Bob may be answered again from here on.
    post.server.clock.advance(Duration::from_hours(8 * 24));
    post.deliver(&letter("late", "bob@example.com", &ada, "")).await;
    let only = |what: &str| json!({"enabled": true, "text": "Away", what: true});
    post.put_vacation(only("onlyContacts")).await.expect(200);
    post.deliver(&letter("stranger", "bob@example.com", &ada, "")).await;
    post.put_vacation(only("onlyOrg")).await.expect(200);
    post.deliver(&letter("outside", "bob@example.com", &ada, "")).await;
    post.put_vacation(json!({"enabled": false})).await.expect(200);
    post.deliver(&letter("here", "bob@example.com", &ada, "")).await;
    post.sent(json!({"to": [{"email": "bob@example.com"}], "subject": "Hello", "text": "Bob"})).await;
    taken(&post, &peer, 3).await;
    post.put_vacation(only("onlyContacts")).await.expect(200);
    post.deliver(&letter("friend", "bob@example.com", &ada, "")).await;
    let [first, _, _, last] = taken(&post, &peer, 4).await.try_into().expect("four messages");
    assert!(first.message.contains("Subject: Out"), "{}", first.message);
    assert!(first.message.contains("In-Reply-To: <within@example.com>"), "{}", first.message);
    assert!(last.message.contains("In-Reply-To: <friend@example.com>"), "{}", last.message);
}

#[tokio::test]
async fn two_who_are_away_on_this_server_answer_each_other_once() {
    let post = Post::new().await;
    let domain = lent_domain(&post.ada, &post.org).await;
    let bob = make_mailbox(&post.ada, &post.org, "bob", &[&post.ada.user_id]).await;
    let bobs = format!("{}/mail/mailboxes/{}", post.org, bob.str("/mailbox/mailboxId"));
    post.goes_away().await;
    let body = json!({"enabled": true, "html": "<p>Bob is <b>away</b></p><script>alert(1)</script>"});
    let put = post.ada.client.put(&format!("{bobs}/vacation")).json(&body).send().await.expect(200);
    assert_eq!(put.str("/vacation/html"), "<p>Bob is <b>away</b></p>");
    post.sent(json!({"to": [{"email": format!("bob@{domain}")}], "subject": "Lunch", "text": "Today?"})).await;
    let came = async || {
        post.server.clock.advance(Duration::from_millis(10));
        let subjects = post.subjects("view=inbox").await;
        (!subjects.is_empty()).then_some(subjects)
    };
    assert_eq!(post.server.eventually("an answer", came).await, ["Auto: Lunch"]);
    post.filed().await;
    let answer = post.whole("view=inbox").await;
    assert_eq!((&answer["why"]["envelopeFrom"], answer["why"].get("answered")), (&json!(""), None));
    let list = post.ada.client.get(&format!("{bobs}/threads?view=inbox")).send().await.expect(200);
    assert_eq!(list.list("/threads").len(), 1, "{}", list.json);
}

#[tokio::test]
async fn what_is_answered_is_checked() {
    let post = Post::new().await;
    let nothing = json!({"enabled": false, "subject": "", "text": "", "onlyContacts": false, "onlyOrg": false});
    assert_eq!(post.get("vacation").await.expect(200).json, json!({ "vacation": nothing }));
    post.put_vacation(json!({"enabled": true})).await.expect_problems(&["text"]);
    let with = |name: &str, value: Value| {
        let mut body = json!({"enabled": true, "text": "Away"});
        body[name] = value;
        body
    };
    post.put_vacation(with("text", json!("a".repeat(20_001)))).await.expect_problems(&["text"]);
    post.put_vacation(with("html", json!("a".repeat(20_001)))).await.expect_problems(&["html"]);
    post.put_vacation(with("subject", json!("a".repeat(201)))).await.expect_problems(&["subject"]);
    let mut backwards = with("from", json!(2));
    backwards["until"] = json!(2);
    post.put_vacation(backwards).await.expect_problems(&["until"]);
    post.put_vacation(with("text", json!("a".repeat(20_000)))).await.expect(200);
    post.put_vacation(with("subject", json!("a".repeat(200)))).await.expect(200);
}
