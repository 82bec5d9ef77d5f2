//! Nothing that was acknowledged is lost, in or out: the program is killed with SIGKILL every second while sixteen servers bring mail
//! and people send, and started again. Each message that was answered 250 is in the mailbox once; each that was answered 202 reached its
//! server once, or again with the same Message-ID where a kill fell between that server's answer and the commit.
//!
//! `TROUPE_MAIL_LEDGER_SECONDS` sets for how long.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use domain::{
    id::MailboxId,
    mail::{MailBox, RawId},
};
use futures::future::join_all;
use serde_json::json;
use store::{
    Clock, Store,
    testing::{SECRET_KEY_TEXT, Scratch},
};

use super::{Smtp, message};
use crate::{
    harness::{Client, Launch, number},
    mail::{dns::Dns, peer::Peer},
};

/// Servers that bring mail.
const SERVERS: u32 = 16;
/// People who send, each to a domain of its own.
const PEOPLE: usize = 4;
const SECONDS: u64 = 4;
const BETWEEN_SENDS: Duration = Duration::from_millis(100);
/// How long it may take until all is filed and has left: claims of a process that died run out first.
const SETTLES_WITHIN: Duration = Duration::from_secs(180);

/// What was acknowledged.
#[derive(Clone, Default)]
struct Ledger {
    brought: Arc<Mutex<Vec<RawId>>>,
    sent: Arc<Mutex<Vec<String>>>,
    number: Arc<AtomicU32>,
}

impl Ledger {
    /// Whether nothing came in yet, or nothing went out.
    fn is_empty(&self) -> bool {
        self.brought.lock().unwrap().is_empty() || self.sent.lock().unwrap().is_empty()
    }
}

