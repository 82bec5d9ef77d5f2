//! A comment by the people of a request, which all of them read.

use domain::{
    Error, Result,
    id::{IssueCommentId, OrgId},
    issues::{
        issue::Comment,
        limits::COMMENTS_MAX,
        portal::{REPLY_LEN, reply},
        sla::Said,
    },
};
use kernel::{Command, Handle, Turn};
use store::{Change, issues::IssueChanged};

use super::{Opened, tell_said};
use crate::{
    approvals,
    clocks::{Clocks, Happened},
    fields::touched,
    issue::{IssueOwner, definition_of, moved},
};

/// Writes a public comment on a request. One that waited for it, or was over, is worked on again.
#[derive(Clone, Debug)]
pub struct ReplyToRequest {
    /// The organization.
    pub org_id: OrgId,
    /// Markdown.
    pub body: String,
}

impl Command for ReplyToRequest {
    type Reply = ();

    const NAME: &'static str = "reply_to_issue_request";
}

impl Handle<ReplyToRequest> for IssueOwner {
    async fn handle(&mut self, command: &ReplyToRequest, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Opened { person, space, desk, stored } = Opened::of(turn, command.org_id).await?;
        let (body, now) = (command.body.trim().to_owned(), turn.now());
        if !REPLY_LEN.contains(&body.chars().count()) || body.contains('\0') {
            return Err(Error::invalid("body", "Use 1 to 32000 characters."));
        }
        let workflow = definition_of(&space, &stored.issue)
            .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
        let leads_to = reply(&desk, &stored.issue, &workflow, now)?;
        if u64::try_from(stored.issue.comment_count).unwrap_or(0) >= COMMENTS_MAX {
            return Err(Error::bad_request("limit_reached", format!("A request has at most {COMMENTS_MAX} comments.")));
        }
        let comment = Comment {
            comment_id: IssueCommentId::new(now),
            issue_id: stored.issue.issue_id,
            author_id: person,
            body,
            public: true,
            version: 1,
            created_at: now,
            updated_at: now,
        };
        let mut after = stored.clone();
        after.issue.comment_count += 1;
        if let Some(status) = &leads_to {
            let settings = turn.services().store.issue_catalog(command.org_id).await?.settings;
            moved(&mut after.issue, &workflow, status, &settings, now);
        }
        touched(&mut after, now);
        let mut change = Change::new();
        let (store, happened) =
            (&turn.services().store, Happened { before: Some(&stored.issue), said: Some(Said::ByCustomer) });
        let followed = approvals::follow(store, &space, (Some(&stored.issue), &mut after.issue), now).await?;
        let clocks = Clocks::follow(store, &space, (happened, &mut after.issue), now).await?;
        change.issue_set(&after, &stored);
        clocks.write(&mut change, (&space, &after.issue), now);
        let changed = IssueChanged { before: &stored, after: &after, by: person, cause: "person", at: now };
        change.issue_history_add(changed);
        followed.write(&mut change, store, (changed, &space)).await?;
        change.issue_comment_add(&after.issue, &comment);
        tell_said(&mut change, store, &after.issue, (&comment, now)).await?;
        turn.commit(change).await
    }
}
