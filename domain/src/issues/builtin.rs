//! The workflows that every organization has. Nobody changes them.

use super::workflow::{Definition, StatusPlace, Transition};

/// A workflow that every organization has.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// What it goes by.
    pub id: &'static str,
    /// What people read.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    statuses: &'static [&'static str],
    ways: &'static [Way],
    auto_resolution: Option<&'static str>,
}

/// Id, name, the statuses that are left (none: every one), and the one that is entered.
type Way = (&'static str, &'static str, &'static [&'static str], &'static str);

const TO_DO: Way = ("to_do", "To do", &[], "todo");
const START: Way = ("start", "Start", &[], "in_progress");
const REVIEW: Way = ("review", "Ask for review", &["in_progress"], "in_review");
const DONE: Way = ("done", "Done", &[], "done");

/// They.
pub const WORKFLOWS: [BuiltIn; 5] = [
    BuiltIn {
        id: "wf_basic",
        name: "Basic",
        description: "From to do over in progress to done.",
        statuses: &["todo", "in_progress", "done"],
        ways: &[TO_DO, START, DONE],
        auto_resolution: Some("done"),
    },
    BuiltIn {
        id: "wf_software",
        name: "Software",
        description: "With a review before the end.",
        statuses: &["todo", "in_progress", "in_review", "done"],
        ways: &[TO_DO, START, REVIEW, DONE],
        auto_resolution: Some("done"),
    },
    BuiltIn {
        id: "wf_kanban",
        name: "Kanban",
        description: "Every column can be reached from every other.",
        statuses: &["todo", "in_progress", "in_review", "done"],
        ways: &[TO_DO, START, ("review", "Review", &[], "in_review"), DONE],
        auto_resolution: Some("done"),
    },
    BuiltIn {
        id: "wf_service",
        name: "Service",
        description: "Between those who ask and those who answer.",
        statuses: &[
            "waiting_for_support",
            "in_progress",
            "waiting_for_customer",
            "waiting_for_approval",
            "resolved",
            "closed",
            "cancelled",
        ],
        ways: &[
            ("start", "Start", &["waiting_for_support", "waiting_for_customer"], "in_progress"),
            ("ask", "Wait for customer", &["waiting_for_support", "in_progress"], "waiting_for_customer"),
            (
                "answer",
                "Wait for support",
                &["in_progress", "waiting_for_customer", "waiting_for_approval"],
                "waiting_for_support",
            ),
            ("approve", "Ask for approval", &["waiting_for_support", "in_progress"], "waiting_for_approval"),
            ("resolve", "Resolve", &["waiting_for_support", "in_progress", "waiting_for_customer"], "resolved"),
            ("close", "Close", &["resolved"], "closed"),
            (
                "cancel",
                "Cancel",
                &["waiting_for_support", "in_progress", "waiting_for_customer", "waiting_for_approval"],
                "cancelled",
            ),
            ("reopen", "Reopen", &["resolved", "closed", "cancelled"], "waiting_for_support"),
        ],
        auto_resolution: Some("done"),
    },
    BuiltIn {
        id: "wf_bugs",
        name: "Bugs",
        description: "Found, fixed, looked at once more.",
        statuses: &["todo", "in_progress", "in_review", "resolved", "closed"],
        ways: &[
            START,
            ("fix", "Fixed", &["in_progress"], "in_review"),
            ("resolve", "Resolve", &["todo", "in_progress", "in_review"], "resolved"),
            ("close", "Close", &["resolved"], "closed"),
            ("reopen", "Reopen", &["in_review", "resolved", "closed"], "todo"),
        ],
        auto_resolution: Some("done"),
    },
];

/// The workflow with this id.
pub fn workflow(id: &str) -> Option<&'static BuiltIn> {
    WORKFLOWS.iter().find(|workflow| workflow.id == id)
}

impl BuiltIn {
    /// What it says. A way from every status leaves all but the one that it leads to.
    pub fn definition(&self) -> Definition {
        let all_but = |to: &str| self.statuses.iter().filter(|id| **id != to).map(|id| (*id).to_owned()).collect();
        let transition = |(id, name, from, to): &Way| Transition {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            from: if from.is_empty() { all_but(to) } else { from.iter().map(|id| (*id).to_owned()).collect() },
            to: (*to).to_owned(),
            fields: Vec::new(),
            conditions: Vec::new(),
            validators: Vec::new(),
            post_functions: Vec::new(),
        };
        let place = |id: &&str| StatusPlace { status_id: (*id).to_owned(), x: None, y: None };
        Definition {
            initial_status_id: self.statuses[0].to_owned(),
            statuses: self.statuses.iter().map(place).collect(),
            transitions: self.ways.iter().map(transition).collect(),
            auto_resolution: self.auto_resolution.map(str::to_owned),
        }
    }

    /// Whether it has this status.
    pub fn has_status(&self, id: &str) -> bool {
        self.statuses.contains(&id)
    }

    /// Whether it sets this resolution.
    pub fn has_resolution(&self, id: &str) -> bool {
        self.auto_resolution == Some(id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::issues::{
        settings::Settings,
        workflow::{check, unreachable},
    };

    #[test]
    fn all_are_right_and_every_status_is_reached() {
        let known: BTreeSet<String> = Settings::default().statuses.into_iter().map(|status| status.id).collect();
        for workflow in &WORKFLOWS {
            let definition = workflow.definition();
            assert_eq!(check(&definition, &known), [], "{}", workflow.id);
            assert_eq!(unreachable(&definition), [""; 0], "{}", workflow.id);
        }
    }
}
