//! Mail that hooks of service desks bring: it arrives in the desk's letterbox, as what comes to the desk's address does.

use std::time::Duration;

use actors_base::Services;
use actors_mail::{HandedMail, take_handed};
use domain::{Result, issues::mailing::no_mail_hook};
use store::{Change, CommitError, issues::IssueMailHook};

/// How often it is noted that a hook is used.
const USED_EVERY: Duration = Duration::from_secs(60);

/// Where mail of hooks comes in.
#[derive(Clone)]
pub struct IssueMailDoor(pub(crate) Services);

impl IssueMailDoor {
    /// Takes a message in: it is committed when this answers `true`. `false` where one with its Message-ID came by a hook of the desk
    /// before.
    ///
    /// # Errors
    /// 404 where the hook is gone by then.
    pub async fn take(&self, hook: &IssueMailHook, mail: HandedMail) -> Result<bool> {
        let (store, message) = (&self.0.store, mail.message_id());
        if store.issue_mail_is_seen(hook.space_id, &message).await? {
            return Ok(false);
        }
        let found = store.issue_mail_box_of(hook.space_id).await?.ok_or_else(no_mail_hook)?;
        let (mut change, now) = (Change::new(), store.now());
        change.issue_mail_seen_add((hook.org_id, hook.space_id), &message, now);
        if hook.last_used_at.is_none_or(|at| at.after(USED_EVERY) <= now) {
            change.issue_mail_hook_used(hook.id, now);
        }
        let outcome = take_handed(&self.0, (hook.org_id, found.mailbox_id), mail, change).await;
        if matches!(outcome, Err(CommitError::Stale)) {
            // Another copy of it was faster, or the hook was deleted.
            let is_seen = store.issue_mail_is_seen(hook.space_id, &message).await?;
            return if is_seen { Ok(false) } else { Err(no_mail_hook()) };
        }
        outcome?;
        Ok(true)
    }
}
