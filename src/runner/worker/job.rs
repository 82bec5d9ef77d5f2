//! A job, step by step.

use std::{
    collections::BTreeMap,
    io,
    os::fd::AsFd,
    process::Stdio,
    time::{Duration, SystemTime},
};

use domain::{
    pipelines::{
        expressions::ContextName,
        job::{
            ContinueOnError, ENVIRONMENT_URL_LEN_MAX, JOB_OUTPUT_LEN_MAX, JOB_OUTPUTS_LEN_MAX, JobStatus, OnFailure,
            Part, PlannedStep, StepConclusion, StepTurn, StepsState, TimeoutMinutes, environment_address, read_values,
        },
        workflow::{OF_JOB_DEFAULTS, OF_JOB_ENV, OF_OUTPUTS, OF_STEP, OF_STEP_IF, OF_URL, OwnRun},
    },
    time::Timestamp,
};
use rustix::process::Pid;
use tokio::{process::Command, time::Instant};

use super::{
    Orders, actions,
    environment::{self, CommandFile, Place},
    output::Output,
    say,
    shell::Shell,
    view::View,
};
use crate::runner::words::{Assignment, Mark, Over, Word};

/// Bytes of a file that a step writes for the runner, at most (GitHub's number for environment variables is of that size, too).
const COMMAND_FILE_LEN_MAX: u64 = 1024 * 1024;

/// A job while it is done.
pub struct Job {
    pub(super) assignment: Assignment,
    pub(super) orders: Orders,
    pub(super) output: Output,
    pub(super) steps: StepsState,
    pub(super) deadline: Option<Instant>,
    pub(super) has_timed_out: bool,
    /// The last step of whose output all was read.
    pub(super) heard: Option<usize>,
    /// Whether the running step's output asked for what is refused.
    pub(super) is_refused: bool,
    place: Place,
    env: BTreeMap<String, String>,
    paths: Vec<String>,
    states: BTreeMap<usize, BTreeMap<String, String>>,
    summary: String,
}

impl Job {
    /// The job of an assignment.
    pub fn new(assignment: Assignment, orders: Orders) -> Self {
        let minutes = u64::from(assignment.plan.job.timeout_minutes);
        let time = Duration::from_millis(minutes.saturating_mul(assignment.minute_ms));
        Self {
            output: Output::new(&assignment.plan.marker),
            steps: StepsState::new(&assignment.plan.steps),
            deadline: Instant::now().checked_add(time),
            place: Place::of(&assignment),
            assignment,
            orders,
            has_timed_out: false,
            heard: None,
            is_refused: false,
            env: BTreeMap::new(),
            paths: Vec::new(),
            states: BTreeMap::new(),
            summary: String::new(),
        }
    }

    /// Minutes that the job may take.
    pub(super) const fn minutes(&self) -> u32 {
        self.assignment.plan.job.timeout_minutes
    }

    /// Keeps a value for a step's last part.
    pub(super) fn save(&mut self, index: usize, name: &str, value: &str) {
        self.states.entry(index).or_default().insert(name.to_owned(), value.to_owned());
    }

    /// Does the job.
    pub async fn run(mut self) -> Over {
        if let Err(why) = self.prepare() {
            self.output.error(&why);
            return self.over(BTreeMap::new(), Some(why));
        }
        self.report();
        while let Some(turn) = self.steps.turn() {
            self.catch_up();
            let holds = self.view(&self.env).holds(&turn.condition, &OF_STEP_IF);
            if let Err(fault) = &holds {
                self.output.error(&format!("if: {fault}"));
            }
            if self.steps.begin(turn.index, holds.ok(), now()) {
                self.step(&turn).await;
            }
            self.report();
        }
        self.catch_up();
        let (outputs, environment_url) = (self.outputs(), self.environment_url());
        Over { environment_url, ..self.over(outputs, None) }
    }

