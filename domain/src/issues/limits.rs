//! Numbers that issue tracking is bound by, and what is said where one is passed or something isn't there.

/// Characters of a summary (contract B 4.1).
pub const SUMMARY_LEN_MAX: usize = 255;
/// Characters of a description (contract B 4.1).
pub const DESCRIPTION_LEN_MAX: usize = 65_536;
/// Labels of an issue (contract B 4.1).
pub const LABELS_MAX: usize = 30;
/// Characters of a label (contract B 4.1).
pub const LABEL_LEN_MAX: usize = 64;
/// Components of an issue, and versions that it is fixed in or affects (contract B 4.1).
pub const CATALOG_FIELD_MAX: usize = 50;
/// Characters of the name of a component or a version (contract B 4.1).
pub const CATALOG_NAME_LEN_MAX: usize = 100;
/// The farthest place that a search begins at (contract B 4.1).
pub const SEARCH_START_MAX: usize = 100_000;
/// Issues that a search answers (contract B 4.1).
pub const SEARCH_RESULTS: std::ops::RangeInclusive<usize> = 1..=1_000;
/// Issues that are exported (contract B 4.1).
pub const EXPORT_MAX: usize = 10_000;
/// Issues whose links are asked for at once (contract B 4.1).
pub const LINKS_AMONG_MAX: usize = 500;
/// Rows of a call of an import (contract B 4.1).
pub const IMPORT_ROWS: usize = 200;
/// Statuses of an organization (contract B 4.2).
pub const STATUSES_MAX: usize = 200;
/// Types of an organization (contract B 4.2).
pub const TYPES_MAX: usize = 50;
/// Levels of types (contract B 4.2).
pub const LEVELS: std::ops::RangeInclusive<i64> = -1..=5;
/// Priorities of an organization (contract B 4.2).
pub const PRIORITIES_MAX: usize = 20;
/// Characters of the names of statuses, types, priorities and transitions (contract B 4.2).
pub const NAME_LEN: std::ops::RangeInclusive<usize> = 1..=80;
/// Resolutions of an organization (contract B 4.2).
pub const RESOLUTIONS_MAX: usize = 50;
/// Kinds of links of an organization (contract B 4.2).
pub const LINK_TYPES_MAX: usize = 50;
/// Characters of what a kind of link is called from either end (contract B 4.2).
pub const LINK_NAME_LEN: std::ops::RangeInclusive<usize> = 1..=60;
/// Characters of the description of what stands in a catalog (contract B 4.2).
pub const CATALOG_DESCRIPTION_LEN_MAX: usize = 500;
/// Characters of an icon (contract B 4.2).
pub const ICON_LEN_MAX: usize = 40;
/// Issues that are counted one by one: all that a search reaches.
pub const COUNTED_MAX: i64 = 101_000;

/// Spaces of an organization. Ours, as those below.
pub const SPACES_MAX: usize = 500;
/// Characters of the name of a space.
pub const SPACE_NAME_LEN: std::ops::RangeInclusive<usize> = 1..=80;
/// Characters of the description of a space.
pub const SPACE_DESCRIPTION_LEN_MAX: usize = 1_000;
/// Members that a space lists.
pub const SPACE_MEMBERS_MAX: usize = 500;
/// Characters of a comment.
pub const COMMENT_LEN_MAX: usize = 32_000;
/// Comments of an issue.
pub const COMMENTS_MAX: u64 = 5_000;
/// Links of an issue.
pub const LINKS_MAX: u64 = 500;
/// People who watch an issue, and as many who vote for it.
pub const FOLLOWERS_MAX: usize = 1_000;
/// Characters of an excerpt.
pub const EXCERPT_LEN: usize = 200;
/// Changes of status that an issue remembers.
pub const STATUS_LOG_MAX: usize = 100;
/// Filters of a person.
pub const FILTERS_OF_PERSON_MAX: u64 = 500;

