//! Issue tracking (contract B 2.1 to 2.3, 4.1 to 4.3): who owns what.
//!
//! The [catalog](IssueCatalog) of an organization owns its settings and decides which spaces and filters there are. A
//! [space](IssueSpace) owns its configuration and gives issues their numbers. An [issue](IssueOwner) owns all that is its own. A
//! [filter](IssueFilter) owns its name, query, sharing and stars.

mod access;
mod approvals;
mod boards;
mod bulk;
mod catalog;
mod clocks;
pub mod closing;
mod comments;
mod components;
mod export;
mod fields;
mod filter;
mod following;
mod import;
mod issue;
mod links;
mod mail;
mod moving;
mod named;
mod parts;
mod people;
pub mod portal;
mod ranks;
mod related;
mod removal;
mod search;
mod space;
mod sprints;
mod subscription;
mod telling;
mod trash;
mod versions;
mod waking;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

pub use self::{
    access::{Sight, sight},
    approvals::{DecideApproval, DecisionMade},
    boards::{BoardPatch, ChangeBoard, CreateBoard, RemoveBoard},
    bulk::{BULK_CHANGES, BulkChanges, BulkOne, CancelBulk, StartBulk, UNDO_KEPT, bulk_seen, found_for_bulk},
    catalog::{CreateFilter, CreateSpace, IssueCatalog, PutSettings},
    comments::{AddComment, DeleteComment, EditComment},
    components::{ChangeComponent, ComponentPatch, CreateComponent, RemoveComponent},
    export::{Export, NoteExport},
    fields::IssueFields,
    filter::{ChangeFilter, DeleteFilter, FilterPatch, IssueFilter, StarFilter, SubscribeFilter},
    following::{VoteIssue, WatchIssue},
    import::{ImportIssues, ImportOutcome, ImportedRow},
    issue::{BlockedTransition, ChangeIssue, DeleteIssue, IssueOwner, Moved, TransitionIssue, transitions_of},
    links::{AddLink, RemoveLink},
    mail::{
        AnswerByMail, Answered, DeleteMailHook, DeskLetter, DeskMail, DeskMailing, ISSUE_MAIL, ISSUE_MAILING,
        MakeMailHook, RaiseByMail,
    },
    moving::{Destination, MoveIssue},
    ranks::RankIssues,
    search::{Asked, count, search},
    space::{ArchiveSpace, ChangeSpace, CreateIssue, IssueSpace, SpacePatch},
    sprints::{ChangeSprint, CompleteSprint, CreateSprint, RemoveSprint, SprintPatch, SprintReport, StartSprint},
    trash::RestoreIssue,
    versions::{ChangeVersion, CreateVersion, ReleaseVersion, RemoveVersion, VersionPatch},
};

/// What goes over all areas knows of issue tracking.
pub const AREA: Area = Area {
    purges: removal::purges,
    jobs: &[
        removal::ISSUES_REMOVAL,
        closing::ISSUE_CLOSING,
        waking::CLOCKS_WAKING,
        sprints::SPRINT_CLOSING,
        ranks::RANKS_EVENING,
        bulk::BULK_CHANGES,
        mail::ISSUE_MAIL,
        mail::ISSUE_MAILING,
    ],
    lanes,
    deletes_organization: removal::delete_issues_after,
    ..Area::named("issues")
};

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![
        job::lane(services.store.clone(), removal::ISSUES_REMOVAL, removal::IssuesRemoval),
        job::lane(services.store.clone(), waking::CLOCKS_WAKING, waking::ClocksWaking),
        job::lane(services.store.clone(), sprints::SPRINT_CLOSING, sprints::SprintClosing),
        job::lane(services.store.clone(), ranks::RANKS_EVENING, ranks::RanksEvening),
        job::lane(services.store.clone(), mail::ISSUE_MAILING, DeskMailing(services.clone())),
    ]
}
