//! Asking another node.
//!
//! A question is published on the channel of the node that it is for, with the name of a channel of its own on which the
//! answer comes. The hub may lose either; then nobody answers in time, and whoever asked reads 503.

use std::time::Duration;

use domain::{Error, Outcome, Result};
use futures::{StreamExt, stream};
use gateways::hub::Signal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AWAY_AFTER, Platform, Question};

/// How long another node has for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// When whoever read that a node doesn't answer may try again.
const SILENT_RETRY: Duration = Duration::from_secs(2);
/// Questions of other nodes that are answered at once; more wait.
const ANSWERED_AT_ONCE: usize = 8;
/// What the names of the channels start with on which answers come.
const ANSWERS: &str = "platform-answer:";

#[derive(Serialize, Deserialize)]
struct Asked {
    question: Question,
    answer_on: String,
}

/// What comes back. Only what an operator can act on keeps its own words.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answered {
    Ok(Value),
    NotFound(String),
    Failed,
}

/// The channel on which a node is asked.
fn questions(node: &str) -> String {
    format!("platform-node:{node}")
}

impl Platform {
    /// Asks a node, by default this one. 404 for a node that isn't there, 503 for one that doesn't answer in time.
    pub async fn ask(&self, node: Option<&str>, question: Question) -> Result<Value> {
        match node {
            None => self.answer(question).await,
            Some(node) if node == self.node() => self.answer(question).await,
            Some(node) => self.ask_other(node, question).await,
        }
    }

    async fn ask_other(&self, node: &str, question: Question) -> Result<Value> {
        let (store, hub) = (&self.shared.services.store, &self.shared.services.hub);
        let known = store.node(node).await?.filter(|known| known.seen_at.after(AWAY_AFTER) > store.now());
        if known.is_none() {
            return Err(Error::not_found("Node not found."));
        }
        let answer_on = format!("{ANSWERS}{}", domain::id::new_uuid(store.now()).simple());
        let mut answers = hub.subscribe(&answer_on).await;
        let asked = serde_json::to_vec(&Asked { question, answer_on }).map_err(Error::internal)?;
        hub.publish(&questions(node), asked);
        let answer = async {
            loop {
                // A gap may have swallowed the answer; then nothing more comes.
                if let Signal::Message(answer) = answers.next().await {
                    return answer;
                }
            }
        };
        let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await.map_err(|_elapsed| silent())?;
        match serde_json::from_slice(&answer).map_err(Error::internal)? {
            Answered::Ok(value) => Ok(value),
            Answered::NotFound(message) => Err(Error::not_found(message)),
            Answered::Failed => Err(silent()),
        }
    }
}

/// 503: the node didn't answer.
fn silent() -> Error {
    Error::Busy {
        code: "node_silent",
        message: "This node doesn't answer right now; try again.".into(),
        retry_after: SILENT_RETRY,
        outcome: Outcome::Unknown,
    }
}

/// Answers what other nodes ask. One whose answer takes long keeps nobody else waiting.
pub(super) async fn keep_answering(platform: Platform) {
    let asked = platform.shared.services.hub.subscribe(&questions(platform.node())).await;
    let signals = stream::unfold(asked, |mut asked| async move { Some((asked.next().await, asked)) });
    let answering = signals.for_each_concurrent(ANSWERED_AT_ONCE, async |signal| {
        // A gap may have swallowed a question; whoever asked it asks again.
        if let Signal::Message(message) = signal {
            answer_other(&platform, &message).await;
        }
    });
    answering.await;
}

async fn answer_other(platform: &Platform, message: &[u8]) {
    let Ok(Asked { question, answer_on }) = serde_json::from_slice(message) else { return };
    if !answer_on.starts_with(ANSWERS) {
        return;
    }
    let answered = match platform.answer(question).await {
        Ok(value) => Answered::Ok(value),
        Err(Error::NotFound { message, .. }) => Answered::NotFound(message.into_owned()),
        Err(error) => {
            tracing::warn!(%error, "a question of another node could not be answered");
            Answered::Failed
        }
    };
    match serde_json::to_vec(&answered) {
        Ok(answer) => platform.shared.services.hub.publish(&answer_on, answer),
        Err(error) => tracing::error!(%error, "an answer to another node can't be written"),
    }
}
