//! What people's mail clients send, over SMTP.

use std::{path::Path, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    Smtp,
    client::Stream,
    tls::{CERTIFICATE, KEY, secured},
};
use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
    mail::{dns::Dns, lent_domain, make_mailbox, peer::Peer, threads},
};

/// A mailbox of Ada's whose mail goes to a peer, and her app password.
struct Desk {
    post: threads::Post,
    peer: Peer,
    domain: String,
    address: String,
    secret: String,
}

impl Desk {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[&str]) -> Self {
        let peer = Peer::start().await;
        let smarthost = format!("mail_server.smarthost={}", peer.address);
        let usual =
            [smarthost.as_str(), "mail_server.hostname=mx.example.net", "mail_server.submission_listen=127.0.0.1:0"];
        let settings: Vec<&str> = usual.into_iter().chain(settings.iter().copied()).collect();
        let post = threads::Post::on(Server::with(&settings).await).await;
        let domain = lent_domain(&post.ada, &post.org).await;
        let secret = app_password(&post.ada, &post.org, &["smtp"]).await.str("/secret").to_owned();
        Self { post, peer, address: format!("ada@{domain}"), domain, secret }
    }

    async fn connect(&self) -> Smtp {
        let mut smtp = Smtp::connect(self.post.server.submission.expect("a listener for clients")).await;
        smtp.expect(220, "mx.example.net ESMTP").await;
        smtp
    }

    /// A client that said EHLO.
    async fn client(&self) -> Smtp {
        let mut smtp = self.connect().await;
        smtp.hello().await;
        smtp
    }

    /// A client that signed in as Ada.
    async fn signed_in(&self) -> Smtp {
        let mut smtp = self.client().await;
        smtp.told(&plain(&self.address, &self.secret), "235 2.7.0").await;
        smtp
    }

    /// What is said to who shows these.
    async fn shows(&self, name: &str, password: &str) -> String {
        self.client().await.say(&plain(name, password)).await
    }
}

async fn app_password(person: &Person, org: &str, uses: &[&str]) -> Answer {
    let body = json!({ "name": "Client", "orgId": org.rsplit('/').next(), "uses": uses });
    person.client.post("/v1/me/app-passwords").json(&body).send().await.expect(201)
}

fn plain(name: &str, password: &str) -> String {
    format!("AUTH PLAIN {}", STANDARD.encode(format!("\0{name}\0{password}")))
}

/// A message as clients write it that leave the rest to the server.
fn letter(from: &str) -> String {
    format!(
        "From: {from}\r\nTo: Bob <bob@example.com>\r\nBcc: Eve <eve@example.com>\r\nSubject: Lunch\r\n\r\nToday?\r\n.\r\n"
    )
}

#[tokio::test]
async fn what_a_client_sends_leaves_at_once_and_stands_among_what_was_sent() {
    let desk = Desk::new().await;
    let post = &desk.post;
    make_mailbox(&post.ada, &post.org, "dan", &[&post.ada.user_id]).await;
    let mut smtp = desk.signed_in().await;
    smtp.envelope(&desk.address, &["bob@example.com", "eve@example.com", &format!("dan@{}", desk.domain)]).await;
    let said = smtp.data(&letter(&format!("Ada <{}>", desk.address))).await;
    assert!(said.starts_with("250 2.6.0"), "{said}");
    assert_eq!(post.subjects("view=sent").await, ["Lunch"], "it is there once 250 was said");
    let thread = post.get(&format!("threads/{}", post.only("view=sent").await)).await.expect(200);
    let message = &thread.list("/messages")[0];
    assert_eq!((&message["bcc"][0]["email"], &message["direction"]), (&json!("eve@example.com"), &json!("out")));
    let id = message["messageId"].as_str().expect("an id");
    let delivery = post.delivery(id, &["held", "queued"]).await;
    assert!(delivery.iter().all(|it| it["state"] == "sent") && delivery.len() == 3, "{delivery:?}");
    let [taken] = &desk.peer.taken()[..] else { panic!("{:?}", desk.peer.taken()) };
    assert_eq!((taken.from.as_str(), taken.to.len()), (desk.address.as_str(), 2));
    assert!(taken.message.contains("\r\nSubject: Lunch\r\n") && !taken.message.contains("Bcc"), "{}", taken.message);
    assert!(taken.message.contains("Message-ID: <") && taken.message.contains("Date: "), "{}", taken.message);
    assert!(taken.message.ends_with("Today?\r\n.\r\n"), "{}", taken.message);
    // A second message over the same connection.
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    let own = letter(&desk.address).replace("Subject: Lunch", "Message-ID: <own@client>\r\nSubject: Dinner");
    assert!(smtp.data(&own).await.starts_with("250 2.6.0"));
    post.server.eventually("a second message", async || (desk.peer.taken().len() == 2).then_some(())).await;
    let message = &desk.peer.taken()[1].message;
    assert!(message.contains("Message-ID: <own@client>") && message.matches("Message-ID").count() == 1, "{message}");
}

