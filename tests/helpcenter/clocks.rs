//! Clocks of desks: first response, resolution, and whatever a desk counts. The tests' clock starts on a Friday at noon.

use std::time::Duration;

use super::*;

const HOUR: Duration = Duration::from_hours(1);
const HOUR_MS: i64 = 3_600_000;

impl Desk {
    /// The clocks of a request, as its issue shows them.
    async fn clocks(&self, request: &str) -> Value {
        self.ada.client.get(&self.issue(request)).send().await.expect(200).json["issue"]["sla"].clone()
    }

    /// How many requests a query finds.
    async fn count(&self, jql: &str) -> i64 {
        let path = format!("{}/issues/search", self.org);
        self.ada.client.post(&path).json(&json!({ "jql": jql })).send().await.expect(200).int("/total")
    }

    async fn assign_to_ada(&self, request: &str) {
        let body = json!({ "assignee": self.ada.email });
        self.ada.client.patch(&self.issue(request)).json(&body).send().await.expect(200);
    }

    /// How often ada was told that a goal was passed.
    async fn alarms(&self) -> usize {
        let told = self.ada.client.get("/v1/me/notifications").send().await.expect(200);
        told.list("/notices").iter().filter(|notice| notice["event"] == "issue.sla_breached").count()
    }
}

