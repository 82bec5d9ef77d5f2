//! Every kind of actor of a node, started and stopped together.

use std::{
    io,
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};

use actors_accounts::{
    machine_key::MachineKey,
    organization::{Organization, OrganizationServices},
    person::Person,
    sign_in::SignInGuard,
};
use actors_backup::Backup;
use actors_base::{
    Services, outbox,
    resources::ResourceBook,
    work::{Dispatcher, Lane, RunningDispatcher},
};
use actors_calendar::{CalendarMail, Calendars};
use actors_databases::KvSlot;
use actors_git::{OwnersAsking, PackLooking, Repository, TestMerges, WaitingMerges, host::GitHost};
use actors_issues::{DeskMail, IssueCatalog, IssueFilter, IssueOwner, IssueSpace, closing::IssueClosing};
use actors_mail::{
    CalendarPosting, MailChoices, MailDirectory, MailDomains, MailExporter, MailFiler, MailFilters, MailImporter,
    MailSender, MailWriting, MailboxOwner,
};
use actors_notify::{
    acknowledge::Acknowledgements, escalation::Escalation, fan_out, inbox::Inbox, protocols::Protocols,
};
use actors_pages::{
    comments::PageComments,
    imports::Imports,
    session::{PageServices, PageSession, Settle, StrandedLooker, UpdateWriters},
    tree::PageTree,
};
use actors_pipelines::{
    JobMasks, LostRunners, PipelineServices, PipelineValues, Run, RunnerPool, Triggers, WaitingRunners, Workflows,
};
use actors_pipelines::{files::JobFiles, logs::JobLog};
use actors_platform::{Platform, RunningPlatform};
use actors_storage::{Bucket, BucketLane, BucketUpload};
use actors_vault::Vault;
use domain::{Context, Origin};
use kernel::{Kernel, KernelOptions, Registry, ShutdownReport};

use crate::{
    areas::AREAS,
    git_commits::GitCommits,
    housekeeping::{Arm, House, Housekeeping, reads_lane, scrub_lane},
    issue_calendar::IssueCalendar,
    issue_mail::IssueMailDoor,
    jobs,
    pipeline_sources::GitSources,
    quarantine::telling_of_quarantines,
    test_merging::GitMerges,
};

/// How long arming the housekeeping's timer may take.
const ARM_TIMEOUT: Duration = Duration::from_mins(1);

/// All kinds of actor of a node. A cheap handle.
///
/// It hides the types of what it holds: the compiler would else look through the state of every kind of actor for each
/// function that carries the handle, which takes minutes.
#[derive(Clone)]
pub struct Actors(Arc<dyn Holds>);

trait Holds: Send + Sync {
    fn registries(&self) -> &Registries;
}

impl Holds for Registries {
    fn registries(&self) -> &Registries {
        self
    }
}

impl Deref for Actors {
    type Target = Registries;

    fn deref(&self) -> &Registries {
        self.0.registries()
    }
}

impl Actors {
    /// Starts all that a node that serves does: takes commands, delivers timers, the outbox and what people are to be told,
    /// keeps the house. Must be called on a tokio runtime that outlives the actors.
    ///
    /// # Errors
    /// When the operating system gives no threads.
    pub fn start(services: &Services, options: KernelOptions) -> io::Result<Self> {
        Ok(Self(Arc::new(Registries::start(services, options)?)))
    }

    /// Starts what an operator's command needs: it takes commands, and leaves timers, the outbox and deliveries to the nodes
    /// that serve, or to the next start. Must be called on a tokio runtime that outlives the actors.
    ///
    /// # Errors
    /// When the operating system gives no threads.
    pub fn for_commands(services: &Services, options: KernelOptions) -> io::Result<Self> {
        Ok(Self(Arc::new(Registries::for_commands(services, options)?)))
    }
}

