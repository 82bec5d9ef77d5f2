//! What can be asked of a node, and how it answers.

use domain::{Error, Result, tenant::Tenant};
use kernel::{CpuKind, ResidentsQuery};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Act, Platform};

/// The message of the 404 for a kind that no actor is of.
const NO_KIND: &str = "Kind not found.";
/// The message of the 404 for a key that has no actor on the node.
pub(super) const NO_ACTOR: &str = "There is no such actor on this node.";

/// What can be asked of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase")]
pub enum Question {
    /// Its kinds of actor: totals and policies; and the work that takes its processor.
    Actors,
    /// The resident actors of a kind.
    Kind {
        /// The kind.
        kind: String,
        /// Which ones.
        query: ResidentsQuery,
    },
    /// One actor, with its last commands.
    Actor {
        /// Its kind.
        kind: String,
        /// Its key.
        key: String,
    },
    /// To do something with one actor. Ask through [`Platform::act`], which writes it down.
    Act {
        /// Its kind.
        kind: String,
        /// Its key.
        key: String,
        /// What.
        act: Act,
    },
    /// The last crashes.
    Crashes,
    /// The last slow requests and commands, and turns that did not yield.
    Slow,
    /// How its database and its hub are, looked at now.
    Health,
    /// What happened lately.
    Pulses {
        /// After the pulse of this number; 0 for all that are kept.
        after: u64,
    },
}

impl Platform {
    /// Answers for this node.
    pub(super) async fn answer(&self, question: Question) -> Result<Value> {
        let (kernel, node) = (&self.shared.kernel, self.node());
        match question {
            Question::Actors => {
                let mut answer = serde_json::to_value(kernel.snapshot()).map_err(Error::internal)?;
                answer["node"] = json!(node);
                answer["processor"] = json!(kernel.cpu().snapshot().lanes);
                Ok(answer)
            }
            Question::Kind { kind, query } => self.kind(kind, query).await,
            Question::Actor { kind, key } => {
                let found = kernel.resident(&kind, &key);
                let (actor, recent) = found.ok_or_else(|| self.missing(&kind))?;
                Ok(json!({"node": node, "actor": actor, "recent": recent}))
            }
            Question::Act { kind, key, act } => self.act_here(&kind, &key, act),
            Question::Crashes => {
                let crashes: Vec<_> = kernel.crashes().into_iter().rev().collect();
                Ok(json!({"node": node, "crashes": crashes}))
            }
            Question::Slow => {
                let commands: Vec<_> = kernel.slow_commands().into_iter().rev().collect();
                let requests = self.shared.slow_requests.newest_first();
                let stalls: Vec<_> = kernel.stalls().into_iter().rev().collect();
                Ok(json!({"node": node, "requests": requests, "commands": commands, "stalls": stalls}))
            }
            Question::Health => self.health().await,
            Question::Pulses { after } => Ok(json!({"node": node, "pulses": self.shared.pulses.after(after)})),
        }
    }

    /// The actors of a kind. There may be a million to look through.
    async fn kind(&self, kind: String, query: ResidentsQuery) -> Result<Value> {
        let kernel = self.shared.kernel.clone();
        let found =
            self.shared.kernel.cpu().run(Tenant::System, CpuKind::Survey, move || kernel.find(&kind, &query)).await?;
        let found = found.ok_or_else(|| Error::not_found(NO_KIND))?;
        Ok(json!({"node": self.node(), "actors": found.actors, "total": found.total, "next": found.next}))
    }

    /// 404: the kind, or the key, is not there.
    pub(super) fn missing(&self, kind: &str) -> Error {
        Error::not_found(if self.shared.kernel.has_kind(kind) { NO_ACTOR } else { NO_KIND })
    }
}
