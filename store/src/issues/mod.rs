//! Issue tracking (contract B 2.1 to 2.3): catalogs, spaces, issues with their history, and what searches them.
//!
//! An issue is a narrow row of numbers, which is searched, and a document, which is answered. Whatever an issue has that stands in
//! a list (a status, a person, a label) has a number in `issue_values`, given once and kept; a commit that needs one gives it first.

mod agenda;
mod catalog;
mod clocks;
mod closing;
mod comments;
mod export;
mod filters;
mod former;
mod history;
mod imports;
mod jobs;
mod links;
mod mail;
mod parts;
mod portal;
mod ranks;
mod related;
mod removal;
mod rows;
mod search;
mod spaces;
mod sprints;
mod trash;

use domain::id::{IssueId, OrgId};

pub use self::{
    agenda::IssueDay,
    catalog::Catalog,
    clocks::clock_key,
    closing::{ISSUES_CLOSING, IssuesClosing},
    filters::{FilterOf, NamedFilter},
    history::{HistoryRow, IssueChanged},
    jobs::{IssueJob, IssueJobResult},
    links::IssueLink,
    mail::{
        ISSUES_MAIL, ISSUES_MAILING, IssueMailBox, IssueMailHook, IssueMessage, IssuesMail, IssuesMailing, MailComment,
        MailTo, RefusedMail,
    },
    parts::PartKind,
    portal::{
        Article, ArticleHit, Attachment, AttachmentAct, AttachmentAddress, AttachmentQuery, PortalRequest,
        RequestPlace, RequestState, RequestsAsked,
    },
    ranks::RankSide,
    rows::{ParentFacts, StoredIssue},
    search::{ClockNow, FoundIssues, FoundSeqs, IssueSearch, Orders},
    trash::{TrashAsked, TrashPlace, TrashedIssue},
};
use crate::{Change, Expect, sql::Sql};

/// The number of the value of a kind in the organization whose id is `$2`, as a part of a statement.
macro_rules! no_of {
    ($kind:literal, $place:literal) => {
        concat!("(SELECT no FROM issue_values WHERE org_id = $2 AND kind = '", $kind, "' AND value = ", $place, ")")
    };
}
use no_of;

/// A value of a kind: its id, and what people read where nothing else tells.
pub(crate) struct Known<'a> {
    pub kind: &'a str,
    pub value: String,
    pub label: String,
}

impl<'a> Known<'a> {
    #[expect(clippy::needless_pass_by_value, reason = "ids are small, and callers read better without a borrow")]
    pub fn new(kind: &'a str, value: impl ToString) -> Self {
        Self { kind, value: value.to_string(), label: String::new() }
    }
}

impl Change {
    /// Gives a value its number, unless it has one.
    pub(crate) fn issue_value_known(&mut self, org_id: OrgId, known: Known<'_>) {
        let statement = "INSERT INTO issue_values (org_id, kind, value, label) VALUES ($1, $2, $3, $4) \
                         ON CONFLICT (org_id, kind, value) DO NOTHING";
        let values = [org_id.to_string().into(), known.kind.to_owned().into(), known.value.into(), known.label.into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Runs a statement whose first value is the issue's id.
    pub(crate) fn on_issue(
        &mut self,
        statement: &'static str,
        id: IssueId,
        values: impl IntoIterator<Item = sea_orm::Value>,
    ) {
        let all = std::iter::once(id.to_string().into()).chain(values);
        self.run_statement(Sql::new(statement, all), Expect::Any);
    }
}
