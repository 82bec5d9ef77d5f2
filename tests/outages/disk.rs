//! A disk that fails every write: whoever writes is told to come back, reads go on, and so does writing once the disk does.
//!
//! A limit of the system stands in for the disk: no file of the program may grow to more than no bytes. SQLite rolls back by
//! itself then, behind the back of whoever runs the transaction.

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;
use store::testing::Scratch;

use crate::harness::{Answer, Client, Launch, Process};

/// How long somebody asks again until it works.
const PATIENCE: Duration = Duration::from_secs(60);
const FAILS: usize = 20;

/// Has every write to a file fail from now on, or none any more.
fn disk_of(process: &Process, fails: bool) -> bool {
    let limit = if fails { "0:unlimited" } else { "unlimited:unlimited" };
    let arguments = ["--pid".to_owned(), process.id().to_string(), format!("--fsize={limit}")];
    let limited = Command::new("prlimit").args(arguments).stderr(Stdio::null()).status();
    limited.is_ok_and(|status| status.success())
}

async fn create(client: &Client, org_id: &str, title: &str) -> Answer {
    client.post(&format!("/v1/orgs/{org_id}/pages")).json(&json!({ "title": title })).send().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fails_is_waited_for_and_nothing_acknowledged_is_lost() {
    let scratch = Scratch::sqlite().unwrap();
    let launch = Launch::in_folder(scratch.folder()).set("log.level=error").outlives_file_limits();
    let process = launch.start();
    let ada = process.client().with_authenticator("ada").await;
    let org_id = ada.org("Acme").await;
    let mut made = BTreeSet::new();
    for round in 0..3 {
        let title = format!("Before {round}");
        create(&ada, &org_id, &title).await.expect(201);
        made.insert(title);
        if !disk_of(&process, true) {
            return eprintln!("skipped: nothing here limits a program's files");
        }
        for number in 0..FAILS {
            let answer = create(&ada, &org_id, &format!("Lost {round} {number}")).await.expect(503);
            assert!(answer.header("retry-after").is_some());
            ada.get(&format!("/v1/orgs/{org_id}/pages")).send().await.expect(200);
        }
        assert!(disk_of(&process, false));
        let title = format!("After {round}");
        let mended = Instant::now();
        while create(&ada, &org_id, &title).await.status != 201 {
            assert!(mended.elapsed() < PATIENCE, "writing does not go on");
        }
        made.insert(title);
    }
    assert_eq!(process.terminate(), Some(0));

    let process = launch.start();
    let ada = ada.at(&process.url);
    let listed = ada.get(&format!("/v1/orgs/{org_id}/pages")).send().await.expect(200);
    let titles = listed.list("/pages").iter().map(|page| page["title"].as_str().unwrap().to_owned());
    let found: BTreeSet<_> = titles.filter(|title| !title.starts_with("Lost")).collect();
    assert_eq!(found, made);
}
