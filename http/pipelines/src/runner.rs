//! What runners ask for: to be registered, a job, its plan (contract C 4.1).

use std::{
    collections::{BTreeMap, HashSet},
    hash::{BuildHasher, Hasher, RandomState},
    time::{Duration, Instant},
};

use actix_web::http::Method;
use actors::pipelines::{RegisterRunner, Sign, StartJob, TakeJob, TakenJob, Waiter};
use domain::{
    Context, Error, Outcome,
    id::OrgId,
    pipelines::{
        job::JobPlan,
        registration_unknown,
        runner::{POLL_SECONDS_MAX, QUEUE_WINDOW, RUNNERS_MAX, RunnerDraft},
    },
    problems::Problems,
    token::{Token, TokenKind},
};
use http_shell::{
    answer::{Created, Either, Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::StoredRunner;
use utoipa::ToSchema;

use super::argument::{OfJob, OfRunner};

/// How often those who wait look by themselves, one for all: another node may have queued the job, or changed a runner.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// When a runner asks again, at the latest, where too many asked at the same time.
const AGAIN_WITHIN: Duration = Duration::from_secs(1);
/// How long the owner of the runners may take.
const ASK_MAX: Duration = Duration::from_secs(30);

/// Says that the endpoint answers late, when there is something to say.
pub(crate) struct Waits;

impl Argument for Waits {
    fn describe(facts: &mut Facts) {
        facts.streams = true;
    }

    async fn take(_: &mut Call) -> Result<Self> {
        Ok(Self)
    }
}

/// What a runner says of itself.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "token": "trp_t_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2", "name": "box-1", "labels": ["gpu"],
    "os": "linux", "arch": "x64"
}))]
pub(crate) struct RunnerRegister {
    /// The token of the registration.
    token: String,
    /// What people call it: 1 to 64 characters.
    name: String,
    /// What jobs may ask for, beside `self-hosted`, the system and the processor: up to 50 of 1 to 64 characters.
    #[serde(default)]
    labels: Vec<String>,
    /// The operating system: 1 to 32 characters.
    os: String,
    /// The processor: 1 to 32 characters.
    arch: String,
}

impl RequestBody for RunnerRegister {}

/// A runner that was registered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "runnerId": "rnr_01jd7rt4m5e9fv2w8x3c6k0hqz", "labels": ["self-hosted", "linux", "x64", "gpu"],
    "secret": "trp_r_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2"
}))]
pub(crate) struct RunnerRegistered {
    /// The runner's id.
    runner_id: String,
    /// What jobs may ask for.
    labels: Vec<String>,
    /// What the runner shows when it polls; shown once.
    secret: String,
}

/// Register a runner
///
/// A token registers one runner, within an hour.
#[utoipa::path(post, path = "/v1/runner/register", responses(
    (status = 400, description = "An organization has at most 1000 runners."),
    (status = 401, description = "This token registers no runner."),
))]
pub(crate) async fn runner_register(
    body: Body<RunnerRegister>,
    state: State,
    asking: Asking,
) -> Result<Created<RunnerRegistered>> {
    let RunnerRegister { token, name, labels, os, arch } = body.into_inner();
    let draft = RunnerDraft { name, labels, os, arch }.check()?;
    let token = token.parse::<Token>().ok().filter(|token| token.kind() == TokenKind::RunnerRegistration);
    let hash = token.ok_or_else(registration_unknown)?.hash();
    let found = state.store.runner_registration(&hash).await?.ok_or_else(registration_unknown)?;
    let command = RegisterRunner { token: hash, draft };
    let made = state.actors.runner_pool.ask(&found.org_id, command, asking.0).await?;
    let StoredRunner { id, labels, .. } = made.runner;
    let secret = made.secret.reveal().to_owned();
    Ok(Created(RunnerRegistered { runner_id: id.to_string(), labels, secret }))
}

/// Who asks, until when: whoever shows no credential of a person's or a key's.
pub(crate) struct Asking(Context);

