//! Hooks by which mail comes to desks that have no address here: any server that mail comes to posts it.

use domain::{
    Error, Result, Scope, Token, TokenKind,
    id::{IssueMailHookId, MailboxId, OrgId},
    issues::{
        access::Permission,
        mailing::{MAIL_HOOKS_MAX, no_mail_hook},
    },
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    issues::{IssueMailBox, IssueMailHook},
};

use crate::{
    access::{require_open, space_with},
    space::IssueSpace,
};

/// Makes a hook of a space's desk.
#[derive(Clone, Debug)]
pub struct MakeMailHook {
    /// The organization.
    pub org_id: OrgId,
    /// What it is called, checked.
    pub name: String,
}

/// Deletes a hook.
#[derive(Clone, Copy, Debug)]
pub struct DeleteMailHook {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueMailHookId,
}

impl Command for MakeMailHook {
    type Reply = (IssueMailHook, Token);

    const NAME: &'static str = "make_issue_mail_hook";
}

impl Command for DeleteMailHook {
    type Reply = ();

    const NAME: &'static str = "delete_issue_mail_hook";
}

fn audit(change: &mut Change, turn: &Turn<'_, IssueSpace>, hook: &IssueMailHook, act: &'static str) {
    let target = AuditTarget::new("issue_mail_hook", hook.id).labelled(&hook.name);
    change.audit_add(turn.now(), AuditEntry::new(turn.context(), act, target).in_org(hook.org_id));
}

impl Handle<MakeMailHook> for IssueSpace {
    async fn handle(&mut self, command: &MakeMailHook, turn: &mut Turn<'_, Self>) -> Result<(IssueMailHook, Token)> {
        let authority = turn.authority(command.org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let created_by = authority.on_behalf_of()?;
        let (store, now) = (&turn.services().store, turn.now());
        let (space, _) = space_with(store, &authority, *turn.key(), Permission::Administer).await?;
        require_open(&space)?;
        if space.config.servicedesk.as_ref().is_none_or(|desk| desk.email.is_none()) {
            return Err(Error::conflict("takes_no_mail", "The desk of this space takes no mail."));
        }
        if store.issue_mail_hooks(space.space_id).await?.len() >= MAIL_HOOKS_MAX {
            return Err(Error::bad_request(
                "limit_reached",
                format!("A space has at most {MAIL_HOOKS_MAX} mail hooks."),
            ));
        }
        let token = Token::generate(TokenKind::Hook)?;
        let hook = IssueMailHook {
            id: IssueMailHookId::new(now),
            org_id: space.org_id,
            space_id: space.space_id,
            name: command.name.clone(),
            created_by,
            created_at: now,
            last_used_at: None,
        };
        let mut change = Change::new();
        if store.issue_mail_box_of(space.space_id).await?.is_none() {
            let (org_id, space_id) = (space.org_id, space.space_id);
            let it = IssueMailBox { mailbox_id: MailboxId::new(now), org_id, space_id, address: None };
            change.issue_mail_box_add(&it, now);
        }
        change.issue_mail_hook_add(&hook, token.hash());
        audit(&mut change, turn, &hook, "issue_mail_hook.made");
        turn.commit(change).await?;
        Ok((hook, token))
    }
}

impl Handle<DeleteMailHook> for IssueSpace {
    async fn handle(&mut self, command: &DeleteMailHook, turn: &mut Turn<'_, Self>) -> Result<()> {
        let authority = turn.authority(command.org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let store = &turn.services().store;
        let (space, _) = space_with(store, &authority, *turn.key(), Permission::Administer).await?;
        let hooks = store.issue_mail_hooks(space.space_id).await?;
        let hook = hooks.into_iter().find(|hook| hook.id == command.id).ok_or_else(no_mail_hook)?;
        let mut change = Change::new();
        change.issue_mail_hook_remove(hook.id);
        audit(&mut change, turn, &hook, "issue_mail_hook.deleted");
        turn.commit(change).await
    }
}
