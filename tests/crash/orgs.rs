//! Organizations that a person makes, each under an `Idempotency-Key`, and asks for again after a crash.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::json;

use super::definite;
use crate::harness::{Answer, Client, Dice};

/// Organizations made in one life of the program, at most; a person owns no more than 50.
const PER_LIFE: usize = 2;
const ALL: usize = 48;
/// How long the claim of a request that died may hold its key, at most, and how long it is left alone in between.
const PATIENCE: Duration = Duration::from_mins(3);
const AGAIN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Wish {
    key: String,
    name: String,
    /// The organization's id, once an answer has told it.
    org_id: Option<String>,
    /// Whether it is known to have been made, and to have been made once.
    fulfilled: bool,
}

#[derive(Debug, Default)]
pub struct Orgs {
    wishes: Vec<Wish>,
    /// How many wishes earlier lives of the program have heard.
    earlier: usize,
}

impl Orgs {
    pub fn may_write(&self) -> bool {
        self.wishes.len() < ALL && self.wishes.len() - self.earlier < PER_LIFE
    }

    /// Makes an organization; `None` when no answer came.
    pub async fn write(&mut self, client: &Client, dice: &mut Dice) -> Option<Answer> {
        let number = self.wishes.len();
        let key = format!("wish-{number}-{:x}", dice.next());
        self.wishes.push(Wish { key, name: format!("Organization {number}"), org_id: None, fulfilled: false });
        let wish = self.wishes.last_mut().unwrap();
        let answer = definite(wish.send(client).await)?.expect(201);
        wish.org_id = Some(answer.str("/org/orgId").to_owned());
        Some(answer)
    }

    /// Asks for every organization again: each is there once, under the id that was answered first.
    pub async fn verify(&mut self, client: &Client, whose: &str) {
        self.ask_again(client, whose).await;
        self.earlier = self.wishes.len();
        let answer = client.get("/v1/orgs?limit=100").send().await.expect(200);
        let found = answer.list("/orgs");
        let names: BTreeSet<_> = found.iter().map(|org| org["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), found.len(), "{whose}: an organization was made twice: {}", answer.text);
        for wish in &self.wishes {
            // One whose key is still held may have been made or not.
            assert!(!wish.fulfilled || names.contains(wish.name.as_str()), "{whose}: {} is gone", wish.name);
        }
        assert!(names.len() <= self.wishes.len(), "{whose}: {}", answer.text);
    }

    /// Asks until every wish was fulfilled, those too whose first request died while it held the key.
    pub async fn verify_all_fulfilled(&mut self, client: &Client, whose: &str) {
        let started = Instant::now();
        while self.wishes.iter().any(|wish| !wish.fulfilled) {
            assert!(started.elapsed() < PATIENCE, "{whose}: a key is never given back: {:?}", self.wishes);
            tokio::time::sleep(AGAIN_AFTER).await;
            self.ask_again(client, whose).await;
        }
        self.verify(client, whose).await;
    }

    async fn ask_again(&mut self, client: &Client, whose: &str) {
        for wish in self.wishes.iter_mut().filter(|wish| !wish.fulfilled) {
            wish.ask_again(client, whose).await;
        }
    }
}

impl Wish {
    async fn send(&self, client: &Client) -> Option<Answer> {
        client
            .post("/v1/orgs")
            .header("Idempotency-Key", &self.key)
            .json(&json!({ "name": self.name }))
            .try_send()
            .await
    }

    /// Repeats the request. What was answered is answered again; what was committed is not done again; and what died
    /// before its commit is done now, or once its claim on the key has run out.
    async fn ask_again(&mut self, client: &Client, whose: &str) {
        let answer = self.send(client).await.expect("an answer");
        let was_answered = self.org_id.is_some();
        match (answer.status, answer.json["code"].as_str()) {
            (201, _) => {
                let org_id = self.org_id.get_or_insert_with(|| answer.str("/org/orgId").to_owned());
                assert_eq!(org_id, answer.str("/org/orgId"), "{whose}: {} was made twice", self.name);
                self.fulfilled = true;
            }
            (409, Some("idempotency_answer_lost")) if !was_answered => self.fulfilled = true,
            (409, Some("idempotency_in_progress")) if !was_answered => {}
            // No time; it is asked for again later.
            (503, _) => {}
            _ => panic!("{whose}: {} after {self:?}", answer.text),
        }
    }
}
