//! Events between organizations on two servers, which know each other by mail alone.
//!
//! `TROUPE_CALENDAR_PLANS` says how many random plans are gone through, `TROUPE_CALENDAR_SEED` repeats a run's choices.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use super::{Mailbox, meeting, utc, with};
use crate::{
    accounts::org,
    harness::{Answer, Dice, Server, number},
    mail::dns::Dns,
};

/// A server with a mailbox on it.
struct Side {
    server: Server,
    mailbox: Mailbox,
}

/// Two servers that bring each other mail, and the names that both look up.
struct Pair {
    ada: Side,
    bob: Side,
    _dns: Dns,
}

/// A port that carries to a server which is started later.
async fn way(target: Arc<OnceLock<SocketAddr>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let Some(target) = target.get().copied() else { continue };
            tokio::spawn(async move {
                let Ok(mut far) = TcpStream::connect(target).await else { return };
                // Either end may go away.
                drop(copy_bidirectional(&mut near, &mut far).await);
            });
        }
    });
    address
}

async fn side(dns: &Dns, name: &str, domain: &str, others: SocketAddr) -> Side {
    let settings = [
        format!("mail_server.resolver={}", dns.address),
        format!("mail_server.smarthost={others}"),
        format!("mail_server.hostname=mail.{domain}"),
        format!("mail_server.platform_domain={domain}"),
        "mail_server.smtp_listen=127.0.0.1:0".to_owned(),
    ];
    let server = Server::with(&settings.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let person = server.person(name).await;
    let org = org(&person, "Acme").await;
    let slug = person.client.get(&org).send().await.expect(200).str("/org/slug").to_owned();
    let lent = format!("{slug}.{domain}");
    let body = json!({ "localPart": name, "domain": lent, "members": [person.user_id] });
    let made = person.client.post(&format!("{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
    let path = format!("{org}/mail/mailboxes/{}", made.str("/mailbox/mailboxId"));
    let client = person.client.clone();
    let calendars = client.get(&format!("{path}/calendars")).send().await.expect(200);
    let calendar = calendars.str("/calendars/0/calendarId").to_owned();
    dns.text(&lent, "v=spf1 ip4:127.0.0.1 -all");
    dns.text(&format!("_dmarc.{lent}"), "v=DMARC1; p=reject");
    Side { server, mailbox: Mailbox { client, path, address: format!("{name}@{lent}"), calendar } }
}

impl Side {
    /// What happens takes a second, so that one message is later than the other.
    fn tick(&self) {
        self.server.clock.advance(Duration::from_secs(1));
    }

    /// What occurs and isn't called off: when, what it is called, and the event.
    async fn occurrences(&self) -> Vec<(i64, i64, String)> {
        let found = self.mailbox.between(utc("2026-11-01"), utc("2027-02-01")).await;
        let there = found.iter().filter(|it| it["status"] != "cancelled");
        let number = |it: &Value, name: &str| it[name].as_i64().expect("a time");
        there
            .map(|it| (number(it, "start"), number(it, "end"), it["summary"].as_str().expect("a name").to_owned()))
            .collect()
    }

    /// The events that occur, with what `of` says of each, by their uid.
    async fn events(&self) -> Vec<Value> {
        let found = self.mailbox.between(utc("2026-11-01"), utc("2027-02-01")).await;
        let mut ids: Vec<String> = found
            .iter()
            .filter(|it| it["status"] != "cancelled")
            .map(|it| it["eventId"].as_str().expect("an id").to_owned())
            .collect();
        ids.sort();
        ids.dedup();
        let mut events = Vec::new();
        for id in ids {
            events.push(self.mailbox.show(&id).await.expect(200).json.clone());
        }
        events.sort_by_key(|it| it["event"]["uid"].as_str().expect("a uid").to_owned());
        events
    }

    /// The newest message that says this of an event, once it is there.
    async fn message(&self, method: &str, state: &str) -> Value {
        self.server
            .eventually("a message about an event", async || {
                for row in self.mailbox.get("threads?view=all").await.expect(200).list("/threads") {
                    let path = format!("threads/{}?bodies=none", row["threadId"].as_str().expect("an id"));
                    let thread = self.mailbox.get(&path).await.expect(200);
                    let is_it = |it: &&Value| {
                        let invitation = &it["invitation"];
                        invitation["method"] == method && invitation["state"] == state
                    };
                    if let Some(message) = thread.list("/messages").iter().rev().find(is_it) {
                        return Some(message.clone());
                    }
                }
                None
            })
            .await
    }

    async fn act(&self, message: &Value, action: &str, body: Value) -> Answer {
        let of = |name: &str| message[name].as_str().expect("an id").to_owned();
        let path = format!("threads/{}/messages/{}/invitation/{action}", of("threadId"), of("messageId"));
        self.mailbox.post(&path, body).await
    }
}

impl Pair {
    async fn new() -> Self {
        let dns = Dns::start();
        let (to_ada, to_bob) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        let (adas, bobs) = (way(to_ada.clone()).await, way(to_bob.clone()).await);
        let ada = side(&dns, "ada", "one.example", bobs).await;
        let bob = side(&dns, "bob", "two.example", adas).await;
        to_ada.set(ada.server.smtp.expect("a listener")).expect("one server");
        to_bob.set(bob.server.smtp.expect("a listener")).expect("one server");
        Self { ada, bob, _dns: dns }
    }

    fn tick(&self) {
        self.ada.tick();
        self.bob.tick();
    }

    /// Ada's meeting to which she asks Bob, on these days.
    async fn ask(&self, summary: &str, days: u64) -> Answer {
        let guests = json!([{"email": self.bob.mailbox.address}]);
        let mut body = with(with(meeting(), "attendees", guests), "summary", json!(summary));
        if days > 1 {
            body["recurrence"] = json!({ "freq": "daily", "count": days });
        }
        self.ada.mailbox.event(body).await
    }

    /// Bob's copy of the event that is called so, once it is there.
    async fn copy(&self, summary: &str) -> Value {
        self.bob
            .server
            .eventually("an invitation", async || {
                self.bob.events().await.into_iter().find(|it| it["event"]["summary"] == summary)
            })
            .await
    }

    async fn answer(&self, event: &Value, status: &str) {
        let path = format!("events/{}/respond", event["event"]["eventId"].as_str().expect("an id"));
        self.bob.mailbox.post(&path, json!({ "status": status })).await.expect(200);
    }

    /// Has the two know each other: the first invitation waits until Bob takes it.
    async fn meet(&self) {
        let made = self.ask("First", 1).await;
        let message = self.bob.message("REQUEST", "waiting").await;
        assert!(self.bob.occurrences().await.is_empty(), "nobody unknown fills a calendar");
        self.bob.act(&message, "add", json!({})).await.expect(200);
        let copy = self.copy("First").await;
        self.answer(&copy, "accepted").await;
        self.agree("an answer").await;
        self.tick();
        self.ada.mailbox.delete(made.str("/event/eventId"), "").await.expect(200);
        self.agree("nothing").await;
    }

    /// Waits until both have the same occurrences, and Ada knows what Bob answered to each event.
    async fn agree(&self, what: &str) {
        let agreed = async || {
            if self.ada.occurrences().await != self.bob.occurrences().await {
                return None;
            }
            let (asked, mine) = (self.ada.events().await, self.bob.events().await);
            let is_known = asked.iter().zip(&mine).all(|(asked, mine)| {
                let known = asked["event"]["attendees"][0]["status"].clone();
                asked["event"]["uid"] == mine["event"]["uid"] && known == mine["event"]["myStatus"]
            });
            (asked.len() == mine.len() && is_known).then_some(())
        };
        self.ada.server.eventually(&format!("both have {what}"), agreed).await;
    }
}

#[tokio::test]
async fn an_invitation_goes_to_another_server_and_the_answer_comes_back() {
    let pair = Pair::new().await;
    pair.meet().await;
    pair.tick();
    let made = pair.ask("Review", 1).await;
    let id = made.str("/event/eventId");
    let copy = pair.copy("Review").await;
    assert_eq!((&copy["event"]["myStatus"], &copy["event"]["isOrganizer"]), (&json!("needs-action"), &json!(false)));
    assert_eq!(copy["event"]["timeZone"], "Europe/Vienna");
    let body = json!({"status": "tentative", "comment": "Perhaps"});
    let path = format!("events/{}/respond", copy["event"]["eventId"].as_str().expect("an id"));
    pair.bob.mailbox.post(&path, body).await.expect(200);
    pair.agree("an answer").await;
    let shown = pair.ada.mailbox.show(id).await.expect(200);
    assert_eq!(shown.str("/event/attendees/0/status"), "tentative");
    assert_eq!((shown.str("/messages/0/method"), shown.str("/messages/0/state")), ("REPLY", "applied"));
    let reply = pair.ada.message("REPLY", "applied").await;
    assert_eq!(reply["invitation"]["eventId"], json!(id));
    assert_eq!(reply["from"]["email"], json!(pair.bob.mailbox.address));
    pair.tick();
    let copy = copy["event"]["eventId"].as_str().expect("an id");
    pair.bob.mailbox.delete(copy, "").await.expect(200);
    pair.ada
        .server
        .eventually("a guest who won't come", async || {
            let shown = pair.ada.mailbox.show(id).await.expect(200);
            (shown.str("/event/attendees/0/status") == "declined").then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_proposal_is_taken_or_not() {
    let pair = Pair::new().await;
    pair.meet().await;
    pair.tick();
    let made = pair.ask("Review", 3).await;
    let id = made.str("/event/eventId");
    let copy = pair.copy("Review").await;
    let path = format!("events/{}/propose", copy["event"]["eventId"].as_str().expect("an id"));
    let body = |hour: u32| {
        let at = |minute| format!("2026-11-24T{hour}:{minute}");
        json!({"start": at("00"), "end": at("30"), "timeZone": "Europe/London", "recurrenceId": "2026-11-24T09:00:00",
               "comment": "Later?"})
    };
    pair.bob.mailbox.post(&path, json!({"start": "x", "end": "y", "timeZone": "Mars"})).await.expect(400);
    let own = format!("events/{id}/propose");
    let refused = pair.ada.mailbox.post(&own, body(11)).await;
    refused.expect_error(400, "not_invited", "You weren't asked to this event.");
    let proposed = pair.bob.mailbox.post(&path, body(11)).await.expect(200);
    assert_eq!(proposed.json, json!({"notified": {"sent": 1}}));
    let message = pair.ada.message("COUNTER", "proposed").await;
    assert_eq!(message["invitation"]["start"], json!(utc("2026-11-24T11:00")));
    let unanswered = pair.ada.act(&message, "counter", json!({})).await;
    unanswered.expect_error(400, "proposal_unanswered", "Say whether to accept the proposal.");
    let before = pair.ada.occurrences().await;
    let declined = pair.ada.act(&message, "counter", json!({"accept": false})).await.expect(200);
    assert_eq!(declined.json, json!({"notified": {"sent": 1}}));
    pair.bob.message("DECLINECOUNTER", "applied").await;
    assert_eq!(pair.ada.occurrences().await, before);
    pair.tick();
    pair.bob.mailbox.post(&path, body(12)).await.expect(200);
    let message = pair.ada.message("COUNTER", "proposed").await;
    let accepted = pair.ada.act(&message, "counter", json!({"accept": true})).await.expect(200);
    assert_eq!(accepted.json, json!({"notified": {"sent": 1}, "eventId": id}));
    let again = pair.ada.act(&message, "counter", json!({"accept": true})).await.expect(200);
    assert_eq!(again.json, json!({"notified": {"sent": 0}}));
    pair.agree("the proposed time").await;
    assert_eq!(pair.bob.occurrences().await[1].0, utc("2026-11-24T12:00"));
    let invitation = pair.bob.message("REQUEST", "applied").await;
    let asked = pair.bob.act(&invitation, "refresh", json!({})).await.expect(200);
    assert_eq!(asked.json, json!({"notified": {"sent": 1}}));
    pair.ada.message("REFRESH", "applied").await;
    pair.agree("the same").await;
}

/// What is done in a plan.
#[derive(Clone, Copy, Debug)]
enum Step {
    Answer,
    MoveOne,
    MoveFollowing,
    MoveAll,
    Rename,
    CancelOne,
    Propose,
}

const STEPS: [Step; 7] =
    [Step::Answer, Step::MoveOne, Step::MoveFollowing, Step::MoveAll, Step::Rename, Step::CancelOne, Step::Propose];

impl Pair {
    /// One of Ada's events, and one of its occurrences, where there is any.
    async fn some(&self, dice: &mut Dice) -> Option<(Value, Option<String>)> {
        let found = self.ada.mailbox.between(utc("2026-11-01"), utc("2027-02-01")).await;
        let there: Vec<&Value> = found.iter().filter(|it| it["status"] != "cancelled").collect();
        if there.is_empty() {
            return None;
        }
        let occurrence = *dice.pick(&there);
        let id = occurrence["eventId"].as_str().expect("an id");
        let event = self.ada.mailbox.show(id).await.expect(200).json["event"].clone();
        Some((event, occurrence["recurrenceId"].as_str().map(str::to_owned)))
    }

    /// Goes a step; the `nth` of a plan moves to a time that no other one does.
    async fn step(&self, dice: &mut Dice, step: Step, nth: u64) {
        let Some((event, at)) = self.some(dice).await else { return };
        let id = event["eventId"].as_str().expect("an id");
        let hour = 10 + nth;
        let day = at.as_deref().map_or("2026-11-23", |at| &at[..10]);
        let times = json!({
            "version": event["version"], "start": format!("{day}T{hour}:00"), "end": format!("{day}T{hour}:45"),
        });
        let patch = async |query: String, body: Value| self.ada.mailbox.patch(id, &query, body).await.expect(200);
        let named = |scope: &str| format!("scope={scope}&recurrenceId={}", at.clone().unwrap_or_default());
        match (step, &at) {
            (Step::Answer, _) => {
                let uid = &event["uid"];
                let mine = self.bob.events().await.into_iter().find(|it| it["event"]["uid"] == *uid).expect("a copy");
                let answer = dice.pick(&["accepted", "tentative", "declined"]);
                self.answer(&mine, answer).await;
            }
            (Step::MoveOne, Some(_)) => drop(patch(named("one"), times).await),
            (Step::MoveFollowing, Some(_)) => drop(patch(named("following"), times).await),
            (Step::CancelOne, Some(_)) => drop(self.ada.mailbox.delete(id, &named("one")).await.expect(200)),
            (Step::Rename, _) => {
                let body = json!({ "version": event["version"], "summary": format!("Named {}", dice.below(1_000)) });
                patch(String::new(), body).await;
            }
            (Step::Propose, Some(at)) => self.propose(dice, &event, at, hour).await,
            _ => {
                let start = event["start"].as_i64().expect("a time");
                let day = domain::calendar::recurrence::Wall(start / 1000).day();
                let body = json!({ "version": event["version"], "start": format!("{day}T{hour}:30") });
                patch(String::new(), body).await;
            }
        }
    }

    async fn propose(&self, dice: &mut Dice, event: &Value, at: &str, hour: u64) {
        let mine = self.bob.events().await.into_iter().find(|it| it["event"]["uid"] == event["uid"]).expect("a copy");
        let path = format!("events/{}/propose", mine["event"]["eventId"].as_str().expect("an id"));
        let day = &at[..10];
        let body = json!({
            "start": format!("{day}T{hour}:15"), "end": format!("{day}T{hour}:30"), "timeZone": "Europe/Vienna",
            "recurrenceId": at,
        });
        self.bob.mailbox.post(&path, body).await.expect(200);
        let message = self.ada.message("COUNTER", "proposed").await;
        self.ada.act(&message, "counter", json!({ "accept": dice.percent(60) })).await.expect(200);
    }
}

#[tokio::test]
async fn both_have_what_the_organizer_said_last_whatever_is_done() {
    let plans: u64 = number("TROUPE_CALENDAR_PLANS", 3);
    let mut dice = Dice::from_environment("TROUPE_CALENDAR_SEED");
    let pair = Pair::new().await;
    pair.meet().await;
    for plan in 0..plans {
        pair.tick();
        let days = 2 + dice.below(8);
        pair.ask(&format!("Plan {plan}"), days).await;
        pair.agree("an invitation").await;
        for nth in 0..3 + dice.below(6) {
            pair.tick();
            let step = *dice.pick(&STEPS);
            pair.step(&mut dice, step, nth).await;
            pair.agree(&format!("{step:?} of plan {plan}")).await;
        }
        for event in pair.ada.events().await {
            pair.tick();
            let id = event["event"]["eventId"].as_str().expect("an id");
            pair.ada.mailbox.delete(id, "").await.expect(200);
        }
        pair.agree(&format!("the end of plan {plan}")).await;
    }
}
