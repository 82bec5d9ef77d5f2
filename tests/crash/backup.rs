//! The authenticator backup of one person, saved again and again, now and then deleted.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    definite,
    known::{Known, Outcome},
};
use crate::harness::{Answer, Client, Dice};

const PATH: &str = "/v1/me/authenticator/vault";

/// A backup as its owner knows it; none before the first and after a deletion.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    revision: i64,
    ciphertext: String,
}

#[derive(Debug)]
pub struct Backup(Known<Option<Saved>>);

impl Backup {
    pub fn new() -> Self {
        Self(Known::new(None))
    }

    /// Writes once; `None` when no answer came.
    pub async fn write(&mut self, client: &Client, dice: &mut Dice) -> Option<Answer> {
        self.decide(dice);
        let answer = definite(self.send(client).await)?.expect(200);
        self.acknowledge(&answer);
        Some(answer)
    }

    /// What shall be there next: another backup or, now and then, none.
    pub fn decide(&mut self, dice: &mut Dice) {
        let revision = self.0.sure.as_ref().map_or(0, |saved| saved.revision);
        let is_deleted = self.0.sure.is_some() && dice.percent(10);
        let saved = || Saved { revision: revision + 1, ciphertext: STANDARD.encode(dice.bytes::<60>()) };
        self.0.perhaps = Some((!is_deleted).then(saved));
    }

    /// Asks for what was decided on; again is the same request.
    pub async fn send(&self, client: &Client) -> Option<Answer> {
        let Some(saved) = self.0.perhaps.as_ref().expect("a decision") else {
            return client.delete(PATH).try_send().await;
        };
        let body = json!({
            "version": 1, "salt": "c2FsdHNhbHRzYWx0c2FsdHNhbHQ=", "ciphertext": saved.ciphertext,
            "revision": saved.revision - 1
        });
        client.put(PATH).json(&body).try_send().await
    }

    /// It was answered that what was decided on is there.
    pub fn acknowledge(&mut self, answer: &Answer) {
        if let Some(Some(saved)) = &self.0.perhaps {
            assert_eq!(answer.int("/vault/revision"), saved.revision);
        }
        self.0.acknowledge();
    }

    /// What was decided on turned out to be there.
    pub fn was_done(&mut self) {
        self.0.acknowledge();
    }

    pub async fn verify(&mut self, client: &Client, whose: &str) -> Outcome {
        let answer = client.get(PATH).send().await.expect(200);
        let found = (answer.json["vault"] != Value::Null).then(|| Saved {
            revision: answer.int("/vault/revision"),
            ciphertext: answer.str("/vault/ciphertext").to_owned(),
        });
        self.0.settle(found, &format!("the backup of {whose}"))
    }
}