#[tokio::test]
async fn nobody_sends_without_a_sign_in() {
    let desk = Desk::new().await;
    let mut smtp = desk.connect().await;
    smtp.told(&plain(&desk.address, &desk.secret), "503 5.5.1").await;
    assert!(smtp.hello().await.contains("250-AUTH PLAIN LOGIN"));
    smtp.told(&format!("MAIL FROM:<{}>", desk.address), "530 5.7.0").await;
    smtp.told("RCPT TO:<bob@example.com>", "503 5.5.1").await;
    smtp.told("DATA", "503 5.5.1").await;
    for (said, answer) in [("AUTH CRAM-MD5", "504 5.5.4"), ("AUTH PLAIN !", "501 5.5.2"), ("AUTH", "501 5.5.4")] {
        smtp.told(said, answer).await;
    }
    smtp.told("AUTH PLAIN", "334").await;
    smtp.told("*", "501 5.7.0").await;
    smtp.told("RSET", "250 2.0.0").await;
    let mut smtp = desk.signed_in().await;
    smtp.told(&plain(&desk.address, &desk.secret), "503 5.5.1").await;
    smtp.told("QUIT", "221 2.0.0").await;
    assert!(desk.peer.taken().is_empty());
}

#[tokio::test]
async fn clients_sign_in_with_plain_or_login_in_one_answer_or_in_several() {
    let desk = Desk::new().await;
    let (name, password) = (STANDARD.encode(desk.address.to_uppercase()), STANDARD.encode(&desk.secret));
    let mut smtp = desk.client().await;
    smtp.told("AUTH LOGIN", "334 VXNlcm5hbWU6").await;
    smtp.told(&name, "334 UGFzc3dvcmQ6").await;
    smtp.told(&password, "235 2.7.0").await;
    let mut smtp = desk.client().await;
    smtp.told(&format!("AUTH LOGIN {name}"), "334 UGFzc3dvcmQ6").await;
    smtp.told(&password, "235 2.7.0").await;
    let mut smtp = desk.client().await;
    smtp.told("AUTH PLAIN", "334").await;
    let acting = format!("{0}\0{0}\0{1}", desk.address, desk.secret);
    smtp.told(&STANDARD.encode(acting), "235 2.7.0").await;
    let mut smtp = desk.client().await;
    let for_another = format!("eve@{}\0{}\0{}", desk.domain, desk.address, desk.secret);
    smtp.told(&format!("AUTH PLAIN {}", STANDARD.encode(for_another)), "535 5.7.8").await;
}

