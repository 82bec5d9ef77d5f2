//! Making, changing and deleting a protocol.

use domain::{
    Error, Problem, Result,
    id::{OrgId, ProtocolId, RotaId, UserId},
    notify::{
        Attachment, Protocol, ProtocolChange, ProtocolDraft, Rule, escalation::EndReason, protocol::PROTOCOLS_MAX,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{AuditEntry, AuditTarget, Change, Store};

use super::{Protocols, WriteContext, check, full, protocol, target};

/// Makes a protocol.
#[derive(Clone, Debug)]
pub struct MakeProtocol {
    /// What it says.
    pub draft: ProtocolDraft,
    /// What it is attached to in the same commit.
    pub attachments: Vec<Attachment>,
}

/// Changes what a protocol says. What runs already goes on as it was, but a protocol that is disabled ends what it runs.
#[derive(Clone, Debug)]
pub struct ChangeProtocol {
    /// Which.
    pub protocol_id: ProtocolId,
    /// What changes.
    pub change: ProtocolChange,
}

/// Deletes a protocol, and ends what it runs.
#[derive(Clone, Copy, Debug)]
pub struct DeleteProtocol(pub ProtocolId);

impl Command for MakeProtocol {
    type Reply = Protocol;

    const NAME: &'static str = "make_protocol";
}

impl Handle<MakeProtocol> for Protocols {
    async fn handle(&mut self, command: &MakeProtocol, turn: &mut Turn<'_, Self>) -> Result<Protocol> {
        let MakeProtocol { draft, attachments } = command;
        let context = WriteContext::open_to_people(turn).await?;
        let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
        let known = store.protocols(org_id).await?.len();
        if known >= PROTOCOLS_MAX {
            return Err(full("An organization", PROTOCOLS_MAX, "protocols"));
        }
        names_check(store, org_id, &draft.rules).await?;
        let made = Protocol {
            id: ProtocolId::new(now),
            org_id,
            draft: draft.clone(),
            created_by: context.user_id,
            created_at: now,
            updated_at: now,
            attachments: attachments.clone(),
        };
        let mut change = context.write(turn, "protocol.made", target(&made), None);
        change.protocol_add(&made);
        for attachment in attachments {
            change.protocol_attach(now, org_id, made.id, attachment);
        }
        // The timer ends with the last protocol.
        if known == 0 {
            check::arm(&mut change, org_id, now);
        }
        turn.commit(change).await?;
        Ok(made)
    }
}

impl Command for ChangeProtocol {
    type Reply = Protocol;

    const NAME: &'static str = "change_protocol";
}

impl Handle<ChangeProtocol> for Protocols {
    async fn handle(&mut self, command: &ChangeProtocol, turn: &mut Turn<'_, Self>) -> Result<Protocol> {
        let context = WriteContext::open_to_people(turn).await?;
        let now = turn.now();
        let before = protocol(turn, command.protocol_id).await?;
        let draft = before.draft.changed(command.change.clone())?;
        if draft == before.draft {
            return Ok(before);
        }
        // Whoever has left since may stand in rules that stay as they are.
        if draft.rules != before.draft.rules {
            names_check(&turn.services().store, before.org_id, &draft.rules).await?;
        }
        let after = Protocol { draft, updated_at: now, ..before.clone() };
        let about = json!({
            "from": { "name": before.draft.name, "enabled": before.draft.enabled },
            "to": { "name": after.draft.name, "enabled": after.draft.enabled },
            "rulesChanged": before.draft.rules != after.draft.rules,
        });
        let mut change = context.write(turn, "protocol.changed", target(&after), Some(about));
        change.protocol_set(&after);
        if before.draft.enabled && !after.draft.enabled {
            end_escalations(&mut change, turn, &after, EndReason::ProtocolDisabled).await?;
        }
        turn.commit(change).await?;
        Ok(after)
    }
}

impl Command for DeleteProtocol {
    type Reply = ();

    const NAME: &'static str = "delete_protocol";
}

impl Handle<DeleteProtocol> for Protocols {
    async fn handle(&mut self, DeleteProtocol(id): &DeleteProtocol, turn: &mut Turn<'_, Self>) -> Result<()> {
        let context = WriteContext::open_to_people(turn).await?;
        let gone = protocol(turn, *id).await?;
        let mut change = context.write(turn, "protocol.deleted", target(&gone), None);
        change.protocol_remove(*id);
        end_escalations(&mut change, turn, &gone, EndReason::ProtocolDeleted).await?;
        turn.commit(change).await
    }
}

/// Ends what the protocol has running, each with an entry in the audit trail.
async fn end_escalations(
    change: &mut Change,
    turn: &Turn<'_, Protocols>,
    protocol: &Protocol,
    reason: EndReason,
) -> Result<()> {
    for running in turn.services().store.escalations_running_of(protocol.id).await? {
        let target = AuditTarget::new("escalation", running.id).labelled(&running.title);
        let entry = AuditEntry::new(turn.context(), "escalation.ended", target).in_org(protocol.org_id);
        let metadata = Some(json!({ "protocolId": protocol.id, "reason": reason }));
        change.audit_add(turn.now(), AuditEntry { metadata, ..entry });
    }
    change.escalations_end_of_protocol(protocol.id, turn.now(), reason);
    Ok(())
}

/// 400 for people whom the rules name and who don't belong to the organization, and for rotas that it doesn't have.
async fn names_check(store: &Store, org_id: OrgId, rules: &[Rule]) -> Result<()> {
    let people: Vec<UserId> = rules.iter().flat_map(|rule| rule.user_ids.iter().copied()).collect();
    let members = store.members_among(org_id, &people, &[]).await?;
    let is_member = |user_id: UserId| members.iter().any(|(member, _)| *member == user_id);
    let ids: Vec<RotaId> = rules.iter().flat_map(Rule::rotas).collect();
    let rotas = store.rotas_by_id(org_id, &ids).await?;
    let mut problems = Vec::new();
    let mut unknown = |path: String, message: &str| problems.push(Problem { path, message: message.to_owned() });
    for (place, rule) in rules.iter().enumerate() {
        for (at, user_id) in rule.user_ids.iter().enumerate().filter(|(_, user_id)| !is_member(**user_id)) {
            unknown(format!("rules[{place}].userIds[{at}]"), &format!("{user_id} is no member of the organization."));
        }
        for (at, step) in rule.steps.iter().enumerate() {
            if step.rota.is_some_and(|id| rotas.iter().all(|rota| rota.id != id)) {
                unknown(format!("rules[{place}].steps[{at}].rota"), "The organization has no such rota.");
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems }) }
}
