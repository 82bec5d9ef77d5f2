//! Warnings before goals, the end of alarms, and the order of clocks. The tests' clock starts on a Friday at noon.

use std::time::Duration;

use domain::issues::{
    jql::meaning::{Facts, Fallback, FieldKey, Order, Plan, SortKey},
    sla::{CalendarKind, Hours, HoursSettings, counted_by},
};

use super::*;

const HOUR: Duration = Duration::from_hours(1);
const FIRST: &str = "Time to first response";

impl Desk {
    /// What ada was told of a kind of event, by its title.
    async fn told(&self, event: &str) -> Vec<String> {
        let told = self.ada.client.get("/v1/me/notifications").send().await.expect(200);
        let told = told.list("/notices").iter().filter(|notice| notice["event"] == event);
        told.map(|notice| notice["title"].as_str().expect("a title").to_owned()).collect()
    }

    async fn warnings(&self) -> usize {
        self.told("issue.assigned").await.iter().filter(|title| title.contains("will soon pass")).count()
    }

    async fn breaches(&self) -> usize {
        self.told("issue.sla_breached").await.len()
    }

    async fn asked_of_ada(&self, summary: &str) -> String {
        let path = self.request(&self.eve.client, summary).await;
        let body = json!({ "assignee": self.ada.email });
        self.ada.client.patch(&self.issue(&path)).json(&body).send().await.expect(200);
        path
    }
}

#[tokio::test]
async fn whoever_is_responsible_is_warned_once_before_a_goal_passes() {
    let desk = Desk::new().await;
    let path = desk.asked_of_ada("Fire").await;
    desk.server.clock.advance(HOUR * 3 - Duration::from_millis(1));
    assert_eq!(desk.warnings().await, 0);
    desk.server.clock.advance(Duration::from_millis(1));
    desk.server.eventually("a warning", async || (desk.warnings().await == 1).then_some(())).await;
    assert_eq!(desk.breaches().await, 0, "nothing has passed yet");
    let titles = desk.told("issue.assigned").await;
    assert!(titles.iter().any(|title| title == "HELP-1 will soon pass \"Time to first response\": Fire"), "{titles:?}");
    desk.transition(&path, "ask").await;
    desk.server.clock.advance(HOUR);
    desk.server.eventually("the breach", async || (desk.breaches().await == 1).then_some(())).await;
    assert_eq!(desk.warnings().await, 1, "one warning for each run");
}

#[tokio::test]
async fn a_clock_that_ends_in_time_warns_nobody_and_one_without_a_time_never_does() {
    let desk = Desk::new().await;
    desk.configure(|config| drop(config["slas"][1].as_object_mut().expect("a clock").remove("warnBefore"))).await;
    let answered = desk.asked_of_ada("Fire").await;
    desk.server.clock.advance(HOUR);
    desk.say(&answered, "We come", true).await;
    let open = desk.asked_of_ada("Water").await;
    desk.server.clock.advance(HOUR * 3);
    desk.server.eventually("a warning", async || (desk.warnings().await == 1).then_some(())).await;
    assert!(desk.told("issue.assigned").await.iter().any(|title| title.ends_with("Water")), "{open}");
    for (time, status) in [(999, 400), (1_000, 200), (315_360_000_000_i64, 200), (315_360_000_001, 400)] {
        let path = format!("{}/issues/spaces/HELP", desk.org);
        let mut config = desk.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
        config["servicedesk"]["slas"][0]["warnBefore"] = json!(time);
        assert_eq!(
            desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await.status,
            status,
            "{time}"
        );
    }
}

#[tokio::test]
async fn an_issue_in_the_trash_rings_no_more() {
    let desk = Desk::new().await;
    let protocols = format!("{}/notify/protocols", desk.org);
    let steps = json!([{ "afterMinutes": 0, "channels": { "email": true } }]);
    let rules = json!([{ "events": ["issue.sla_breached"], "roles": ["owner"], "steps": steps }]);
    let body = json!({ "name": "Desk", "rules": rules });
    let made = desk.ada.client.post(&protocols).json(&body).send().await.expect(201);
    let org_id = desk.org.rsplit('/').next().expect("an id");
    let attachment = format!("{protocols}/{}/attachments/org/{org_id}", made.str("/protocol/protocolId"));
    desk.ada.client.put(&attachment).json(&json!({})).send().await.expect(200);
    let (late, early) = (desk.asked_of_ada("Fire").await, desk.asked_of_ada("Water").await);
    let shown = desk.ada.client.get(&desk.issue(&early)).send().await.expect(200);
    desk.ada.client.delete(&desk.issue(&early)).send().await.expect(204);
    desk.server.clock.advance(HOUR * 4);
    let state = async |wanted: &str| {
        let path = format!("{}/notify/escalations", desk.org);
        let all = desk.ada.client.get(&path).send().await.expect(200).list("/escalations").to_vec();
        (all.len() == 1 && all[0]["state"] == wanted).then_some(())
    };
    desk.server.eventually("an alarm", async || state("running").await).await;
    desk.ada.client.delete(&desk.issue(&late)).send().await.expect(204);
    desk.server.eventually("its end", async || state("resolved").await).await;
    // What comes back is late meanwhile, and hears of it then.
    let restore = format!("{}/issues/trash/{}/restore", desk.org, shown.str("/issue/issueId"));
    desk.ada.client.post(&restore).send().await.expect(200);
    let is_told = async || {
        let told = desk.told("issue.sla_breached").await;
        told.iter().any(|title| title.ends_with("Water")).then_some(())
    };
    desk.server.eventually("the breach of what came back", is_told).await;
}

