//! Workflows: what is wrong with one, and what transitions do.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::{
    Timestamp,
    issues::limits::{WORKFLOW_STATUSES_MAX, WORKFLOW_TRANSITIONS_MAX},
};

fn definition(value: serde_json::Value) -> Definition {
    serde_json::from_value(value).expect("a definition")
}

fn simple() -> Definition {
    definition(json!({
        "initialStatusId": "todo",
        "statuses": [{"statusId": "todo"}, {"statusId": "doing", "x": 1.5}, {"statusId": "done"}],
        "transitions": [
            {"id": "start", "name": "Start", "from": ["todo"], "to": "doing"},
            {"id": "end", "name": "End", "from": ["todo", "doing"], "to": "done",
             "conditions": [{"type": "assignee"}, {"type": "spaceRole", "roles": ["admin", "member"]}, {"type": "fieldSet", "field": "due"}],
             "validators": [{"type": "required", "fields": ["resolution", "storyPoints"]}, {"type": "query", "query": "labels = ready", "message": "Label it first."}],
             "postFunctions": [{"type": "assign", "to": "unassigned"}, {"type": "setResolution", "resolutionId": null}, {"type": "copyField", "from": "due", "to": "startDate", "of": "parent"}]}
        ],
        "autoResolution": "done"
    }))
}

fn problems(definition: &Definition) -> Vec<(String, String)> {
    let known: BTreeSet<String> =
        (0..60).map(|at| format!("s{at}")).chain(["todo", "doing", "done"].map(str::to_owned)).collect();
    check(definition, &known).into_iter().map(|problem| (problem.path, problem.message)).collect()
}

#[test]
fn a_definition_reads_and_writes_as_the_same() {
    let written = serde_json::to_value(simple()).expect("JSON");
    assert_eq!(definition(written), simple());
    assert_eq!(problems(&simple()), []);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let wrong = definition(json!({
        "initialStatusId": "nowhere",
        "statuses": [{"statusId": "todo"}, {"statusId": "todo"}, {"statusId": "gone"}],
        "transitions": [
            {"id": "a", "name": " ", "from": [], "to": "done"},
            {"id": "a", "name": "A", "from": ["todo", "doing"], "to": "todo",
             "conditions": [{"type": "permission", "permission": "fly"}, {"type": "orgRole", "roles": []}],
             "validators": [{"type": "query", "query": "status =", "message": "x"}, {"type": "required", "fields": []}],
             "postFunctions": [{"type": "assign", "to": "me"}, {"type": "webhook", "url": "ftp://x"}, {"type": "clearField", "field": ""}]}
        ]
    }));
    let paths: Vec<String> = problems(&wrong).into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "statuses.1.statusId",
            "statuses.2.statusId",
            "initialStatusId",
            "transitions.0.name",
            "transitions.0.from",
            "transitions.0.to",
            "transitions.1.id",
            "transitions.1.from.1",
            "transitions.1.conditions.0",
            "transitions.1.conditions.1",
            "transitions.1.validators.0",
            "transitions.1.validators.1",
            "transitions.1.postFunctions.0",
            "transitions.1.postFunctions.1",
            "transitions.1.postFunctions.2",
        ]
    );
    let (_, message) = &problems(&wrong)[10];
    assert_eq!(message, "The query ends where a value, a function or EMPTY was expected. (line 1, character 9)");
}

#[test]
fn sizes_are_limited() {
    let sized = |statuses: usize, transitions: usize| {
        let statuses: Vec<_> = (0..statuses).map(|at| json!({"statusId": format!("s{at}")})).collect();
        let transitions: Vec<_> =
            (0..transitions).map(|at| json!({"id": at.to_string(), "name": "x", "from": ["s0"], "to": "s0"})).collect();
        problems(&definition(json!({"initialStatusId": "s0", "statuses": statuses, "transitions": transitions}))).len()
    };
    assert_eq!(
        [sized(WORKFLOW_STATUSES_MAX - 1, 0), sized(WORKFLOW_STATUSES_MAX, 0), sized(WORKFLOW_STATUSES_MAX + 1, 0)],
        [0, 0, 1]
    );
    let most = WORKFLOW_TRANSITIONS_MAX;
    assert_eq!([sized(1, most - 1), sized(1, most), sized(1, most + 1)], [0, 0, 1]);
}

