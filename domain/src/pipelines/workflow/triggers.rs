//! What starts a workflow.

use std::sync::Arc;

use super::{
    cron,
    glob::Glob,
    problem::Problems,
    schema::{EVENTS, FOREIGN_EVENTS},
    yaml::{Node, NodeKind},
};
use crate::pipelines::expressions::Value;

/// What a pull request does that starts a workflow, unless it says otherwise.
const ACTIVITIES: [&str; 3] = ["opened", "synchronize", "reopened"];

/// Schedules of a file, at most; what comes behind them starts nothing.
pub const SCHEDULES_MAX: usize = 50;
/// What of pull requests workflows are told of; of GitHub's other types nothing comes here.
pub const ACTIVITIES_TOLD: [&str; 7] =
    ["opened", "synchronize", "reopened", "closed", "edited", "ready_for_review", "converted_to_draft"];

/// What starts a workflow.
#[derive(Clone, Debug, Default)]
pub struct Triggers {
    /// Pushes.
    pub push: Option<PushTrigger>,
    /// What happens to pull requests.
    pub pull_request: Option<PullRequestTrigger>,
    /// Times.
    pub schedules: Vec<Schedule>,
    /// What somebody who starts it by hand is asked for.
    pub dispatch: Option<Vec<DispatchInput>>,
    /// The events' names, in the order of the file.
    pub names: Vec<String>,
}

/// Pushes that start a workflow.
#[derive(Clone, Debug, Default)]
pub struct PushTrigger {
    /// Which branches.
    pub branches: Option<Filter>,
    /// Which tags.
    pub tags: Option<Filter>,
    /// Which changed files.
    pub paths: Option<Filter>,
}

/// What of pull requests starts a workflow.
#[derive(Clone, Debug)]
pub struct PullRequestTrigger {
    /// What happens to them.
    pub types: Vec<String>,
    /// Which branches they go into.
    pub branches: Option<Filter>,
    /// Which changed files.
    pub paths: Option<Filter>,
}

/// Patterns of names or paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Those that the patterns match. The last one that does decides; one with `!` in front takes out.
    Only(Vec<(Verdict, Glob)>),
    /// Those that none of the patterns matches.
    Except(Vec<Glob>),
}

/// What follows where a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The name is in.
    In,
    /// The name is out.
    Out,
}

impl Filter {
    /// Whether a name passes.
    pub fn passes(&self, name: &str) -> bool {
        match self {
            Self::Only(patterns) => {
                let last = patterns.iter().rev().find(|(_, glob)| glob.matches(name));
                last.is_some_and(|(verdict, _)| *verdict == Verdict::In)
            }
            Self::Except(patterns) => !patterns.iter().any(|glob| glob.matches(name)),
        }
    }

    /// Whether one of the paths passes.
    pub fn passes_any<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> bool {
        paths.into_iter().any(|path| self.passes(path))
    }
}

/// Times that start a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Minute, hour, day, month and weekday.
    pub cron: String,
    /// The zone of these; UTC where it is missing.
    pub timezone: Option<String>,
}

/// What somebody is asked for who starts a workflow by hand (contract C 2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct DispatchInput {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What may be given.
    pub kind: InputKind,
    /// Whether something has to be given.
    pub required: bool,
    /// What holds where nothing is.
    pub default: Option<InputDefault>,
    /// What of may be chosen, where something is.
    pub options: Vec<String>,
}

/// What may be given for an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputKind {
    /// A text.
    #[default]
    String,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// The name of an environment.
    Environment,
    /// One of its options.
    Choice,
}

