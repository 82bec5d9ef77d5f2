//! The job that throws away what is over.

use std::{sync::Arc, time::Duration};

use actors_base::{
    Services, Settings,
    work::{
        clearing::Cleared,
        job::{Halt, Handler, Job, Topic},
    },
};
use domain::{
    Timestamp,
    notify::{ALERT_FORGOTTEN_AFTER, budget_day, phone},
    pages::import::IMPORT_KNOWN_FOR,
};
use store::{Change, Permits, Purge};

/// The job, of which there is one at a time.
pub const HOUSEKEEPING: Topic = Topic { permits: Permits::shared(1), ..Topic::new("housekeeping") };
/// How long a live message is kept for sockets that reconnect (decisions, "Sockets").
const LIVE_KEPT: Duration = Duration::from_hours(1);
/// How long a revocation is kept; caches forget within a second.
const REVOCATIONS_KEPT: Duration = Duration::from_hours(24);
/// How long a used signature is kept; one of that age is refused for its age (decisions, "Passwords vault").
const SIGNATURES_KEPT: Duration = Duration::from_mins(10);
/// How long failed attempts at accounts are kept; they count for a quarter of an hour and lock for another.
const ATTEMPTS_KEPT: Duration = Duration::from_hours(1);
/// How long dead letters are kept, counted from when the work was added.
const GIVEN_UP_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long messages that were kept instead of sent are kept.
const KEPT_MESSAGES_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long settled deliveries are kept, counted from when they were made.
const DELIVERIES_KEPT: Duration = Duration::from_hours(90 * 24);
/// How long it is known why a sign-in was ended: whoever doesn't come back for so long may read that they must sign in.
const ENDED_SIGN_INS_KEPT: Duration = Duration::from_hours(400 * 24);
/// How many days what was spent on texts and calls is kept.
const BUDGET_DAYS_KEPT: i64 = 35;

/// Throws away what is over when the job runs.
#[derive(Clone, Debug)]
pub struct HousekeepingJob {
    settings: Arc<Settings>,
}

impl HousekeepingJob {
    /// The job of a node with these services.
    pub(crate) fn new(services: &Services) -> Self {
        Self { settings: Arc::clone(&services.settings) }
    }
}

impl Handler for HousekeepingJob {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let mut cleared = Cleared::of(job)?;
        let mut failure = None;
        for purge in purges(job.store().now(), self.settings.audit_kept) {
            match cleared.clear(job, std::slice::from_ref(&purge)).await {
                Ok(()) => {}
                // What can't be thrown away keeps nothing else.
                Err(Halt::Later(error)) => {
                    tracing::warn!(what = purge.what, error, "what is over could not be thrown away; it comes again");
                    failure = Some(format!("{}: {error}", purge.what));
                }
                Err(halt) => return Err(halt),
            }
        }
        failure.map_or_else(|| Ok(Change::new()), |error| Err(Halt::Later(error)))
    }
}

/// What is over at `now`. The audit trail is kept for as long as operators say, or for ever.
fn purges(now: Timestamp, audit_kept: Option<Duration>) -> Vec<Purge> {
    let mut purges = vec![
        Purge::live_messages(now.before(LIVE_KEPT)),
        Purge::idempotency_keys(now.before(store::idempotency::KEPT_FOR)),
        Purge::sign_ins(now),
        Purge::ended_sign_ins(now.before(ENDED_SIGN_INS_KEPT)),
        Purge::push_devices(now),
        Purge::live_activities(now),
        Purge::phone_codes(now.before(phone::CODES_COUNTED_FOR)),
        Purge::attempts(now.before(ATTEMPTS_KEPT)),
        Purge::vault_signatures(now.before(SIGNATURES_KEPT)),
        Purge::revocations(now.before(REVOCATIONS_KEPT)),
        Purge::dead_letters(now.before(GIVEN_UP_KEPT)),
        Purge::deliveries(now.before(DELIVERIES_KEPT)),
        Purge::alerts(now.before(ALERT_FORGOTTEN_AFTER)),
        Purge::text_budgets(budget_day(now) - BUDGET_DAYS_KEPT),
        Purge::kept_messages(now.before(KEPT_MESSAGES_KEPT)),
        Purge::page_imports(now.before(IMPORT_KNOWN_FOR)),
    ];
    purges.extend(audit_kept.map(|kept| Purge::audit(now.before(kept))));
    purges
}