#[tokio::test]
async fn issues_are_sorted_by_what_is_left_of_a_clock_as_the_evaluator_says() {
    let desk = Desk::new().await;
    let mut keys = Vec::new();
    for at in 0..6 {
        let path = desk.request(&desk.eve.client, &format!("Request {at}")).await;
        desk.server.clock.advance(Duration::from_mins(20));
        match at {
            1 => drop(desk.say(&path, "We come", true).await),
            3 => desk.transition(&path, "resolve").await,
            _ => {}
        }
        keys.push(path.rsplit('/').next().expect("a key").to_owned());
    }
    // One that no clock knows: its space has no desk.
    let space = json!({ "key": "WEB", "name": "Website", "template": "basic" });
    desk.ada.client.post(&format!("{}/issues/spaces", desk.org)).json(&space).send().await.expect(201);
    let other = json!({ "space": "WEB", "summary": "No clock" });
    desk.ada.client.post(&format!("{}/issues", desk.org)).json(&other).send().await.expect(201);
    keys.push("WEB-1".to_owned());
    desk.server.clock.advance(HOUR * 3);
    let config = desk.ada.client.get(&format!("{}/issues/spaces/HELP", desk.org)).send().await.expect(200);
    let settings: HoursSettings =
        serde_json::from_value(config.json["space"]["config"]["servicedesk"]["hours"].clone()).expect("hours");
    let hours = Hours::read(&settings).expect("hours");
    let now = desk.server.clock.now();
    let field = FieldKey::from("clock");
    let mut facts = Vec::new();
    for (seq, key) in (1..).zip(&keys) {
        let shown = desk.ada.client.get(&format!("{}/issues/{key}", desk.org)).send().await.expect(200);
        let clock = &shown.json["issue"]["sla"]["first_response"];
        let mut known = Facts { seq, ..Facts::default() };
        if let Some(goal) = clock["goal"].as_i64() {
            let counted = |at| counted_by(CalendarKind::Business, Some(&hours), at);
            let running = clock["runningSince"].as_i64().map_or(0, |at| counted(now) - counted(domain::Timestamp(at)));
            let left = goal - clock["elapsed"].as_i64().expect("a number") - running;
            known.sort.insert(field.clone(), SortKey::Number(f64::from(i32::try_from(left).expect("a day at most"))));
        }
        facts.push((key.clone(), known));
    }
    for (word, descends) in [("asc", false), ("desc", true)] {
        let plan = Plan { order: vec![Order { fields: vec![field.clone()], descends }], ..Plan::default() };
        let mut expected = facts.clone();
        expected.sort_by(|(_, one), (_, other)| plan.order(one, other, Fallback::Updated));
        let expected: Vec<String> = expected.into_iter().map(|(key, _)| key).collect();
        let jql = format!("order by \"{FIRST}\" {word}");
        let found =
            desk.ada.client.post(&format!("{}/issues/search", desk.org)).json(&json!({ "jql": jql })).send().await;
        let found = found.expect(200);
        let found: Vec<&str> = found.list("/issues").iter().map(|it| it["key"].as_str().expect("a key")).collect();
        assert_eq!(found, expected, "{jql}");
        let first = if descends { &keys[1] } else { &keys[0] };
        assert_eq!((found[0], found[6]), (first.as_str(), "WEB-1"), "what has no clock comes last");
    }
}

#[tokio::test]
async fn changed_goals_reach_more_issues_than_one_step_of_the_job_takes() {
    let desk = Desk::new().await;
    let rows: String = (0..101).map(|at| format!("Request {at}\n")).collect::<Vec<_>>().concat();
    let body = json!({ "space": "HELP", "format": "csv", "content": format!("Summary\n{rows}") });
    let imported = desk.ada.client.post(&format!("{}/issues/import", desk.org)).json(&body).send().await.expect(200);
    assert_eq!(imported.int("/processed"), 101);
    desk.server.clock.advance(Duration::from_secs(2));
    desk.configure(|config| config["slas"][0]["goals"][0]["time"] = json!(1_000)).await;
    let late = async || {
        let jql = json!({ "jql": format!("\"{FIRST}\" = breached()"), "maxResults": 1 });
        let found = desk.ada.client.post(&format!("{}/issues/search", desk.org)).json(&jql).send().await.expect(200);
        (found.int("/total") == 101).then_some(())
    };
    desk.server.eventually("all of them", late).await;
}
