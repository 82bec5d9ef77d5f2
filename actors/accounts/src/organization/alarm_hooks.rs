//! Hooks that alarms from outside come in by, and the alarms.

use std::time::Duration;

use actors_base::event::Event;
use domain::{
    Error, Result, Role, Scope, Token, TokenKind,
    id::{AlarmHookId, UserId},
    notify::{ALARM_HOOKS_MAX, Alarm, ResourceType},
};
use kernel::{Command, Handle, Turn};
use store::{Change, audit::AuditTarget, notify::AlarmHook};

use super::{Organization, changed, current, found, full, store_of};

/// How often it is noted that a hook is used.
const USED_EVERY: Duration = Duration::from_secs(60);
/// Whom an alarm concerns that no protocol takes further.
const CONCERNED: [Role; 2] = [Role::Owner, Role::Admin];

/// Makes a hook. One that a key makes counts as its maker's.
#[derive(Clone, Debug)]
pub struct MakeAlarmHook {
    /// What it is called.
    pub name: String,
}

/// Deletes a hook.
#[derive(Clone, Copy, Debug)]
pub struct DeleteAlarmHook(pub AlarmHookId);

/// Raises and ends the alarms that came in by a hook.
#[derive(Clone, Debug)]
pub struct RaiseAlarms {
    /// Which hook.
    pub hook_id: AlarmHookId,
    /// They.
    pub alarms: Vec<Alarm>,
}

impl Command for MakeAlarmHook {
    type Reply = (AlarmHook, Token);

    const NAME: &'static str = "make_alarm_hook";
}

impl Handle<MakeAlarmHook> for Organization {
    async fn handle(&mut self, command: &MakeAlarmHook, turn: &mut Turn<'_, Self>) -> Result<(AlarmHook, Token)> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::OrgWrite)?;
        let created_by = authority.on_behalf_of()?;
        let now = turn.now();
        let hooks = store_of(turn).alarm_hooks(organization.id).await?;
        if hooks.len() as u64 >= ALARM_HOOKS_MAX {
            return Err(full("alarm hooks", ALARM_HOOKS_MAX));
        }
        let token = Token::generate(TokenKind::Hook)?;
        let hook = AlarmHook {
            id: AlarmHookId::new(now),
            org_id: organization.id,
            name: command.name.clone(),
            created_by,
            created_at: now,
            last_used_at: None,
        };
        let mut change = changed(turn, &organization, "alarm_hook.made", target(&hook));
        change.alarm_hook_add(&hook, token.hash());
        turn.commit(change).await?;
        Ok((hook, token))
    }
}

impl Command for DeleteAlarmHook {
    type Reply = ();

    const NAME: &'static str = "delete_alarm_hook";
}

impl Handle<DeleteAlarmHook> for Organization {
    async fn handle(&mut self, DeleteAlarmHook(id): &DeleteAlarmHook, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::OrgWrite)?;
        let hook = store_of(turn).alarm_hook(organization.id, *id).await?.ok_or_else(gone)?;
        let mut change = changed(turn, &organization, "alarm_hook.deleted", target(&hook));
        change.alarm_hook_remove(*id);
        turn.commit(change).await
    }
}

impl Command for RaiseAlarms {
    type Reply = ();

    const NAME: &'static str = "raise_alarms";
}

impl Handle<RaiseAlarms> for Organization {
    async fn handle(&mut self, command: &RaiseAlarms, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, now, store) = (found(turn).await?, turn.now(), store_of(turn));
        let hook = store.alarm_hook(organization.id, command.hook_id).await?.ok_or_else(gone)?;
        let concerned = store.members_among(organization.id, &[], &CONCERNED).await?;
        let user_ids: Vec<UserId> = concerned.into_iter().map(|(user_id, _)| user_id).collect();
        let mut change = Change::new();
        for alarm in &command.alarms {
            let event = Event { user_ids: user_ids.clone(), ..event(&hook, alarm) };
            event.emit(&mut change, now);
        }
        if hook.last_used_at.is_none_or(|at| at.after(USED_EVERY) <= now) {
            change.alarm_hook_used(hook.id, now);
        }
        turn.commit(change).await
    }
}

fn event(hook: &AlarmHook, alarm: &Alarm) -> Event {
    Event {
        org_id: Some(hook.org_id),
        body: alarm.body.clone(),
        url: alarm.url.clone(),
        within: vec![(ResourceType::Org, hook.org_id.to_string())],
        data: alarm.data.clone(),
        dedup_key: Some(alarm.fingerprint.clone()),
        resolved: alarm.resolved,
        ..Event::new("ops.alarm", ("alarm", alarm.fingerprint.clone()), alarm.title.clone())
    }
}

/// 404: the hook is gone, or another organization's.
fn gone() -> Error {
    Error::not_found("Hook not found.")
}

fn target(hook: &AlarmHook) -> AuditTarget {
    AuditTarget::new("alarm_hook", hook.id).labelled(&hook.name)
}
