//! The functions of queries: what each answers, for which fields, and how many arguments it takes.

use super::{
    fields::{FieldKind, ValueKind},
    moments::{Edge, Unit},
};

/// What a function answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The person who asks.
    Me,
    /// Now.
    Now,
    /// The beginning of a period, or its end.
    Edge(Unit, Edge),
    /// One or more values, which whoever knows the rows answers.
    Values(Count),
    /// A mark that a clock or an approval bears: this word.
    Mark(&'static str),
    /// A mark with a person behind it; without an argument, the one who asks.
    MarkOf(&'static str),
    /// The time that a clock has run.
    Elapsed,
    /// The time until a clock's goal is reached.
    Remaining,
}

/// Whether a function answers one value, or as many as there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    One,
    Many,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub name: &'static str,
    pub arguments: (usize, usize),
    pub answer: Answer,
    pub of: Of,
}

/// The fields that a function answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Values(ValueKind),
    /// Moments and days.
    Dates,
    Sla,
}

const fn values(name: &'static str, arguments: (usize, usize), of: ValueKind, count: Count) -> Known {
    Known { name, arguments, answer: Answer::Values(count), of: Of::Values(of) }
}

const fn edge(name: &'static str, unit: Unit, edge: Edge) -> Known {
    Known { name, arguments: (0, 1), answer: Answer::Edge(unit, edge), of: Of::Dates }
}

const fn mark(name: &'static str, mark: &'static str, of: Of) -> Known {
    Known { name, arguments: (0, 0), answer: Answer::Mark(mark), of }
}

const fn mark_of(name: &'static str, arguments: (usize, usize), mark: &'static str) -> Known {
    Known { name, arguments, answer: Answer::MarkOf(mark), of: Of::Values(ValueKind::Approval) }
}

const APPROVAL: Of = Of::Values(ValueKind::Approval);
/// As many arguments as a query has room for.
const MANY: usize = usize::MAX;

const FUNCTIONS: &[Known] = &[
    Known { name: "currentUser", arguments: (0, 0), answer: Answer::Me, of: Of::Values(ValueKind::Person) },
    values("membersOf", (1, 1), ValueKind::Person, Count::Many),
    Known { name: "now", arguments: (0, 0), answer: Answer::Now, of: Of::Dates },
    edge("startOfDay", Unit::Day, Edge::Start),
    edge("startOfWeek", Unit::Week, Edge::Start),
    edge("startOfMonth", Unit::Month, Edge::Start),
    edge("startOfYear", Unit::Year, Edge::Start),
    edge("endOfDay", Unit::Day, Edge::End),
    edge("endOfWeek", Unit::Week, Edge::End),
    edge("endOfMonth", Unit::Month, Edge::End),
    edge("endOfYear", Unit::Year, Edge::End),
    values("openSprints", (0, 0), ValueKind::Sprint, Count::Many),
    values("closedSprints", (0, 0), ValueKind::Sprint, Count::Many),
    values("futureSprints", (0, 0), ValueKind::Sprint, Count::Many),
    values("releasedVersions", (0, MANY), ValueKind::Version, Count::Many),
    values("unreleasedVersions", (0, MANY), ValueKind::Version, Count::Many),
    values("latestReleasedVersion", (1, 1), ValueKind::Version, Count::One),
    values("earliestUnreleasedVersion", (1, 1), ValueKind::Version, Count::One),
    values("componentsLeadByUser", (0, 1), ValueKind::Component, Count::Many),
    values("projectsLeadByUser", (0, 1), ValueKind::Space, Count::Many),
    values("projectsWhereUserHasPermission", (1, 1), ValueKind::Space, Count::Many),
    values("linkedIssues", (1, MANY), ValueKind::Issue, Count::Many),
    values("childIssuesOf", (1, 1), ValueKind::Issue, Count::Many),
    values("childrenOf", (1, 1), ValueKind::Issue, Count::Many),
    values("parentsOf", (1, 1), ValueKind::Issue, Count::Many),
    values("linkedIssuesOf", (1, 2), ValueKind::Issue, Count::Many),
    values("standardIssueTypes", (0, 0), ValueKind::Type, Count::Many),
    values("subtaskIssueTypes", (0, 0), ValueKind::Type, Count::Many),
    values("watchedIssues", (0, 0), ValueKind::Issue, Count::Many),
    values("votedIssues", (0, 0), ValueKind::Issue, Count::Many),
    values("updatedBy", (1, 3), ValueKind::Issue, Count::Many),
    values("cascadeOption", (1, 2), ValueKind::Option, Count::Many),
    mark("approved", "approved", APPROVAL),
    mark("pending", "pending", APPROVAL),
    mark_of("approver", (1, MANY), "approver"),
    mark_of("pendingBy", (1, MANY), "pending"),
    mark_of("myPending", (0, 0), "pending"),
    mark_of("myApproval", (0, 0), "approver"),
    mark("breached", "breached", Of::Sla),
    mark("everBreached", "everBreached", Of::Sla),
    mark("completed", "completed", Of::Sla),
    mark("paused", "paused", Of::Sla),
    mark("running", "running", Of::Sla),
    mark("withinCalendarHours", "withinCalendarHours", Of::Sla),
    Known { name: "elapsed", arguments: (1, 1), answer: Answer::Elapsed, of: Of::Sla },
    Known { name: "remaining", arguments: (1, 1), answer: Answer::Remaining, of: Of::Sla },
];

/// The function of this name, in whatever case.
pub(super) fn function(name: &str) -> Option<Known> {
    FUNCTIONS.iter().find(|known| known.name.eq_ignore_ascii_case(name)).copied()
}

impl Known {
    /// Whether the function answers for a field.
    pub(super) fn fits(self, kind: FieldKind) -> bool {
        match self.of {
            Of::Values(of) => kind == FieldKind::Values(of),
            Of::Dates => matches!(kind, FieldKind::Moment | FieldKind::Day),
            Of::Sla => kind == FieldKind::Sla,
        }
    }

    /// The error of another number of arguments than the function takes.
    pub(super) fn wrong_count(self) -> String {
        let (min, max) = self.arguments;
        let many = match (min, max) {
            (0, 0) => "no arguments".to_owned(),
            (1, 1) => "one argument".to_owned(),
            (min, MANY) => format!("at least {min}"),
            (min, max) => format!("{min} to {max} arguments"),
        };
        format!("The function '{}' takes {many}.", self.name)
    }
}
