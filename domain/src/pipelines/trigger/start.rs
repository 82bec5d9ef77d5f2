//! Whether an event starts a workflow, and why not.

use super::{
    event::{Missed, Paths, PushedRef, TriggerEvent},
    skip::skips,
};
use crate::pipelines::workflow::{Filter, PullRequestTrigger, PushTrigger, Triggers, Workflow};

/// A workflow that an event may start.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What the file means; none where it is broken.
    pub workflow: Option<&'a Workflow>,
    /// Whether somebody disabled the workflow.
    pub is_disabled: bool,
}

/// What an event starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A run.
    Run,
    /// A run that is over at once, because the file is broken.
    Broken,
}

/// Why an event doesn't start a workflow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    /// The workflow is disabled.
    #[error("The workflow is disabled.")]
    Disabled,
    /// The file is broken, and only a push says so in a run.
    #[error("The workflow file has errors.")]
    Broken,
    /// The event starts nothing of any file.
    #[error(transparent)]
    Missed(#[from] Missed),
    /// The commit asks for no runs.
    #[error("The message of the commit has {0} in it.")]
    Skipped(&'static str),
    /// The pull request can't be merged.
    #[error("The pull request has conflicts, so there is no merge to run on.")]
    Conflict,
    /// The file doesn't name the event.
    #[error("The file isn't started by {0}.")]
    Event(&'static str),
    /// A ref was deleted.
    #[error("A branch or tag was deleted.")]
    Deleted,
    /// The filter of branches doesn't let this one pass.
    #[error("The filter of branches doesn't let '{0}' pass.")]
    Branch(String),
    /// The filter of tags doesn't let this one pass.
    #[error("The filter of tags doesn't let '{0}' pass.")]
    Tag(String),
    /// The file has a filter of tags, and none of branches.
    #[error("The file names tags only, and '{0}' is a branch.")]
    TagsOnly(String),
    /// The file has a filter of branches, and none of tags.
    #[error("The file names branches only, and '{0}' is a tag.")]
    BranchesOnly(String),
    /// The activity isn't among the types.
    #[error("'{0}' isn't among the types.")]
    Activity(String),
    /// The filter of paths lets none of the changed files pass.
    #[error("The filter of paths lets none of the changed files pass.")]
    Paths,
    /// The file isn't the default branch's.
    #[error("Schedules are those of the default branch's newest commit, and this is another one.")]
    NotDefault,
    /// The file has no such schedule any more.
    #[error("The file has no schedule '{0}'.")]
    Schedule(String),
}

impl WhyNot {
    /// A word for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Broken => "broken",
            Self::Missed(missed) => missed.code(),
            Self::Skipped(_) => "skip_ci",
            Self::Conflict => "conflict",
            Self::Event(_) => "event",
            Self::Deleted => "deleted",
            Self::Branch(_) | Self::TagsOnly(_) => "branch",
            Self::Tag(_) | Self::BranchesOnly(_) => "tag",
            Self::Activity(_) => "type",
            Self::Paths => "paths",
            Self::NotDefault => "not_default",
            Self::Schedule(_) => "schedule",
        }
    }
}

/// What an event starts of a workflow, or the first reason for which it starts nothing.
pub fn start(candidate: Candidate<'_>, event: &TriggerEvent<'_>) -> Result<Start, WhyNot> {
    if candidate.is_disabled {
        return Err(WhyNot::Disabled);
    }
    match event {
        TriggerEvent::Missed(missed) => return Err((*missed).into()),
        TriggerEvent::Push { to: PushedRef::Deleted, .. } => return Err(WhyNot::Deleted),
        TriggerEvent::Push { message, .. } | TriggerEvent::PullRequest { message, .. } => {
            skips(message).map_or(Ok(()), |spelling| Err(WhyNot::Skipped(spelling)))?;
        }
        TriggerEvent::Conflict | TriggerEvent::Schedule { .. } | TriggerEvent::Dispatch => {}
    }
    match (candidate.workflow, event) {
        (Some(workflow), event) => named(&workflow.triggers, event).map(|()| Start::Run),
        (None, TriggerEvent::Push { .. }) => Ok(Start::Broken),
        (None, _) => Err(WhyNot::Broken),
    }
}

/// Whether what the file says of the event lets it pass.
fn named(triggers: &Triggers, event: &TriggerEvent<'_>) -> Result<(), WhyNot> {
    let missing = || WhyNot::Event(event.name().unwrap_or_default());
    match event {
        TriggerEvent::Push { to, paths, .. } => pushed(triggers.push.as_ref().ok_or_else(missing)?, *to, *paths),
        TriggerEvent::PullRequest { activity, base, paths, .. } => {
            pulled(triggers.pull_request.as_ref().ok_or_else(missing)?, activity, base, *paths)
        }
        TriggerEvent::Conflict => {
            triggers.pull_request.as_ref().map_or_else(|| Err(missing()), |_| Err(WhyNot::Conflict))
        }
        TriggerEvent::Schedule { .. } if triggers.schedules.is_empty() => Err(missing()),
        TriggerEvent::Schedule { is_default: false, .. } => Err(WhyNot::NotDefault),
        TriggerEvent::Schedule { cron, timezone, .. } => {
            let is_it = triggers.schedules.iter().any(|it| it.cron == *cron && it.timezone.as_deref() == *timezone);
            is_it.then_some(()).ok_or_else(|| WhyNot::Schedule((*cron).to_owned()))
        }
        TriggerEvent::Dispatch => triggers.dispatch.as_ref().map(|_| ()).ok_or_else(missing),
        TriggerEvent::Missed(missed) => Err((*missed).into()),
    }
}

fn pushed(trigger: &PushTrigger, to: PushedRef<'_>, paths: Paths<'_>) -> Result<(), WhyNot> {
    match to {
        PushedRef::Deleted => Err(WhyNot::Deleted),
        // Files don't matter for tags.
        PushedRef::Tag(tag) => match (&trigger.tags, &trigger.branches) {
            (Some(filter), _) if !filter.passes(tag) => Err(WhyNot::Tag(tag.to_owned())),
            (None, Some(_)) => Err(WhyNot::BranchesOnly(tag.to_owned())),
            _ => Ok(()),
        },
        PushedRef::Branch(branch) => match (&trigger.branches, &trigger.tags) {
            (Some(filter), _) if !filter.passes(branch) => Err(WhyNot::Branch(branch.to_owned())),
            (None, Some(_)) => Err(WhyNot::TagsOnly(branch.to_owned())),
            _ => changed(trigger.paths.as_ref(), paths),
        },
    }
}

fn pulled(trigger: &PullRequestTrigger, activity: &str, base: &str, paths: Paths<'_>) -> Result<(), WhyNot> {
    if !trigger.types.iter().any(|it| it == activity) {
        return Err(WhyNot::Activity(activity.to_owned()));
    }
    if trigger.branches.as_ref().is_some_and(|filter| !filter.passes(base)) {
        return Err(WhyNot::Branch(base.to_owned()));
    }
    changed(trigger.paths.as_ref(), paths)
}

fn changed(filter: Option<&Filter>, paths: Paths<'_>) -> Result<(), WhyNot> {
    match (filter, paths) {
        (Some(filter), Paths::Known(paths)) if !filter.passes_any(paths.iter().map(String::as_str)) => {
            Err(WhyNot::Paths)
        }
        _ => Ok(()),
    }
}
