//! What the owners of domains ask of who brings mail there (MTA-STS).

use std::time::Duration;

use domain::mail::{KnownPolicy, MailPolicy};
use serde_json::{Value, json};
use store::Change;

use super::{
    dns::Dns,
    peer::Peer,
    threads::Post,
    ways::{CERTIFICATE, Other, hello, sending},
};
use crate::harness::Server;

/// Has a server know a policy that it fetched.
async fn knows(post: &Post, domain: &str, mode: &str, host: &str) {
    let text = format!("version: STSv1\nmode: {mode}\nmx: {host}\nmax_age: 604800\n");
    let policy = MailPolicy::read(&text).expect("a policy");
    let known = KnownPolicy { record: "1".to_owned(), policy, fetched_at: post.server.clock.now() };
    let mut change = Change::new();
    change.mail_policy_set(domain, &known);
    post.store.commit(change).await.expect("a commit");
}

async fn sent(post: &Post, address: &str) -> Value {
    let id = post.sent(hello(address)).await;
    post.delivery(&id, &["held", "queued"]).await.remove(0)
}

fn says(delivery: &Value, what: &str) {
    let reply = delivery["reply"].as_str().unwrap_or_default();
    assert!(delivery["state"] == "deferred" && reply.contains(what), "{what}: {delivery}");
}

#[tokio::test]
async fn mail_waits_where_a_policy_wants_what_the_hosts_do_not_have() {
    let (dns, peer) = (Dns::start(), Peer::start().await);
    let post = sending(&dns, peer.address.port()).await;
    for domain in ["plain.example.com", "other.example.com", "testing.example.com", "none.example.com"] {
        dns.mail_host(domain, "mx.example.com");
    }
    dns.host("mx.example.com", [127, 0, 0, 1].into());
    knows(&post, "plain.example.com", "enforce", "*.example.com").await;
    knows(&post, "other.example.com", "enforce", "mx.example.net").await;
    knows(&post, "testing.example.com", "testing", "mx.example.net").await;
    knows(&post, "none.example.com", "none", "mx.example.net").await;
    says(&sent(&post, "bob@plain.example.com").await, "offers no TLS");
    says(&sent(&post, "bob@other.example.com").await, "none of the hosts");
    assert!(peer.taken().is_empty());
    for domain in ["testing.example.com", "none.example.com"] {
        assert_eq!(sent(&post, &format!("bob@{domain}")).await["state"], "sent", "{domain}");
    }
    // A policy holds as long as it said, and no longer.
    post.server.clock.advance(Duration::from_hours(7 * 24));
    assert_eq!(sent(&post, "bob@plain.example.com").await["state"], "sent");
}

#[tokio::test]
async fn where_a_policy_is_enforced_a_host_proves_who_it_is() {
    let dns = Dns::start();
    let other = Other::new(&dns).await;
    let (_, domain) = other.address.split_once('@').expect("an address");
    let resolver = format!("mail_server.resolver={}", dns.address);
    let port = format!("mail_server.outbound_port={}", other.server.smtp.expect("a listener").port());
    let roots = format!("mail_server.outbound_roots={CERTIFICATE}");
    let hostname = "mail_server.hostname=mail.example.org";
    for (settings, is_sent) in
        [(vec![&*resolver, &port, hostname], false), (vec![&*resolver, &port, hostname, &roots], true)]
    {
        let here = Post::on(Server::with(&settings).await).await;
        knows(&here, domain, "enforce", "mx.example.net").await;
        let delivery = sent(&here, &other.address).await;
        if is_sent {
            assert_eq!((&delivery["state"], &delivery["tls"]), (&json!("sent"), &json!(true)), "{delivery}");
        } else {
            says(&delivery, "no valid certificate");
        }
    }
}
