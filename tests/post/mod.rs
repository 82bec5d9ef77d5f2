//! Mail that other servers bring over SMTP, as raw bytes.

pub mod client;
mod commands;
mod kills;
mod ledger;
mod messages;
mod recipients;
mod signing;
mod submission;
mod tls;
mod verdicts;

use domain::{
    id::MailboxId,
    mail::{Arrival, joined},
};
use serde_json::{Value, json};
use store::Store;

use self::client::Smtp;
use crate::{
    accounts::org,
    harness::{Answer, Person, Server},
    mail::{dns::Dns, lent_domain, make_mailbox},
};

/// What the server is called.
const HOST: &str = "mx.example.net";

/// What arrives stays where it is: nobody files it.
const UNFILED: &str = "commit:mail.filing=fail";

/// A server that takes mail, with an organization that has a mailbox.
struct Post {
    server: Server,
    dns: Dns,
    ada: Person,
    org: String,
    /// The domain that the platform lends.
    domain: String,
    /// Ada's address.
    address: String,
    mailbox: MailboxId,
    store: Store,
}

impl Post {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[&str]) -> Self {
        let dns = Dns::start();
        let resolver = format!("mail_server.resolver={}", dns.address);
        let hostname = format!("mail_server.hostname={HOST}");
        let usual = [resolver.as_str(), &hostname, "mail_server.smtp_listen=127.0.0.1:0"];
        let settings: Vec<&str> = usual.into_iter().chain(settings.iter().copied()).collect();
        let server = Server::with(&settings).await;
        server.faults.set(UNFILED).expect("a rule");
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let domain = lent_domain(&ada, &org).await;
        let made = make_mailbox(&ada, &org, "ada", &[&ada.user_id]).await;
        let (address, mailbox) = (format!("ada@{domain}"), mailbox_id(&made));
        let store = server.store().await;
        Self { server, dns, ada, org, domain, address, mailbox, store }
    }

    /// Somebody who connects and heard the greeting.
    async fn connect(&self) -> Smtp {
        let mut smtp = Smtp::connect(self.server.smtp.expect("a listener for mail")).await;
        smtp.expect(220, &format!("{HOST} ESMTP")).await;
        smtp
    }

    /// Somebody who said EHLO.
    async fn client(&self) -> Smtp {
        let mut smtp = self.connect().await;
        smtp.hello().await;
        smtp
    }

    /// Brings a message to Ada; the last reply.
    async fn bring(&self, from: &str, message: &str) -> String {
        let mut smtp = self.client().await;
        smtp.envelope(from, &[&self.address]).await;
        smtp.data(message).await
    }

    /// Has this go wrong too.
    fn fault(&self, rule: &str) {
        self.server.faults.set(&format!("{UNFILED},{rule}")).expect("rules");
    }

    /// What arrived for Ada.
    async fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals_of(self.mailbox).await
    }

    async fn arrivals_of(&self, mailbox: MailboxId) -> Vec<Arrival> {
        self.store.mail_arrivals(mailbox, 256).await.expect("arrivals")
    }

    /// A message as people read it.
    async fn whole(&self, arrival: &Arrival) -> String {
        let raw = self.store.mail_raw_bytes(arrival.raw_id).await.expect("a read").expect("bytes");
        String::from_utf8(joined(&arrival.head, &raw)).expect("text")
    }

    /// A further mailbox.
    async fn mailbox(&self, name: &str) -> Answer {
        make_mailbox(&self.ada, &self.org, name, &[&self.ada.user_id]).await
    }

    async fn patch(&self, path: &str, body: Value) {
        self.ada.client.patch(&format!("{}/mail/{path}", self.org)).json(&body).send().await.expect(200);
    }

    /// Claims a domain; its records are published when it shall be the organization's.
    async fn claim(&self, domain: &str) -> Value {
        self.dns.zone(domain, &["ns1.example.org"]);
        let path = format!("{}/mail/domains", self.org);
        let made = self.ada.client.post(&path).json(&json!({ "domain": domain })).send().await.expect(201);
        made.json["domain"].clone()
    }

    async fn own(&self, domain: &str) {
        let claimed = self.claim(domain).await;
        self.dns.host(HOST, [192, 0, 2, 1].into());
        self.dns.publish_required(&claimed);
        let path = format!("{}/mail/domains/{domain}/verify", self.org);
        let verified = self.ada.client.post(&path).send().await.expect(200);
        assert_eq!(verified.str("/domain/status"), "active", "{}", verified.json);
    }
}

fn mailbox_id(made: &Answer) -> MailboxId {
    made.str("/mailbox/mailboxId").parse().expect("a mailbox's id")
}

/// A message of few lines.
fn message(subject: &str) -> String {
    format!(
        "From: Bob <bob@example.com>\r\nTo: Ada\r\nSubject: {subject}\r\nDate: Fri, 15 Jan 2027 12:00:00 +0000\r\n\
         Message-ID: <{subject}@example.com>\r\n\r\nHello\r\n"
    )
}
