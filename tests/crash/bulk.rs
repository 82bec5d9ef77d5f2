//! Changes of many issues, and their undoing, while the program is killed at random moments: each issue is changed once, with one
//! entry of its history, and goes back once.
//!
//! `TROUPE_CRASH_KILLS` sets how often the program is killed each way; `TROUPE_CRASH_SEED` repeats a run's choices.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;

use super::stage::Stage;
use crate::harness::{Dice, Request, number};

const KILLS: usize = 3;
const ISSUES: usize = 120;
/// How long the job may be under way before the program is killed, at most, in milliseconds.
const LIFE_MAX_MS: u64 = 150;

/// The path of the job that a request begins.
async fn begun(issues: &str, request: Request) -> String {
    format!("{issues}/jobs/{}", request.send().await.expect(202).str("/jobId"))
}

/// Kills the program while the job is under way, as often as asked, and waits for its end; how many issues it tells of, without an
/// error.
async fn killed_until_done(stage: &mut Stage, path: &str, (kills, dice): (usize, &mut Dice)) -> usize {
    for _ in 0..kills {
        tokio::time::sleep(Duration::from_millis(dice.below(LIFE_MAX_MS))).await;
        stage.kill();
    }
    let ended = async || {
        let job = stage.client.get(path).send().await.expect(200);
        (job.json["state"] == "done").then_some(job)
    };
    let job = stage.eventually("the job's end", ended).await;
    assert_eq!(job.int("/done"), job.int("/total"));
    let (mut fine, mut cursor) = (0, String::new());
    loop {
        let page = stage.client.get(&format!("{path}?limit=100{cursor}")).send().await.expect(200);
        fine += page.list("/results").iter().filter(|it| it["ok"] == true).count();
        match page.json["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return fine,
        }
    }
}

/// How often the priority of each issue changed, and what it is.
async fn priorities(stage: &Stage, issues: &str) -> BTreeMap<(String, usize), usize> {
    let mut found = BTreeMap::new();
    for number in 1..=ISSUES {
        let path = format!("{issues}/WEB-{number}");
        let issue = stage.client.get(&path).send().await.expect(200);
        let history = stage.client.get(&format!("{path}/history")).send().await.expect(200);
        let times = history.list("/changes").iter().filter(|it| it["field"] == "priority").count();
        *found.entry((issue.str("/issue/priorityId").to_owned(), times)).or_insert(0) += 1;
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_many_and_its_undoing_do_everything_once() {
    let kills = number("TROUPE_CRASH_KILLS", KILLS);
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let mut stage = Stage::new().await;
    let issues = format!("{}/issues", stage.org);
    let space = json!({ "key": "WEB", "name": "Web", "template": "basic" });
    stage.client.post(&format!("{issues}/spaces")).json(&space).send().await.expect(201);
    for at in 0..ISSUES {
        let issue = json!({ "space": "WEB", "summary": format!("Issue {at}") });
        stage.client.post(&issues).json(&issue).send().await.expect(201);
    }
    let edit = json!({ "jql": "space = WEB", "edit": { "priority": "high" } });
    let job = begun(&issues, stage.client.post(&format!("{issues}/bulk")).json(&edit)).await;
    let fine = killed_until_done(&mut stage, &job, (kills, &mut dice)).await;
    assert_eq!(fine, ISSUES);
    assert_eq!(priorities(&stage, &issues).await, BTreeMap::from([(("high".to_owned(), 1), ISSUES)]));
    let undo = begun(&issues, stage.client.post(&format!("{job}/undo"))).await;
    let fine = killed_until_done(&mut stage, &undo, (kills, &mut dice)).await;
    assert_eq!(fine, ISSUES);
    assert_eq!(priorities(&stage, &issues).await, BTreeMap::from([(("medium".to_owned(), 2), ISSUES)]));
}