impl Argument for Asking {
    fn describe(facts: &mut Facts) {
        facts.open();
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(call.context.clone()))
    }
}

/// What a runner says when it asks for a job.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"version": "0.1.0", "wait": 50}))]
pub(crate) struct RunnerPoll {
    /// The version of the program: up to 64 characters.
    #[serde(default)]
    version: String,
    /// How many seconds to wait for a job, up to 50; as many where it isn't said.
    wait: Option<u64>,
}

impl RequestBody for RunnerPoll {
    fn check(&self, problems: &mut Problems) {
        let fits = self.version.chars().count() <= 64 && !self.version.contains('\0');
        problems.require(fits, "version", "Use at most 64 characters, without NUL.");
        let fits = self.wait.is_none_or(|wait| wait <= POLL_SECONDS_MAX);
        problems.require(fits, "wait", "Must be from 0 to 50.");
    }
}

/// A job for a runner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunnerJob {
    /// The job's id.
    job_id: String,
    /// What the runner shows in the job's name, in `x-service-job`.
    token: String,
}

/// A job that a runner was given.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"job": {
    "jobId": "job_01jd7rt4m5e9fv2w8x3c6k0hqz", "token": "trp_j_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2"
}}))]
pub(crate) struct RunnerPollAnswer {
    /// The job. It goes to another runner unless this one asks for its plan within 30 seconds.
    job: RunnerJob,
}

/// Ask for a job
///
/// Answers at once where there is a job that the runner may take, or as soon as there is one; 204 after 50 seconds.
#[utoipa::path(post, path = "/v1/runner/poll", responses((status = 204, description = "There is no job for the runner.")))]
pub(crate) async fn runner_poll(
    runner: OfRunner,
    body: Body<RunnerPoll>,
    _: Waits,
    state: State,
) -> Result<Either<Json<RunnerPollAnswer>, NoContent>> {
    let wait = Duration::from_secs(body.wait.unwrap_or(POLL_SECONDS_MAX));
    let found = waited(&state, &runner, &body.version, Instant::now() + wait).await?;
    Ok(match found {
        Some(TakenJob { job_id, token, .. }) => {
            let job = RunnerJob { job_id: job_id.to_string(), token: token.reveal().to_owned() };
            Either::Left(Json(RunnerPollAnswer { job }))
        }
        None => Either::Right(NoContent),
    })
}

