//! The kinds of long work that there are, and the lanes of those that no area's descriptor can have.

use std::sync::Arc;

use actors_base::{
    Services,
    work::{
        Lane,
        job::{self, Topic},
    },
};
use actors_calendar::{CALENDAR_SCHEDULING, Calendars, SchedulingLane};
use actors_git::{OWNERS_ASKED, OwnersAsking, PACK_JOINING, PackJoining, host::GitHost};
use actors_mail::{DOMAIN_LOOKS, MAIL_FILING_JOB, MailDomains, MailFiler};
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

/// The lane on which a node starts the runs of pushes and pull requests; this job asks actors.
pub(crate) fn trigger_lane(services: &Services, triggers: Triggers) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PIPELINE_TRIGGERS, triggers)
}

/// The lane on which a node asks who owns what pull requests change; this job asks actors.
pub(crate) fn owners_lane(services: &Services, asking: OwnersAsking) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), OWNERS_ASKED, asking)
}

/// The lane on which a node tells runs of each other; this job asks actors.
pub(crate) fn nudge_lane(services: &Services, runs: Registry<Run>) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), PIPELINE_EVENTS, RunNudges(runs))
}

/// The lane on which a node has calendars look at what goes between organizers and guests; this job asks actors.
pub(crate) fn scheduling_lane(services: &Services, calendars: Registry<Calendars>) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), CALENDAR_SCHEDULING, SchedulingLane(calendars))
}

/// The lane on which a node looks at the records of domains; this job asks actors.
pub(crate) fn domain_lane(services: &Services, domains: MailDomains) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), DOMAIN_LOOKS, domains)
}

/// The lane on which a node has mailboxes file what arrived; this job asks actors.
pub(crate) fn filing_lane(services: &Services, filer: MailFiler) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), MAIL_FILING_JOB, filer)
}
