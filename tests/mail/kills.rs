//! What was sent leaves: the program is killed with SIGKILL while people send, and started again. Each message whose sender read
//! 202 reaches its server once, or again with the same Message-ID where a kill fell between that server's answer and the commit.
//!
//! `TROUPE_CRASH_ROUNDS` sets how often it is killed, `TROUPE_CRASH_SEED` repeats a run's choices.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::json;
use store::testing::Scratch;

use super::peer::Peer;
use crate::harness::{Client, Dice, Launch, Process, number};

const SENDERS: usize = 8;
const ROUNDS: u32 = 4;
/// Messages that are acknowledged in a life before the kill, at most.
const MESSAGES_MAX: u64 = 60;
/// A life on a slow machine ends after this long, however few there were.
const LIFE_MAX: Duration = Duration::from_secs(3);
/// How long it may take until all have left: claims of a process that died run out first.
const LEAVES_WITHIN: Duration = Duration::from_secs(90);

/// The ids of messages that were answered 202.
type Ledger = Arc<Mutex<Vec<String>>>;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_leaves_however_often_the_program_dies() {
    let (scratch, peer) = (Scratch::new().await.unwrap(), Peer::start().await);
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()));
    let launch = launch.set(format!("mail_server.smarthost={}", peer.address));
    let mut process = launch.start();
    let token = process.owner_token.clone().expect("a first start");
    let drafts = mailbox(&process.client().with_token(&token)).await;
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let ledger = Ledger::default();
    let rounds = number("TROUPE_CRASH_ROUNDS", ROUNDS);
    for _ in 0..rounds {
        let client = || process.client().with_token(&token);
        let sending = (0..SENDERS).map(|number| tokio::spawn(send(client(), drafts.clone(), number, ledger.clone())));
        let sending: Vec<_> = sending.collect();
        let (began, known) = (Instant::now(), ledger.lock().unwrap().len());
        let enough = known + usize::try_from(1 + dice.below(MESSAGES_MAX)).unwrap();
        while ledger.lock().unwrap().len() < enough && began.elapsed() < LIFE_MAX {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.kill();
        join_all(sending).await;
        process = launch.start();
    }
    let acknowledged = ledger.lock().unwrap().clone();
    let began = Instant::now();
    while let Some(missing) = acknowledged.iter().find(|id| !came(&peer).contains_key(*id)) {
        assert!(began.elapsed() < LEAVES_WITHIN, "{missing} did not leave");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    settled(&process, &token, &drafts, &acknowledged).await;
    let surplus: usize = came(&peer).values().map(|messages| messages.len() - 1).sum();
    assert!(surplus <= SENDERS * usize::try_from(rounds).unwrap(), "{surplus} came again");
    for messages in came(&peer).into_values() {
        assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    }
    process.terminate();
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

/// Makes a mailbox; where its drafts are.
async fn mailbox(client: &Client) -> String {
    let me = client.get("/v1/me").send().await.expect(200);
    let made = client.post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await.expect(201);
    let (org, domain) = (made.str("/org/orgId"), format!("{}.localhost.localdomain", made.str("/org/slug")));
    let body = json!({ "localPart": "ada", "domain": domain, "members": [me.str("/user/userId")] });
    let made = client.post(&format!("/v1/orgs/{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
    format!("/v1/orgs/{org}/mail/mailboxes/{}/drafts", made.str("/mailbox/mailboxId"))
}

/// Sends messages, some with a second in which they can be taken back, until the program is gone.
async fn send(client: Client, drafts: String, number: usize, ledger: Ledger) {
    let body = json!({"to": [{"email": format!("p{number}@example.com")}], "subject": "Hello", "text": "Hi"});
    loop {
        let Some(draft) = client.post(&drafts).json(&body).try_send().await.filter(|it| it.status == 201) else {
            return;
        };
        let path = format!("{drafts}/{}/send", draft.str("/draft/draftId"));
        let how = json!({"version": 1, "undoSeconds": number % 2});
        let Some(sent) = client.post(&path).json(&how).try_send().await.filter(|it| it.status == 202) else { return };
        ledger.lock().unwrap().push(sent.str("/messageId").to_owned());
    }
}

/// Waits until each message is known to have left.
async fn settled(process: &Process, token: &str, drafts: &str, acknowledged: &[String]) {
    let client = process.client().with_token(token);
    for id in acknowledged {
        let path = format!("{}/messages/{id}/delivery", drafts.trim_end_matches("/drafts"));
        let began = Instant::now();
        loop {
            let delivery = client.get(&path).send().await.expect(200);
            if delivery.json["recipients"][0]["state"] == "sent" {
                break;
            }
            assert!(began.elapsed() < LEAVES_WITHIN, "{}", delivery.json);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