/// The job that the runner is given, as soon as there is one. While nothing is queued, only the store is asked. Thousands may wait:
/// what isn't waiting has its memory only while it lasts.
async fn waited(state: &State, runner: &OfRunner, program: &str, until: Instant) -> Result<Option<TakenJob>> {
    let org_id = runner.runner().org_id;
    let mut stopping = state.shutdown.subscribe();
    // What is queued from here on is told.
    let mut waiter = state.actors.waiting_runners.enter(runner.runner());
    let is_asked = !runner.runner().is_known(program, state.store.now())
        || state.actors.waiting_runners.is_queued_likely(org_id)
        || Box::pin(state.store.has_queued_jobs(org_id)).await?;
    let mut sign = is_asked.then_some(Sign::Take);
    loop {
        match sign.take() {
            Some(Sign::Take) => {
                // What is queued meanwhile is told, too, and to others first.
                waiter.wait_on(false);
                let taken = Box::pin(take(state, runner, program)).await;
                if let Ok(taken) = &taken {
                    state.actors.waiting_runners.answered(org_id, taken.is_some());
                }
                match taken {
                    Ok(None) => {}
                    // A crowd that asks at the same time is no reason to send one of it away.
                    Err(ApiError::Domain(Error::Busy { outcome: Outcome::NotDone, .. })) => {
                        tokio::time::sleep(some_of(AGAIN_WITHIN)).await;
                        sign = Some(Sign::Take);
                    }
                    taken => return taken,
                }
            }
            Some(Sign::Look) => {
                waiter.wait_on(true);
                Box::pin(look(state, org_id, &mut waiter)).await?;
            }
            Some(Sign::Leave) => return Ok(None),
            None => {}
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || *stopping.borrow() {
            return Ok(None);
        }
        if sign.is_some() {
            continue;
        }
        tokio::select! {
            told = waiter.told() => sign = Some(told),
            () = tokio::time::sleep(left.min(LOOK_EVERY)) => {
                if state.actors.waiting_runners.is_look_due(org_id, LOOK_EVERY) {
                    let versions = Box::pin(state.store.runner_versions(org_id, RUNNERS_MAX)).await?;
                    state.actors.waiting_runners.leave_changed(org_id, &versions);
                    sign = Some(Sign::Look);
                }
            }
            _ = stopping.changed() => return Ok(None),
        }
    }
}

/// Asks for a job.
async fn take(state: &State, runner: &OfRunner, program: &str) -> Result<Option<TakenJob>> {
    let context = Context { deadline: Instant::now() + ASK_MAX, ..runner.context() };
    let command = TakeJob { runner_id: runner.runner().id, program: program.to_owned() };
    let taken = state.actors.runner_pool.ask(&runner.runner().org_id, command, context).await?;
    if let Some(taken) = &taken {
        taken.tell(&state.hub);
    }
    Ok(taken)
}

/// Looks which jobs are queued, unless another one who waits is about to.
async fn look(state: &State, org_id: OrgId, waiter: &mut Waiter) -> Result<()> {
    let Some(wait) = waiter.plan_look() else { return Ok(()) };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    waiter.begin_look();
    offer_queued(state, org_id).await
}

/// Offers each queued job of an organization to one who waits here and may take it: those that wait longest, and of the others one
/// for each set of labels that none of those has.
async fn offer_queued(state: &State, org_id: OrgId) -> Result<()> {
    let waiting = &state.actors.waiting_runners;
    let jobs = state.store.queued_jobs(org_id, QUEUE_WINDOW).await?;
    for job in &jobs {
        waiting.offer(org_id, &job.labels);
    }
    if (jobs.len() as u64) < QUEUE_WINDOW {
        return Ok(());
    }
    let offered: HashSet<&[String]> = jobs.iter().map(|job| job.labels.as_slice()).collect();
    let sets = state.store.queued_labels(org_id, None, QUEUE_WINDOW).await?;
    for set in sets.iter().filter(|set| !offered.contains(set.labels.as_slice())) {
        waiting.offer(org_id, &set.labels);
    }
    Ok(())
}

/// From a fifth of a time to all of it.
fn some_of(most: Duration) -> Duration {
    let least = most / 5;
    let spread = (most - least).as_millis().max(1);
    let drawn = u128::from(RandomState::new().build_hasher().finish()) % spread;
    least + Duration::from_millis(u64::try_from(drawn).unwrap_or_default())
}

/// Proves that the request isn't `HEAD`, which elsewhere asks as `GET` does: this one would start a job.
pub(crate) struct NoHead;

impl Argument for NoHead {
    fn describe(_: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        if call.request.method() == Method::HEAD { Err(ApiError::WrongMethod(vec![Method::GET])) } else { Ok(Self) }
    }
}

/// What a runner is told of a job.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunnerJobAnswer {
    /// What the job is, and what is to be done (contract C 2.1).
    #[schema(value_type = Object)]
    plan: JobPlan,
    /// The values of the secrets that the plan names.
    secrets: BTreeMap<String, String>,
}

/// The plan of a job
///
/// The job counts as running from here. Asked again, the answer is the same until the job is over.
#[utoipa::path(get, path = "/v1/runner/job")]
pub(crate) async fn runner_job(_: NoHead, job: OfJob, state: State) -> Result<Json<RunnerJobAnswer>> {
    let started = state.actors.run.ask(&job.job.run_id, StartJob(job.speaker()), job.context()).await?;
    Ok(Json(RunnerJobAnswer { plan: started.plan, secrets: started.given.secrets }))
}
