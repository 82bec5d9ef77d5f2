//! Queues of a desk, and answers that its agents keep at hand.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{desk::ServiceDesk, limits::REQUEST_TYPE_LEN};
use crate::{
    id::SpaceId,
    issues::{
        filter::{COLUMNS_MAX, SHARED_ID_LEN_MAX},
        jql::Query,
        limits::{COMMENT_LEN_MAX, NAME_LEN},
    },
    problems::Problems,
};

/// Queues of a desk.
pub const QUEUES_MAX: usize = 50;
/// Answers that a desk keeps at hand.
pub const CANNED_MAX: usize = 200;
/// Issues of a queue that are counted one by one.
pub const QUEUE_COUNTED_MAX: u64 = 1_000;
/// 404 of a queue.
pub const QUEUE_NOT_FOUND: &str = "Queue not found.";

/// Issues of a desk that somebody works off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Queue {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// Which issues of the space are in it, and in which order.
    pub jql: String,
    /// The fields that it is shown with.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// An answer that is kept at hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CannedResponse {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// Markdown.
    pub body: String,
}

impl Queue {
    /// The queues that a new desk begins with.
    pub fn defaults() -> Vec<Self> {
        let queue = |id: &str, name: &str, jql: &str| Self {
            id: id.to_owned(),
            name: name.to_owned(),
            jql: jql.to_owned(),
            columns: Vec::new(),
        };
        vec![
            queue("unassigned", "Unassigned", "assignee is EMPTY AND statusCategory != Done ORDER BY created ASC"),
            queue("mine", "Mine", "assignee = currentUser() AND statusCategory != Done ORDER BY priority DESC"),
            queue("open", "All open", "statusCategory != Done ORDER BY created ASC"),
            queue(
                "late_soon",
                "Late within an hour",
                "\"Time to resolution\" < remaining(1h) AND statusCategory != Done ORDER BY \"Time to resolution\"",
            ),
        ]
    }

    /// The query for its issues, within its space.
    pub fn query(&self, space_id: SpaceId) -> String {
        let (mut query, mut ordered) = (Query::parse(&self.jql).unwrap_or_default(), Query::default());
        std::mem::swap(&mut query.order, &mut ordered.order);
        let within = format!("space = {space_id}");
        let own = query.to_string();
        let whole = if own.is_empty() { within } else { format!("({own}) AND {within}") };
        format!("{whole} {ordered}").trim().to_owned()
    }
}

/// Whether a text can be what something of a desk goes by.
fn is_id(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '_' | '-');
    REQUEST_TYPE_LEN.contains(&text.len()) && text.chars().all(is_part)
}

/// Says what is wrong with what something goes by, and with its name.
fn check_named<'a>(problems: &mut Problems, path: &str, (id, name): (&'a str, &str), seen: &mut BTreeSet<&'a str>) {
    let message = "Use 1 to 40 lower-case letters, digits, hyphens and underscores.";
    problems.require(is_id(id), format!("{path}.id"), message);
    problems.require(seen.insert(id), format!("{path}.id"), "This stands here twice.");
    let fits = !name.trim().is_empty() && name.chars().count() <= *NAME_LEN.end() && !name.contains('\0');
    problems.require(fits, format!("{path}.name"), "Use 1 to 80 characters.");
}

/// Says everything that is wrong with a desk's queues and with its answers.
pub(super) fn check(problems: &mut Problems, desk: &ServiceDesk) {
    let path = "config.servicedesk.queues";
    problems.require(desk.queues.len() <= QUEUES_MAX, path, "Use at most 50.");
    let mut seen = BTreeSet::new();
    for (at, queue) in desk.queues.iter().enumerate() {
        let path = format!("{path}[{at}]");
        check_named(problems, &path, (&queue.id, &queue.name), &mut seen);
        if let Err(fault) = Query::parse(&queue.jql) {
            problems.add(format!("{path}.jql"), fault.to_string());
        }
        let fits = queue.columns.len() <= COLUMNS_MAX;
        problems.require(fits, format!("{path}.columns"), "Use at most 30.");
        for (at, column) in queue.columns.iter().enumerate() {
            let fits = (1..=SHARED_ID_LEN_MAX).contains(&column.chars().count()) && !column.contains('\0');
            problems.require(fits, format!("{path}.columns[{at}]"), "Use 1 to 64 characters.");
        }
    }
    let path = "config.servicedesk.cannedResponses";
    problems.require(desk.canned_responses.len() <= CANNED_MAX, path, "Use at most 200.");
    let mut seen = BTreeSet::new();
    for (at, canned) in desk.canned_responses.iter().enumerate() {
        let path = format!("{path}[{at}]");
        check_named(problems, &path, (&canned.id, &canned.name), &mut seen);
        let length = canned.body.trim().chars().count();
        let fits = (1..=COMMENT_LEN_MAX).contains(&length) && !canned.body.contains('\0');
        problems.require(fits, format!("{path}.body"), "Use 1 to 32000 characters.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_queue_asks_its_query_in_its_order_within_its_space() {
        let space = SpaceId::new(Timestamp(1));
        let asked = |jql: &str| {
            let queue = Queue { id: "q".into(), name: "Q".into(), jql: jql.into(), columns: Vec::new() };
            queue.query(space)
        };
        assert_eq!(asked(""), format!("space = {space}"));
        assert_eq!(asked("order by created"), format!("space = {space} ORDER BY created"));
        assert_eq!(asked("a = 1 or b = 2"), format!("(a = 1 OR b = 2) AND space = {space}"));
    }

    #[test]
    fn what_a_desk_begins_with_can_be_asked() {
        for queue in Queue::defaults() {
            let whole = queue.query(SpaceId::new(Timestamp(1)));
            assert!(Query::parse(&whole).is_ok(), "{whole}");
        }
    }
}
