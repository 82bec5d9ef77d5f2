//! For whom mail is taken.

use serde_json::json;

use super::{Post, mailbox_id, message};

const UNKNOWN: &str = "550 5.1.1";
const FOREIGN: &str = "550 5.7.1";

#[tokio::test]
async fn mail_is_taken_for_mailboxes_of_this_server_and_for_nobody_else() {
    let post = Post::new().await;
    let mut smtp = post.client().await;
    smtp.told("MAIL FROM:<bob@example.com>", "250 2.1.0").await;
    let (domain, upper) = (&post.domain, post.address.to_uppercase());
    for (address, reply) in [
        (post.address.as_str(), "250 2.1.5"),
        (&*upper, "250 2.1.5"),
        (&*format!("ada+shop@{domain}"), "250 2.1.5"),
        (&*format!("nobody@{domain}"), UNKNOWN),
        (&*format!("nobody+ada@{domain}"), UNKNOWN),
        (&*format!("\"a b\"@{domain}"), UNKNOWN),
        ("ada@example.com", FOREIGN),
        (&*format!("ada@sub.{domain}"), FOREIGN),
        ("ada@localhost.localdomain", FOREIGN),
        (&*format!("ada%example.com@{domain}"), UNKNOWN),
    ] {
        smtp.told(&format!("RCPT TO:<{address}>"), reply).await;
    }
}

#[tokio::test]
async fn a_domain_that_is_only_claimed_is_nobodys() {
    let post = Post::new().await;
    post.claim("example.org").await;
    let made = post.ada.client.post(&format!("{}/mail/admin/mailboxes", post.org));
    let body = json!({ "localPart": "ada", "domain": "example.org", "members": [post.ada.user_id] });
    made.json(&body).send().await.expect(201);
    let mut smtp = post.client().await;
    smtp.told("MAIL FROM:<bob@example.com>", "250 2.1.0").await;
    smtp.told("RCPT TO:<ada@example.org>", FOREIGN).await;
    post.own("example.com").await;
    smtp.told("RCPT TO:<nobody@example.com>", UNKNOWN).await;
}

#[tokio::test]
async fn aliases_and_what_matches_nothing_lead_to_their_mailboxes() {
    let post = Post::new().await;
    post.own("example.com").await;
    let all = post.mailbox("all").await;
    let path = format!("{}/mail/admin/mailboxes/{}/aliases", post.org, all.str("/mailbox/mailboxId"));
    let body = json!({ "address": "sales@example.com" });
    post.ada.client.post(&path).json(&body).send().await.expect(201);
    let mut smtp = post.client().await;
    smtp.told("MAIL FROM:<bob@example.com>", "250 2.1.0").await;
    smtp.told("RCPT TO:<sales+x@example.com>", "250 2.1.5").await;
    smtp.told("RCPT TO:<else@example.com>", UNKNOWN).await;
    // Nobody has an address there that isn't an alias, and no catch-all is named.
    smtp.told("RCPT TO:<postmaster@example.com>", UNKNOWN).await;
    post.patch("domains/example.com", json!({ "catchAllMailboxId": post.mailbox.to_string() })).await;
    smtp.told("RCPT TO:<else@example.com>", "250 2.1.5").await;
    smtp.told("RCPT TO:<postmaster@example.com>", "250 2.1.5").await;
    let reply = smtp.data(&message("both")).await;
    assert!(reply.starts_with("250 2.6.0"), "{reply}");
    let (mine, theirs) = (post.arrivals().await, post.arrivals_of(mailbox_id(&all)).await);
    assert_eq!(mine.len(), 1, "two addresses of one mailbox are one arrival");
    assert_eq!(mine[0].envelope_to, "else@example.com");
    assert_eq!(theirs.len(), 1);
    assert_eq!(theirs[0].envelope_to, "sales+x@example.com");
    assert_eq!(mine[0].raw_id, theirs[0].raw_id);
}

#[tokio::test]
async fn the_oldest_mailbox_answers_for_a_domain() {
    let post = Post::new().await;
    post.server.clock.advance(std::time::Duration::from_secs(1));
    post.mailbox("bob").await;
    for name in ["postmaster", "Abuse"] {
        let mut smtp = post.client().await;
        smtp.envelope("", &[&format!("{name}@{}", post.domain)]).await;
        let reply = smtp.data(&message(name)).await;
        assert!(reply.starts_with("250 2.6.0"), "{reply}");
    }
    assert_eq!(post.arrivals().await.len(), 2);
}

#[tokio::test]
async fn a_transaction_has_a_hundred_recipients() {
    let post = Post::new().await;
    let mut smtp = post.client().await;
    let addresses: Vec<String> = (0..100).map(|number| format!("ada+{number}@{}", post.domain)).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    smtp.envelope("bob@example.com", &addresses[..99]).await;
    smtp.told(&format!("RCPT TO:<{}>", addresses[99]), "250 2.1.5").await;
    smtp.told(&format!("RCPT TO:<{}>", post.address), "452 4.5.3").await;
    let reply = smtp.data(&message("many")).await;
    assert!(reply.starts_with("250 2.6.0"), "{reply}");
    assert_eq!(post.arrivals().await.len(), 1);
    smtp.envelope("bob@example.com", &[&post.address]).await;
}
