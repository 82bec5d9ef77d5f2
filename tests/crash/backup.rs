//! The authenticator backup of one person, saved again and again, now and then deleted.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::known::{Known, Outcome};
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
        let answer = if self.0.sure.is_some() && dice.percent(10) {
            self.0.perhaps = Some(None);
            client.delete(PATH).try_send().await?.expect(200)
        } else {
            let revision = self.0.sure.as_ref().map_or(0, |saved| saved.revision);
            let ciphertext = STANDARD.encode(dice.bytes::<60>());
            self.0.perhaps = Some(Some(Saved { revision: revision + 1, ciphertext: ciphertext.clone() }));
            let body = json!({ "version": 1, "salt": "c2FsdHNhbHRzYWx0c2FsdHNhbHQ=", "ciphertext": ciphertext, "revision": revision });
            let answer = client.put(PATH).json(&body).try_send().await?.expect(200);
            assert_eq!(answer.int("/vault/revision"), revision + 1);
            answer
        };
        self.0.acknowledge();
        Some(answer)
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