/// The registries of all kinds of actor, and what else of the actors a node holds.
pub struct Registries {
    /// What runs them.
    pub kernel: Kernel,
    /// Acknowledging what somebody was told.
    pub acknowledgements: Acknowledgements,
    /// Buckets: moves of their files.
    pub bucket: Registry<Bucket>,
    /// Lanes of buckets: every write of one file.
    pub bucket_lane: Registry<BucketLane>,
    /// Uploads of files in parts.
    pub bucket_upload: Registry<BucketUpload>,
    /// Authenticator backups, by person.
    pub backup: Registry<Backup>,
    /// Calendars, by mailbox.
    pub calendars: Registry<Calendars>,
    /// Escalations.
    pub escalation: Registry<Escalation>,
    /// The one that throws away what is over.
    pub housekeeping: Registry<Housekeeping>,
    /// Imports of pages.
    pub imports: Imports,
    /// People's inboxes.
    pub inbox: Registry<Inbox>,
    /// Issues.
    pub issue: Registry<IssueOwner>,
    /// Time that is booked for issues.
    pub issue_calendar: IssueCalendar,
    /// Where mail comes in that hooks of desks bring.
    pub issue_mail: IssueMailDoor,
    /// Catalogs of issue tracking, by organization.
    pub issue_catalog: Registry<IssueCatalog>,
    /// Saved filters of issues.
    pub issue_filter: Registry<IssueFilter>,
    /// Spaces of issues.
    pub issue_space: Registry<IssueSpace>,
    /// Organizations.
    pub organization: Registry<Organization>,
    /// Artifacts and caches, by repository.
    pub job_files: Registry<JobFiles>,
    /// Logs of jobs.
    pub job_log: Registry<JobLog>,
    /// What must not be read of jobs.
    pub job_masks: JobMasks,
    /// Slots of the tables of key-value databases.
    pub kv_slot: Registry<KvSlot>,
    /// Domains and mailboxes, by organization.
    pub mail_directory: Registry<MailDirectory>,
    /// What people chose of their mailboxes, by organization and person.
    pub mail_choices: Registry<MailChoices>,
    /// Mailboxes: their conversations.
    pub mailbox: Registry<MailboxOwner>,
    /// What domains need beside their directory.
    pub mail_domains: MailDomains,
    /// Messages that people write and send.
    pub mail_writing: MailWriting,
    /// Keys of machines, which end.
    pub machine_key: Registry<MachineKey>,
    /// Comments on pages.
    pub page_comments: Registry<PageComments>,
    /// What pages say, and who edits them together.
    pub page_session: Registry<PageSession>,
    /// Trees of pages, by organization.
    pub page_tree: Registry<PageTree>,
    /// People's accounts.
    pub person: Registry<Person>,
    /// Secrets and variables of pipelines, by organization.
    pub pipeline_values: Registry<PipelineValues>,
    /// What operators ask of this node, and of the others.
    pub platform: Platform,
    /// Notification protocols and on-call rotas, by organization.
    pub protocols: Registry<Protocols>,
    /// Git repositories: who has a part in each.
    pub repository: Registry<Repository>,
    /// The objects of repositories, on this node.
    pub git: GitHost,
    /// Runs of workflows.
    pub run: Registry<Run>,
    /// Runners, by organization.
    pub runner_pool: Registry<RunnerPool>,
    /// Who waits for jobs, on this node.
    pub waiting_runners: WaitingRunners,
    /// Which runners fell silent over a job, on this node.
    pub lost_runners: LostRunners,
    /// Workflows, by repository.
    pub workflows: Registry<Workflows>,
    /// Books of resources, by organization.
    pub resource_book: Registry<ResourceBook>,
    /// Guards of sign-ins, by e-mail address.
    pub sign_in: Registry<SignInGuard>,
    /// Passwords vaults, by person.
    pub vault: Registry<Vault>,
    /// What works off the queue, on a node that serves.
    work: Option<Arc<RunningDispatcher>>,
    /// What writes co-edited pages down.
    update_writers: UpdateWriters,
    /// What has co-edited pages folded that nobody has open, on a node that serves.
    stranded_pages: Option<Arc<StrandedLooker>>,
    /// What tells operators and other nodes of this one, on a node that serves.
    platform_tasks: Option<Arc<RunningPlatform>>,
}

/// What a node works off without asking actors, in the order in which it stops: the outbox, what areas have, housekeeping,
/// the scrub, and the holds of what is read.
pub fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    let mut lanes = outbox::lanes(services, |services, claims| Box::pin(fan_out::deliver(services, claims)));
    lanes.extend(AREAS.iter().flat_map(|area| (area.lanes)(services)));
    lanes.push(jobs::housekeeping_lane(services));
    lanes.push(scrub_lane(services));
    lanes.push(reads_lane(services));
    lanes
}

