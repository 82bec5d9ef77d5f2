//! What was answered 250 is kept: the program is killed with SIGKILL while sixteen servers bring mail, and started again.
//!
//! `TROUPE_CRASH_ROUNDS` sets how often it is killed, `TROUPE_CRASH_SEED` repeats a run's choices.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use domain::mail::RawId;
use futures::future::join_all;
use serde_json::json;
use store::{
    Clock, Store,
    testing::{
        SECRET_KEY_TEXT, Scratch,
        recount::{Depth, storage},
    },
};

use super::{Smtp, message};
use crate::{
    harness::{Dice, Launch, Process, number},
    mail::dns::Dns,
};

const SENDERS: u32 = 16;
const ROUNDS: u32 = 6;
/// Messages that are acknowledged in a life before the kill, at most.
const MESSAGES_MAX: u64 = 150;
/// A life on a slow machine ends after this long, however few there were.
const LIFE_MAX: Duration = Duration::from_secs(3);

/// The messages that were answered 250.
type Ledger = Arc<Mutex<Vec<RawId>>>;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_250_is_kept() {
    let scratch = Scratch::new().await.unwrap();
    let dns = Dns::start();
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()));
    let launch = launch.set(format!("secrets.keys={SECRET_KEY_TEXT}"));
    let launch = launch.set("mail_server.smtp_listen=127.0.0.1:0").set(format!("mail_server.resolver={}", dns.address));
    let mut process = launch.start();
    let address = mailbox(&process).await;
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let (ledger, number) = (Ledger::default(), Arc::new(AtomicU32::new(0)));
    for _ in 0..rounds() {
        let smtp = process.smtp.expect("a listener for mail");
        let sending = (0..SENDERS).map(|_| tokio::spawn(send(smtp, address.clone(), ledger.clone(), number.clone())));
        let sending: Vec<_> = sending.collect();
        let (began, known) = (Instant::now(), ledger.lock().unwrap().len());
        let enough = known + usize::try_from(1 + dice.below(MESSAGES_MAX)).unwrap();
        while ledger.lock().unwrap().len() < enough && began.elapsed() < LIFE_MAX {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.kill();
        for ended in join_all(sending).await {
            ended.expect("a sender without complaints");
        }
        process = launch.start();
    }
    process.terminate();
    let store = scratch.store(Clock::system()).await.unwrap();
    let acknowledged = ledger.lock().unwrap().clone();
    verify(&store, &acknowledged).await;
}

fn rounds() -> u32 {
    number("TROUPE_CRASH_ROUNDS", ROUNDS)
}

/// Makes a mailbox; its address.
async fn mailbox(process: &Process) -> String {
    let client = process.client().with_token(process.owner_token.as_ref().expect("a first start"));
    let me = client.get("/v1/me").send().await.expect(200);
    let made = client.post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await.expect(201);
    let domain = format!("{}.localhost.localdomain", made.str("/org/slug"));
    let path = format!("/v1/orgs/{}/mail/admin/mailboxes", made.str("/org/orgId"));
    let body = json!({ "localPart": "ada", "domain": domain, "members": [me.str("/user/userId")] });
    client.post(&path).json(&body).send().await.expect(201);
    format!("ada@{domain}")
}

/// Brings messages over connections until there are none any more.
async fn send(smtp: SocketAddr, address: String, ledger: Ledger, number: Arc<AtomicU32>) {
    while let Ok(stream) = tokio::net::TcpStream::connect(smtp).await {
        let mut smtp = Smtp::over(stream);
        if smtp.heard().await.is_none() || smtp.tried("EHLO client.example.com\r\n").await.is_none() {
            return;
        }
        for _ in 0..10 {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let mut sent = message(&number.to_string());
            if number.is_multiple_of(10) {
                sent.push_str(&("x".repeat(98) + "\r\n").repeat(2_000));
            }
            if bring(&mut smtp, &address, &sent).await.is_none() {
                return;
            }
            ledger.lock().unwrap().push(RawId::of(sent.as_bytes()));
        }
    }
}

/// Brings a message; none when it was not acknowledged.
async fn bring(smtp: &mut Smtp, address: &str, sent: &str) -> Option<()> {
    for command in ["MAIL FROM:<bob@example.com>\r\n", &format!("RCPT TO:<{address}>\r\n"), "DATA\r\n"] {
        smtp.tried(command).await?;
    }
    let reply = smtp.tried(&format!("{sent}.\r\n")).await?;
    assert!(reply.starts_with("250 2.6.0"), "{reply}");
    Some(())
}

async fn verify(store: &Store, ledger: &[RawId]) {
    assert!(!ledger.is_empty(), "nothing was acknowledged");
    for id in ledger {
        let bytes =
            store.mail_raw_bytes(*id).await.unwrap().unwrap_or_else(|| panic!("{id} was acknowledged and is gone"));
        assert_eq!(RawId::of(&bytes), *id);
    }
    assert_eq!(storage(store, Depth::Bytes).await.unwrap(), Vec::<String>::new());
}
