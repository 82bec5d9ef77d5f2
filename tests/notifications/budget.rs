//! The budget of texts and calls that an organization has a day.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    alarm_hooks::make,
    all_is_out, notices,
    reachable::{Reachable, kept, reachable_on},
};
use crate::{
    accounts::{letter, letters},
    harness::Server,
};

/// An organization of Ada's whose alarms text, call, mail and push her at once.
struct OnCall {
    ada: Reachable,
    hook: String,
}

impl OnCall {
    /// With `texts` and `calls` a day.
    async fn with(texts: u32, calls: u32) -> Self {
        let settings = [format!("notify.texts_per_day={texts}"), format!("notify.calls_per_day={calls}")];
        let server = Server::with(&settings.each_ref().map(String::as_str)).await;
        let ada = reachable_on(server, async |server: &Server| kept(server, "sms").await.first().cloned()).await;
        let org = format!("/v1/orgs/{}", ada.person.client.org("Acme").await);
        let made = make(&ada.person.client, &org, "Alertmanager").await.expect(201);
        let hook = made.str("/url").strip_prefix(&ada.server.url).expect("an address of this server").to_owned();
        let channels = json!({ "sms": true, "voice": true, "email": true, "push": true });
        let rule = json!({ "events": ["ops.alarm"], "roles": ["owner"], "steps": [{ "afterMinutes": 0, "channels": channels }] });
        let body = json!({ "name": "On call", "rules": [rule], "attach": true });
        // What the protocol texts is all that is texted.
        let quiet = json!({ "channels": ["inapp"] });
        let settings = "/v1/me/notifications/settings/events/ops.alarm";
        ada.person.client.put(settings).json(&quiet).send().await.expect(200);
        ada.person.client.post(&format!("{org}/notify/protocols")).json(&body).send().await.expect(201);
        Self { ada, hook }
    }

    /// Raises an alarm of its own, and answers what became of each way to tell of it.
    async fn raise(&self, name: &str) -> Vec<Value> {
        let alert = json!({ "status": "firing", "labels": { "alertname": name }, "fingerprint": name });
        let server = &self.ada.server;
        server.client().post(&self.hook).json(&json!({ "alerts": [alert] })).send().await.expect(200);
        let is_told = async || {
            for alarm in notices(&self.ada.person.client).await.into_iter().filter(|notice| notice["title"] == name) {
                let path = format!("/v1/me/notifications/{}/deliveries", alarm["noticeId"].as_str()?);
                let answer = self.ada.person.client.get(&path).send().await.expect(200);
                if answer.list("/deliveries").iter().any(|delivery| delivery["channel"] == "sms") {
                    return Some(path);
                }
            }
            None
        };
        let path = server.eventually("a text", is_told).await;
        all_is_out(server).await;
        self.ada.person.client.get(&path).send().await.expect(200).list("/deliveries").to_vec()
    }

    async fn told_of_budget(&self, subject: &str) -> usize {
        letters(&self.ada.server, &self.ada.person.email, subject).await
    }
}

/// What became of the deliveries over this channel, and why.
fn over(deliveries: &[Value], channel: &str) -> (String, Value) {
    let delivery = deliveries.iter().find(|delivery| delivery["channel"] == channel).expect("a delivery");
    (delivery["state"].as_str().expect("a state").to_owned(), delivery["error"].clone())
}

const MOST: &str = "80 % of today's texts of Acme are spent";
const ALL: &str = "Today's texts of Acme are spent";

#[tokio::test]
async fn what_is_over_the_budget_is_not_texted_and_says_so_while_the_rest_goes_on() {
    let on_call = OnCall::with(5, 2).await;
    let (goes_out, over_budget) = (("sent".to_owned(), json!(null)), ("cancelled".to_owned(), json!("budget_spent")));
    for (number, texted, called) in [(1, &goes_out, &goes_out), (2, &goes_out, &goes_out), (3, &goes_out, &over_budget)]
    {
        let deliveries = on_call.raise(&format!("Alarm {number}")).await;
        assert_eq!(&over(&deliveries, "sms"), texted, "{number}");
        assert_eq!(&over(&deliveries, "voice"), called, "{number}");
    }
    assert_eq!((on_call.told_of_budget(MOST).await, on_call.told_of_budget(ALL).await), (0, 0));
    on_call.raise("Alarm 4").await;
    letter(&on_call.ada.server, &on_call.ada.person.email, MOST).await;
    on_call.raise("Alarm 5").await;
    letter(&on_call.ada.server, &on_call.ada.person.email, ALL).await;
    for number in 6..=8 {
        let deliveries = on_call.raise(&format!("Alarm {number}")).await;
        assert_eq!(over(&deliveries, "sms"), over_budget, "{number}");
        for channel in ["email", "push"] {
            assert_eq!(over(&deliveries, channel), goes_out, "{number} {channel}");
        }
    }
    assert_eq!((on_call.told_of_budget(MOST).await, on_call.told_of_budget(ALL).await), (1, 1), "once each");
    let of_calls = letters(&on_call.ada.server, &on_call.ada.person.email, "Today's calls of Acme are spent").await;
    assert_eq!(of_calls, 1);
    // The text with the code that confirmed her number is no organization's.
    assert_eq!(kept(&on_call.ada.server, "sms").await.len(), 1 + 5);
}

#[tokio::test]
async fn the_next_day_has_a_budget_of_its_own() {
    let on_call = OnCall::with(1, 1).await;
    on_call.raise("Alarm 1").await;
    assert_eq!(over(&on_call.raise("Alarm 2").await, "sms").0, "cancelled");
    // It is noon; the day of the budget ends at midnight, UTC.
    on_call.ada.server.clock.advance(Duration::from_hours(12) - Duration::from_millis(1));
    assert_eq!(over(&on_call.raise("Alarm 3").await, "sms").0, "cancelled");
    on_call.ada.server.clock.advance(Duration::from_millis(1));
    assert_eq!(over(&on_call.raise("Alarm 4").await, "sms").0, "sent");
    let twice = async || (on_call.told_of_budget(ALL).await == 2).then_some(());
    on_call.ada.server.eventually("the second letter", twice).await;
}

#[tokio::test]
async fn organizations_have_budgets_of_their_own() {
    let on_call = OnCall::with(1, 1).await;
    on_call.raise("Alarm 1").await;
    let person = &on_call.ada.person;
    let other = format!("/v1/orgs/{}", person.client.org("Globex").await);
    let made = make(&person.client, &other, "Alertmanager").await.expect(201);
    let hook = made.str("/url").strip_prefix(&on_call.ada.server.url).expect("an address").to_owned();
    let rule = json!({ "events": ["ops.alarm"], "roles": ["owner"],
        "steps": [{ "afterMinutes": 0, "channels": { "sms": true } }] });
    let body = json!({ "name": "On call", "rules": [rule], "attach": true });
    person.client.post(&format!("{other}/notify/protocols")).json(&body).send().await.expect(201);
    let there = OnCall { ada: on_call.ada, hook };
    assert_eq!(over(&there.raise("Alarm of another").await, "sms").0, "sent");
}