#[tokio::test]
async fn ten_wrong_passwords_lock_a_mailbox_for_a_quarter_of_an_hour() {
    let desk = Desk::new().await;
    for _ in 0..10 {
        let said = desk.shows(&desk.address, "trp_a_wrong").await;
        assert!(said.starts_with("535 5.7.8"), "{said}");
    }
    let said = desk.shows(&desk.address, &desk.secret).await;
    assert!(said.starts_with("454 4.7.0"), "{said}");
    let alias = json!({ "address": format!("countess@{}", desk.domain) });
    let path = format!("{}/mail/admin/mailboxes/{}/aliases", desk.post.org, desk.post.mailbox);
    desk.post.ada.client.post(&path).json(&alias).send().await.expect(201);
    let said = desk.shows(&format!("countess@{}", desk.domain), &desk.secret).await;
    assert!(said.starts_with("235"), "an alias is a name of its own: {said}");
    desk.post.server.clock.advance(Duration::from_mins(15));
    let said = desk.shows(&desk.address, &desk.secret).await;
    assert!(said.starts_with("235"), "{said}");
    desk.post.ada.sign_in("account", "web").await;
}

#[tokio::test]
async fn ten_errors_end_a_clients_connection() {
    let desk = Desk::new().await;
    let mut smtp = desk.client().await;
    for _ in 0..9 {
        smtp.told(&plain("nobody", "x"), "535 5.7.8").await;
    }
    smtp.told(&plain("nobody", "x"), "535 5.7.8").await;
    smtp.expect(421, "4.7.0").await;
    smtp.gone().await;
}

#[tokio::test]
async fn a_mailbox_is_opened_by_its_members_who_may_send() {
    let desk = Desk::new().await;
    let (server, post) = (&desk.post.server, &desk.post);
    let (bob, vic, eve) = (server.person("bob").await, server.person("vic").await, server.person("eve").await);
    join(&post.ada, &post.org, &bob, "developer").await;
    join(&post.ada, &post.org, &vic, "viewer").await;
    let members = json!({ "members": [post.ada.user_id, vic.user_id] });
    let path = format!("{}/mail/admin/mailboxes/{}", post.org, post.mailbox);
    post.ada.client.patch(&path).json(&members).send().await.expect(200);
    let elsewhere = org(&eve, "Elsewhere").await;
    let wrong = "535 5.7.8 That address";
    for (person, org, uses, expected) in [
        (&bob, &post.org, "smtp", wrong),
        (&vic, &post.org, "smtp", "535 5.7.8 You may read"),
        (&post.ada, &post.org, "imap", wrong),
        (&eve, &elsewhere, "smtp", wrong),
    ] {
        let secret = app_password(person, org, &[uses]).await.str("/secret").to_owned();
        let said = desk.shows(&desk.address, &secret).await;
        assert!(said.starts_with(expected), "{} {uses}: {said}", person.email);
    }
    let said = desk.shows(&format!("nobody@{}", desk.domain), &desk.secret).await;
    assert!(said.starts_with(wrong), "{said}");
    let said = desk.shows(&desk.address, &post.ada.password).await;
    assert!(said.starts_with(wrong), "an account's password opens no mailbox: {said}");
}

#[tokio::test]
async fn who_a_message_is_from_is_the_mailbox_in_the_envelope_and_in_the_message() {
    let desk = Desk::new().await;
    let mut smtp = desk.signed_in().await;
    for sender in ["", "bob@example.com", &format!("dan@{}", desk.domain)] {
        smtp.told(&format!("MAIL FROM:<{sender}>"), "553 5.7.1").await;
    }
    let mut smtp = desk.signed_in().await;
    let both = format!("{}, Bank <bank@example.com>", desk.address);
    let twice = format!("{}\r\nFrom: bank@example.com", desk.address);
    for from in ["Bank <bank@example.com>", &both, &twice, ""] {
        smtp.envelope(&desk.address, &["bob@example.com"]).await;
        let said = smtp.data(&letter(from)).await;
        assert!(said.starts_with("553 5.7.1"), "{from}: {said}");
    }
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    let said = smtp.data("Subject: Nobody's\r\n\r\nHello\r\n").await;
    assert!(said.starts_with("553 5.7.1"), "{said}");
    smtp.told(&format!("RCPT TO:<nobody@{}>", desk.domain), "503").await;
    assert_eq!(desk.post.subjects("view=sent").await, [""; 0]);
    assert!(desk.peer.taken().is_empty());
}

