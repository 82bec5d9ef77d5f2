//! Making a transition: what is open, what stands in the way, and what follows.

use serde::Serialize;

use super::definition::{Category, Condition, Definition, Transition, Validator};
use crate::{Problem, Timestamp};

/// Who is about to make a transition of an issue as it was.
pub trait Situation {
    /// Whether the person has this role in the organization.
    fn has_org_role(&self, role: &str) -> bool;
    /// Whether the person has this role in the space.
    fn has_space_role(&self, role: &str) -> bool;
    /// Whether the person is the assignee.
    fn is_assignee(&self) -> bool;
    /// Whether the person is the reporter.
    fn is_reporter(&self) -> bool;
    /// Whether the person has this permission in the space.
    fn may(&self, permission: &str) -> bool;
    /// Whether a field of the issue has a value.
    fn has_field(&self, field: &str) -> bool;
    /// Whether every subtask of the issue is done.
    fn subtasks_are_done(&self) -> bool;
}

/// What stands in the way of a transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// The type of the condition.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What is missing, as a sentence.
    pub why: String,
}

/// The transitions that leave a status.
pub fn available<'a>(definition: &'a Definition, status: &str) -> impl Iterator<Item = &'a Transition> {
    definition.transitions.iter().filter(move |transition| transition.from.iter().any(|from| from == status))
}

/// What of a transition's conditions doesn't hold: all of it, so that whoever reads it need not try again and again.
pub fn blocked(transition: &Transition, situation: &dyn Situation) -> Vec<Blocked> {
    transition.conditions.iter().filter_map(|condition| missing(condition, situation)).collect()
}

fn missing(condition: &Condition, situation: &dyn Situation) -> Option<Blocked> {
    let (kind, holds, why) = match condition {
        Condition::OrgRole { roles } => {
            let holds = roles.iter().any(|role| situation.has_org_role(role));
            ("orgRole", holds, format!("Only {} of the organization can do this.", listed(roles)))
        }
        Condition::SpaceRole { roles } => {
            let holds = roles.iter().any(|role| situation.has_space_role(role));
            ("spaceRole", holds, format!("Only {} of the space can do this.", listed(roles)))
        }
        Condition::Assignee => ("assignee", situation.is_assignee(), "Only the assignee can do this.".to_owned()),
        Condition::Reporter => ("reporter", situation.is_reporter(), "Only the reporter can do this.".to_owned()),
        Condition::Permission { permission } => {
            ("permission", situation.may(permission), format!("This needs the permission '{permission}' in the space."))
        }
        Condition::FieldSet { field } => {
            ("fieldSet", situation.has_field(field), format!("The field '{field}' must have a value."))
        }
        Condition::SubtasksDone => {
            ("subtasksDone", situation.subtasks_are_done(), "Every subtask must be done first.".to_owned())
        }
    };
    (!holds).then_some(Blocked { kind, why })
}

fn listed(roles: &[String]) -> String {
    match roles {
        [] => "nobody".to_owned(),
        [one] => format!("the {one}s"),
        [most @ .., last] => format!("the {}s and {last}s", most.join("s, ")),
    }
}

/// What of a transition's validators the issue doesn't meet as it would be: `has_field` and `matches` look at that issue.
pub fn refusals(
    transition: &Transition,
    has_field: impl Fn(&str) -> bool,
    matches: impl Fn(&str) -> bool,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for validator in &transition.validators {
        match validator {
            Validator::Required { fields, message } => {
                let missing = fields.iter().filter(|field| !has_field(field));
                let said = || message.clone().unwrap_or_else(|| "This field is required.".to_owned());
                problems.extend(missing.map(|field| Problem { path: format!("fields.{field}"), message: said() }));
            }
            Validator::Query { query, message } if !matches(query) => {
                problems.push(Problem { path: String::new(), message: message.clone() });
            }
            Validator::Query { .. } => {}
        }
    }
    problems
}

/// What coming to a status does to an issue's resolution, beside what the post-functions do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entered {
    /// When the issue was resolved; nothing while it isn't.
    pub resolved_at: Option<Timestamp>,
    /// The resolution.
    pub resolution: Option<String>,
}

/// A done category is entered, kept or left. Going from one done status to another keeps instant and resolution.
pub fn entered(definition: &Definition, was: Category, is: Category, before: Entered, at: Timestamp) -> Entered {
    match (was == Category::Done, is == Category::Done) {
        (false, true) => {
            let resolution = definition.auto_resolution.clone().or(before.resolution);
            Entered { resolved_at: Some(at), resolution }
        }
        (true, false) => {
            let resolution = if definition.auto_resolution.is_some() { None } else { before.resolution };
            Entered { resolved_at: None, resolution }
        }
        _ => before,
    }
}
