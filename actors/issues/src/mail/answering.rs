//! A message that is about a request which is there.

use std::sync::Arc;

use domain::{
    Error, Result,
    id::IssueCommentId,
    issues::{
        issue::Comment,
        limits::COMMENTS_MAX,
        portal::{ServiceDesk, reply},
        sla::Said,
        space::Space,
    },
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    issues::{IssueChanged, MailComment, StoredIssue},
};

use super::{DeskLetter, is_known};
use crate::{
    approvals,
    clocks::{Clocks, Happened},
    fields::touched,
    issue::{IssueOwner, definition_of, moved},
    portal::{Besides, tell_written},
};

/// Writes what a message says as a comment. The people of the request read it only where one of them wrote it; what a program wrote
/// is for members.
#[derive(Clone, Debug)]
pub struct AnswerByMail(pub Arc<DeskLetter>);

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It is a comment.
    Written,
    /// The request is gone, or over for too long: its key.
    Over(Option<String>),
    /// The request has no room for more.
    Full,
}

impl Command for AnswerByMail {
    type Reply = Answered;

    const NAME: &'static str = "answer_issue_by_mail";
}

impl AnswerByMail {
    /// The desk, where the people of the request read the message.
    fn public<'s>(&self, space: &'s Space, stored: &StoredIssue) -> Option<&'s ServiceDesk> {
        let is_public = !self.0.letter.is_automatic && self.0.author.takes_part(&stored.issue);
        space.config.servicedesk.as_ref().filter(|_| is_public)
    }
}

impl Handle<AnswerByMail> for IssueOwner {
    async fn handle(&mut self, command: &AnswerByMail, turn: &mut Turn<'_, Self>) -> Result<Answered> {
        let it = &command.0;
        let (store, now, by) = (&turn.services().store, turn.now(), it.by());
        let Some(stored) = store.issue(it.org_id, *turn.key()).await? else { return Ok(Answered::Over(None)) };
        let over = || Answered::Over(Some(stored.issue.key.clone()));
        let space = store.issue_space(it.org_id, stored.issue.space_id).await?;
        let Some(space) = space.filter(|space| !space.archived) else { return Ok(over()) };
        if is_known(store, it).await? {
            return Ok(Answered::Written);
        }
        if u64::try_from(stored.issue.comment_count).unwrap_or(0) >= COMMENTS_MAX {
            return Ok(Answered::Full);
        }
        let desk = command.public(&space, &stored);
        let workflow = definition_of(&space, &stored.issue)
            .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
        let leads_to = match desk.map(|desk| reply(desk, &stored.issue, &workflow, now)).transpose() {
            Ok(leads_to) => leads_to.flatten(),
            Err(_) => return Ok(over()),
        };
        let comment = comment(it, &stored, desk.is_some(), now);
        let mut after = stored.clone();
        after.issue.comment_count += 1;
        after.issue.attachment_count += i64::try_from(it.files.len()).unwrap_or(0);
        let invited = if desk.is_some() { it.invite(&mut after.issue) } else { Vec::new() };
        if let Some(status) = &leads_to {
            let settings = store.issue_catalog(it.org_id).await?.settings;
            moved(&mut after.issue, &workflow, status, &settings, now);
        }
        touched(&mut after, now);
        let said = desk.is_some().then_some(Said::ByCustomer);
        let happened = Happened { before: Some(&stored.issue), said };
        let followed = approvals::follow(store, &space, (Some(&stored.issue), &mut after.issue), now).await?;
        let clocks = Clocks::follow(store, &space, (happened, &mut after.issue), now).await?;
        let mut change = Change::new();
        change.issue_set(&after, &stored);
        clocks.write(&mut change, (&space, &after.issue), now);
        let changed = IssueChanged { before: &stored, after: &after, by, cause: "mail", at: now };
        change.issue_history_add(changed);
        followed.write(&mut change, store, (changed, &space)).await?;
        change.issue_comment_add(&after.issue, &comment);
        change.issue_mail_comment_add(after.issue.issue_id, &known(it, &comment));
        for person in invited {
            change.issue_participant_add(after.issue.issue_id, person, (by, now));
        }
        it.attach(&mut change, &after.issue, comment.public, now);
        it.filed(&mut change, &after.issue, Some(comment.comment_id), now);
        let besides = Besides { person: Some(by), address: Some(&it.author.email) };
        tell_written(&mut change, store, &after.issue, ((&comment, now), besides)).await?;
        turn.commit(change).await?;
        Ok(Answered::Written)
    }
}

fn comment(it: &DeskLetter, stored: &StoredIssue, public: bool, now: domain::Timestamp) -> Comment {
    Comment {
        comment_id: IssueCommentId::new(now),
        issue_id: stored.issue.issue_id,
        author_id: it.by(),
        body: it.body(),
        public,
        version: 1,
        created_at: now,
        updated_at: now,
    }
}

fn known(it: &DeskLetter, comment: &Comment) -> MailComment {
    MailComment {
        comment_id: comment.comment_id,
        email: it.author.email.clone(),
        unverified: !it.author.is_verified,
        quoted: it.letter.quoted.clone(),
    }
}
