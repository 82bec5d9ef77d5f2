//! The kinds of long work that there are, and the lanes of those that no area's descriptor can have.

use std::sync::Arc;

use actors_base::{
    Services,
    work::{
        Lane,
        job::{self, Topic},
    },
};
use actors_calendar::{CALENDAR_ARRIVALS_JOB, CALENDAR_SCHEDULING, CalendarMail, Calendars, SchedulingLane};
use actors_git::{
    MERGES_WANTED, OWNERS_ASKED, OwnersAsking, PACK_JOINING, PACKS_LOOKED_AT, PackJoining, PackLooking, TEST_MERGES,
    TestMerges, WaitingMerges, host::GitHost,
};
use actors_issues::{
    BULK_CHANGES, BulkChanges, DeskMail, ISSUE_MAIL, IssueOwner,
    closing::{ISSUE_CLOSING, IssueClosing},
};
use actors_mail::{
    CALENDAR_POSTING_JOB, CalendarPosting, DOMAIN_LOOKS, MAIL_EXPORT, MAIL_FILING_JOB, MAIL_FILTERING, MAIL_IMPORT,
    MAIL_SENDING_JOB, MailDomains, MailExporter, MailFiler, MailFilters, MailImporter, MailSender,
};
use actors_pages::imports::{Imports, PAGES_IMPORT};
use actors_pipelines::{PIPELINE_EVENTS, PIPELINE_TRIGGERS, Run, RunNudges, Triggers};
use kernel::Registry;

use crate::{
    areas::AREAS,
    housekeeping::{HOUSEKEEPING, HousekeepingJob},
};

/// The topics of all jobs: those of the areas, and housekeeping.
pub fn topics() -> impl Iterator<Item = Topic> {
    AREAS.iter().flat_map(|area| area.jobs).copied().chain([HOUSEKEEPING])
}

/// The topic of this name.
pub fn topic(name: &str) -> Option<Topic> {
    topics().find(|topic| topic.name == name)
}

/// The lane on which a node keeps the house.
pub(crate) fn housekeeping_lane(services: &Services) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), HOUSEKEEPING, HousekeepingJob::new(services))
}

/// The lane on which a node makes pages of archives; this job asks actors.
pub(crate) fn import_lane(services: &Services, imports: Imports) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PAGES_IMPORT, imports)
}

/// The lane on which a node joins packs of repositories, in its own folders.
pub(crate) fn pack_lane(services: &Services, git: GitHost) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PACK_JOINING, PackJoining(git))
}

/// The lane on which a node looks for packs of repositories that are gone; this job asks actors.
pub(crate) fn lost_packs_lane(services: &Services, looking: PackLooking) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PACKS_LOOKED_AT, looking)
}

/// The lane on which a node starts the runs of pushes and pull requests; this job asks actors.
pub(crate) fn trigger_lane(services: &Services, triggers: Triggers) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PIPELINE_TRIGGERS, triggers)
}

/// The lane on which a node asks who owns what pull requests change; this job asks actors.
pub(crate) fn owners_lane(services: &Services, asking: OwnersAsking) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), OWNERS_ASKED, asking)
}

/// The lane on which a node merges what waits for it; this job asks actors.
pub(crate) fn merge_lane(services: &Services, merges: WaitingMerges) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MERGES_WANTED, merges)
}

/// The lane on which a node has issues be closed that pushes name; this job asks actors.
pub(crate) fn closing_lane(services: &Services, closing: IssueClosing) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), ISSUE_CLOSING, closing)
}

/// The lane on which a node empties the letterboxes of desks; this job asks actors.
pub(crate) fn desk_lane(services: &Services, mail: DeskMail) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), ISSUE_MAIL, mail)
}

/// The lane on which a node makes test merges of pull requests anew; this job asks actors.
pub(crate) fn merges_lane(services: &Services, merges: TestMerges) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), TEST_MERGES, merges)
}

/// The lane on which a node tells runs of each other; this job asks actors.
pub(crate) fn nudge_lane(services: &Services, runs: Registry<Run>) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PIPELINE_EVENTS, RunNudges(runs))
}

/// The lane on which a node has calendars look at what goes between organizers and guests; this job asks actors.
pub(crate) fn scheduling_lane(services: &Services, calendars: Registry<Calendars>) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), CALENDAR_SCHEDULING, SchedulingLane(calendars))
}

/// The lane on which a node has calendars look at what came by mail; this job asks actors.
pub(crate) fn calendar_arrivals_lane(services: &Services, arrivals: CalendarMail) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), CALENDAR_ARRIVALS_JOB, arrivals)
}

/// The lane on which a node has mailboxes send what their calendars say; this job asks actors.
pub(crate) fn calendar_posting_lane(services: &Services, posting: CalendarPosting) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), CALENDAR_POSTING_JOB, posting)
}

/// The lane on which a node looks at the records of domains; this job asks actors.
pub(crate) fn domain_lane(services: &Services, domains: MailDomains) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), DOMAIN_LOOKS, domains)
}

/// The lane on which a node has mailboxes file what arrived; this job asks actors.
pub(crate) fn filing_lane(services: &Services, filer: MailFiler) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MAIL_FILING_JOB, filer)
}

/// The lane on which a node applies filters to what is in mailboxes; this job asks actors.
pub(crate) fn filters_lane(services: &Services, filters: MailFilters) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MAIL_FILTERING, filters)
}

/// The lane on which a node sends what mailboxes sent; this job asks actors.
pub(crate) fn sending_lane(services: &Services, sender: MailSender) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MAIL_SENDING_JOB, sender)
}

/// The lane on which a node imports mail; this job asks actors.
pub(crate) fn mail_import_lane(services: &Services, importer: MailImporter) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MAIL_IMPORT, importer)
}

/// The lane on which a node exports mailboxes; this job needs the processor's pool.
pub(crate) fn mail_export_lane(services: &Services, exporter: MailExporter) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MAIL_EXPORT, exporter)
}

/// The lane on which a node changes many issues; this job asks actors.
pub(crate) fn bulk_lane(services: &Services, issues: Registry<IssueOwner>) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), BULK_CHANGES, BulkChanges(issues))
}
