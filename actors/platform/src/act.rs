//! What operators do with one actor.

use domain::{Context, Error, Result, id::OrgId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{AuditEntry, AuditTarget, Change};

use super::{Platform, Question, question::NO_ACTOR};

/// What can be done with an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// Its next command loads it again.
    Restart,
    /// It leaves memory, unless somebody waits for it or has it open.
    Passivate,
    /// Its quarantine ends, and its crashes are forgotten.
    Release,
}

impl Act {
    /// What the audit trail calls it.
    const fn action(self) -> &'static str {
        match self {
            Self::Restart => "actor.restarted",
            Self::Passivate => "actor.passivated",
            Self::Release => "actor.released",
        }
    }

    /// Why it can't be done with an actor in that state, as the answer to [`Question::Actor`] shows it.
    fn refusal(self, actor: &Value) -> Option<Error> {
        match self {
            Self::Passivate if !actor["quarantineMs"].is_null() => Some(quarantined()),
            Self::Passivate if actor["waiting"] != 0 || actor["inUse"] == true => Some(self.refused()),
            Self::Release if actor["crashes"] == 0 => Some(self.refused()),
            Self::Restart | Self::Passivate | Self::Release => None,
        }
    }

    /// Why it was not done, although nothing had stood in its way a moment before.
    fn refused(self) -> Error {
        match self {
            Self::Restart => Error::not_found(NO_ACTOR),
            Self::Passivate => Error::conflict("in_use", "Commands wait for it, or somebody has it open."),
            Self::Release => Error::conflict("not_quarantined", "It has no crashes to forget."),
        }
    }
}

/// An actor that left memory would come back without its crashes.
fn quarantined() -> Error {
    Error::conflict("quarantined", "It is in quarantine; release it first.")
}

impl Platform {
    /// Does `act` with the actor of `key` on `node` (by default, this one). What can be done is written into the trail of
    /// `org_id`, the platform's organization, before it is done: nothing is done that was not written down.
    pub async fn act(
        &self,
        node: Option<&str>,
        (kind, key): (&str, &str),
        act: Act,
        org_id: OrgId,
        context: &Context,
    ) -> Result<()> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        let found = self.ask(node, Question::Actor { kind: kind.clone(), key: key.clone() }).await?;
        if let Some(refusal) = act.refusal(&found["actor"]) {
            return Err(refusal);
        }
        let target = AuditTarget::new("actor", &key).labelled(format!("{kind} {key}"));
        let metadata = json!({"node": found["node"], "kind": kind});
        let entry = AuditEntry::new(context, act.action(), target).in_org(org_id).with_metadata(metadata);
        let mut change = Change::new();
        change.audit_add(self.shared.services.store.now(), entry);
        self.shared.services.store.commit(change).await?;
        let answer = self.ask(node, Question::Act { kind, key, act }).await?;
        if answer["done"] == true { Ok(()) } else { Err(act.refused()) }
    }

    /// Does it on this node, and says whether it was done.
    pub(super) fn act_here(&self, kind: &str, key: &str, act: Act) -> Result<Value> {
        let kernel = &self.shared.kernel;
        if kernel.resident(kind, key).is_none() {
            return Err(self.missing(kind));
        }
        let done = match act {
            Act::Restart => kernel.restart(kind, key),
            Act::Passivate => kernel.passivate(kind, key),
            Act::Release => kernel.release(kind, key),
        };
        Ok(json!({"done": done}))
    }
}
