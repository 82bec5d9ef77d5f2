//! Faults in the real program, from outside.

use std::{fs, time::Duration};

use serde_json::json;
use store::{Clock, testing::Scratch};

use crate::harness::{Answer, Client, Launch, PASSWORD};

/// How often something that follows is looked for, and how long between.
const LOOKS: u32 = 6_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The first answer that is as wanted.
async fn until(what: &str, mut ask: impl AsyncFnMut() -> Answer, wanted: impl Fn(&Answer) -> bool) -> Answer {
    for _ in 0..LOOKS {
        let answer = ask().await;
        if wanted(&answer) {
            return answer;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    panic!("{what} did not happen")
}

async fn create(client: &Client, org_id: &str) -> Answer {
    let body = json!({ "parentId": "root", "title": "A page", "kind": "doc" });
    client.post(&format!("/v1/orgs/{org_id}/pages")).json(&body).send().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_actor_that_crashes_again_and_again_is_put_in_quarantine_and_released_and_operators_hear_of_it() {
    let scratch = Scratch::new().await.unwrap();
    let faults = scratch.folder().join("faults");
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url())).faults(&faults);
    let process = launch.start();
    let operator = process.client().with_token(process.owner_token.as_deref().expect("a first start"));
    let ada = process.client().with_authenticator("ada").await;
    let (org_id, calm) = (ada.org("Acme").await, ada.org("Calm").await);
    create(&ada, &org_id).await.expect(201);

    fs::write(&faults, format!("handler:page_tree@{org_id}=panic")).unwrap();
    let is_quarantined = |answer: &Answer| answer.json["code"] == "quarantined";
    let refused = until("quarantine", async || create(&ada, &org_id).await, is_quarantined).await.expect(503);
    assert!(refused.header("retry-after").is_some());
    create(&ada, &calm).await.expect(201);
    let notices = async || operator.get("/v1/me/notifications").send().await.expect(200);
    let told = until("an alarm", notices, |answer| answer.text.contains("ops.alarm")).await;
    assert!(told.text.contains(&format!("page_tree {org_id} is out of order")), "{}", told.text);

    fs::write(&faults, "").unwrap();
    let release = format!("/v1/platform/actors/page_tree/{org_id}/release");
    let serves = async || {
        // The program may have read the old rules a moment longer.
        drop(operator.post(&release).send().await);
        create(&ada, &org_id).await
    };
    until("service after the release", serves, |answer| answer.status == 201).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_that_can_not_be_read_stop_the_start() {
    let scratch = Scratch::new().await.unwrap();
    let faults = scratch.folder().join("faults");
    fs::write(&faults, "handler=explode").unwrap();
    let (status, said) = Launch::in_folder(scratch.folder()).faults(&faults).run(&["doctor"]);
    assert_eq!(status, 1);
    assert!(said.contains("`TROUPE_FAULTS` can't be used: `handler=explode` is no fault"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_is_seen_by_everybody_who_waits_for_it() {
    let scratch = Scratch::new().await.unwrap();
    let faults = scratch.folder().join("faults");
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url())).faults(&faults);
    let process = launch.start();
    let email = process.client().register("ada").await;
    let ada = process.client().sign_in(&email, "account", "web").await;
    let now = Clock::system().now().as_millis();
    // A sign-in lasts 30 days from its last use.
    fs::write(&faults, "clock=+400d").unwrap();
    let me = async || ada.get("/v1/me").send().await;
    until("the sign-in's end", me, |answer| answer.status == 401).await;
    fs::write(&faults, "clock=-1h").unwrap();
    // A new one, since housekeeping may have thrown the first away, and one that looked at the clock before it was set back the next.
    let again = json!({ "email": email, "password": PASSWORD, "app": "account", "platform": "web" });
    let sign_in = async || process.client().post("/v1/auth/sign-in").json(&again).send().await;
    let mut token = String::new();
    let found = async || {
        // Rate limits count from the clock, too: who used them up in the future waits for a moment.
        let signed_in = until("another sign-in", sign_in, |answer| answer.status == 200).await;
        signed_in.str("/token").clone_into(&mut token);
        process.client().with_token(&token).post("/v1/orgs").json(&json!({ "name": "Acme" })).send().await
    };
    let org = until("an organization", found, |answer| answer.status == 201).await;
    let (ada, org_id) = (process.client().with_token(&token), org.str("/org/orgId").to_owned());
    let before_now = |answer: &Answer| answer.status == 201 && answer.int("/page/createdAt") < now;
    until("a page of an hour ago", async || create(&ada, &org_id).await, before_now).await;
}
