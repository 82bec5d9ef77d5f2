//! A runner in memory. What it can do of shells is what the cases use: `true`, `false`, `exit`, `echo` with or without
//! `>> "$GITHUB_OUTPUT"` and `>> "$GITHUB_ENV"`, `test` with `=` and `!=`, and `sleep`, which goes on for ever from a minute on.

use std::{collections::BTreeMap, sync::Arc};

use super::super::*;
use crate::{
    pipelines::{
        expressions::{ContextName, Expression, Function, Surroundings, Template, Value, Vocabulary},
        job::{
            ContinueOnError, JobPlan, JobStatus, OnCancel, OnFailure, Part, PlannedStep, StepConclusion, StepReport,
            StepTurn, StepsState,
        },
        workflow::{OF_JOB_ENV, OF_OUTPUTS, OF_STEP, OF_STEP_IF},
    },
    time::Timestamp,
};

/// A job that a runner has.
pub(super) struct RunningJob {
    pub place: JobPlace,
    plan: JobPlan,
    steps: StepsState,
    env: BTreeMap<String, String>,
    /// The step that sleeps.
    asleep: Option<StepTurn>,
    has_timed_out: bool,
    now: i64,
}

/// How a job went on.
pub(super) enum Advance {
    /// A step slept, and still does.
    Nothing,
    /// A step began, or was over.
    Something,
    /// The job is over.
    Over(JobConclusion, BTreeMap<String, String>),
}

struct View<'a> {
    job: &'a RunningJob,
    env: Value,
}

impl Surroundings for View<'_> {
    fn context(&self, name: ContextName) -> Value {
        match name {
            ContextName::Steps => self.job.steps.context(),
            ContextName::Env => self.env.clone(),
            ContextName::Job => Value::object([("status", Value::text(self.job.steps.status().name()))]),
            name => self.job.plan.context(name),
        }
    }

    fn status(&self, function: Function, _: &[Arc<str>]) -> bool {
        self.job.steps.holds(function)
    }

    fn hash_files(&self, _: &[Arc<str>]) -> Result<String, String> {
        Err("no files".to_owned())
    }
}

impl RunningJob {
    pub fn new(place: JobPlace, plan: &JobPlan) -> Self {
        // What travels is text.
        let plan: JobPlan = serde_json::from_str(&serde_json::to_string(plan).unwrap()).unwrap();
        let steps = StepsState::new(&plan.steps);
        let mut job = Self { place, plan, steps, env: BTreeMap::new(), asleep: None, has_timed_out: false, now: 0 };
        let env = job.plan.env.clone();
        job.env = env
            .into_iter()
            .map(|(name, text)| (name, job.text(&text, &OF_JOB_ENV, &BTreeMap::new()).unwrap()))
            .collect();
        job
    }

    /// Whether this step runs now.
    pub fn runs(&self, step: usize) -> bool {
        self.asleep.as_ref().is_some_and(|turn| turn.index == step)
    }

    pub fn has_begun(&self) -> bool {
        self.steps.reports().any(|report| report.started_at.is_some())
    }

    pub fn reports(&self) -> Vec<StepReport> {
        self.steps.reports().cloned().collect()
    }

    pub fn time_out(&mut self) {
        self.has_timed_out = true;
        self.cancel();
    }

    pub fn cancel(&mut self) {
        let asleep = self.asleep.take();
        let mut steps = self.steps.clone();
        let on_cancel = steps.cancel(|steps| {
            self.steps = steps.clone();
            asleep.as_ref().is_some_and(|turn| self.condition(turn) == Some(true))
        });
        self.steps = steps;
        match (on_cancel, asleep) {
            (OnCancel::Stop, Some(_)) => self.end(StepConclusion::Cancelled, OnFailure::Fail),
            // A sleep that nobody cancels is over some time.
            (OnCancel::GoOn, Some(_)) => self.end(StepConclusion::Success, OnFailure::Fail),
            (_, None) => {}
        }
    }

    /// Goes on by one step.
    pub fn advance(&mut self) -> Advance {
        self.steps = serde_json::from_str(&serde_json::to_string(&self.steps).unwrap()).unwrap();
        if self.asleep.is_some() {
            return Advance::Nothing;
        }
        let Some(turn) = self.steps.turn() else { return self.over() };
        assert_eq!(self.steps.turn().as_ref(), Some(&turn), "asking again gives the same");
        let condition = self.condition(&turn);
        let now = self.tick();
        if !self.steps.begin(turn.index, condition, now) {
            return Advance::Something;
        }
        let step = self.plan.steps[turn.step].clone();
        let succeeds = if turn.part == Part::Main { self.play(&turn, &step) } else { Some(true) };
        match succeeds {
            None => self.asleep = Some(turn),
            Some(true) => self.end(StepConclusion::Success, OnFailure::Fail),
            Some(false) => {
                let on_failure = self.on_failure(&step);
                self.end(StepConclusion::Failure, on_failure);
            }
        }
        Advance::Something
    }