impl Registries {
    fn start(services: &Services, options: KernelOptions) -> io::Result<Self> {
        let actors = Self::for_commands(services, options)?;
        let mut lanes = lanes(services);
        lanes.push(jobs::import_lane(services, actors.imports.clone()));
        lanes.push(jobs::pack_lane(services, actors.git.clone()));
        lanes.push(jobs::lost_packs_lane(services, PackLooking(actors.resource_book.clone())));
        let sources = Arc::new(GitSources { git: actors.git.clone(), cpu: actors.kernel.cpu().clone() });
        let test_merges = TestMerges { repository: actors.repository.clone(), git: actors.git.clone() };
        lanes.push(jobs::merges_lane(services, test_merges.clone()));
        let (workflows, merges) = (actors.workflows.clone(), Arc::new(GitMerges(test_merges)));
        lanes.push(jobs::trigger_lane(services, Triggers { workflows, sources, merges }));
        lanes.push(jobs::nudge_lane(services, actors.run.clone()));
        lanes.push(jobs::scheduling_lane(services, actors.calendars.clone()));
        let arrivals = CalendarMail { calendars: actors.calendars.clone(), cpu: actors.kernel.cpu().clone() };
        lanes.push(jobs::calendar_arrivals_lane(services, arrivals));
        let posting = CalendarPosting { mailboxes: actors.mailbox.clone(), cpu: actors.kernel.cpu().clone() };
        lanes.push(jobs::calendar_posting_lane(services, posting));
        lanes.push(jobs::domain_lane(services, actors.mail_domains.clone()));
        let filer = MailFiler { mailboxes: actors.mailbox.clone(), cpu: actors.kernel.cpu().clone() };
        lanes.push(jobs::filing_lane(services, filer));
        lanes.push(jobs::filters_lane(services, MailFilters { mailboxes: actors.mailbox.clone() }));
        let sender = MailSender::new(services.clone(), actors.kernel.cpu().clone(), actors.mailbox.clone());
        lanes.push(jobs::sending_lane(services, sender));
        let importer = MailImporter::new(services.clone(), actors.kernel.cpu().clone(), actors.mailbox.clone());
        lanes.push(jobs::mail_import_lane(services, importer));
        let exporter = MailExporter::new(services.clone(), actors.kernel.cpu().clone());
        lanes.push(jobs::mail_export_lane(services, exporter));
        let asking = OwnersAsking { repository: actors.repository.clone(), git: actors.git.clone() };
        lanes.push(jobs::owners_lane(services, asking));
        let merges = WaitingMerges { repository: actors.repository.clone(), git: actors.git.clone() };
        lanes.push(jobs::merge_lane(services, merges));
        lanes.push(jobs::bulk_lane(services, actors.issue.clone()));
        let (issues, spaces, cpu) = (actors.issue.clone(), actors.issue_space.clone(), actors.kernel.cpu().clone());
        lanes.push(jobs::desk_lane(services, DeskMail { issues, spaces, cpu }));
        let (issues, cpu) = (actors.issue.clone(), actors.kernel.cpu().clone());
        let commits = Arc::new(GitCommits(actors.git.clone()));
        lanes.push(jobs::closing_lane(services, IssueClosing { issues, commits, cpu }));
        let work = Arc::new(Dispatcher::new(services.store.clone(), lanes).start());
        let actors = Self { work: Some(work), ..actors };
        let platform_tasks = Some(Arc::new(actors.platform.clone().start()));
        let looker = StrandedLooker::start(services.store.clone(), actors.page_session.clone());
        let actors = Self { platform_tasks, stranded_pages: Some(Arc::new(looker)), ..actors };
        actors.kernel.deliver_timers_to(&actors.housekeeping);
        actors.kernel.deliver_timers_to(&actors.issue_filter);
        actors.kernel.deliver_timers_to(&actors.organization);
        actors.kernel.deliver_timers_to(&actors.protocols);
        actors.kernel.deliver_timers_to(&actors.mail_directory);
        actors.kernel.deliver_timers_to(&actors.mailbox);
        actors.kernel.deliver_timers_to(&actors.calendars);
        actors.kernel.deliver_timers_to(&actors.vault);
        actors.kernel.deliver_timers_to(&actors.bucket);
        actors.kernel.deliver_timers_to(&actors.bucket_upload);
        actors.kernel.deliver_timers_to(&actors.repository);
        actors.kernel.deliver_timers_to(&actors.job_files);
        actors.kernel.deliver_timers_to(&actors.run);
        actors.kernel.deliver_timers_to(&actors.runner_pool);
        actors.kernel.deliver_timers_to(&actors.workflows);
        actors.kernel.deliver_timers_to(&actors.machine_key);
        actors.kernel.deliver_timers_to(&actors.page_tree);
        actors.kernel.deliver_timers_to(&actors.escalation);
        actors.kernel.deliver_timers_to(&actors.issue);
        actors.kernel.start_timers();
        let context = Context::system(Origin::Actor, Instant::now() + ARM_TIMEOUT);
        if let Err(error) = actors.housekeeping.tell(&House, Arm, context) {
            tracing::warn!(%error, "housekeeping was not armed; the next start does so");
        }
        Ok(actors)
    }