#[tokio::test]
async fn a_client_whose_app_password_was_revoked_sends_nothing_more() {
    let desk = Desk::new().await;
    let made = app_password(&desk.post.ada, &desk.post.org, &["smtp"]).await;
    let mut smtp = desk.client().await;
    smtp.told(&plain(&desk.address, made.str("/secret")), "235 2.7.0").await;
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    let path = format!("/v1/me/app-passwords/{}", made.str("/appPassword/appPasswordId"));
    desk.post.ada.client.delete(&path).send().await.expect(204);
    let said = smtp.data(&letter(&desk.address)).await;
    assert!(said.starts_with("530 5.7.0"), "{said}");
    smtp.told(&format!("MAIL FROM:<{}>", desk.address), "530 5.7.0").await;
    smtp.told(&plain(&desk.address, &desk.secret), "235 2.7.0").await;
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    // Who is no member of the mailbox any more sends nothing either.
    let other = desk.post.server.person("bob").await;
    join(&desk.post.ada, &desk.post.org, &other, "developer").await;
    let path = format!("{}/mail/admin/mailboxes/{}", desk.post.org, desk.post.mailbox);
    desk.post.ada.client.patch(&path).json(&json!({ "members": [other.user_id] })).send().await.expect(200);
    let said = smtp.data(&letter(&desk.address)).await;
    assert!(said.starts_with("530 5.7.0"), "{said}");
    assert!(desk.peer.taken().is_empty());
}

/// Names so many recipients at once; what was said of the last one.
async fn recipients(smtp: &mut Smtp, count: usize) -> String {
    let named: String =
        (0..count).map(|number| format!("RCPT TO:<r{number}@example.com>\r\n")).collect::<Vec<_>>().concat();
    smtp.send(named).await;
    let mut last = String::new();
    for _ in 0..count {
        last = smtp.reply().await;
    }
    last
}

#[tokio::test]
async fn a_message_has_five_hundred_recipients_and_a_mailbox_two_thousand_a_day() {
    let desk = Desk::new().await;
    let mut smtp = desk.signed_in().await;
    for round in 0..4 {
        smtp.told(&format!("MAIL FROM:<{}>", desk.address), "250 2.1.0").await;
        assert!(recipients(&mut smtp, 500).await.starts_with("250 2.1.5"));
        if round == 0 {
            smtp.told("RCPT TO:<more@example.com>", "452 4.5.3").await;
        }
        let said = smtp.data(&letter(&desk.address)).await;
        assert!(said.starts_with("250 2.6.0"), "{said}");
    }
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    let said = smtp.data(&letter(&desk.address)).await;
    assert_eq!(said, "452 4.7.1 This mailbox has sent to 2,000 recipients in the last day.");
    desk.post.server.clock.advance(Duration::from_hours(24));
    let mut smtp = desk.signed_in().await;
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    assert!(smtp.data(&letter(&desk.address)).await.starts_with("250 2.6.0"));
    smtp.told(&format!("MAIL FROM:<{}> SIZE=36700161", desk.address), "552 5.3.4").await;
    smtp.told(&format!("MAIL FROM:<{}> SIZE=36700160 AUTH=<>", desk.address), "250 2.1.0").await;
    smtp.told(&format!("RCPT TO:<nobody@{}>", desk.domain), "550 5.1.1").await;
}