    fn over(&mut self) -> Advance {
        let mut outputs = BTreeMap::new();
        for (name, text) in self.plan.outputs.clone() {
            match self.text(&text, &OF_OUTPUTS, &self.env) {
                Some(value) => drop(outputs.insert(name, value)),
                None => self.steps.fail(),
            }
        }
        let conclusion = match self.steps.status() {
            _ if self.has_timed_out => JobConclusion::TimedOut,
            JobStatus::Success => JobConclusion::Success,
            JobStatus::Failure => JobConclusion::Failure,
            JobStatus::Cancelled => JobConclusion::Cancelled,
        };
        Advance::Over(conclusion, outputs)
    }

    fn tick(&mut self) -> Timestamp {
        self.now += 1;
        Timestamp(self.now)
    }

    fn end(&mut self, outcome: StepConclusion, on_failure: OnFailure) {
        let now = self.tick();
        self.steps.end(outcome, on_failure, now);
    }

    fn view(&self, env: &BTreeMap<String, String>) -> View<'_> {
        let env = Value::object(env.iter().map(|(name, value)| (name.as_str(), Value::text(value.as_str()))));
        View { job: self, env }
    }

    fn text(&self, text: &str, vocabulary: &Vocabulary, env: &BTreeMap<String, String>) -> Option<String> {
        let template = Template::parse(text, vocabulary).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        template.evaluate(&self.view(env)).ok().map(|value| value.to_text().to_string())
    }

    fn condition(&self, turn: &StepTurn) -> Option<bool> {
        let expression = Expression::parse(&turn.condition, &OF_STEP_IF).unwrap();
        expression.evaluate(&self.view(&self.env)).ok().map(|value| value.is_truthy())
    }

    fn on_failure(&self, step: &PlannedStep) -> OnFailure {
        let is_true = |text: &str| self.text(text, &OF_STEP, &self.env).as_deref() == Some("true");
        match &step.continue_on_error {
            Some(ContinueOnError::Given(true)) => OnFailure::GoOn,
            Some(ContinueOnError::Evaluated(text)) if is_true(text) => OnFailure::GoOn,
            _ => OnFailure::Fail,
        }
    }

    /// Whether the step succeeds; none where it sleeps.
    fn play(&mut self, turn: &StepTurn, step: &PlannedStep) -> Option<bool> {
        let mut env = self.env.clone();
        for (name, text) in step.env.iter().flatten() {
            let Some(value) = self.text(text, &OF_STEP, &env) else { return Some(false) };
            env.insert(name.clone(), value);
        }
        let Some(script) = &step.run else { return Some(true) };
        let Some(script) = self.text(script, &OF_STEP, &env) else { return Some(false) };
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match self.line(line, &env, turn) {
                Some(true) => {}
                other => return other,
            }
            if line == "exit 0" {
                break;
            }
        }
        Some(true)
    }

    fn line(&mut self, line: &str, env: &BTreeMap<String, String>, turn: &StepTurn) -> Option<bool> {
        let words = words(line, env);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["true"] | ["exit", "0"] => Some(true),
            ["false"] | ["exit", _] => Some(false),
            ["sleep", seconds] => (seconds.parse::<u32>().unwrap() < 60).then_some(true),
            ["test", one, "=", other] => Some(one == other),
            ["test", one, "!=", other] => Some(one != other),
            ["echo", text, ">>", file] => {
                let (name, value) = text.split_once('=').unwrap();
                match *file {
                    "GITHUB_OUTPUT" => self.steps.output(turn.index, name, value),
                    "GITHUB_ENV" => drop(self.env.insert(name.to_owned(), value.to_owned())),
                    _ => panic!("{line}"),
                }
                Some(true)
            }
            ["echo", ..] => Some(true),
            _ => panic!("the runner of the tests doesn't know: {line}"),
        }
    }
}

/// The words of a line, as bash has them: what quotes hold together, with `$NAME` replaced.
fn words(line: &str, env: &BTreeMap<String, String>) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_word) = (Vec::new(), String::new(), None, false);
    for character in line.chars() {
        match (quote, character) {
            (None, ' ') => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (None, '"' | '\'') => {
                quote = Some(character);
                is_word = true;
            }
            (Some(open), close) if open == close => quote = None,
            _ => {
                is_word = true;
                word.push(character);
            }
        }
    }
    if is_word {
        words.push(word);
    }
    let value = |word: String| match word.strip_prefix('$') {
        Some(name @ ("GITHUB_OUTPUT" | "GITHUB_ENV")) => name.to_owned(),
        Some(name) => env.get(name).cloned().unwrap_or_default(),
        None => word,
    };
    words.into_iter().map(value).collect()
}
