//! A message that begins a request.

use std::sync::Arc;

use domain::{
    Error, Result,
    issues::{
        issue::excerpt,
        portal::{REQUEST_DESCRIPTION_LEN_MAX, RequestType},
        space::Space,
    },
};
use kernel::{Command, Handle, Turn};
use store::issues::StoredIssue;

use super::{DeskLetter, is_known};
use crate::{
    portal::{lead_takes, tell_raised},
    space::{Begun, IssueSpace, begin, blank},
};

/// Raises a request by mail. One that is there already is not raised again.
#[derive(Clone, Debug)]
pub struct RaiseByMail {
    /// The message.
    pub letter: Arc<DeskLetter>,
    /// The key of the request that it answers and that is over for too long.
    pub follows: Option<String>,
}

impl Command for RaiseByMail {
    type Reply = ();

    const NAME: &'static str = "raise_issue_request_by_mail";
}

impl RaiseByMail {
    /// What the message says, as an issue.
    fn fill(&self, stored: &mut StoredIssue, kind: &RequestType) {
        let (it, issue) = (&self.letter, &mut stored.issue);
        let mut description = it.body();
        if let Some(key) = &self.follows {
            let note = format!("\n\n[This follows {key}.]");
            let room = REQUEST_DESCRIPTION_LEN_MAX.saturating_sub(note.chars().count());
            description = description.chars().take(room).chain(note.chars()).collect();
        }
        issue.summary = it.letter.summary();
        issue.excerpt = excerpt(&description);
        issue.type_id.clone_from(&kind.issue_type_id);
        issue.request_type_id = Some(kind.id.clone());
        issue.channel = Some("email".to_owned());
        if it.author.person().is_none() {
            issue.reporter_id = None;
            issue.creator_id = None;
            issue.requester_email = Some(it.author.email.clone());
            issue.requester_unverified = !it.author.is_verified;
        }
        issue.attachment_count = i64::try_from(it.files.len()).unwrap_or(i64::MAX);
        stored.description = description;
    }
}

/// What a desk makes of messages; 409 where it takes none any more.
fn kind_of(space: &Space) -> Result<&RequestType> {
    let desk = space.config.servicedesk.as_ref().filter(|_| !space.archived);
    let kind = desk.and_then(|desk| desk.request_type(&desk.email.as_ref()?.request_type_id));
    kind.ok_or_else(|| Error::conflict("takes_no_mail", "The desk of this space takes no mail."))
}

impl Handle<RaiseByMail> for IssueSpace {
    async fn handle(&mut self, command: &RaiseByMail, turn: &mut Turn<'_, Self>) -> Result<()> {
        let it = &command.letter;
        let (store, now, by) = (&turn.services().store, turn.now(), it.by());
        let gone = || Error::conflict("takes_no_mail", "The desk of this space takes no mail.");
        let space = store.issue_space(it.org_id, *turn.key()).await?.ok_or_else(gone)?;
        let kind = kind_of(&space)?;
        if is_known(store, it).await? {
            return Ok(());
        }
        let settings = store.issue_catalog(it.org_id).await?.settings;
        let mut stored = blank(&space, &settings, by, now);
        command.fill(&mut stored, kind);
        let invited = it.invite(&mut stored.issue);
        lead_takes(store, &space, &mut stored.issue).await?;
        begin(&space, &settings, &mut stored.issue, now)?;
        let begun = Begun { space: &space, by, cause: "mail", requester: Some(by) };
        let mut change = begun.change(store, &mut stored, now).await?;
        let issue = &stored.issue;
        for person in invited {
            change.issue_participant_add(issue.issue_id, person, (by, now));
        }
        it.attach(&mut change, issue, true, now);
        it.filed(&mut change, issue, None, now);
        if it.is_answered() {
            tell_raised(&mut change, (&space, issue), now);
        }
        turn.commit(change).await
    }
}
