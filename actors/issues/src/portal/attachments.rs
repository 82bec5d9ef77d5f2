//! Files of a request: begun, sent to a signed address, completed.

use domain::{
    Error, Result,
    id::{AttachmentId, OrgId},
    issues::portal::{
        ATTACHMENT_NOT_FOUND, ATTACHMENTS_MAX, ATTACHMENTS_PER_HOUR, AttachmentAsked, COUNTED_FOR, NewAttachment,
        UPLOAD_KEPT_FOR,
    },
};
use kernel::{Command, Handle, Resource, TimerFired, Turn};
use store::{Change, blobs::contents::NewContent, issues::Attachment};

use super::{Opened, news::tell_touched};
use crate::{fields::touched, issue::IssueOwner};

/// Begins a file of a request.
#[derive(Clone, Debug)]
pub struct BeginAttachment {
    /// The organization.
    pub org_id: OrgId,
    /// What its sender says of it.
    pub asked: AttachmentAsked,
}

/// Keeps the bytes of a file that was begun; those that came before go.
#[derive(Clone, Debug)]
pub struct KeepAttachment {
    /// The organization.
    pub org_id: OrgId,
    /// The file.
    pub id: AttachmentId,
    /// Its bytes.
    pub content: NewContent,
}

/// Has a file be there for everybody who reads the request.
#[derive(Clone, Copy, Debug)]
pub struct CompleteAttachment {
    /// The organization.
    pub org_id: OrgId,
    /// The file.
    pub id: AttachmentId,
}

impl Command for BeginAttachment {
    type Reply = Attachment;

    const NAME: &'static str = "begin_issue_attachment";
}

impl Command for KeepAttachment {
    type Reply = ();

    const NAME: &'static str = "keep_issue_attachment";
}

impl Command for CompleteAttachment {
    type Reply = ();

    const NAME: &'static str = "complete_issue_attachment";
}

/// A file of the request that whoever asks began.
async fn own(turn: &Turn<'_, IssueOwner>, opened: &Opened, id: AttachmentId) -> Result<Attachment> {
    let found = turn.services().store.issue_attachment(id).await?;
    let is_own = |it: &Attachment| it.issue_id == opened.stored.issue.issue_id && it.added_by == opened.person;
    found.filter(is_own).ok_or_else(|| Error::not_found(ATTACHMENT_NOT_FOUND))
}

impl Handle<BeginAttachment> for IssueOwner {
    async fn handle(&mut self, command: &BeginAttachment, turn: &mut Turn<'_, Self>) -> Result<Attachment> {
        let opened = Opened::of(turn, command.org_id).await?;
        let NewAttachment { name, size, content_type } = NewAttachment::check(&command.asked)?;
        let (store, now, issue) = (&turn.services().store, turn.now(), &opened.stored.issue);
        if store.issue_attachments_count(issue.issue_id).await? >= ATTACHMENTS_MAX {
            let message = format!("A request has at most {ATTACHMENTS_MAX} attachments.");
            return Err(Error::bad_request("limit_reached", message));
        }
        if store.issue_attachments_begun(opened.person, now.before(COUNTED_FOR)).await? >= ATTACHMENTS_PER_HOUR {
            let message = "That's as many attachments as an hour allows. Try again later.".into();
            return Err(Error::RateLimited { message, retry_after: COUNTED_FOR });
        }
        let attachment = Attachment {
            id: AttachmentId::new(now),
            issue_id: issue.issue_id,
            org_id: command.org_id,
            name,
            size,
            content_type,
            public: true,
            content: None,
            added_by: opened.person,
            created_at: now,
            completed_at: None,
        };
        let mut change = Change::new();
        change.issue_attachment_add(&attachment);
        let due = now.after(UPLOAD_KEPT_FOR);
        change.timer_set_for(command.org_id, IssueOwner::KIND, &turn.key().to_string(), &timer(attachment.id), due);
        turn.commit(change).await?;
        Ok(attachment)
    }
}

impl Handle<KeepAttachment> for IssueOwner {
    async fn handle(&mut self, command: &KeepAttachment, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let attachment = own(turn, &opened, command.id).await?;
        if attachment.completed_at.is_some() {
            return Err(Error::conflict("upload_over", "This upload is complete."));
        }
        if command.content.size() != attachment.size {
            return Err(Error::bad_request("wrong_size", format!("Send exactly {} bytes.", attachment.size)));
        }
        let mut change = Change::new();
        change.issue_attachment_fill(&attachment, &command.content, turn.now());
        turn.commit(change).await
    }
}

impl Handle<CompleteAttachment> for IssueOwner {
    async fn handle(&mut self, command: &CompleteAttachment, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let attachment = own(turn, &opened, command.id).await?;
        if attachment.completed_at.is_some() {
            return Ok(());
        }
        if attachment.content.is_none() {
            return Err(Error::conflict("upload_missing", "The upload isn't there yet."));
        }
        let (mut after, now) = (opened.stored.clone(), turn.now());
        after.issue.attachment_count += 1;
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, &opened.stored);
        change.issue_attachment_complete(attachment.id, now);
        change.timer_cancel(IssueOwner::KIND, &turn.key().to_string(), &timer(attachment.id));
        tell_touched(&mut change, &turn.services().store, &after.issue, now).await?;
        turn.commit(change).await
    }
}

/// What the timers of files are called.
const TIMER: &str = "upload:";

/// The timer that gives up a file which nobody completes.
fn timer(id: AttachmentId) -> String {
    format!("{TIMER}{id}")
}

impl Handle<TimerFired> for IssueOwner {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        if fired.name == crate::clocks::TIMER {
            return crate::clocks::look(turn).await;
        }
        let Some(Ok(id)) = fired.name.strip_prefix(TIMER).map(str::parse::<AttachmentId>) else { return Ok(()) };
        let found = turn.services().store.issue_attachment(id).await?;
        let Some(attachment) = found.filter(|it| it.completed_at.is_none()) else { return Ok(()) };
        let mut change = Change::new();
        change.issue_attachment_abandon(&attachment, turn.now());
        turn.commit(change).await
    }
}
