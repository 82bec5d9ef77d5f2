//! Mail of service desks: their letterboxes and hooks, which message is about which request, and what was refused.

mod boxes;
mod hooks;
mod messages;
mod refused;

use domain::{
    id::{IssueId, MailboxId, OrgId, UserId},
    mail::RawId,
};
use serde::{Deserialize, Serialize};

pub use self::{
    boxes::IssueMailBox,
    hooks::IssueMailHook,
    messages::{IssueMessage, MailComment},
    refused::RefusedMail,
};

/// The topic of the jobs that make requests and comments of what came for a desk.
pub const ISSUES_MAIL: &str = "issues.mail";
/// The topic of the jobs that write to the people of requests.
pub const ISSUES_MAILING: &str = "issues.mailing";

/// Whose letterbox a job empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuesMail {
    /// Whose.
    pub org_id: OrgId,
    /// Which one.
    pub mailbox_id: MailboxId,
}

/// Who is written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MailTo {
    /// A person, at the address that they have then.
    Person(UserId),
    /// An address.
    Address(String),
}

/// What a job does about mail that leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub enum IssuesMailing {
    /// Writes to somebody about a request.
    #[serde(rename_all = "camelCase")]
    Write {
        /// The organization.
        org_id: OrgId,
        /// The request.
        issue_id: IssueId,
        /// To whom.
        to: MailTo,
        /// What: public words only.
        body: String,
    },
    /// Lets the bytes of a message go that was tried for as long as any is.
    #[serde(rename_all = "camelCase")]
    Release {
        /// They.
        raw_id: RawId,
    },
}
