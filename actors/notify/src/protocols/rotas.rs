//! Making, changing and deleting on-call rotas, and overriding them for a while.

use std::collections::BTreeSet;

use domain::{
    Error, Result, Timestamp,
    id::{RotaId, RotaOverrideId, UserId},
    notify::{Rota, RotaChange, RotaDraft, RotaOverride, TurnStart, rota::ROTAS_MAX},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::audit::AuditTarget;

use super::{Protocols, WriteContext, full};

/// Makes a rota; the first of its people is on call at once.
#[derive(Clone, Debug)]
pub struct MakeRota(pub RotaDraft);

/// Changes a rota. Whoever's turn it is keeps it until the next handover.
#[derive(Clone, Debug)]
pub struct ChangeRota {
    /// Which.
    pub rota_id: RotaId,
    /// What changes.
    pub change: RotaChange,
}

/// Deletes a rota that no protocol uses.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRota(pub RotaId);

/// Has somebody be on call for a while, whosever turn it is.
#[derive(Clone, Copy, Debug)]
pub struct AddOverride {
    /// On which rota.
    pub rota_id: RotaId,
    /// Who, and when.
    pub window: OverrideWindow,
}

/// Who is on call for a while.
#[derive(Clone, Copy, Debug)]
pub struct OverrideWindow {
    /// Who.
    pub user_id: UserId,
    /// From when.
    pub from: Timestamp,
    /// Until when; not then any more.
    pub until: Timestamp,
}

/// Takes an override back.
#[derive(Clone, Copy, Debug)]
pub struct RemoveOverride {
    /// Of which rota.
    pub rota_id: RotaId,
    /// Which.
    pub override_id: RotaOverrideId,
}

impl Command for MakeRota {
    type Reply = Rota;

    const NAME: &'static str = "make_rota";
}

impl Handle<MakeRota> for Protocols {
    async fn handle(&mut self, MakeRota(draft): &MakeRota, turn: &mut Turn<'_, Self>) -> Result<Rota> {
        let context = WriteContext::open(turn).await?;
        let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
        if store.rotas(org_id).await?.len() >= ROTAS_MAX {
            return Err(full("An organization", ROTAS_MAX, "rotas"));
        }
        let draft = draft.clone().check()?;
        members_check(turn, "people", draft.people.iter().copied().collect()).await?;
        let made = Rota {
            id: RotaId::new(now),
            org_id,
            draft,
            start: TurnStart { at: now, place: 0 },
            overrides: Vec::new(),
            created_by: context.user_id,
            created_at: now,
            updated_at: now,
        };
        let mut change = context.write(turn, "rota.made", target(&made), None);
        change.rota_add(&made);
        turn.commit(change).await?;
        Ok(made)
    }
}

impl Command for ChangeRota {
    type Reply = Rota;

    const NAME: &'static str = "change_rota";
}

impl Handle<ChangeRota> for Protocols {
    async fn handle(&mut self, command: &ChangeRota, turn: &mut Turn<'_, Self>) -> Result<Rota> {
        let context = WriteContext::open(turn).await?;
        let now = turn.now();
        let before = rota(turn, command.rota_id).await?;
        let after = before.changed(command.change.clone(), now)?;
        if after.draft == before.draft {
            return Ok(before);
        }
        // Whoever has left since may stay in it.
        let added = after.draft.people.iter().copied().filter(|user_id| !before.draft.people.contains(user_id));
        members_check(turn, "people", added.collect()).await?;
        let after = Rota { updated_at: now, ..after };
        let about = json!({ "from": described(&before), "to": described(&after) });
        let mut change = context.write(turn, "rota.changed", target(&after), Some(about));
        change.rota_set(&after);
        turn.commit(change).await?;
        Ok(after)
    }
}

impl Command for DeleteRota {
    type Reply = ();

    const NAME: &'static str = "delete_rota";
}

impl Handle<DeleteRota> for Protocols {
    async fn handle(&mut self, DeleteRota(id): &DeleteRota, turn: &mut Turn<'_, Self>) -> Result<()> {
        let context = WriteContext::open(turn).await?;
        let gone = rota(turn, *id).await?;
        let protocols = turn.services().store.protocols(gone.org_id).await?;
        if let Some(user) = protocols.iter().find(|protocol| protocol.draft.rotas().contains(id)) {
            let message = format!("The protocol {} uses this rota.", user.draft.name);
            return Err(Error::conflict("rota_in_use", message));
        }
        let mut change = context.write(turn, "rota.deleted", target(&gone), None);
        change.rota_remove(*id);
        turn.commit(change).await
    }
}

impl Command for AddOverride {
    type Reply = RotaOverride;

    const NAME: &'static str = "add_override";
}

impl Handle<AddOverride> for Protocols {
    async fn handle(&mut self, command: &AddOverride, turn: &mut Turn<'_, Self>) -> Result<RotaOverride> {
        let context = WriteContext::open(turn).await?;
        let now = turn.now();
        let mut after = rota(turn, command.rota_id).await?;
        let OverrideWindow { user_id, from, until } = command.window;
        let made = RotaOverride { id: RotaOverrideId::new(now), user_id, from, until };
        after.override_add(made, now)?;
        members_check(turn, "userId", [user_id].into()).await?;
        after.updated_at = now;
        let mut change = context.write(turn, "rota.override_made", target(&after), Some(json!(made)));
        change.rota_set(&after);
        turn.commit(change).await?;
        Ok(made)
    }
}

impl Command for RemoveOverride {
    type Reply = ();

    const NAME: &'static str = "remove_override";
}

impl Handle<RemoveOverride> for Protocols {
    async fn handle(&mut self, command: &RemoveOverride, turn: &mut Turn<'_, Self>) -> Result<()> {
        let context = WriteContext::open(turn).await?;
        let mut after = rota(turn, command.rota_id).await?;
        let place = after.overrides.iter().position(|known| known.id == command.override_id);
        let gone = after.overrides.remove(place.ok_or_else(|| Error::not_found("Override not found."))?);
        after.updated_at = turn.now();
        let mut change = context.write(turn, "rota.override_removed", target(&after), Some(json!(gone)));
        change.rota_set(&after);
        turn.commit(change).await
    }
}

/// The organization's rota with this id.
async fn rota(turn: &Turn<'_, Protocols>, id: RotaId) -> Result<Rota> {
    let found = turn.services().store.rota(*turn.key(), id).await?;
    found.ok_or_else(|| Error::not_found("Rota not found."))
}

fn target(rota: &Rota) -> AuditTarget {
    AuditTarget::new("rota", rota.id).labelled(&rota.draft.name)
}

/// What a rota says, for the audit trail.
fn described(rota: &Rota) -> serde_json::Value {
    let RotaDraft { name, people, handover, zone } = &rota.draft;
    json!({ "name": name, "people": people, "handover": handover, "timeZone": zone })
}

/// 400 at `path` for people who don't belong to the organization.
async fn members_check(turn: &Turn<'_, Protocols>, path: &str, people: BTreeSet<UserId>) -> Result<()> {
    let asked: Vec<UserId> = people.iter().copied().collect();
    let members = turn.services().store.members_among(*turn.key(), &asked, &[]).await?;
    match asked.iter().find(|user_id| members.iter().all(|(member, _)| member != *user_id)) {
        Some(stranger) => Err(Error::invalid(path, format!("{stranger} is no member of the organization."))),
        None => Ok(()),
    }
}
