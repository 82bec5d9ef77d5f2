//! The job and the runner that show their tokens, as arguments (contract C 4.1).

use std::time::Duration;

use actors::pipelines::{Lease, Speaker};
use domain::{
    Context, Error,
    pipelines::{JOB_OVER, JOB_UNKNOWN, RUNNER_UNKNOWN, job_over, job_unknown, runner_unknown},
    token::{Token, TokenKind},
};
use http_shell::{
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
};
use store::pipelines::{StoredJob, StoredRunner};

/// The header that carries a job's token.
const JOB_HEADER: &str = "x-service-job";
/// The header that carries a runner's secret.
const RUNNER_HEADER: &str = "x-service-runner";
/// How long after its end a job's token is good for lines of the log that come late.
pub(crate) const LATE_LINES_FOR: Duration = Duration::from_hours(24);

fn describe_job(facts: &mut Facts) {
    facts.header(JOB_HEADER, "The token that a runner was given for the job (`trp_j_…`).", true);
    facts.error(401, JOB_UNKNOWN);
    facts.error(409, JOB_OVER);
    facts.open();
    facts.shows_token = true;
}

/// The token of this kind in a header.
fn token_of(call: &Call, header: &'static str, kind: TokenKind) -> Option<Token> {
    call.header(header)?.parse::<Token>().ok().filter(|token| token.kind() == kind)
}

async fn job_of(call: &Call) -> Result<StoredJob> {
    let found = match token_of(call, JOB_HEADER, TokenKind::Job) {
        Some(token) => call.state.store.job_by_token(&token.hash()).await?,
        None => None,
    };
    let Some(job) = found else { return Err(refused(call, job_unknown()).await) };
    call.state.limits.job(&call.state, job.id).await?;
    Ok(job)
}

/// What whoever shows no good token reads: that they asked too often, where their address did.
async fn refused(call: &Call, error: Error) -> ApiError {
    call.state.limits.address(&call.state, call.context.ip).await.err().unwrap_or_else(|| error.into())
}

/// The job whose token the runner shows, which isn't over. That its runner asks for something has its lease last on.
pub(crate) struct OfJob {
    /// The job, as it was when the request came in.
    pub job: StoredJob,
    context: Context,
}

impl OfJob {
    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// Who speaks for the job.
    pub fn speaker(&self) -> Speaker {
        Speaker { job_id: self.job.id, token: self.job.token }
    }
}

impl Argument for OfJob {
    fn describe(facts: &mut Facts) {
        describe_job(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let job = job_of(call).await?;
        if let Some(conclusion) = job.conclusion {
            return Err(job_over(conclusion).into());
        }
        if let Some(mut lease) = Lease::of(&job) {
            lease.renew(&call.state.actors.run, call.state.store.now());
        }
        Ok(Self { job, context: call.context.clone() })
    }
}

/// The job whose token the runner shows, which isn't over, or was so less than a day ago. What is said with it of a job has the lease
/// last on by itself.
pub(crate) struct OfLateJob {
    /// The job, as it was when the request came in.
    pub job: StoredJob,
    context: Context,
}

impl OfLateJob {
    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// Who speaks for the job.
    pub fn speaker(&self) -> Speaker {
        Speaker { job_id: self.job.id, token: self.job.token }
    }
}

impl Argument for OfLateJob {
    fn describe(facts: &mut Facts) {
        describe_job(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let job = job_of(call).await?;
        let now = call.state.store.now();
        match job.conclusion.zip(job.completed_at) {
            Some((conclusion, at)) if at.after(LATE_LINES_FOR) <= now => Err(job_over(conclusion).into()),
            _ => Ok(Self { job, context: call.context.clone() }),
        }
    }
}

/// The runner that shows its secret. Thousands wait, and what is handed on by value has its room in each that hands it on.
pub(crate) struct OfRunner(Box<(StoredRunner, Context)>);

impl OfRunner {
    /// The runner, as it was when the request came in.
    pub fn runner(&self) -> &StoredRunner {
        &self.0.0
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.0.1.clone()
    }
}

impl Argument for OfRunner {
    fn describe(facts: &mut Facts) {
        facts.header(RUNNER_HEADER, "The secret that the runner was registered with (`trp_r_…`).", true);
        facts.error(401, RUNNER_UNKNOWN);
        facts.open();
        facts.shows_token = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let found = match token_of(call, RUNNER_HEADER, TokenKind::Runner) {
            // Thousands of runners wait behind this, without its room.
            Some(token) => Box::pin(call.state.store.runner_by_secret(&token.hash())).await?,
            None => None,
        };
        let Some(runner) = found else { return Err(Box::pin(refused(call, runner_unknown())).await) };
        Box::pin(call.state.limits.runner(&call.state, runner.id)).await?;
        Ok(Self(Box::new((runner, call.context.clone()))))
    }
}