impl InputKind {
    /// Its name in the contract and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Environment => "environment",
            Self::Choice => "choice",
        }
    }

    fn read(name: &str) -> Option<Self> {
        let all = [Self::String, Self::Number, Self::Boolean, Self::Environment, Self::Choice];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// What an input is where nothing is given.
#[derive(Clone, Debug, PartialEq)]
pub enum InputDefault {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

/// What `on` says.
pub(super) fn read(on: &Node, problems: &mut Problems<'_>) -> Triggers {
    let mut triggers = Triggers::default();
    match &on.kind {
        NodeKind::Scalar(_) => add(on, None, &mut triggers, problems),
        NodeKind::Sequence(items) => items.iter().for_each(|event| add(event, None, &mut triggers, problems)),
        NodeKind::Mapping(entries) => {
            entries.iter().for_each(|(event, value)| add(event, Some(value), &mut triggers, problems));
        }
    }
    triggers
}

fn add(event: &Node, value: Option<&Node>, triggers: &mut Triggers, problems: &mut Problems<'_>) {
    let name = event.text().unwrap_or_default();
    if FOREIGN_EVENTS.contains(&&*name) {
        problems.warning(event.place, format!("The event '{name}' starts nothing here"));
        return;
    }
    if !EVENTS.contains(&&*name) {
        problems.error(event.place, format!("Unexpected value '{name}'"));
        return;
    }
    if !triggers.names.iter().any(|known| **known == *name) {
        triggers.names.push(name.to_string());
    }
    match &*name {
        "push" => triggers.push = Some(push(value, problems)),
        "pull_request" => triggers.pull_request = Some(pull_request(value, problems)),
        "workflow_dispatch" => {
            let inputs = value.and_then(|value| value.get("inputs")).map(Node::entries).unwrap_or_default();
            triggers.dispatch = Some(inputs.iter().map(|(name, value)| input(name, value, problems)).collect());
        }
        _ => triggers.schedules = schedules(event, value, problems),
    }
}

fn push(value: Option<&Node>, problems: &mut Problems<'_>) -> PushTrigger {
    PushTrigger {
        branches: filter(value, "branches", problems),
        tags: filter(value, "tags", problems),
        paths: filter(value, "paths", problems),
    }
}

fn pull_request(value: Option<&Node>, problems: &mut Problems<'_>) -> PullRequestTrigger {
    let types = value.and_then(|value| value.get("types")).map(texts);
    for (name, node) in types.iter().flatten().filter(|(name, _)| !ACTIVITIES_TOLD.contains(&&**name)) {
        problems.warning(node.place, format!("The type '{name}' starts nothing here"));
    }
    PullRequestTrigger {
        types: types.map_or_else(
            || ACTIVITIES.map(str::to_owned).into(),
            |types| types.iter().map(|(text, _)| text.to_string()).collect(),
        ),
        branches: filter(value, "branches", problems),
        paths: filter(value, "paths", problems),
    }
}

/// The texts of a list, or of a text.
fn texts(node: &Node) -> Vec<(Arc<str>, &Node)> {
    let items = match &node.kind {
        NodeKind::Sequence(items) => items,
        _ => std::slice::from_ref(node),
    };
    items.iter().filter_map(|item| Some((item.text()?, item))).collect()
}

/// The filter of this name, or that of what is ignored.
fn filter(value: Option<&Node>, name: &str, problems: &mut Problems<'_>) -> Option<Filter> {
    let ignored = format!("{name}-ignore");
    let (only, except) = (value?.get(name), value?.get(&ignored));
    if let (Some(_), Some(both)) = (only, except) {
        problems.error(both.place, format!("'{name}' and '{ignored}' can't be used for the same event"));
    }
    let mut glob = |text: &str, node: &Node| {
        let glob = Glob::parse(text);
        if glob.is_none() {
            problems.error(node.place, format!("The pattern '{text}' means nothing"));
        }
        glob
    };
    if let Some(except) = except {
        return Some(Filter::Except(texts(except).iter().filter_map(|(text, node)| glob(text, node)).collect()));
    }
    let only = texts(only?);
    let patterns = only.iter().filter_map(|(text, node)| match text.strip_prefix('!') {
        Some(text) => Some((Verdict::Out, glob(text, node)?)),
        None => Some((Verdict::In, glob(text, node)?)),
    });
    let patterns: Vec<_> = patterns.collect();
    if !patterns.is_empty()
        && patterns.iter().all(|(verdict, _)| *verdict == Verdict::Out)
        && let Some((_, first)) = only.first()
    {
        problems.warning(first.place, "Only patterns with ! are here, so nothing passes");
    }
    Some(Filter::Only(patterns))
}

fn schedules(event: &Node, value: Option<&Node>, problems: &mut Problems<'_>) -> Vec<Schedule> {
    let items = value.map(Node::items).unwrap_or_default();
    if items.is_empty() {
        problems.warning(event.place, "A schedule without a time starts nothing");
    }
    if let Some(first) = items.get(SCHEDULES_MAX) {
        problems.warning(first.place, format!("A file has at most {SCHEDULES_MAX} schedules, and this is one more"));
    }
    items.iter().filter_map(|item| schedule(item, problems)).take(SCHEDULES_MAX).collect()
}

fn schedule(item: &Node, problems: &mut Problems<'_>) -> Option<Schedule> {
    let node = item.get("cron")?;
    let cron = node.text()?;
    if !cron::is_valid(&cron) {
        let message = "Invalid cron expression. Expected format: '* * * * *' (minute hour day month weekday)";
        problems.error(node.place, message);
    } else if cron::is_too_frequent(&cron) {
        problems.warning(node.place, "A schedule starts at most every 5 minutes");
    }
    let zone = item.get("timezone");
    let timezone = zone.and_then(Node::text);
    if let (Some(node), Some(name)) = (zone, &timezone)
        && jiff::tz::TimeZone::get(name).is_err()
    {
        problems.error(node.place, format!("There is no time zone '{name}'"));
    }
    Some(Schedule { cron: cron.to_string(), timezone: timezone.map(|it| it.to_string()) })
}

fn input(name: &Node, value: &Node, problems: &mut Problems<'_>) -> DispatchInput {
    let text = |key: &str| value.get(key).and_then(Node::text);
    let kind = text("type").and_then(|name| InputKind::read(&name)).unwrap_or_default();
    let options = value.get("options");
    match (kind, options.map(|options| options.items().len())) {
        (InputKind::Choice, None | Some(0)) => problems.error(value.place, "Missing 'options' for choice input"),
        (InputKind::Choice, Some(_)) | (_, None) => {}
        _ => problems.error(value.place, "Input type is not 'choice', but 'options' is defined"),
    }
    DispatchInput {
        name: name.text().unwrap_or_default().to_string(),
        description: text("description").map(|it| it.to_string()),
        kind,
        required: value.get("required").is_some_and(|node| matches!(node.kind, NodeKind::Scalar(Value::Boolean(true)))),
        default: value.get("default").and_then(|node| input_default(node, kind, problems)),
        options: options.map(texts).unwrap_or_default().iter().map(|(text, _)| text.to_string()).collect(),
    }
}

fn input_default(node: &Node, kind: InputKind, problems: &mut Problems<'_>) -> Option<InputDefault> {
    let NodeKind::Scalar(value) = &node.kind else { return None };
    let default = match (kind, value) {
        (InputKind::Boolean, Value::Boolean(value)) => Some(InputDefault::Boolean(*value)),
        (InputKind::Number, Value::Number(value)) => Some(InputDefault::Number(*value)),
        (InputKind::Number, value) => Some(value.to_number()).filter(|it| !it.is_nan()).map(InputDefault::Number),
        (InputKind::Boolean, _) => None,
        (_, Value::Text(text)) => Some(InputDefault::Text(text.to_string())),
        // What is written as nothing is the empty text.
        (_, Value::Null) => Some(InputDefault::Text(String::new())),
        _ => None,
    };
    if default.is_none() {
        problems.error(node.place, format!("The default of an input of type {} is something else", kind.name()));
    }
    default
}
