//! `/v1/platform/jobs`

use std::{fs, time::Duration};

use domain::{
    Role, Tenant,
    id::{OrgId, PageCommentId, PageId, PageImportId, UserId},
    pages::comment::Comment,
};
use serde_json::{Value, json};
use store::{
    Change, Clock, NewWork, Store,
    pages::{StagedPage, Staging},
    testing::{SECRET_KEY_TEXT, Scratch},
};

use super::organization;
use crate::harness::{Client, Launch, Server};

const JOBS: &str = "/v1/platform/jobs";
const COMMENTS: usize = 3_500;
const LOOKS: u32 = 6_000;

/// Makes a page with more comments than three steps delete, and deletes it with its organization; the page's id.
async fn delete_much(ada: &Client, store: &Store) -> String {
    let org_id = ada.org("Acme").await;
    let made = ada.post(&format!("/v1/orgs/{org_id}/pages")).json(&json!({ "title": "A page" })).send().await;
    let page_id = made.expect(201).str("/page/pageId").to_owned();
    let by = ada.get("/v1/me").send().await.expect(200).str("/user/userId").parse().unwrap();
    let mut change = Change::new();
    for _ in 0..COMMENTS {
        change.page_comment_add(&Comment {
            id: PageCommentId::new(store.now()),
            page_id: page_id.parse().unwrap(),
            org_id: org_id.parse().unwrap(),
            block_id: None,
            thread_id: None,
            body: Some("So it is.".to_owned()),
            mentions: Vec::new(),
            created_by: by,
            created_at: store.now(),
            edited_at: None,
            resolved: None,
            version: 1,
        });
    }
    store.commit(change).await.unwrap();
    ada.delete(&format!("/v1/orgs/{org_id}")).send().await.expect(200);
    page_id
}

async fn comments_left(store: &Store, page_id: &str) -> u64 {
    store.page_comments_count(page_id.parse().unwrap()).await.unwrap()
}

/// The job of this topic, as long as there is one.
async fn job(operator: &Client, topic: &str) -> Option<Value> {
    let answer = operator.get(JOBS).send().await.expect(200);
    answer.list("/jobs").iter().find(|job| job["topic"] == topic).cloned()
}

/// The job that deletes pages, once it made three steps.
async fn under_way(operator: &Client) -> Value {
    for _ in 0..LOOKS {
        match job(operator, "pages.removal").await {
            Some(job) if job["progress"]["steps"].as_u64() >= Some(3) => return job,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("no job made three steps")
}

#[tokio::test]
async fn the_removal_of_an_organization_is_seen_with_its_progress_and_can_not_be_cancelled() {
    let server = Server::start().await;
    let (ada, operator, store) = (server.person("ada").await.client, server.owner(), server.store().await);
    server.faults.set("commit:pages.removal=stall(5s);after=3;times=1").unwrap();
    let page_id = delete_much(&ada, &store).await;
    let job_seen = under_way(&operator).await;
    assert_eq!((&job_seen["state"], &job_seen["attempts"]), (&json!("running"), &json!(1)), "{job_seen}");
    assert_eq!((&job_seen["canBeCancelled"], &job_seen["error"]), (&json!(false), &json!(null)));
    let rows = &job_seen["progress"]["rows"];
    assert!(rows["page comments"].as_u64().is_some_and(|count| count < COMMENTS as u64), "{job_seen}");
    let refused = operator.post(&format!("{JOBS}/{}/cancel", job_seen["seq"])).send().await;
    refused.expect_error(409, "job_goes_on", "These pages are deleted; what is left of them can't be kept.");
    let is_over = async || job(&operator, "pages.removal").await.is_none().then_some(());
    server.eventually("the end of the job", is_over).await;
    assert_eq!(comments_left(&store, &page_id).await, 0);
}

#[tokio::test]
async fn a_job_is_cancelled_at_its_next_step_and_the_trail_has_it() {
    let server = Server::start().await;
    let (operator, store) = (server.owner(), server.store().await);
    let settled = async || job(&operator, "housekeeping").await.is_none().then_some(());
    server.eventually("the first housekeeping", settled).await;
    let mut change = Change::new();
    let later = store.now().after(Duration::from_mins(1));
    change.work_add(store.now(), NewWork::new("housekeeping", Tenant::System, &()).not_before(later));
    change.work_add(store.now(), NewWork::new("nobodys", Tenant::System, &()));
    store.commit(change).await.unwrap();
    let waiting = job(&operator, "housekeeping").await.expect("a job");
    assert_eq!((&waiting["state"], &waiting["progress"]), (&json!("delayed"), &json!(null)));
    assert_eq!((&waiting["tenant"], &waiting["canBeCancelled"]), (&json!(null), &json!(true)));
    assert_eq!(operator.get(JOBS).send().await.expect(200).json["total"], 1, "what is no job is not listed");
    operator.post(&format!("{JOBS}/{}/cancel", waiting["seq"])).send().await.expect(200);
    server.eventually("its end", settled).await;
    let gone = operator.post(&format!("{JOBS}/{}/cancel", waiting["seq"])).send().await;
    gone.expect_error(404, "not_found", "There is no such job.");
    let trail = operator.get(&format!("{}/audit", organization(&operator).await)).send().await.expect(200);
    assert!(trail.text.contains("job.cancelled"), "{}", trail.text);
}

#[tokio::test]
async fn what_an_older_release_left_to_a_timer_becomes_a_job() {
    let server = Server::start().await;
    let store = server.store().await;
    let (org_id, by, now) = (OrgId::new(store.now()), UserId::new(store.now()), store.now());
    let mut change = Change::new();
    let page = StagedPage { id: PageId::new(now), title: "A page".to_owned(), content: None };
    let import_id = PageImportId::new(now);
    change.pages_stage(Staging { org_id, by, now, import_id }, &[page]);
    change.page_import_release(import_id, now);
    change.member_add(now, org_id, by, Role::Viewer);
    for kind in ["page_tree", "organization"] {
        change.timer_set(kind, &org_id.to_string(), "remains", now);
    }
    store.commit(change).await.unwrap();
    let is_gone = async || {
        let pages = store.page_remains_next(org_id).await.unwrap();
        (pages.is_none() && store.members_count(org_id).await.unwrap() == 0).then_some(())
    };
    server.eventually("what was left is deleted", is_gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_goes_on_after_the_program_was_killed_in_the_middle_of_it() {
    let scratch = Scratch::new().await.unwrap();
    let faults = scratch.folder().join("faults");
    let key = format!("secrets.keys={SECRET_KEY_TEXT}");
    let launch =
        Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url())).set(key).faults(&faults);
    fs::write(&faults, "commit:pages.removal=stall;after=3").unwrap();
    let process = launch.start();
    let store = scratch.store(Clock::system()).await.unwrap();
    let operator = process.client().with_token(process.owner_token.as_deref().expect("a first start"));
    let ada = process.client().with_authenticator("ada").await;
    let page_id = delete_much(&ada, &store).await;
    let before = under_way(&operator).await;
    process.kill();
    assert!(comments_left(&store, &page_id).await > 0);
    fs::write(&faults, "").unwrap();
    let process = launch.start();
    let operator = process.client().with_token(operator.token.as_deref().unwrap());
    for _ in 0..LOOKS {
        match job(&operator, "pages.removal").await {
            Some(job) => assert!(job["progress"]["steps"].as_u64() >= before["progress"]["steps"].as_u64(), "{job}"),
            None => break,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(comments_left(&store, &page_id).await, 0);
    process.terminate();
}