    /// What the job hands on. What it can't hand on fails it.
    fn outputs(&mut self) -> BTreeMap<String, String> {
        let (mut outputs, mut left) = (BTreeMap::new(), JOB_OUTPUTS_LEN_MAX);
        for (name, text) in self.assignment.plan.outputs.clone() {
            let value = match self.view(&self.env).text(&text, &OF_OUTPUTS) {
                Ok(value) if value.len() <= JOB_OUTPUT_LEN_MAX => value,
                Ok(_) => {
                    self.refuse(&format!("outputs.{name}: A value has at most {JOB_OUTPUT_LEN_MAX} bytes"));
                    continue;
                }
                Err(fault) => {
                    self.refuse(&format!("outputs.{name}: {fault}"));
                    continue;
                }
            };
            match left.checked_sub(name.len() + value.len()) {
                Some(rest) => {
                    left = rest;
                    outputs.insert(name, value);
                }
                None => self.refuse(&format!("outputs.{name}: All outputs have at most {JOB_OUTPUTS_LEN_MAX} bytes")),
            }
        }
        outputs
    }

    /// Where to see what the job deployed. What can't be evaluated fails the job; what is no address is left out.
    fn environment_url(&mut self) -> Option<String> {
        let text = self.assignment.plan.environment_url.clone()?;
        let url = self.view(&self.env).text(&text, &OF_URL);
        match url {
            Ok(url) if url.trim().is_empty() => None,
            Ok(url) => {
                let address = environment_address(&url).map(str::to_owned);
                if let Some(address) = &address {
                    self.output.say(&format!("Environment url: {address}"));
                } else {
                    let rule = format!("Use an http or https address of at most {ENVIRONMENT_URL_LEN_MAX} characters");
                    self.output.warning(&format!("environment.url: {rule}"));
                }
                address
            }
            Err(fault) => {
                self.refuse(&format!("environment.url: {fault}"));
                None
            }
        }
    }

    fn refuse(&mut self, why: &str) {
        self.output.error(why);
        self.steps.fail();
    }

    fn over(&mut self, outputs: BTreeMap<String, String>, error: Option<String>) -> Over {
        if error.is_some() {
            self.steps.fail();
        }
        Over {
            status: self.steps.status(),
            has_timed_out: self.has_timed_out && self.steps.status() == JobStatus::Cancelled,
            steps: self.steps.reports().cloned().collect(),
            outputs,
            environment_url: None,
            summary: std::mem::take(&mut self.summary),
            error,
        }
    }

    /// Makes the job's folders and its environment variables.
    fn prepare(&mut self) -> Result<(), String> {
        self.place.make(&self.assignment).map_err(|error| error.to_string())?;
        let env = self.view(&BTreeMap::new()).texts(&self.assignment.plan.env, &OF_JOB_ENV);
        self.env = env.map_err(|fault| format!("env: {fault}"))?;
        Ok(())
    }

    fn report(&self) {
        say(&Word::Steps { steps: self.steps.reports().cloned().collect() });
    }

    fn view<'v>(&'v self, env: &'v BTreeMap<String, String>) -> View<'v> {
        View { assignment: &self.assignment, place: &self.place, steps: &self.steps, env }
    }

    /// Whether a step's condition still holds, with its steps in this state.
    pub(super) fn still_holds(&self, steps: &StepsState, turn: &StepTurn) -> bool {
        let view = View { steps, ..self.view(&self.env) };
        view.holds(&turn.condition, &OF_STEP_IF).unwrap_or(false)
    }

    /// Does a step that has begun.
    async fn step(&mut self, turn: &StepTurn) {
        let step = self.assignment.plan.steps.get(turn.step).cloned().unwrap_or_default();
        if let Some(Ok(name)) = step.name.as_ref().map(|name| self.view(&self.env).text(name, &OF_STEP)) {
            let post = if turn.part == Part::Post { "Post " } else { "" };
            self.steps.name(turn.index, &format!("{post}{name}"));
        }
        self.report();
        self.is_refused = false;
        self.output.mark(&Mark::Begin(turn.index));
        let done = self.done(turn, &step).await;
        let mut outcome = done.unwrap_or_else(|why| {
            self.output.error(&why);
            StepConclusion::Failure
        });
        if let Err(why) = self.take_files(turn) {
            self.output.error(&why);
            outcome = if outcome == StepConclusion::Success { StepConclusion::Failure } else { outcome };
        }
        self.output.mark(&Mark::End(turn.index));
        self.until_heard(turn.index).await;
        if self.is_refused && outcome == StepConclusion::Success {
            outcome = StepConclusion::Failure;
        }
        let on_failure = self.on_failure(&step);
        self.steps.end(outcome, on_failure, now());
    }