#[tokio::test]
async fn mail_of_a_domain_that_is_not_verified_is_refused_in_words() {
    let dns = Dns::start();
    dns.zone("acme.example", &["ns1.example.org"]);
    let desk = Desk::with(&[&format!("mail_server.resolver={}", dns.address)]).await;
    let (ada, org) = (&desk.post.ada, &desk.post.org);
    let domain = json!({ "domain": "acme.example" });
    ada.client.post(&format!("{org}/mail/domains")).json(&domain).send().await.expect(201);
    let body = json!({"localPart": "ada", "domain": "acme.example", "members": [ada.user_id]});
    ada.client.post(&format!("{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
    let mut smtp = desk.client().await;
    smtp.told(&plain("ada@acme.example", &desk.secret), "235 2.7.0").await;
    smtp.envelope("ada@acme.example", &["bob@example.com"]).await;
    let said = smtp.data(&letter("ada@acme.example")).await;
    assert!(said.starts_with("550 5.7.1 This mailbox's domain isn't verified"), "{said}");
}

async fn sends<S: Stream>(smtp: &mut Smtp<S>, desk: &Desk) {
    assert!(smtp.hello().await.contains("250-AUTH PLAIN LOGIN"));
    smtp.told(&plain(&desk.address, &desk.secret), "235 2.7.0").await;
    smtp.envelope(&desk.address, &["bob@example.com"]).await;
    let said = smtp.data(&letter(&desk.address)).await;
    assert!(said.starts_with("250 2.6.0"), "{said}");
}

#[tokio::test]
async fn where_there_is_a_certificate_passwords_are_said_over_tls_alone() {
    let (certificate, key) = (format!("mail_server.tls_cert={CERTIFICATE}"), format!("mail_server.tls_key={KEY}"));
    let desk = Desk::with(&[&certificate, &key, "mail_server.submissions_listen=127.0.0.1:0"]).await;
    let mut smtp = desk.connect().await;
    let offered = smtp.hello().await;
    assert!(offered.contains("250-STARTTLS") && !offered.contains("AUTH"), "{offered}");
    smtp.told(&plain(&desk.address, &desk.secret), "538 5.7.11").await;
    smtp.told(&format!("MAIL FROM:<{}>", desk.address), "530 5.7.0").await;
    smtp.told("STARTTLS", "220 2.0.0").await;
    let mut smtp = secured(smtp, Path::new(CERTIFICATE)).await;
    sends(&mut smtp, &desk).await;
    let smtp = Smtp::connect(desk.post.server.submissions.expect("a listener over TLS")).await;
    let mut smtp = secured(smtp, Path::new(CERTIFICATE)).await;
    smtp.expect(220, "mx.example.net ESMTP").await;
    sends(&mut smtp, &desk).await;
    smtp.told("STARTTLS", "503 5.5.1").await;
    desk.post.server.eventually("both messages", async || (desk.peer.taken().len() == 2).then_some(())).await;
}

#[tokio::test]
async fn what_other_servers_bring_and_what_clients_send_are_two_things() {
    let desk = Desk::with(&["mail_server.smtp_listen=127.0.0.1:0"]).await;
    let mut smtp = Smtp::connect(desk.post.server.smtp.expect("a listener for mail")).await;
    smtp.expect(220, "mx.example.net ESMTP").await;
    assert!(!smtp.hello().await.contains("AUTH"));
    smtp.told(&plain(&desk.address, &desk.secret), "502 5.5.1").await;
    smtp.told(&format!("MAIL FROM:<{}>", desk.address), "250 2.1.0").await;
    smtp.told("RCPT TO:<bob@example.com>", "550 5.7.1").await;
}

#[tokio::test]
async fn an_app_password_shows_that_it_was_used() {
    let desk = Desk::new().await;
    let used = async || {
        let listed = desk.post.ada.client.get("/v1/me/app-passwords").send().await.expect(200);
        listed.json["appPasswords"][0]["lastUsedAt"].clone()
    };
    assert_eq!(used().await, Value::Null);
    desk.signed_in().await;
    let first = used().await;
    assert_eq!(first, json!(desk.post.server.clock.now().0));
    desk.post.server.clock.advance(Duration::from_mins(59));
    desk.signed_in().await;
    assert_eq!(used().await, first, "to the hour");
    desk.post.server.clock.advance(Duration::from_mins(1));
    desk.signed_in().await;
    assert_ne!(used().await, first);
}