/// Components of a space. Ours, as those below.
pub const COMPONENTS_MAX: usize = 200;
/// Versions of a space.
pub const VERSIONS_MAX: usize = 500;
/// Characters of the description of a component or a version.
pub const PART_DESCRIPTION_LEN_MAX: usize = 1_000;
/// Sprints of a space.
pub const SPRINTS_MAX: usize = 1_000;
/// Characters of what is to come of a sprint.
pub const SPRINT_GOAL_LEN_MAX: usize = 1_000;
/// Boards of a space.
pub const BOARDS_MAX: usize = 20;
/// Columns of a board.
pub const BOARD_COLUMNS_MAX: usize = 20;
/// Statuses of all columns of a board.
pub const BOARD_STATUSES_MAX: usize = 200;
/// Issues that a column may name as its limit.
pub const BOARD_LIMIT_MAX: u32 = 1_000;
/// Issues of a column, of a sprint or of the backlog that a board shows.
pub const BOARD_SHOWN_MAX: u64 = 100;
/// Issues that are ranked at once.
pub const RANKED_MAX: usize = 50;
/// Issues that the notes of a version list.
pub const NOTES_MAX: u64 = 1_000;

/// Statuses of a workflow. Ours, as those below.
pub const WORKFLOW_STATUSES_MAX: usize = 50;
/// Transitions of a workflow.
pub const WORKFLOW_TRANSITIONS_MAX: usize = 200;
/// Clocks of a desk.
pub const SLAS_MAX: usize = 20;
/// Goals of a clock.
pub const SLA_GOALS_MAX: usize = 30;
/// Characters of the id of a clock.
pub const SLA_ID_LEN: std::ops::RangeInclusive<usize> = 1..=32;
/// Events that start or stop a clock, and conditions that hold it.
pub const SLA_ENTRIES_MAX: usize = 20;
/// Milliseconds of a goal: a second to ten years.
pub const SLA_GOAL_MS: std::ops::RangeInclusive<i64> = 1_000..=315_360_000_000;
/// Holidays of a desk.
pub const HOLIDAYS_MAX: usize = 500;
/// Generations of issues, from the eldest to the youngest.
pub const GENERATIONS_MAX: usize = 7;
/// Labels that are listed.
pub const LABELS_LISTED_MAX: usize = 1_000;

/// How long what was thrown away can be brought back.
pub const TRASH_KEPT: std::time::Duration = std::time::Duration::from_hours(30 * 24);

/// 409, where what stands above an issue is in the trash.
pub const PARENT_IN_TRASH: &str = "The issue above this one is in the trash. Restore that one first.";
/// 400, where hours have no span.
pub const HOURS_WITHOUT_SPAN: &str = "Working hours need a span on some day.";
/// 400, where a label holds white space.
pub const LABEL_SPACE: &str = "A label can't contain spaces.";
/// 404 of an issue that isn't there, or may not be seen.
pub const ISSUE_NOT_FOUND: &str = "Issue not found.";
/// 400 of a space in a body.
pub const SPACE_NOT_FOUND: &str = "Space not found.";
/// 400, where an issue is made and the caller has several spaces.
pub const CHOOSE_A_SPACE: &str = "Choose a space.";
/// 400 of a window of the agenda.
pub const AGENDA_WINDOW: &str = "Choose a window of at most 100 days.";
/// 400 of a key of a space.
pub const SPACE_KEY: &str = "A key has 2 to 10 capital letters and digits, and begins with a letter.";
/// 400 of a parent whose level isn't higher.
pub const PARENT_LEVEL: &str = "A parent's type must have a higher level than the issue's.";
/// 400 of an issue below itself.
pub const PARENT_CIRCLE: &str = "An issue can't be below itself.";
/// 400 of a parent with too many generations above and below.
pub const PARENT_GENERATIONS: &str = "Issues can be nested 7 levels deep.";
/// 400 of a subtask without a parent.
pub const SUBTASK_PARENT: &str = "A subtask needs a parent in its space.";
/// 404 of a component.
pub const COMPONENT_NOT_FOUND: &str = "Component not found.";
/// 404 of a version.
pub const VERSION_NOT_FOUND: &str = "Version not found.";
/// 404 of a sprint.
pub const SPRINT_NOT_FOUND: &str = "Sprint not found.";
/// 404 of a board.
pub const BOARD_NOT_FOUND: &str = "Board not found.";
/// 404 of a filter.
pub const FILTER_NOT_FOUND: &str = "Filter not found.";
/// 404 of a workflow.
pub const WORKFLOW_NOT_FOUND: &str = "Workflow not found.";
/// 404 of a comment.
pub const COMMENT_NOT_FOUND: &str = "Comment not found.";
/// 404 of a link.
pub const LINK_NOT_FOUND: &str = "Link not found.";
