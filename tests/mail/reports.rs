//! What other servers report of messages that left.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use super::{dns::Dns, domains::Desk, peer::Peer, threads::Post};
use crate::{accounts::org, harness::Server, post::client::Smtp};

/// A mailbox of a domain whose bounces come here, on a server to which others bring mail.
struct House {
    post: Post,
    peer: Peer,
    _dns: Dns,
}

impl House {
    async fn new() -> Self {
        let (dns, peer) = (Dns::start(), Peer::start().await);
        let (resolver, smarthost) =
            (format!("mail_server.resolver={}", dns.address), format!("mail_server.smarthost={}", peer.address));
        let named = ["mail_server.hostname=mail.example.net", "mail_server.outbound_addresses=192.0.2.1"];
        let server =
            Server::with(&[&resolver, &smarthost, named[0], named[1], "mail_server.smtp_listen=127.0.0.1:0"]).await;
        dns.host("mail.example.net", [192, 0, 2, 1].into());
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let desk = Desk { server, dns, ada, org };
        let domain = desk.add_active("acme.example").await;
        desk.dns.publish(&domain, "mailfrom-mx");
        desk.verify("acme.example").await.expect(200);
        let body = json!({"localPart": "ada", "domain": "acme.example", "members": [desk.ada.user_id]});
        let made = desk.ada.client.post(&desk.path("admin/mailboxes")).json(&body).send().await.expect(201);
        let Desk { server, dns, ada, org } = desk;
        let store = server.store().await;
        let post = Post { server, ada, org, mailbox: made.str("/mailbox/mailboxId").to_owned(), store };
        Self { post, peer, _dns: dns }
    }

    /// Sends to these; the message, and the senders of its envelopes.
    async fn sent(&self, addresses: &[&str]) -> (String, Vec<String>) {
        let to: Vec<_> = addresses.iter().map(|email| json!({ "email": email })).collect();
        let id = self.post.sent(json!({"to": to, "subject": "Lunch", "text": "Today?"})).await;
        self.post.delivery(&id, &["held", "queued"]).await;
        let taken = self.peer.taken();
        (
            id,
            addresses
                .iter()
                .map(|it| taken.iter().rfind(|at| at.to.iter().any(|to| to == it)).expect("it").from.clone())
                .collect(),
        )
    }

    async fn other(&self) -> Smtp {
        let mut smtp = Smtp::connect(self.post.server.smtp.expect("a listener for mail")).await;
        smtp.expect(220, "mail.example.net").await;
        smtp.hello().await;
        smtp
    }

    /// Has another server report on a recipient.
    async fn report(&self, address: &str, recipient: &str, action: &str) {
        let mut smtp = self.other().await;
        smtp.envelope("", &[address]).await;
        let said = smtp.data(&report(recipient, action)).await;
        assert!(said.starts_with("250 2.6.0"), "{said}");
        self.post.filed().await;
    }

    /// The states of a message's recipients, in the order of their addresses.
    async fn states(&self, id: &str) -> Vec<String> {
        let delivery = self.post.delivery(id, &["held", "queued"]).await;
        delivery.iter().map(|it| it["state"].as_str().expect("a state").to_owned()).collect()
    }
}

fn report(recipient: &str, action: &str) -> String {
    /// The same bytes are filed once.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(
        "From: Mail Delivery System <MAILER-DAEMON@mx.example.com>\r\nTo: ada\r\nSubject: Undelivered Mail ({action})\r\n\
         Message-ID: <{number}@mx.example.com>\r\nDate: Wed, 13 Jan 2027 12:00:00 +0000\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\r\nSorry.\r\n\r\n--b\r\n\
         Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n\
         Final-Recipient: rfc822; {recipient}\r\nAction: {action}\r\nStatus: 5.1.1\r\n\
         Diagnostic-Code: smtp; 550 5.1.1 no such user\r\n\r\n--b--\r\n"
    )
}

#[tokio::test]
async fn a_report_settles_its_recipient_and_stands_in_the_conversation() {
    let house = House::new().await;
    let (id, from) = house.sent(&["bob@example.com", "dan@example.com"]).await;
    let [bob, dan] = &from[..] else { panic!("{from:?}") };
    assert!(bob == dan && bob.starts_with("b-msg_") && bob.ends_with("@bounces.acme.example"), "{from:?}");
    house.report(bob, "bob@example.com", "delayed").await;
    assert_eq!(house.states(&id).await, ["delayed", "sent"]);
    house.report(bob, "bob@example.com", "failed").await;
    assert_eq!(house.states(&id).await, ["failed", "sent"]);
    house.report(bob, "bob@example.com", "delivered").await;
    house.report(bob, "bob@example.com", "delayed").await;
    assert_eq!(house.states(&id).await, ["failed", "sent"], "what failed stays so");
    let delivery = house.post.delivery(&id, &[]).await;
    assert_eq!(
        (&delivery[0]["reply"], &delivery[0]["host"]),
        (&json!("550 5.1.1 no such user"), &json!("mx.example.com"))
    );
    let thread = house.post.get(&format!("threads/{}", house.post.only("view=sent").await)).await.expect(200);
    assert_eq!(thread.list("/messages").len(), 5, "{}", thread.json);
    assert_eq!(house.post.subjects("").await.len(), 1, "no conversation of its own");
}

#[tokio::test]
async fn only_reports_come_to_addresses_for_reports_and_only_to_those_that_were_made_here() {
    let house = House::new().await;
    let (_, from) = house.sent(&["bob@example.com"]).await;
    let address = &from[0];
    let mut smtp = house.other().await;
    smtp.told("MAIL FROM:<eve@example.com>", "250 2.1.0").await;
    smtp.told(&format!("RCPT TO:<{address}>"), "550 5.1.1").await;
    smtp.told("RSET", "250").await;
    smtp.told("MAIL FROM:<>", "250 2.1.0").await;
    let (local, domain) = address.split_once('@').expect("an address");
    let last = if local.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &local[..local.len() - 1]);
    for (local, domain, answer) in [
        (wrong.as_str(), domain, "550 5.1.1"),
        (&local[..local.len() - 2], domain, "550 5.1.1"),
        (local, "bounces.other.example", "550 5.7.1"),
        ("b-team", domain, "550 5.7.1"),
        (local, "acme.example", "550 5.1.1"),
    ] {
        smtp.told(&format!("RCPT TO:<{local}@{domain}>"), answer).await;
    }
    smtp.told(&format!("RCPT TO:<{}>", address.to_uppercase()), "250 2.1.5").await;
}

#[tokio::test]
async fn a_server_reports_on_recipients_of_its_own_domain_alone() {
    let house = House::new().await;
    let (id, from) = house.sent(&["bob@example.com", "eve@example.net"]).await;
    assert_ne!(from[0], from[1]);
    house.report(&from[0], "eve@example.net", "failed").await;
    // It can only be about the one recipient that the server has.
    assert_eq!(house.states(&id).await, ["failed", "sent"]);
    let (id, from) = house.sent(&["bob@example.com", "dan@example.com", "eve@example.net"]).await;
    house.report(&from[0], "eve@example.net", "failed").await;
    assert_eq!(house.states(&id).await, ["sent", "sent", "sent"]);
    // What is no report is mail like any other, in the conversation that it is about.
    let mut smtp = house.other().await;
    smtp.envelope("", &[&from[0]]).await;
    assert!(smtp.data("Subject: Away\r\n\r\nI am away.\r\n").await.starts_with("250 2.6.0"));
    house.post.filed().await;
    assert_eq!(house.states(&id).await, ["sent", "sent", "sent"]);
}
