//! Where the fields of queries stand in the rows.

/// Where a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a column of the narrow row, as the number of a value of a kind.
    No(&'static str, &'static str),
    /// In the column of the category, from 0 to 2.
    Category,
    /// The issue itself.
    Itself,
    /// The parent.
    Parent,
    /// In a column, as a whole number: milliseconds, days, how many.
    Whole(&'static str),
    /// In a column, as a number.
    Number(&'static str),
    /// Among the terms, with the kind of its values.
    Term(&'static str, &'static str),
    /// Among the texts.
    Text(&'static str),
    /// Among the clocks.
    Clock,
    /// Nowhere: no issue has it.
    Nowhere,
}

/// Where the field of this key stands.
pub(super) fn place(key: &str) -> Place {
    match key {
        "key" => Place::Itself,
        "parent" => Place::Parent,
        "space" => Place::No("i.space_no", "space"),
        "type" => Place::No("i.type_no", "type"),
        "status" => Place::No("i.status_no", "status"),
        "statusCategory" => Place::Category,
        "resolution" => Place::No("i.resolution_no", "resolution"),
        "priority" => Place::No("i.priority_no", "priority"),
        "assignee" => Place::No("i.assignee_no", "person"),
        "reporter" => Place::No("i.reporter_no", "person"),
        "creator" => Place::No("i.creator_no", "person"),
        "watchers" => Place::Whole("i.watchers"),
        "votes" => Place::Whole("i.votes"),
        "created" => Place::Whole("i.created"),
        "updated" => Place::Whole("i.updated"),
        "resolved" => Place::Whole("i.resolved"),
        "due" => Place::Whole("i.due"),
        "startDate" => Place::Whole("i.start_day"),
        "storyPoints" => Place::Number("i.story_points"),
        "originalEstimate" => Place::Number("i.original_estimate"),
        "remainingEstimate" => Place::Number("i.remaining_estimate"),
        "labels" => Place::Term("labels", "label"),
        "watcher" => Place::Term("watcher", "person"),
        "voter" => Place::Term("voter", "person"),
        "component" => Place::Term("component", "component"),
        "fixVersion" => Place::Term("fixVersion", "version"),
        "affectedVersion" => Place::Term("affectedVersion", "version"),
        "sprint" => Place::Term("sprint", "sprint"),
        "approvals" => Place::Term("approvals", "approval"),
        "requestType" => Place::Term("requestType", "requestType"),
        "channel" => Place::Term("channel", "channel"),
        "participants" => Place::Term("participants", "person"),
        "summary" => Place::Text("summary"),
        "description" => Place::Text("description"),
        "environment" => Place::Text("environment"),
        "comment" => Place::Text("comment"),
        key if key.starts_with("sla:") => Place::Clock,
        _ => Place::Nowhere,
    }
}

/// The kind of the values that the history of a field has.
pub(super) fn kept_kind(key: &str) -> &'static str {
    match place(key) {
        Place::No(_, kind) | Place::Term(_, kind) => kind,
        Place::Itself | Place::Parent => "issue",
        _ => "number",
    }
}
