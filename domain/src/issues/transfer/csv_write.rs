//! Writing CSV in the way of Jira.

use std::collections::BTreeMap;

use super::{guarded, written_moment};
use crate::{Error, Result, Timestamp, issues::issue::Issue};

/// The headers of the columns that stand once.
const HEADERS: [&str; 27] = [
    "Summary",
    "Issue key",
    "Issue id",
    "Issue Type",
    "Status",
    "Project key",
    "Project name",
    "Priority",
    "Resolution",
    "Assignee",
    "Assignee Id",
    "Reporter",
    "Reporter Id",
    "Creator",
    "Creator Id",
    "Created",
    "Updated",
    "Resolved",
    "Due date",
    "Start date",
    "Story Points",
    "Original estimate",
    "Remaining Estimate",
    "Environment",
    "Parent",
    "Parent id",
    "Description",
];

/// How often the columns that repeat stand in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvShape {
    /// Labels.
    pub labels: usize,
    /// Components.
    pub components: usize,
    /// Versions that issues are fixed in.
    pub fix_versions: usize,
    /// Versions that issues affect.
    pub affects_versions: usize,
    /// Watchers.
    pub watchers: usize,
    /// Comments.
    pub comments: usize,
    /// Links, by what they are called from the issue's end.
    pub links: BTreeMap<String, usize>,
}

/// An issue that goes out, with its words.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is what the contract calls it")]
pub struct ExportedIssue<'a> {
    pub issue: &'a Issue,
    pub description: &'a str,
    pub kind: &'a str,
    pub status: &'a str,
    pub priority: &'a str,
    pub resolution: &'a str,
    /// Its space: key and name.
    pub space: (&'a str, &'a str),
    pub assignee: &'a str,
    pub reporter: &'a str,
    pub creator: &'a str,
    /// The key of the parent.
    pub parent: Option<&'a str>,
    pub components: &'a [String],
    pub fix_versions: &'a [String],
    pub affects_versions: &'a [String],
    pub links: &'a [ExportedLink],
    pub comments: &'a [ExportedComment],
}

/// A link that goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedLink {
    /// What it is called from the issue's end.
    pub label: String,
    /// The other issue.
    pub key: String,
}

/// A comment that goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedComment {
    /// When it was written.
    pub at: Timestamp,
    /// Whoever wrote it, by their id.
    pub author: String,
    /// What it says.
    pub body: String,
}

impl CsvShape {
    /// Makes room for an issue.
    pub fn widen(&mut self, issue: &Issue, links: &[ExportedLink]) {
        self.labels = self.labels.max(issue.labels.len());
        self.components = self.components.max(issue.component_ids.len());
        self.fix_versions = self.fix_versions.max(issue.fix_version_ids.len());
        self.affects_versions = self.affects_versions.max(issue.affects_version_ids.len());
        self.watchers = self.watchers.max(issue.watchers.len());
        self.comments = self.comments.max(usize::try_from(issue.comment_count).unwrap_or(0));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for link in links {
            *counts.entry(&link.label).or_default() += 1;
        }
        for (label, count) in counts {
            let known = self.links.entry(label.to_owned()).or_default();
            *known = count.max(*known);
        }
    }
}

fn line(cells: &[String]) -> Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(cells).map_err(Error::internal)?;
    writer.into_inner().map_err(|error| Error::internal(error.error()))
}

/// The first line, behind a mark by which spreadsheets know the encoding.
///
/// # Errors
/// Only where there is no memory.
pub fn csv_header(shape: &CsvShape) -> Result<Vec<u8>> {
    let mut cells: Vec<String> = HEADERS.iter().map(|it| (*it).to_owned()).collect();
    let mut repeat = |header: &str, count: usize| cells.extend(std::iter::repeat_n(header.to_owned(), count));
    repeat("Labels", shape.labels);
    repeat("Components", shape.components);
    repeat("Fix versions", shape.fix_versions);
    repeat("Affects versions", shape.affects_versions);
    repeat("Watchers Id", shape.watchers);
    for (label, count) in &shape.links {
        repeat(&format!("Outward issue link ({label})"), *count);
    }
    repeat("Comment", shape.comments);
    Ok(["\u{feff}".as_bytes(), &line(&cells)?].concat())
}

/// The line of an issue.
///
/// # Errors
/// Only where there is no memory.
pub fn csv_row(shape: &CsvShape, it: &ExportedIssue<'_>) -> Result<Vec<u8>> {
    let issue = it.issue;
    let id = |id: Option<String>| id.unwrap_or_default();
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let moment = |at: Option<Timestamp>| at.map(written_moment).unwrap_or_default();
    let mut cells = vec![
        issue.summary.clone(),
        issue.key.clone(),
        issue.issue_id.to_string(),
        it.kind.to_owned(),
        it.status.to_owned(),
        it.space.0.to_owned(),
        it.space.1.to_owned(),
        it.priority.to_owned(),
        it.resolution.to_owned(),
        it.assignee.to_owned(),
        id(issue.assignee_id.map(|id| id.to_string())),
        it.reporter.to_owned(),
        id(issue.reporter_id.map(|id| id.to_string())),
        it.creator.to_owned(),
        id(issue.creator_id.map(|id| id.to_string())),
        written_moment(issue.created_at),
        written_moment(issue.updated_at),
        moment(issue.resolved_at),
        id(issue.due_date.clone()),
        id(issue.start_date.clone()),
        number(issue.story_points),
        number(issue.original_estimate),
        number(issue.remaining_estimate),
        id(issue.environment.clone()),
        it.parent.unwrap_or_default().to_owned(),
        id(issue.parent_id.map(|id| id.to_string()).filter(|_| it.parent.is_some())),
        it.description.to_owned(),
    ];
    let mut fill = |texts: Vec<String>, count: usize| {
        cells.extend(texts.into_iter().chain(std::iter::repeat(String::new())).take(count));
    };
    fill(issue.labels.clone(), shape.labels);
    fill(it.components.to_vec(), shape.components);
    fill(it.fix_versions.to_vec(), shape.fix_versions);
    fill(it.affects_versions.to_vec(), shape.affects_versions);
    fill(issue.watchers.iter().map(ToString::to_string).collect(), shape.watchers);
    for (label, count) in &shape.links {
        fill(it.links.iter().filter(|link| link.label == *label).map(|link| link.key.clone()).collect(), *count);
    }
    let comment = |it: &ExportedComment| format!("{};{};{}", written_moment(it.at), it.author, it.body);
    fill(it.comments.iter().map(comment).collect(), shape.comments);
    let cells: Vec<String> = cells.iter().map(|cell| guarded(cell)).collect();
    line(&cells)
}
