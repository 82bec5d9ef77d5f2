//! What the server says it did.

use std::{collections::BTreeSet, time::Duration};

use domain::Timestamp;
use futures::{StreamExt, stream};
use serde_json::Value;

use super::{STEPS, company::Company, escalations};

/// Requests under way at once.
const AT_ONCE: usize = 8;

/// Every escalation with its steps.
#[derive(Debug)]
pub struct Record(Vec<Escalation>);

#[derive(Debug)]
struct Escalation {
    title: String,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    is_done: bool,
    told: Vec<Telling>,
}

/// Somebody was told.
#[derive(Debug)]
pub struct Telling {
    /// When the step was due.
    pub due: Timestamp,
    /// When it was done.
    pub at: Timestamp,
    pub delivery_id: String,
    delivery: String,
}

impl Record {
    pub async fn read(company: &Company) -> Self {
        let mut ids = Vec::new();
        let mut page = "escalations?limit=100".to_owned();
        loop {
            let answer = company.get(&page).await;
            ids.extend(answer.list("/escalations").iter().map(|it| text(it, "escalationId")));
            let Some(cursor) = answer.json["cursor"].as_str() else { break };
            page = format!("escalations?limit=100&cursor={cursor}");
        }
        let read = ids.into_iter().map(async |id| Escalation::read(company, &id).await);
        Self(stream::iter(read).buffer_unordered(AT_ONCE).collect().await)
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().flat_map(|escalation| &escalation.steps)
    }

    pub fn tellings(&self) -> impl Iterator<Item = &Telling> {
        self.steps().flat_map(|step| &step.told)
    }

    /// Whether all is done, and every message sent.
    pub fn is_settled(&self) -> bool {
        self.0.len() >= escalations()
            && self.steps().all(|step| step.is_done)
            && self.tellings().all(|telling| telling.delivery == "sent")
    }

    /// Every event has one escalation; each step is done, once, and not before its time.
    pub fn verify(&self) {
        let titles: BTreeSet<_> = self.0.iter().map(|escalation| escalation.title.as_str()).collect();
        assert_eq!((self.0.len(), titles.len()), (escalations(), escalations()), "one escalation of each event");
        for escalation in &self.0 {
            assert_eq!(escalation.steps.len(), STEPS, "{escalation:?}");
            for step in &escalation.steps {
                assert!(step.is_done, "lost: {escalation:?}");
                assert_eq!(step.told.len(), 1, "each step tells once: {escalation:?}");
                assert!(step.told[0].at >= step.told[0].due, "early: {escalation:?}");
                assert_eq!(step.told[0].delivery, "sent", "{escalation:?}");
            }
        }
        self.print();
    }

    fn print(&self) {
        // The first step of each was overdue from the start.
        let in_time = self.0.iter().flat_map(|escalation| &escalation.steps[1..]).flat_map(|step| &step.told);
        let mut late: Vec<Duration> = in_time.map(|telling| telling.at.since(telling.due)).collect();
        late.sort_unstable();
        let at = |percent: usize| late[(late.len() - 1) * percent / 100];
        let (steps, [half, most, all]) = (self.steps().count(), [50, 99, 100].map(at));
        eprintln!(
            "{steps} steps: 0 lost, 0 early, 0 twice; late by {half:?} (median), {most:?} (99 %), {all:?} (most)"
        );
    }
}

impl Escalation {
    async fn read(company: &Company, id: &str) -> Self {
        let answer = company.get(&format!("escalations/{id}")).await;
        assert_eq!(answer.list("/others"), [] as [Value; 0], "{}", answer.text);
        let steps = answer.list("/steps").iter().map(Step::read).collect();
        Self { title: answer.str("/escalation/title").to_owned(), steps }
    }
}

impl Step {
    fn read(step: &Value) -> Self {
        let due = time(step, "due");
        let telling = |told: &Value| Telling {
            due,
            at: time(told, "at"),
            delivery_id: text(told, "deliveryId"),
            delivery: text(told, "delivery"),
        };
        let told = step["told"].as_array().expect("a list").iter().map(telling).collect();
        Self { is_done: step["done"] == true, told }
    }
}

fn time(value: &Value, name: &str) -> Timestamp {
    Timestamp(value[name].as_i64().unwrap_or_else(|| panic!("{name} of {value}")))
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value}")).to_owned()
}
