//! An import goes on: the program is killed with SIGKILL while it imports, and started again. Each message of the file is in the
//! mailbox once, and the import says how many these are.
//!
//! `TROUPE_CRASH_ROUNDS` sets how often it is killed, `TROUPE_CRASH_SEED` repeats a run's choices.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use store::testing::Scratch;

use super::imports::path_of;
use crate::harness::{Client, Dice, Launch, number};

const ROUNDS: u32 = 3;
/// `TROUPE_IMPORT_MESSAGES` sets another.
const MESSAGES: usize = 1_000;
/// How long a life is before the kill, at most, counted from its first message.
const LIFE_MAX_MS: u64 = 400;
/// How long it may take until it is over: claims of a process that died run out first.
const OVER_WITHIN: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn an_import_goes_on_however_often_the_program_dies() {
    let scratch = Scratch::new().await.unwrap();
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()));
    let mut process = launch.start();
    let token = process.owner_token.clone().expect("a first start");
    let (mailbox, import) = begin(&process.client().with_token(&token)).await;
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let rounds = number("TROUPE_CRASH_ROUNDS", ROUNDS);
    for _ in 0..rounds {
        let client = process.client().with_token(&token);
        let before = state(&client, &import).await["filed"].as_i64().expect("a number");
        let goes_on = |it: &Value| it["filed"].as_i64() > Some(before) || !it["endedAt"].is_null();
        until(&client, &import, goes_on).await;
        tokio::time::sleep(Duration::from_millis(dice.below(LIFE_MAX_MS))).await;
        process.kill();
        process = launch.start();
    }
    let client = process.client().with_token(&token);
    let import = until(&client, &import, |it| !it["endedAt"].is_null()).await;
    assert_eq!(import["state"], "done", "{import}");
    let counts = ["read", "filed", "duplicates", "failed"].map(|name| import[name].as_u64().expect("a number"));
    assert_eq!(counts, [messages() as u64, messages() as u64, 0, 0]);
    let expected: BTreeSet<String> = (0..messages()).map(|it| format!("Number {it}")).collect();
    assert_eq!(subjects(&client, &mailbox).await, expected);
    let counted = client.get(&format!("{mailbox}/counts")).send().await.expect(200);
    assert_eq!(counted.json["counts"]["primary"], json!(messages()));
    process.terminate();
}

/// Makes a mailbox and starts an import into it; the paths of both.
async fn begin(client: &Client) -> (String, String) {
    let me = client.get("/v1/me").send().await.expect(200);
    let made = client.post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await.expect(201);
    let (org, domain) = (made.str("/org/orgId"), format!("{}.localhost.localdomain", made.str("/org/slug")));
    let body = json!({ "localPart": "ada", "domain": domain, "members": [me.str("/user/userId")] });
    let made = client.post(&format!("/v1/orgs/{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
    let mailbox = format!("/v1/orgs/{org}/mail/mailboxes/{}", made.str("/mailbox/mailboxId"));
    let mut mbox = String::new();
    for number in 0..messages() {
        // Some are larger than what a row holds.
        let lines = if number % 500 == 7 { 3_000 } else { 3 };
        let _ = write!(
            mbox,
            "From b@example.com Fri Jan 15 12:00:00 2016\nFrom: b@example.com\nSubject: Number {number}\n\
             Message-ID: <{number}@example.com>\nStatus: O\n\n{}\n",
            "a line of more than forty characters of text\n".repeat(lines)
        );
    }
    let body = json!({ "kind": "mbox", "size": mbox.len() });
    let made = client.post(&format!("{mailbox}/imports")).json(&body).send().await.expect(201);
    let upload = path_of(made.str("/uploadUrl")).to_owned();
    client.nobody().put(&upload).body("application/octet-stream", mbox).send().await.expect(204);
    let import = format!("{mailbox}/imports/{}", made.str("/import/importId"));
    client.post(&format!("{import}/start")).send().await.expect(200);
    (mailbox, import)
}

async fn state(client: &Client, import: &str) -> Value {
    client.get(import).send().await.expect(200).json["import"].clone()
}

/// The import once this holds of it.
async fn until(client: &Client, import: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let now = state(client, import).await;
        if holds(&now) {
            return now;
        }
        assert!(began.elapsed() < OVER_WITHIN, "{now}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The subjects of all conversations of the mailbox.
async fn subjects(client: &Client, mailbox: &str) -> BTreeSet<String> {
    let (mut all, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page = client.get(&format!("{mailbox}/threads?view=all{cursor}")).send().await.expect(200);
        for thread in page.list("/threads") {
            assert!(all.insert(thread["subject"].as_str().expect("a subject").to_owned()), "{thread} is there twice");
        }
        match page.json["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

fn messages() -> usize {
    number("TROUPE_IMPORT_MESSAGES", MESSAGES)
}
