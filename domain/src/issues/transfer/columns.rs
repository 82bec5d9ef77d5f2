//! What the columns of a CSV file hold, by their headers: Jira's words, in any case.

use super::{SourceComment, SourceIssue};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Key,
    Id,
    Summary,
    Kind,
    Status,
    Priority,
    Resolution,
    Assignee,
    AssigneeId,
    Reporter,
    ReporterId,
    Watcher,
    Created,
    Updated,
    Resolved,
    DueDate,
    StartDate,
    StoryPoints,
    OriginalEstimate,
    RemainingEstimate,
    Environment,
    Description,
    Parent,
    ParentId,
    Label,
    Component,
    FixVersion,
    AffectsVersion,
    Comment,
    /// With what the link is called from this end.
    Link(String),
    /// What follows from the rest, or has no place here and is missed by nobody.
    PassedOver,
    Unknown,
}

impl Column {
    /// The column with this header.
    pub(super) fn of(header: &str) -> Self {
        let name = header.trim().to_lowercase();
        let name = name.strip_prefix("custom field (").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&name);
        for start in ["outward issue link (", "inward issue link ("] {
            if let Some(kind) = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(')')) {
                return Self::Link(if start.starts_with("inward") { format!("<{kind}") } else { kind.to_owned() });
            }
        }
        match name {
            "issue key" | "issuekey" | "key" => Self::Key,
            "issue id" | "issueid" | "id" => Self::Id,
            "summary" => Self::Summary,
            "issue type" | "issuetype" | "type" => Self::Kind,
            "status" => Self::Status,
            "priority" => Self::Priority,
            "resolution" => Self::Resolution,
            "assignee" => Self::Assignee,
            "assignee id" => Self::AssigneeId,
            "reporter" => Self::Reporter,
            "reporter id" => Self::ReporterId,
            "watchers id" | "watchers" | "watcher" => Self::Watcher,
            "created" => Self::Created,
            "updated" => Self::Updated,
            "resolved" => Self::Resolved,
            "due date" | "duedate" | "due" => Self::DueDate,
            "start date" | "startdate" => Self::StartDate,
            "story points" | "story point estimate" => Self::StoryPoints,
            "original estimate" => Self::OriginalEstimate,
            "remaining estimate" => Self::RemainingEstimate,
            "environment" => Self::Environment,
            "description" => Self::Description,
            "parent key" | "parent" => Self::Parent,
            "parent id" => Self::ParentId,
            "labels" | "label" => Self::Label,
            "components" | "component/s" | "component" => Self::Component,
            "fix versions" | "fix version/s" | "fix version" | "fixversion" => Self::FixVersion,
            "affects versions" | "affects version/s" | "affects version" | "affectedversion" => Self::AffectsVersion,
            "comment" | "comments" => Self::Comment,
            "creator"
            | "creator id"
            | "votes"
            | "last viewed"
            | "status category"
            | "status category changed"
            | "parent summary"
            | "" => Self::PassedOver,
            _ if name.starts_with("project ") => Self::PassedOver,
            _ => Self::Unknown,
        }
    }

    /// Puts what a cell says into an issue. An empty cell says nothing.
    pub(super) fn put(&self, issue: &mut SourceIssue, text: &str) {
        let one = |field: &mut Option<String>| *field = Some(text.to_owned());
        match self {
            Self::Key => issue.names.insert(0, text.trim().to_owned()),
            Self::Id => issue.names.push(text.trim().to_owned()),
            Self::Summary => text.clone_into(&mut issue.summary),
            Self::Kind => one(&mut issue.kind),
            Self::Status => one(&mut issue.status),
            Self::Priority => one(&mut issue.priority),
            Self::Resolution => one(&mut issue.resolution),
            Self::Assignee => issue.assignee.push(text.to_owned()),
            Self::AssigneeId => issue.assignee.insert(0, text.to_owned()),
            Self::Reporter => issue.reporter.push(text.to_owned()),
            Self::ReporterId => issue.reporter.insert(0, text.to_owned()),
            Self::Watcher => issue.watchers.push(text.to_owned()),
            Self::Created => one(&mut issue.created),
            Self::Updated => one(&mut issue.updated),
            Self::Resolved => one(&mut issue.resolved),
            Self::DueDate => one(&mut issue.due_date),
            Self::StartDate => one(&mut issue.start_date),
            Self::StoryPoints => one(&mut issue.story_points),
            Self::OriginalEstimate => one(&mut issue.original_estimate),
            Self::RemainingEstimate => one(&mut issue.remaining_estimate),
            Self::Environment => one(&mut issue.environment),
            Self::Description => one(&mut issue.description),
            Self::Parent => issue.parent.push(text.trim().to_owned()),
            Self::ParentId => issue.parent.insert(0, text.trim().to_owned()),
            Self::Label => issue.labels.extend(text.split_whitespace().map(str::to_owned)),
            Self::Component => issue.components.push(text.trim().to_owned()),
            Self::FixVersion => issue.fix_versions.push(text.trim().to_owned()),
            Self::AffectsVersion => issue.affects_versions.push(text.trim().to_owned()),
            Self::Comment => issue.comments.push(comment(text)),
            Self::Link(kind) => issue.links.push((kind.clone(), text.trim().to_owned())),
            Self::PassedOver | Self::Unknown => {}
        }
    }
}

/// `date;author;body`, split at the first two `;`; what has no date in front is a body.
fn comment(text: &str) -> SourceComment {
    let body = |text: &str| SourceComment { body: text.to_owned(), ..SourceComment::default() };
    let Some((at, rest)) = text.split_once(';') else { return body(text) };
    let Some((author, said)) = rest.split_once(';') else { return body(text) };
    if super::read_moment(at, &crate::notify::Zone::UTC).is_none() {
        return body(text);
    }
    SourceComment {
        at: Some(at.trim().to_owned()),
        author: Some(author.trim().to_owned()).filter(|it| !it.is_empty()),
        body: said.to_owned(),
        public: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_in_any_case_and_in_jiras_words() {
        assert_eq!(Column::of(" Issue Key "), Column::Key);
        assert_eq!(Column::of("Custom field (Story Points)"), Column::StoryPoints);
        assert_eq!(Column::of("Outward issue link (Blocks)"), Column::Link("blocks".to_owned()));
        assert_eq!(Column::of("Inward issue link (Blocks)"), Column::Link("<blocks".to_owned()));
        assert_eq!(Column::of("Project lead"), Column::PassedOver);
        assert_eq!(Column::of("Mood"), Column::Unknown);
    }

    #[test]
    fn a_comment_is_split_at_its_first_two_semicolons_only() {
        let dated = comment("2026-01-31T10:00:00Z; ann ;one; two");
        assert_eq!((dated.at.as_deref(), dated.author.as_deref()), (Some("2026-01-31T10:00:00Z"), Some("ann")));
        assert_eq!(dated.body, "one; two");
        for bare in ["hello", "a;b", "a;b;c"] {
            assert_eq!(comment(bare), SourceComment { body: bare.to_owned(), ..SourceComment::default() });
        }
    }
}