    /// What a step comes to; why it couldn't be done, where it couldn't.
    async fn done(&mut self, turn: &StepTurn, step: &PlannedStep) -> Result<StepConclusion, String> {
        let mut env = self.env.clone();
        env.extend(self.view(&self.env).texts(step.env.as_ref().unwrap_or(&BTreeMap::new()), &OF_STEP)?);
        let deadline = self.step_deadline(step, &env)?;
        self.place.make_files(turn.index).map_err(|error| format!("The step's files can't be made: {error}"))?;
        match &step.run {
            Some(script) => {
                let script = self.view(&env).text(script, &OF_STEP)?;
                self.script(turn, step, &script, &env, deadline).await
            }
            None => self.action(turn, step, &env, deadline).await,
        }
    }

    fn step_deadline(&self, step: &PlannedStep, env: &BTreeMap<String, String>) -> Result<Option<Instant>, String> {
        let minutes = match &step.timeout_minutes {
            None => return Ok(None),
            Some(TimeoutMinutes::Given(minutes)) => *minutes,
            Some(TimeoutMinutes::Evaluated(text)) => {
                let text = self.view(env).text(text, &OF_STEP)?;
                text.trim().parse().map_err(|_| format!("timeout-minutes: '{text}' is no number"))?
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a minute has few milliseconds")]
        let seconds = minutes * self.assignment.minute_ms as f64 / 1_000.0;
        // Nothing, and what is less, is no limit, as at GitHub.
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        Ok(time.and_then(|time| Instant::now().checked_add(time)))
    }

    fn on_failure(&self, step: &PlannedStep) -> OnFailure {
        let is_true = |text: &str| self.view(&self.env).text(text, &OF_STEP).as_deref() == Ok("true");
        match &step.continue_on_error {
            Some(ContinueOnError::Given(true)) => OnFailure::GoOn,
            Some(ContinueOnError::Evaluated(text)) if is_true(text) => OnFailure::GoOn,
            _ => OnFailure::Fail,
        }
    }

    async fn script(
        &mut self,
        turn: &StepTurn,
        step: &PlannedStep,
        script: &str,
        env: &BTreeMap<String, String>,
        deadline: Option<Instant>,
    ) -> Result<StepConclusion, String> {
        let variables = environment::variables(&self.assignment, &self.place, env, turn.index, &self.paths);
        let defaults = &self.assignment.plan.defaults;
        let of_job = |text: &Option<String>| {
            text.as_ref().map(|text| self.view(&self.env).text(text, &OF_JOB_DEFAULTS)).transpose()
        };
        let shell = step.shell.clone().map_or_else(|| of_job(&defaults.shell), |shell| Ok(Some(shell)))?;
        let path = variables.get("PATH").map(String::as_str).unwrap_or_default();
        let shell = Shell::named(shell.as_deref(), path.as_ref())?;
        let folder = match &step.working_directory {
            Some(folder) => Some(self.view(env).text(folder, &OF_STEP)?),
            None => of_job(&defaults.working_directory)?,
        };
        let folder = self.place.workspace.join(folder.unwrap_or_default());
        let file = self.place.make_script(turn.index, shell.ending, &shell.script(script));
        let file = file.map_err(|error| format!("The script can't be written: {error}"))?;
        self.announce(script, &shell);
        let mut line = self.assignment.wrapper.clone();
        line.push(shell.program.clone());
        line.extend(shell.arguments_for(&file));
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).env_clear().envs(&variables).current_dir(&folder);
        self.process(turn, command, deadline).await.map_err(|error| {
            format!("`{}` can't be started in {}: {error}", line.first().map_or("", String::as_str), folder.display())
        })
    }

    fn announce(&self, script: &str, shell: &Shell) {
        let first = script.trim_start().lines().next().unwrap_or_default();
        let script: String = script.lines().fold(String::new(), |text, line| format!("{text}  {line}\n"));
        let shell = format!("shell: {} {}", shell.program, shell.arguments.join(" "));
        self.output.say(&format!("##[group]Run {first}\n{script}{shell}\n##[endgroup]"));
    }

    /// Runs a program as a group of processes, whose output is the job's.
    pub(super) async fn process(
        &mut self,
        turn: &StepTurn,
        mut command: Command,
        deadline: Option<Instant>,
    ) -> io::Result<StepConclusion> {
        let output = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
        command.stdin(Stdio::null()).stdout(output()?).stderr(output()?).process_group(0);
        let mut child = command.spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let output = self.output.clone();
        let work = async move {
            match child.wait().await {
                Ok(status) if status.success() => return StepConclusion::Success,
                Ok(status) => match status.code() {
                    Some(code) => output.error(&format!("Process completed with exit code {code}.")),
                    None => output.error(&format!("Process was ended: {status}.")),
                },
                Err(error) => output.error(&format!("The process can't be waited for: {error}")),
            }
            StepConclusion::Failure
        };
        Ok(self.attend(turn, std::pin::pin!(work), group, deadline).await)
    }

    async fn action(
        &mut self,
        turn: &StepTurn,
        step: &PlannedStep,
        env: &BTreeMap<String, String>,
        deadline: Option<Instant>,
    ) -> Result<StepConclusion, String> {
        let with = step.with.clone().unwrap_or_default();
        let call = actions::Call {
            name: step.uses.clone().unwrap_or_default(),
            part: turn.part,
            with: self.view(env).texts(&with, &OF_STEP)?,
            given: with,
            place: self.place.clone(),
            output: self.output.clone(),
            files: self.assignment.files.clone(),
            server_url: self.assignment.plan.server_url.clone(),
            run: OwnRun::of(&self.assignment.plan.context(ContextName::Github)),
            wrapper: self.assignment.wrapper.clone(),
            limits: self.assignment.plan.limits,
            state: self.states.get(&turn.step).cloned().unwrap_or_default(),
        };
        let (sender, mut results) = tokio::sync::oneshot::channel();
        let work = async move {
            let done = call.run().await;
            let conclusion = if done.is_ok() { StepConclusion::Success } else { StepConclusion::Failure };
            drop(sender.send(done));
            conclusion
        };
        let conclusion = self.attend(turn, std::pin::pin!(work), None, deadline).await;
        // An action that was stopped has nothing to say.
        let Ok(done) = results.try_recv() else { return Ok(conclusion) };
        let done = done?;
        done.outputs.iter().for_each(|(name, value)| self.steps.output(turn.index, name, value));
        done.state.iter().for_each(|(name, value)| self.save(turn.step, name, value));
        Ok(conclusion)
    }

    /// Takes in what a step wrote for the runner.
    fn take_files(&mut self, turn: &StepTurn) -> Result<(), String> {
        let place = self.place.clone();
        let read = |file: CommandFile| {
            let text = place.read(file, turn.index, COMMAND_FILE_LEN_MAX);
            text.map_err(|error| format!("What the step wrote for the runner can't be read: {error}"))
        };
        let values = |file| read(file).and_then(|text| read_values(&text).map_err(|fault| fault.to_string()));
        for (name, value) in values(CommandFile::Output)? {
            self.steps.output(turn.index, name, value);
        }
        for (name, value) in values(CommandFile::State)? {
            self.save(turn.step, &name, &value);
        }
        for (name, value) in values(CommandFile::Env)? {
            if name.eq_ignore_ascii_case("NODE_OPTIONS") {
                return Err("Can't store NODE_OPTIONS through GITHUB_ENV".to_owned());
            }
            self.env.insert(name, value);
        }
        self.paths.extend(read(CommandFile::Path)?.lines().filter(|line| !line.is_empty()).map(str::to_owned));
        let summary = read(CommandFile::Summary)?;
        let len = self.summary.len() + summary.len();
        if u64::try_from(len).is_ok_and(|len| len > self.assignment.plan.limits.summary_bytes) {
            return Err(format!("A summary has at most {} bytes", self.assignment.plan.limits.summary_bytes));
        }
        self.summary.push_str(&summary);
        Ok(())
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