/// The mailbox, as those who bring and send mail know it.
#[derive(Clone)]
struct Place {
    address: String,
    path: String,
    /// The mailboxes of those who send, each with a day's recipients of its own.
    people: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_acknowledged_is_lost_however_often_the_program_dies() {
    let (scratch, dns, peer) = (Scratch::new().await.unwrap(), Dns::start(), Peer::start().await);
    let mut launch = Launch::in_folder(scratch.folder());
    for setting in [
        format!("database.url={}", scratch.url()),
        format!("secrets.keys={SECRET_KEY_TEXT}"),
        format!("mail_server.resolver={}", dns.address),
        format!("mail_server.smarthost={}", peer.address),
        "mail_server.smtp_listen=127.0.0.1:0".to_owned(),
    ] {
        launch = launch.set(setting);
    }
    let mut process = launch.start();
    let token = process.owner_token.clone().expect("a first start");
    let place = mailbox(&process.client().with_token(&token)).await;
    let (ledger, began, mut kills) = (Ledger::default(), Instant::now(), 0);
    let lasts = number("TROUPE_MAIL_LEDGER_SECONDS", SECONDS);
    // However slow the machine is, there is something to lose.
    while began.elapsed() < Duration::from_secs(lasts) || ledger.is_empty() && began.elapsed() < SETTLES_WITHIN {
        let smtp = process.smtp.expect("a listener for mail");
        let bringing = (0..SERVERS).map(|_| tokio::spawn(bring_all(smtp, place.clone(), ledger.clone())));
        let client = || process.client().with_token(&token);
        let sending = (0..PEOPLE).map(|it| tokio::spawn(send_all(client(), place.clone(), it, ledger.clone())));
        let working: Vec<_> = bringing.chain(sending).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        process.kill();
        kills += 1;
        for ended in join_all(working).await {
            ended.expect("nobody complains");
        }
        process = launch.start();
    }
    let (brought, sent) = (ledger.brought.lock().unwrap().clone(), ledger.sent.lock().unwrap().clone());
    assert!(!brought.is_empty() && !sent.is_empty(), "nothing was acknowledged");
    settled(&process.client().with_token(&token), &place, brought.len(), &peer, &sent).await;
    let came = came(&peer);
    for messages in came.values() {
        assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    }
    let surplus: usize = came.values().map(|messages| messages.len() - 1).sum();
    assert!(surplus <= PEOPLE * kills, "{surplus} came again in {kills} kills");
    process.terminate();
    let store = scratch.store(Clock::system()).await.unwrap();
    let filed = filed(&store, &place).await;
    for id in brought {
        assert_eq!(filed.get(&id), Some(&1), "{id} was acknowledged");
    }
}

/// Makes a mailbox.
async fn mailbox(client: &Client) -> Place {
    let me = client.get("/v1/me").send().await.expect(200);
    let made = client.post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await.expect(201);
    let (org, domain) = (made.str("/org/orgId"), format!("{}.localhost.localdomain", made.str("/org/slug")));
    let address = async |name: String| {
        let body = json!({ "localPart": name, "domain": domain, "members": [me.str("/user/userId")] });
        let made = client.post(&format!("/v1/orgs/{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
        format!("/v1/orgs/{org}/mail/mailboxes/{}", made.str("/mailbox/mailboxId"))
    };
    let path = address("ada".to_owned()).await;
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        people.push(address(format!("p{number}")).await);
    }
    Place { address: format!("ada@{domain}"), path, people }
}

/// Brings messages over one connection after the other until there are none any more.
async fn bring_all(smtp: SocketAddr, place: Place, ledger: Ledger) {
    while let Ok(stream) = tokio::net::TcpStream::connect(smtp).await {
        let mut smtp = Smtp::over(stream);
        if smtp.heard().await.is_none() || smtp.tried("EHLO client.example.com\r\n").await.is_none() {
            return;
        }
        for _ in 0..20 {
            let sent = message(&ledger.number.fetch_add(1, Ordering::Relaxed).to_string());
            if bring(&mut smtp, &place.address, &sent).await.is_none() {
                return;
            }
            ledger.brought.lock().unwrap().push(RawId::of(sent.as_bytes()));
        }
    }
}

/// Brings a message; none when it was not acknowledged.
async fn bring(smtp: &mut Smtp, address: &str, sent: &str) -> Option<()> {
    for command in ["MAIL FROM:<bob@example.com>\r\n", &format!("RCPT TO:<{address}>\r\n"), "DATA\r\n"] {
        smtp.tried(command).await?;
    }
    smtp.tried(&format!("{sent}.\r\n")).await?.starts_with("250 ").then_some(())
}

/// Sends messages until the program is gone.
async fn send_all(client: Client, place: Place, number: usize, ledger: Ledger) {
    let body = json!({"to": [{"email": format!("p@{number}.example.com")}], "subject": "Hello", "text": "Hi"});
    loop {
        let drafts = format!("{}/drafts", place.people[number]);
        let draft = client.post(&drafts).json(&body).try_send().await.filter(|it| it.status == 201);
        let Some(draft) = draft else { return };
        let path = format!("{drafts}/{}/send", draft.str("/draft/draftId"));
        let how = json!({ "version": 1, "undoSeconds": 0 });
        let Some(sent) = client.post(&path).json(&how).try_send().await.filter(|it| it.status == 202) else { return };
        ledger.sent.lock().unwrap().push(sent.str("/messageId").to_owned());
        // So that the day's recipients last.
        tokio::time::sleep(BETWEEN_SENDS).await;
    }
}

/// What came to the peer, by the ids in the Message-IDs.
fn came(peer: &Peer) -> BTreeMap<String, Vec<String>> {
    let mut came: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for taken in peer.taken() {
        let id = taken.message.split("Message-ID: <").nth(1).and_then(|rest| rest.split('@').next());
        came.entry(id.expect("a Message-ID").to_owned()).or_default().push(taken.message);
    }
    came
}

/// Waits until as many conversations are in the inbox as messages were brought, and all that was sent has left.
async fn settled(client: &Client, place: &Place, brought: usize, peer: &Peer, sent: &[String]) {
    let began = Instant::now();
    loop {
        let counts = client.get(&format!("{}/counts", place.path)).send().await.expect(200);
        let filed = usize::try_from(counts.int("/counts/primary")).expect("a count");
        let came = came(peer);
        let missing = sent.iter().filter(|id| !came.contains_key(*id)).count();
        if filed >= brought && missing == 0 {
            return;
        }
        let so_far = format!("{filed} of {brought} are filed, {missing} of {} did not leave", sent.len());
        assert!(began.elapsed() < SETTLES_WITHIN, "{so_far}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// How often the inbox has each message.
async fn filed(store: &Store, place: &Place) -> BTreeMap<RawId, usize> {
    let id: MailboxId = place.path.rsplit('/').next().expect("an id").parse().expect("a mailbox");
    let (mut filed, mut after) = (BTreeMap::new(), None);
    loop {
        let some = store.mail_exported(id, MailBox::Inbox, after, 1_000).await.unwrap();
        let Some(last) = some.last() else { return filed };
        after = Some(last.id);
        for message in some {
            *filed.entry(message.raw_id).or_default() += 1;
        }
    }
}
