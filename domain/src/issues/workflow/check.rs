//! What is wrong with a workflow.

use std::collections::BTreeSet;

use super::definition::{Condition, Definition, PostFunction, Transition, Validator};
use crate::{
    Problem,
    issues::{
        jql::Query,
        limits::{NAME_LEN, WORKFLOW_STATUSES_MAX, WORKFLOW_TRANSITIONS_MAX},
    },
};

/// The permissions of a space (contract B 2.3).
const PERMISSIONS: [&str; 21] = [
    "link",
    "move",
    "edit",
    "comment",
    "worklog",
    "delete",
    "create",
    "browse",
    "editOwn",
    "transition",
    "assign",
    "assignable",
    "deleteOwn",
    "editComments",
    "deleteComments",
    "attach",
    "deleteAttachments",
    "manageWatchers",
    "manageSprints",
    "administer",
    "serviceAgent",
];

/// Everything that is wrong with a definition; `known` are the statuses of the organization.
pub fn check(definition: &Definition, known: &BTreeSet<String>) -> Vec<Problem> {
    let mut found = Found(Vec::new());
    let statuses: BTreeSet<&str> = definition.statuses.iter().map(|place| place.status_id.as_str()).collect();
    found.unless((1..=WORKFLOW_STATUSES_MAX).contains(&definition.statuses.len()), "statuses", || {
        format!("A workflow has 1 to {WORKFLOW_STATUSES_MAX} statuses.")
    });
    found.unless(definition.transitions.len() <= WORKFLOW_TRANSITIONS_MAX, "transitions", || {
        format!("A workflow has at most {WORKFLOW_TRANSITIONS_MAX} transitions.")
    });
    let mut seen = BTreeSet::new();
    for (at, place) in definition.statuses.iter().enumerate() {
        let (path, id) = (format!("statuses.{at}.statusId"), &place.status_id);
        found.unless(known.contains(id), &path, || format!("The status '{id}' does not exist."));
        found.unless(seen.insert(id), &path, || format!("The status '{id}' stands here twice."));
    }
    found.unless(statuses.contains(definition.initial_status_id.as_str()), "initialStatusId", || {
        "New issues need a status of the workflow.".to_owned()
    });
    let mut ids = BTreeSet::new();
    for (at, transition) in definition.transitions.iter().enumerate() {
        let path = format!("transitions.{at}");
        found.unless(ids.insert(&transition.id), &format!("{path}.id"), || {
            format!("The transition '{}' stands here twice.", transition.id)
        });
        found.transition(&path, transition, &statuses);
    }
    found.0
}

/// Statuses that no issue comes to by transitions, starting from the initial one.
pub fn unreachable(definition: &Definition) -> Vec<&str> {
    let mut reached = BTreeSet::from([definition.initial_status_id.as_str()]);
    loop {
        let count = reached.len();
        for transition in &definition.transitions {
            if transition.from.iter().any(|from| reached.contains(from.as_str())) {
                reached.insert(&transition.to);
            }
        }
        if reached.len() == count {
            break;
        }
    }
    let all = definition.statuses.iter().map(|place| place.status_id.as_str());
    all.filter(|status| !reached.contains(status)).collect()
}

struct Found(Vec<Problem>);

impl Found {
    fn unless(&mut self, is_right: bool, path: &str, message: impl FnOnce() -> String) {
        if !is_right {
            self.0.push(Problem { path: path.to_owned(), message: message() });
        }
    }

    fn transition(&mut self, path: &str, transition: &Transition, statuses: &BTreeSet<&str>) {
        let name = transition.name.trim().chars().count();
        self.unless(NAME_LEN.contains(&name), &format!("{path}.name"), || "A name has 1 to 80 characters.".to_owned());
        self.unless(!transition.from.is_empty(), &format!("{path}.from"), || {
            "A transition that leaves no status can never be made.".to_owned()
        });
        let outside = |id: &str| format!("The status '{id}' is not in this workflow.");
        for (at, from) in transition.from.iter().enumerate() {
            self.unless(statuses.contains(from.as_str()), &format!("{path}.from.{at}"), || outside(from));
        }
        let to = &transition.to;
        self.unless(statuses.contains(to.as_str()), &format!("{path}.to"), || outside(to));
        for (at, condition) in transition.conditions.iter().enumerate() {
            self.condition(&format!("{path}.conditions.{at}"), condition);
        }
        for (at, validator) in transition.validators.iter().enumerate() {
            self.validator(&format!("{path}.validators.{at}"), validator);
        }
        for (at, function) in transition.post_functions.iter().enumerate() {
            self.post_function(&format!("{path}.postFunctions.{at}"), function);
        }
    }

    fn condition(&mut self, path: &str, condition: &Condition) {
        match condition {
            Condition::OrgRole { roles } | Condition::SpaceRole { roles } => {
                self.unless(!roles.is_empty(), path, || "Name at least one role.".to_owned());
            }
            Condition::Permission { permission } => {
                self.unless(PERMISSIONS.contains(&permission.as_str()), path, || {
                    format!("There is no permission '{permission}'.")
                });
            }
            Condition::FieldSet { field } => self.field(path, field),
            Condition::Assignee | Condition::Reporter | Condition::SubtasksDone => {}
        }
    }

    fn validator(&mut self, path: &str, validator: &Validator) {
        match validator {
            Validator::Required { fields, .. } => {
                self.unless(!fields.is_empty(), path, || "Name at least one field.".to_owned());
                for field in fields {
                    self.field(path, field);
                }
            }
            Validator::Query { query, .. } => {
                if let Err(fault) = Query::parse(query) {
                    self.unless(false, path, || fault.to_string());
                }
            }
        }
    }

    fn post_function(&mut self, path: &str, function: &PostFunction) {
        match function {
            PostFunction::Assign { to } => {
                let is_known = ["reporter", "currentUser", "lead", "unassigned"].contains(&to.as_str());
                self.unless(is_known, path, || format!("Nobody goes by '{to}' here."));
            }
            PostFunction::SetField { field, .. } | PostFunction::ClearField { field } => self.field(path, field),
            PostFunction::CopyField { from, to, .. } => {
                self.field(path, from);
                self.field(path, to);
            }
            PostFunction::Webhook { url } => {
                let is_address = url.starts_with("https://") || url.starts_with("http://");
                self.unless(is_address, path, || "Give an address that begins with http:// or https://.".to_owned());
            }
            _ => {}
        }
    }

    fn field(&mut self, path: &str, field: &str) {
        self.unless(!field.trim().is_empty(), path, || "Name a field.".to_owned());
    }
}
