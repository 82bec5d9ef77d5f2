//! Which way mail takes to another server, and what that server makes of it.

use serde_json::json;

use super::{
    dns::Dns,
    domains::Desk,
    lent_domain, make_mailbox,
    peer::{Fault, Moment, Peer},
    threads::Post,
};
use crate::{
    accounts::org,
    harness::{Person, Server},
};

pub const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/post/mx.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/post/mx.key.pem");

/// A mailbox of Ada's on a server that asks this name server, and brings mail to this port of other servers.
pub async fn sending(dns: &Dns, port: u16) -> Post {
    let (resolver, port) =
        (format!("mail_server.resolver={}", dns.address), format!("mail_server.outbound_port={port}"));
    Post::on(Server::with(&[&resolver, &port, "mail_server.hostname=mail.example.org"]).await).await
}

pub fn hello(address: &str) -> serde_json::Value {
    json!({"to": [{ "email": address }], "subject": "Hello", "text": "Hi"})
}

#[tokio::test]
async fn mail_goes_to_the_first_host_of_a_domain_that_takes_it() {
    let (dns, peer) = (Dns::start(), Peer::start().await);
    let post = sending(&dns, peer.address.port()).await;
    dns.mail_host("example.com", "a.example.com");
    dns.mail_host("example.com", "b.example.com");
    // Nobody takes mail at the first one.
    dns.host("a.example.com", [127, 0, 0, 2].into());
    dns.host("b.example.com", [127, 0, 0, 1].into());
    let id = post.sent(hello("bob@example.com")).await;
    let delivery = post.delivery(&id, &["held", "queued"]).await;
    assert_eq!((&delivery[0]["state"], &delivery[0]["host"]), (&json!("sent"), &json!("b.example.com")));
    dns.host("alone.example.com", [127, 0, 0, 1].into());
    let id = post.sent(hello("bob@alone.example.com")).await;
    let delivery = post.delivery(&id, &["held", "queued"]).await;
    assert_eq!((&delivery[0]["state"], &delivery[0]["host"]), (&json!("sent"), &json!("alone.example.com")));
    assert_eq!(peer.taken().len(), 2);
}