#[tokio::test]
async fn clocks_hear_answers_pauses_ends_and_new_beginnings() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let clocks = desk.clocks(&path).await;
    let start = desk.server.clock.now().as_millis();
    let fresh = |goal: i64| json!({ "elapsed": 0, "calendar": "business", "startedAt": start, "runningSince": start, "goal": goal });
    assert_eq!(clocks, json!({ "first_response": fresh(4 * HOUR_MS), "resolution": fresh(24 * HOUR_MS) }));
    desk.server.clock.advance(HOUR);
    desk.say(&path, "Look at this", false).await;
    assert_eq!(desk.clocks(&path).await["first_response"]["stopped"], Value::Null, "an internal comment is no answer");
    desk.say(&path, "Where is it?", true).await;
    desk.transition(&path, "ask").await;
    let clocks = desk.clocks(&path).await;
    let answered = json!({
        "elapsed": HOUR_MS, "calendar": "business", "startedAt": start, "stoppedAt": start + HOUR_MS, "stopped": true,
        "goal": 4 * HOUR_MS,
    });
    assert_eq!(clocks["first_response"], answered);
    assert_eq!((&clocks["resolution"]["paused"], &clocks["resolution"]["elapsed"]), (&json!(true), &json!(HOUR_MS)));
    desk.server.clock.advance(HOUR * 2);
    let say = json!({ "body": "In the hall" });
    desk.eve.client.post(&format!("{path}/comments")).json(&say).send().await.expect(201);
    desk.server.clock.advance(HOUR);
    desk.transition(&path, "resolve").await;
    desk.eve.client.post(&format!("{path}/comments")).json(&say).send().await.expect(201);
    let whole = desk.ada.client.get(&format!("{}/sla", desk.issue(&path))).send().await.expect(200);
    let resolution = &whole.json["slas"][1];
    assert_eq!((&resolution["slaId"], &resolution["name"]), (&json!("resolution"), &json!("Time to resolution")));
    let cycles = resolution["cycles"].as_array().expect("cycles");
    assert_eq!((cycles.len(), &cycles[0]["elapsed"]), (2, &json!(2 * HOUR_MS)), "the pause is left out");
    assert_eq!(cycles[1]["startedAt"], start + 4 * HOUR_MS, "who opens a request again starts a new run");
    assert_eq!(desk.clocks(&path).await["resolution"], cycles[1]);
    let told: Vec<String> = whole
        .list("/steps")
        .iter()
        .map(|step| {
            let events = step["events"].as_array().expect("events").iter();
            events.map(|event| event["type"].as_str().expect("a type")).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let wanted = [
        "created",
        "publicReply",
        "left entered",
        "left entered customerReply",
        "left entered resolved",
        "left entered reopened customerReply",
    ];
    assert_eq!(told, wanted);
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    assert!(!seen.text.contains("sla") && !seen.text.contains("elapsed"), "customers see no clocks: {}", seen.text);
    desk.eve.client.get(&format!("{}/sla", desk.issue(&path))).send().await.expect(404);
}

#[tokio::test]
async fn a_goal_that_passes_is_told_once_and_queries_know_it() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    desk.assign_to_ada(&path).await;
    let quiet = [r#""Time to first response" = breached()"#, r#""time to first response" = paused()"#];
    for jql in quiet {
        assert_eq!(desk.count(jql).await, 0, "{jql}");
    }
    desk.server.clock.advance(HOUR * 4 - Duration::from_millis(1));
    assert_eq!(desk.count(quiet[0]).await, 0);
    assert_eq!(desk.alarms().await, 0);
    desk.server.clock.advance(Duration::from_millis(1));
    desk.server.eventually("an alarm", async || (desk.alarms().await == 1).then_some(())).await;
    assert_eq!(desk.clocks(&path).await["first_response"]["breached"], true);
    for (jql, found) in [
        (r#""Time to first response" = breached()"#, 1),
        (r#""Time to first response" = everBreached()"#, 1),
        (r#""Time to first response" = running()"#, 1),
        (r#""Time to first response" = withinCalendarHours()"#, 1),
        (r#""Time to first response" != breached()"#, 0),
        (r#""Time to first response" = completed()"#, 0),
        (r#""Time to resolution" = breached()"#, 0),
        (r#""Time to resolution" != breached()"#, 1),
        (r#""Time to resolution" is not empty"#, 1),
        (r#""Time to resolution" > elapsed("239m")"#, 1),
        (r#""Time to resolution" > elapsed("4h")"#, 0),
        (r#""Time to resolution" <= remaining("20h")"#, 1),
        (r#""Time to resolution" < remaining("20h")"#, 0),
    ] {
        assert_eq!(desk.count(jql).await, found, "{jql}");
    }
    desk.server.clock.advance(HOUR * 2);
    for (jql, found) in [
        (r#""Time to resolution" = withinCalendarHours()"#, 0),
        (r#""Time to resolution" <= elapsed("5h")"#, 1),
        (r#""Time to resolution" > elapsed("299m")"#, 1),
    ] {
        assert_eq!(desk.count(jql).await, found, "after five nothing counts: {jql}");
    }
    desk.say(&path, "We come", true).await;
    let answered = desk.clocks(&path).await["first_response"].clone();
    assert_eq!((&answered["breached"], &answered["stopped"]), (&json!(true), &json!(true)));
    assert_eq!(desk.count(r#""Time to first response" = completed()"#).await, 1);
    let unknown = json!({ "jql": r#""Time to nothing" = breached()"# });
    let path = format!("{}/issues/search", desk.org);
    assert_eq!(desk.ada.client.post(&path).json(&unknown).send().await.expect(400).json["code"], "jql");
}

#[tokio::test]
async fn another_goal_reaches_what_runs_and_leaves_what_has_ended() {
    let desk = Desk::new().await;
    let (answered, open) =
        (desk.request(&desk.eve.client, "Fire").await, desk.request(&desk.eve.client, "Water").await);
    desk.server.clock.advance(HOUR);
    desk.say(&answered, "We come", true).await;
    let ended = desk.clocks(&answered).await["first_response"].clone();
    desk.configure(|config| config["slas"][0]["goals"][0]["time"] = json!(HOUR_MS / 2)).await;
    let is_late = async || {
        let clock = desk.clocks(&open).await["first_response"].clone();
        (clock["goal"] == HOUR_MS / 2 && clock["breached"] == true).then_some(())
    };
    desk.server.eventually("the new goal", is_late).await;
    let body = json!({ "priority": "high" });
    desk.ada.client.patch(&desk.issue(&answered)).json(&body).send().await.expect(200);
    let clocks = desk.clocks(&answered).await;
    assert_eq!(clocks["first_response"], ended, "what has ended stays");
    assert_eq!(clocks["resolution"]["goal"], 8 * HOUR_MS, "the goal follows the priority");
    desk.configure(|config| config["slas"] = json!([])).await;
    let is_gone = async || (desk.clocks(&open).await == json!({})).then_some(());
    desk.server.eventually("no clock", is_gone).await;
}

#[tokio::test]
async fn clocks_hold_at_their_limits() {
    let desk = Desk::new().await;
    let path = format!("{}/issues/spaces/HELP", desk.org);
    let config = desk.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
    let sla = |id: String| json!({ "slaId": id, "name": id, "start": [{ "type": "created" }], "stop": [{ "type": "resolved" }] });
    let configured = async |change: &dyn Fn(&mut Value)| {
        let mut config = config.clone();
        change(&mut config["servicedesk"]);
        desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await
    };
    for (count, status) in [(19, 200), (20, 200), (21, 400)] {
        let slas: Vec<Value> = (0..count).map(|at| sla(format!("clock_{at}"))).collect();
        assert_eq!(configured(&|desk| desk["slas"] = json!(slas)).await.status, status, "{count}");
    }
    for (length, status) in [(31, 200), (32, 200), (33, 400)] {
        assert_eq!(
            configured(&|desk| desk["slas"] = json!([sla("x".repeat(length))])).await.status,
            status,
            "{length}"
        );
    }
    for (count, status) in [(29, 200), (30, 200), (31, 400)] {
        let goals = vec![json!({ "time": 1_000 }); count];
        assert_eq!(configured(&|desk| desk["slas"][0]["goals"] = json!(goals)).await.status, status, "{count}");
    }
    for (time, status) in [(999, 400), (1_000, 200), (1_001, 200), (315_360_000_000_i64, 200), (315_360_000_001, 400)] {
        let goals = json!([{ "time": time, "calendar": "always" }]);
        assert_eq!(configured(&|desk| desk["slas"][0]["goals"] = goals.clone()).await.status, status, "{time}");
    }
    for (count, status) in [(0, 400), (1, 200), (20, 200), (21, 400)] {
        let events = vec![json!({ "type": "created" }); count];
        assert_eq!(configured(&|desk| desk["slas"][0]["start"] = json!(events)).await.status, status, "{count}");
    }
    let wrong = configured(&|desk| {
        desk["slas"][1]["slaId"] = desk["slas"][0]["slaId"].clone();
        desk["slas"][1]["name"] = json!("TIME to first response");
        desk["slas"][0]["start"] = json!([{ "type": "entered", "statusId": "nowhere" }]);
        desk["slas"][0]["goals"] =
            json!([{ "priorityIds": ["x"], "typeIds": ["x"], "requestTypeIds": ["x"], "time": null }]);
        desk["slas"][1]["pause"] = json!([{ "type": "inStatus", "statusIds": ["nowhere"] }]);
        desk["hours"]["days"] = json!([]);
    })
    .await;
    let at = "config.servicedesk";
    wrong.expect_problems(&[
        &format!("{at}.hours.days"),
        &format!("{at}.slas[0].goals[0].priorityIds"),
        &format!("{at}.slas[0].goals[0].requestTypeIds"),
        &format!("{at}.slas[0].goals[0].typeIds"),
        &format!("{at}.slas[0].start[0].statusId"),
        &format!("{at}.slas[1].name"),
        &format!("{at}.slas[1].pause[0].statusIds"),
        &format!("{at}.slas[1].slaId"),
    ]);
    assert_eq!(configured(&|desk| desk["slas"][0]["stop"] = json!([{ "type": "never" }])).await.status, 400);
}
