//! The steps of a job.

use std::collections::HashSet;

use super::{
    inputs::InputFault,
    model::{Action, Bindings, STEPS_MAX, Setting, Step, StepKind},
    read::{Read, identifier_fault, number},
    schema::{OF_STEP, OF_STEP_IF},
    yaml::Node,
};
use crate::pipelines::expressions::Vocabulary;

/// The steps of a job, and what is wrong with them that the table can't say.
pub(super) fn read(node: Option<&Node>, read: &mut Read<'_, '_>) -> Vec<Step> {
    let Some(node) = node else { return Vec::new() };
    if node.items().len() > STEPS_MAX {
        read.problems.error(node.place, format!("A job has at most {STEPS_MAX} steps"));
        return Vec::new();
    }
    let mut ids = HashSet::new();
    node.items().iter().map(|item| step(item, &mut ids, read)).collect()
}

fn step(node: &Node, ids: &mut HashSet<String>, read: &mut Read<'_, '_>) -> Step {
    Step {
        id: node.get("id").map(|node| id(node, ids, read)),
        name: read.optional(node, "name", &OF_STEP),
        condition: read.condition(node.get("if"), &OF_STEP_IF),
        env: read.env(node, &OF_STEP),
        continue_on_error: read.flag(node.get("continue-on-error"), &OF_STEP, Setting::Given(false)),
        timeout_minutes: node.get("timeout-minutes").map(|node| read.setting(node, &OF_STEP, number)),
        kind: kind(node, read),
    }
}

fn id(node: &Node, ids: &mut HashSet<String>, read: &mut Read<'_, '_>) -> String {
    let id = node.text().unwrap_or_default().to_string();
    if let Some(fault) = identifier_fault(&id) {
        read.problems.error(node.place, fault);
    } else if !ids.insert(id.clone()) {
        let message = format!("The identifier '{id}' may not be used more than once within the same scope.");
        read.problems.error(node.place, message);
    }
    id
}

fn kind(node: &Node, read: &mut Read<'_, '_>) -> StepKind {
    let Some(uses) = node.get("uses") else {
        return StepKind::Run {
            script: read.optional(node, "run", &OF_STEP).unwrap_or_default(),
            shell: read.optional(node, "shell", &Vocabulary::NONE),
            working_directory: read.optional(node, "working-directory", &OF_STEP),
        };
    };
    let name = uses.text().unwrap_or_default();
    let action = Action::read(&name);
    if action.is_none() {
        let message = format!(
            "The action '{name}' is not known. There are actions/checkout, actions/cache, actions/cache/restore, \
             actions/cache/save, actions/upload-artifact and actions/download-artifact, each with @ and a version"
        );
        read.problems.error(uses.place, message);
    }
    let with = read.bindings(node.get("with"), &OF_STEP);
    if let (Some(action), Some(node), Bindings::Each(given)) = (action, node.get("with"), &with) {
        for ((key, _), (name, value)) in node.entries().iter().zip(given) {
            let Some(fault) = action.input_fault(name, value) else { continue };
            let message = fault.forecast(action, &[name]);
            match fault {
                InputFault::Impossible(_) => read.problems.error(key.place, message),
                // What it comes to may be what holds of the run.
                InputFault::Foreign(_) | InputFault::Unknown | InputFault::Idle => {
                    read.problems.warning(key.place, message);
                }
            }
        }
    }
    StepKind::Uses { action: action.unwrap_or(Action::Checkout), with }
}
