//! A node, as far as the outbox needs one.

use std::{sync::Arc, time::Duration};

use actors::{Services, work::Dispatcher};
use domain::{Timestamp, id::UserId};
use gateways::{MailOptions, Mailer, mail::SmtpOptions, mail::SmtpSecurity};
use serde_json::Value;
use store::{Change, Clock, EmailTo, OutboxEntry, testing::Scratch};

pub const START: Timestamp = Timestamp(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Node {
    pub services: Services,
    pub clock: Clock,
    /// Dropped last: it removes the database.
    pub scratch: Arc<Scratch>,
}

impl Node {
    pub async fn new() -> Self {
        Self::with_mailer(Mailer::console()).await
    }

    pub async fn with_mailer(mailer: Mailer) -> Self {
        let scratch = Arc::new(Scratch::new().await.expect("a scratch"));
        Self::on(scratch, Clock::manual(START), mailer).await
    }

    async fn on(scratch: Arc<Scratch>, clock: Clock, mailer: Mailer) -> Self {
        let store = scratch.store(clock.clone()).await.expect("a store");
        let services = Services { mailer, ..Services::in_process(store) };
        Self { services, clock, scratch }
    }

    /// The same database after the process was killed and started again.
    pub async fn restarted(self) -> Self {
        let Self { clock, scratch, services } = self;
        let mailer = services.mailer.clone();
        drop(services);
        Self::on(scratch, clock, mailer).await
    }

    pub fn dispatcher(&self) -> Dispatcher {
        Dispatcher::new(self.services.store.clone(), actors::lanes(&self.services))
    }

    pub async fn commit(&self, entries: &[OutboxEntry]) {
        let mut change = Change::new();
        for entry in entries {
            change.outbox_add(self.services.store.now(), entry);
        }
        self.services.store.commit(change).await.expect("a commit");
    }

    pub async fn commit_live(&self, user_id: UserId, message: Value) {
        self.commit(&[OutboxEntry::Live { user_id, message }]).await;
    }

    pub async fn commit_email(&self, to: EmailTo) {
        let (subject, body) = ("Hello".to_owned(), "Hello Ada.".to_owned());
        self.commit(&[OutboxEntry::Email { to, subject, body, calendar: None }]).await;
    }

    /// When the next entry of a topic is due.
    pub async fn next(&self, topic: &str) -> Option<Timestamp> {
        self.services.store.work_next(topic).await.expect("a read")
    }
}

/// A mailer that hands everything to the server at `port`.
pub fn smtp(port: u16) -> Mailer {
    let options = SmtpOptions {
        host: "127.0.0.1".into(),
        port,
        security: SmtpSecurity::None,
        credentials: None,
        from: "troupe@example.org".into(),
        timeout: PATIENCE,
        connections_max: 4,
    };
    Mailer::new(&MailOptions::Smtp(options)).expect("a mailer")
}

pub fn address() -> EmailTo {
    EmailTo::Address("ada@example.org".into())
}

/// Waits for what must come; fails the test when it doesn't.
pub async fn soon<T>(awaited: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, awaited).await.expect("in time")
}