#[test]
fn statuses_that_nothing_leads_to_are_found() {
    let mut workflow = simple();
    assert_eq!(unreachable(&workflow), [""; 0]);
    workflow.transitions.retain(|transition| transition.id != "start");
    assert_eq!(unreachable(&workflow), ["doing"]);
}

#[test]
fn a_transition_leaves_only_the_statuses_that_it_lists() {
    let workflow = simple();
    let ids = |status: &str| available(&workflow, status).map(|transition| transition.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids("todo"), ["start", "end"]);
    assert_eq!(ids("doing"), ["end"]);
    assert_eq!(ids("done"), [""; 0]);
}

/// A member of the space who is assignee of an issue without a due date.
struct Member;

impl Situation for Member {
    fn has_org_role(&self, _: &str) -> bool {
        false
    }
    fn has_space_role(&self, role: &str) -> bool {
        role == "member"
    }
    fn is_assignee(&self) -> bool {
        true
    }
    fn is_reporter(&self) -> bool {
        false
    }
    fn may(&self, permission: &str) -> bool {
        permission == "edit"
    }
    fn has_field(&self, field: &str) -> bool {
        field != "due"
    }
    fn subtasks_are_done(&self) -> bool {
        false
    }
}

#[test]
fn what_stands_in_the_way_is_said_whole() {
    let mut end = simple().transitions[1].clone();
    let ways = |transition: &Transition| {
        blocked(transition, &Member).into_iter().map(|it| (it.kind, it.why)).collect::<Vec<_>>()
    };
    assert_eq!(ways(&end), [("fieldSet", "The field 'due' must have a value.".to_owned())]);
    end.conditions = vec![
        Condition::Reporter,
        Condition::SubtasksDone,
        Condition::OrgRole { roles: vec!["owner".into(), "admin".into()] },
        Condition::Permission { permission: "edit".into() },
        Condition::Permission { permission: "delete".into() },
    ];
    let kinds: Vec<_> = ways(&end).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["reporter", "subtasksDone", "orgRole", "permission"]);
    assert_eq!(ways(&end)[2].1, "Only the owners and admins of the organization can do this.");
}

#[test]
fn validators_look_at_the_issue_as_it_would_be() {
    let end = &simple().transitions[1];
    let refused = |fields: &[&str], matches: bool| {
        let problems = refusals(end, |field| fields.contains(&field), |_| matches);
        problems.into_iter().map(|problem| (problem.path, problem.message)).collect::<Vec<_>>()
    };
    assert_eq!(refused(&["resolution", "storyPoints"], true), []);
    assert_eq!(
        refused(&["resolution"], true),
        [("fields.storyPoints".to_owned(), "This field is required.".to_owned())]
    );
    assert_eq!(refused(&["resolution", "storyPoints"], false), [(String::new(), "Label it first.".to_owned())]);
}

#[test]
fn resolution_comes_with_a_done_category_and_goes_with_it() {
    let workflow = simple();
    let open = Entered { resolved_at: None, resolution: None };
    let done = entered(&workflow, Category::Todo, Category::Done, open.clone(), Timestamp(5));
    assert_eq!(done, Entered { resolved_at: Some(Timestamp(5)), resolution: Some("done".into()) });
    assert_eq!(entered(&workflow, Category::Done, Category::Done, done.clone(), Timestamp(9)), done);
    assert_eq!(entered(&workflow, Category::Done, Category::InProgress, done.clone(), Timestamp(9)), open);
    let by_hand = Definition { auto_resolution: None, ..workflow };
    let kept = entered(&by_hand, Category::Done, Category::InProgress, done, Timestamp(9));
    assert_eq!(kept, Entered { resolved_at: None, resolution: Some("done".into()) });
}