    fn for_commands(services: &Services, options: KernelOptions) -> io::Result<Self> {
        let node = options.node.clone();
        let kernel = Kernel::start(services.store.clone(), telling_of_quarantines(options))?;
        let update_writers = UpdateWriters::default();
        let page_services = PageServices { services: services.clone(), update_writers: update_writers.clone() };
        let platform = Platform::new(services.clone(), kernel.clone(), node, jobs::topic);
        let pipelines = PipelineServices::new(services.clone(), kernel.cpu().clone());
        let page_tree = kernel.registry(services.clone());
        let calendars = kernel.registry(services.clone());
        let mail_directory = kernel.registry(services.clone());
        let mailbox = kernel.registry(services.clone());
        let (escalation, inbox) = (kernel.registry(services.clone()), kernel.registry(services.clone()));
        Ok(Self {
            acknowledgements: Acknowledgements::new(escalation.clone(), inbox.clone()),
            backup: kernel.registry(services.clone()),
            bucket: kernel.registry(services.clone()),
            bucket_lane: kernel.registry(services.clone()),
            bucket_upload: kernel.registry(services.clone()),
            issue_calendar: IssueCalendar(calendars.clone()),
            issue_mail: IssueMailDoor(services.clone()),
            calendars,
            escalation,
            housekeeping: kernel.registry(services.clone()),
            imports: Imports::new(services.clone(), page_tree.clone(), kernel.cpu().clone()),
            inbox,
            issue: kernel.registry(services.clone()),
            issue_catalog: kernel.registry(services.clone()),
            issue_filter: kernel.registry(services.clone()),
            issue_space: kernel.registry(services.clone()),
            job_files: kernel.registry(services.clone()),
            job_log: kernel.registry(services.clone()),
            job_masks: JobMasks::new(services.store.clone(), kernel.cpu().clone()),
            kv_slot: kernel.registry(services.clone()),
            organization: kernel.registry(OrganizationServices { services: services.clone(), areas: AREAS }),
            mail_choices: kernel.registry(services.clone()),
            mail_domains: MailDomains::new(services.clone(), kernel.cpu().clone(), mail_directory.clone()),
            mail_directory,
            mail_writing: MailWriting::new(services.clone(), kernel.cpu().clone(), mailbox.clone()),
            mailbox,
            machine_key: kernel.registry(services.clone()),
            page_comments: kernel.registry(services.clone()),
            page_session: kernel.registry(page_services),
            page_tree,
            person: kernel.registry(services.clone()),
            pipeline_values: kernel.registry(services.clone()),
            platform,
            platform_tasks: None,
            protocols: kernel.registry(services.clone()),
            repository: kernel.registry(services.clone()),
            git: GitHost::new(services),
            run: kernel.registry(pipelines.clone()),
            runner_pool: kernel.registry(pipelines.clone()),
            waiting_runners: pipelines.waiting.clone(),
            lost_runners: pipelines.lost_runners.clone(),
            workflows: kernel.registry(pipelines),
            resource_book: kernel.registry(services.clone()),
            update_writers,
            sign_in: kernel.registry(services.clone()),
            stranded_pages: None,
            vault: kernel.registry(services.clone()),
            work: None,
            kernel,
        })
    }

    /// Takes nothing new, lets what was taken finish and what it left in the outbox be delivered within `grace`, and
    /// ends; what was left.
    pub async fn shutdown(&self, grace: Duration) -> ShutdownReport {
        let until = Instant::now() + grace;
        if let Some(looker) = &self.stranded_pages {
            looker.stop();
        }
        if let Some(work) = &self.work {
            // A job ends at its next step, before the actors that it asks.
            work.interrupt();
        }
        // Half of the time, lest storage that hangs leaves none to whoever else has something in hand.
        futures::join!(self.settle_pages(until), self.imports.stop(grace / 2));
        let report = self.kernel.shutdown(until.saturating_duration_since(Instant::now())).await;
        self.update_writers.drain(until.saturating_duration_since(Instant::now())).await;
        if let Some(work) = &self.work {
            work.stop(until.saturating_duration_since(Instant::now())).await;
        }
        if let Some(platform) = &self.platform_tasks {
            platform.stop(until.saturating_duration_since(Instant::now())).await;
        }
        report
    }

    /// Has the pages that are open make their content from what was edited together.
    async fn settle_pages(&self, until: Instant) {
        let settled = self.update_writers.pages().into_iter().map(|page_id| async move {
            let context = Context::system(Origin::Actor, until);
            if let Err(error) = self.page_session.ask(&page_id, Settle, context).await {
                tracing::warn!(%error, page = %page_id, "a page was not folded; what was written of it is kept");
            }
        });
        futures::future::join_all(settled).await;
    }
}
