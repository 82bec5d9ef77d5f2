//! Mail of service desks, both ways.
//!
//! What comes for a desk is read by a job ([`DeskMail`]) that decides what it is about and asks the space for a request
//! ([`RaiseByMail`]) or the request for a comment ([`AnswerByMail`]); each takes the message from the letterbox in its own commit.
//! What the people of a request are told leaves an entry of the work queue, and [`DeskMailing`] writes the message. A message that
//! a program wrote is answered by none.

mod address;
mod answering;
mod arriving;
mod author;
mod hooks;
mod mailing;
mod raising;

use domain::{
    Result, Timestamp,
    id::{AttachmentId, IssueCommentId, OrgId, SpaceId, UserId},
    issues::{
        issue::Issue,
        mailing::Letter,
        portal::{NewAttachment, PARTICIPANTS_MAX},
    },
    mail::{Arrival, Outcome},
};
use store::{
    Change, Store,
    blobs::contents::NewContent,
    issues::{Attachment, IssueMessage},
};

pub(crate) use self::address::follow;
use self::author::Author;
pub use self::{
    answering::{AnswerByMail, Answered},
    arriving::{DeskMail, ISSUE_MAIL},
    hooks::{DeleteMailHook, MakeMailHook},
    mailing::{DeskMailing, ISSUE_MAILING},
    raising::RaiseByMail,
};

/// A file of a message.
#[derive(Clone, Debug)]
pub struct LetterFile {
    file: NewAttachment,
    content: NewContent,
}

/// Who gets a copy of a message.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    people: Vec<UserId>,
    addresses: Vec<String>,
}

/// A message to a desk, with all that is known of it.
#[derive(Clone, Debug)]
pub struct DeskLetter {
    org_id: OrgId,
    space_id: SpaceId,
    arrival: Arrival,
    letter: Letter,
    author: Author,
    files: Vec<LetterFile>,
    /// Files that the request has no room for.
    left_out: usize,
    copies: Copies,
}

impl DeskLetter {
    /// Whose name what it becomes stands in: nobody's where its sender has no account, or nobody vouches for the message.
    fn by(&self) -> UserId {
        self.author.person().unwrap_or(UserId::NIL)
    }

    /// Whether its sender is told that it came: not where the message says to be of somebody who didn't send it.
    fn is_answered(&self) -> bool {
        let verdict = &self.arrival.verdict;
        !self.letter.is_automatic && verdict.dmarc != Outcome::Fail && verdict.spf != Outcome::Fail
    }

    /// What it says.
    fn body(&self) -> String {
        let note = match self.left_out {
            0 => String::new(),
            1 => "\n\n[A file of this message was left out.]".to_owned(),
            some => format!("\n\n[{some} files of this message were left out.]"),
        };
        self.letter.body(&note)
    }

    /// Has those take part who got a copy, as far as there is room; answers the people among them.
    fn invite(&self, issue: &mut Issue) -> Vec<UserId> {
        let room = |issue: &Issue| issue.participants.len() + issue.email_participants.len() < PARTICIPANTS_MAX;
        let mut invited = Vec::new();
        for person in &self.copies.people {
            let is_there = issue.reporter_id == Some(*person) || issue.participants.contains(&person.to_string());
            if !is_there && room(issue) {
                issue.participants.push(person.to_string());
                invited.push(*person);
            }
        }
        for address in &self.copies.addresses {
            let is_there =
                issue.requester_email.as_ref() == Some(address) || issue.email_participants.contains(address);
            if !is_there && room(issue) {
                issue.email_participants.push(address.clone());
            }
        }
        invited
    }

    /// Has the files of the message be files of the issue.
    fn attach(&self, change: &mut Change, issue: &Issue, public: bool, now: Timestamp) {
        for LetterFile { file, content } in &self.files {
            let attachment = Attachment {
                id: AttachmentId::new(now),
                issue_id: issue.issue_id,
                org_id: self.org_id,
                name: file.name.clone(),
                size: file.size,
                content_type: file.content_type.clone(),
                public,
                content: None,
                added_by: self.by(),
                created_at: now,
                completed_at: None,
            };
            change.issue_attachment_add(&attachment);
            change.issue_attachment_fill(&attachment, content, now);
            change.issue_attachment_complete(attachment.id, now);
        }
    }

    /// Takes the message from the letterbox and keeps what it is about.
    fn filed(&self, change: &mut Change, issue: &Issue, comment_id: Option<IssueCommentId>, now: Timestamp) {
        change.mail_arrivals_remove([self.arrival.id]);
        change.mail_raw_release(now, [self.arrival.raw_id]);
        change.issue_message_add(&IssueMessage {
            issue_id: issue.issue_id,
            org_id: self.org_id,
            space_id: self.space_id,
            message_id: self.letter.message_id.clone(),
            address: self.author.email.clone(),
            is_out: false,
            comment_id,
            at: now,
        });
    }
}

/// Whether a message about the space's requests came already.
async fn is_known(store: &Store, letter: &DeskLetter) -> Result<bool> {
    let hash = domain::mail::MessageIdHash::of(&letter.letter.message_id);
    Ok(store.issue_message_known(letter.space_id, letter.org_id, &hash).await?.is_some())
}