#[tokio::test]
async fn where_mail_can_never_go_is_said_at_once() {
    let (dns, peer) = (Dns::start(), Peer::start().await);
    let post = sending(&dns, peer.address.port()).await;
    dns.mail_host("none.example.com", "");
    dns.mail_host("loop.example.com", "mail.example.org");
    for (domain, code) in [("none.example.com", "5.1.10"), ("loop.example.com", "5.4.6"), ("gone.example.com", "5.1.2")]
    {
        let id = post.sent(hello(&format!("bob@{domain}"))).await;
        let delivery = post.delivery(&id, &["held", "queued"]).await;
        assert_eq!(delivery[0]["state"], "failed", "{domain}");
        assert!(delivery[0]["reply"].as_str().is_some_and(|reply| reply.contains(code)), "{}", delivery[0]);
    }
    dns.is(super::dns::Mood::Fails);
    let id = post.sent(hello("bob@later.example.com")).await;
    assert_eq!(post.delivery(&id, &["held", "queued"]).await[0]["state"], "deferred");
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_host_that_refuses_everything_leaves_the_message_to_the_next_one() {
    let (dns, peer) = (Dns::start(), Peer::start().await);
    let post = sending(&dns, peer.address.port()).await;
    dns.mail_host("example.com", "a.example.com");
    dns.mail_host("example.com", "b.example.com");
    dns.host("a.example.com", [127, 0, 0, 1].into());
    dns.host("b.example.com", [127, 0, 0, 1].into());
    peer.fails(Moment::Greeting, Fault::Later);
    let id = post.sent(hello("bob@example.com")).await;
    assert_eq!(post.delivery(&id, &["held", "queued"]).await[0]["state"], "deferred");
    assert_eq!(peer.connections(), 2);
}

/// A server that takes mail over TLS, with a mailbox of Bob's.
pub struct Other {
    pub server: Server,
    bob: Person,
    org: String,
    mailbox: String,
    pub address: String,
}

impl Other {
    pub async fn new(dns: &Dns) -> Self {
        let settings = [
            format!("mail_server.resolver={}", dns.address),
            "mail_server.hostname=mx.example.net".to_owned(),
            "mail_server.smtp_listen=127.0.0.1:0".to_owned(),
            format!("mail_server.tls_cert={CERTIFICATE}"),
            format!("mail_server.tls_key={KEY}"),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let server = Server::with(&settings).await;
        let bob = server.person("bob").await;
        let org = org(&bob, "Globex").await;
        let domain = lent_domain(&bob, &org).await;
        let mailbox = make_mailbox(&bob, &org, "bob", &[&bob.user_id]).await.str("/mailbox/mailboxId").to_owned();
        dns.mail_host(&domain, "mx.example.net");
        dns.host("mx.example.net", [127, 0, 0, 1].into());
        Self { server, bob, org, mailbox, address: format!("bob@{domain}") }
    }
}

#[tokio::test]
async fn what_a_domain_sends_is_encrypted_signed_and_passes_what_receivers_check() {
    let dns = Dns::start();
    let other = Other::new(&dns).await;
    let outbound = format!("mail_server.outbound_port={}", other.server.smtp.expect("a listener").port());
    let resolver = format!("mail_server.resolver={}", dns.address);
    let named = [
        "mail_server.hostname=mail.example.org",
        "mail_server.outbound_addresses=127.0.0.1",
        "mail_server.platform_domain=lent.example.org",
    ];
    let server = Server::with(&[&resolver, &outbound, named[0], named[1], named[2]]).await;
    dns.host("mail.example.org", [127, 0, 0, 1].into());
    let ada = server.person("ada").await;
    let org = org(&ada, "Acme").await;
    let desk = Desk { server, dns, ada, org };
    let domain = desk.add_active("acme.example").await;
    for key in ["dkim-ed", "dmarc"] {
        desk.dns.publish(&domain, key);
    }
    let body =
        json!({"localPart": "ada", "domain": "acme.example", "displayName": "Ada", "members": [desk.ada.user_id]});
    let made = desk.ada.client.post(&desk.path("admin/mailboxes")).json(&body).send().await.expect(201);
    let Desk { server, dns: _dns, ada, org } = desk;
    let store = server.store().await;
    let mailbox = made.str("/mailbox/mailboxId").to_owned();
    let post = Post { server, ada, org, mailbox, store };
    let id = post.sent(hello(&other.address)).await;
    let delivery = post.delivery(&id, &["held", "queued"]).await;
    assert_eq!((&delivery[0]["state"], &delivery[0]["tls"]), (&json!("sent"), &json!(true)), "{}", delivery[0]);
    let path = format!("{}/mail/mailboxes/{}/threads", other.org, other.mailbox);
    let filed = async || {
        let list = other.bob.client.get(&path).send().await.expect(200);
        list.list("/threads").first().and_then(|row| row["threadId"].as_str().map(str::to_owned))
    };
    let thread = other.server.eventually("the message", filed).await;
    let read = other.bob.client.get(&format!("{path}/{thread}")).send().await.expect(200);
    let expected = json!({"spf": "pass", "dkim": "pass", "dmarc": "pass", "arc": "none", "tls": true});
    assert_eq!(read.json["messages"][0]["authentication"], expected);
    let raw =
        format!("{}/mail/mailboxes/{}/messages/{}/raw", other.org, other.mailbox, read.str("/messages/0/messageId"));
    let raw = other.bob.client.get(&raw).send().await.expect(200).text;
    for algorithm in ["a=rsa-sha256", "a=ed25519-sha256"] {
        assert!(raw.contains(algorithm), "{raw}");
    }
    assert_eq!(raw.matches("DKIM-Signature:").count(), 2, "{raw}");
    assert!(!raw.contains(" l="), "{raw}");
    assert_eq!(raw.to_ascii_lowercase().matches("dkim=pass").count(), 2, "{raw}");
}

#[tokio::test]
async fn a_domain_without_its_key_sends_nothing() {
    let desk = Desk::new().await;
    desk.dns.zone("acme.example", &["ns1.example.org"]);
    desk.add("acme.example").await.expect(201);
    let body = json!({"localPart": "ada", "domain": "acme.example", "members": [desk.ada.user_id]});
    let made = desk.ada.client.post(&desk.path("admin/mailboxes")).json(&body).send().await.expect(201);
    let Desk { server, dns: _dns, ada, org } = desk;
    let store = server.store().await;
    let post = Post { server, ada, org, mailbox: made.str("/mailbox/mailboxId").to_owned(), store };
    let refused = post.send(hello("bob@example.com"), json!({})).await;
    refused.expect_error(409, "domain_not_verified", "This mailbox's domain isn't verified for sending yet.");
}
