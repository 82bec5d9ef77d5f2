//! One row of a file becomes an issue. What can't be understood is left out and told; only a row without a summary, or a subtask
//! without a parent, comes to nothing.

use domain::{
    Error, Result, Timestamp,
    id::{IssueCommentId, IssueId, UserId},
    issues::{
        builtin::{self, BuiltIn},
        family::{Child, Parent, parent_of},
        issue::{Comment, excerpt},
        label::{folded, labels},
        limits::{COMMENT_LEN_MAX, COMMENTS_MAX, DESCRIPTION_LEN_MAX, GENERATIONS_MAX, LABELS_MAX, SUMMARY_LEN_MAX},
        rank::Rank,
        transfer::{SourceComment, SourceIssue, read_day, read_moment},
        workflow::Category,
    },
};
use store::issues::StoredIssue;

use super::{Desk, Made};
use crate::{
    fields::{ENVIRONMENT_LEN_MAX, NUMBER_MAX},
    space::blank,
};

/// An issue that is about to be made.
pub(super) struct NewIssue {
    pub(super) stored: StoredIssue,
    pub(super) comments: Vec<Comment>,
}

/// What a row is told.
type Warnings = Vec<String>;

impl Desk<'_> {
    /// Makes an issue of a row; why not, where it can't be.
    pub(super) async fn issue(
        &self,
        made: &mut Made,
        source: &SourceIssue,
        warnings: &mut Warnings,
    ) -> Result<std::result::Result<(), String>> {
        let summary = source.summary.trim();
        if !(1..=SUMMARY_LEN_MAX).contains(&summary.chars().count()) {
            return Ok(Err(format!("Summary: Use 1 to {SUMMARY_LEN_MAX} characters.")));
        }
        let offset = super::place(made.new.len());
        let created = self.moment("created", source.created.as_ref(), warnings).unwrap_or(self.now).min(self.now);
        let mut stored = blank(&self.space, &self.settings, self.importer, created);
        let issue = &mut stored.issue;
        summary.clone_into(&mut issue.summary);
        issue.number += offset;
        issue.key = format!("{}-{}", self.space.key, issue.number);
        // Ranks keep the order of the file.
        Rank::of_new(Timestamp(self.now.0 + offset)).as_str().clone_into(&mut issue.rank);
        issue.updated_at =
            self.moment("updated", source.updated.as_ref(), warnings).unwrap_or(created).clamp(created, self.now);
        self.catalogs(&mut stored, source, warnings);
        self.people(&mut stored, source, warnings);
        self.texts(&mut stored, source, warnings);
        self.numbers(&mut stored, source, warnings);
        if let Err(message) = self.parent(made, &mut stored, source, warnings).await? {
            return Ok(Err(message));
        }
        self.parts(made, &mut stored.issue, source, warnings);
        let comments = self.comments(&mut stored, source, warnings);
        let issue = &stored.issue;
        made.named(source, issue.issue_id, &issue.key);
        made.places.insert(issue.issue_id, made.new.len());
        made.new.push(NewIssue { stored, comments });
        Ok(Ok(()))
    }

    fn moment(&self, what: &str, text: Option<&String>, warnings: &mut Warnings) -> Option<Timestamp> {
        let text = text?;
        let found = read_moment(text, &self.zone);
        if found.is_none() {
            warnings.push(format!("Unknown time of {what}: {text}"));
        }
        found
    }

    /// Type, status, priority and resolution.
    fn catalogs(&self, stored: &mut StoredIssue, source: &SourceIssue, warnings: &mut Warnings) {
        let (issue, settings) = (&mut stored.issue, &self.settings);
        if let Some(text) = &source.kind {
            let found = settings.type_named(text).filter(|id| self.space.config.issue_type_ids.contains(id));
            if let Some(id) = found {
                issue.type_id = id;
            } else {
                let instead = settings.issue_type(&issue.type_id).map_or(issue.type_id.as_str(), |it| &it.name);
                warnings.push(format!("Unknown type: {text}; \"{instead}\" instead."));
            }
        }
        if let Some(text) = &source.priority {
            match settings.priority_named(text) {
                Some(id) => issue.priority_id = Some(id),
                None => warnings.push(format!("Unknown priority: {text}")),
            }
        }
        let resolution = source.resolution.as_ref().filter(|text| !text.trim().eq_ignore_ascii_case("unresolved"));
        if let Some(text) = resolution {
            issue.resolution_id = settings.resolution_named(text);
            if issue.resolution_id.is_none() {
                warnings.push(format!("Unknown resolution: {text}"));
            }
        }
        let Some(workflow) = builtin::workflow(self.space.workflow_of(&issue.type_id)) else { return };
        self.status(stored, (source, workflow), warnings);
    }

    fn status(&self, stored: &mut StoredIssue, (source, workflow): (&SourceIssue, &BuiltIn), warnings: &mut Warnings) {
        let (settings, definition) = (&self.settings, workflow.definition());
        let named = source.status.as_ref().map(|text| {
            let ids = settings.ids_named(domain::issues::settings::Catalog::Status, text);
            (text, ids.into_iter().find(|id| workflow.has_status(id)))
        });
        let status = match named {
            Some((_, Some(id))) => id,
            Some((text, None)) => {
                let first = &definition.initial_status_id;
                let instead = settings.status(first).map_or(first.as_str(), |it| &it.name);
                warnings.push(format!("Unknown status: {text}; \"{instead}\" instead."));
                first.clone()
            }
            None => definition.initial_status_id.clone(),
        };
        let category = settings.status(&status).map_or(Category::Todo, |it| it.category);
        let (created, updated) = (stored.issue.created_at, stored.issue.updated_at);
        let resolved = self.moment("resolution", source.resolved.as_ref(), warnings);
        if category == Category::Done {
            let resolved = resolved.unwrap_or(updated).clamp(created, self.now);
            stored.issue.resolved_at = Some(resolved);
            let issue = &mut stored.issue;
            issue.resolution_id = issue.resolution_id.take().or(definition.auto_resolution);
            stored.issue.enter(&status, category, resolved);
        } else {
            stored.issue.enter(&status, category, created);
        }
    }

    /// The person whom one of some texts names.
    fn person(&self, texts: &[String], warnings: &mut Warnings) -> Option<UserId> {
        let found = texts.iter().find_map(|text| self.people.find(text));
        if let (None, Some(text)) = (found, texts.last()) {
            warnings.push(format!("Unknown person: {}", text.trim()));
        }
        found
    }

    fn people(&self, stored: &mut StoredIssue, source: &SourceIssue, warnings: &mut Warnings) {
        let issue = &mut stored.issue;
        issue.assignee_id = self.person(&source.assignee, warnings);
        if !source.reporter.is_empty() {
            issue.reporter_id = self.person(&source.reporter, warnings);
        }
        for text in &source.watchers {
            if let Some(person) = self.person(std::slice::from_ref(text), warnings) {
                issue.watch(person);
            }
        }
        for person in [issue.reporter_id, issue.assignee_id].into_iter().flatten() {
            issue.watch(person);
        }
    }

    fn texts(&self, stored: &mut StoredIssue, source: &SourceIssue, warnings: &mut Warnings) {
        let description = source.description.as_deref().unwrap_or_default();
        stored.description = cut(description, DESCRIPTION_LEN_MAX, "description", warnings);
        stored.issue.excerpt = excerpt(&stored.description);
        let environment = source.environment.as_deref().unwrap_or_default();
        let environment = cut(environment, ENVIRONMENT_LEN_MAX, "environment", warnings);
        stored.issue.environment = Some(environment).filter(|text| !text.is_empty());
        let mut kept: Vec<String> = Vec::new();
        for label in &source.labels {
            if labels("labels", std::slice::from_ref(label)).is_err() {
                warnings.push(format!("No label: {label}"));
            } else if !self.create_missing && !self.labels.contains(&folded(label)) {
                warnings.push(format!("Unknown label: {label}"));
            } else if !kept.iter().any(|known| folded(known) == folded(label)) {
                kept.push(label.trim().to_owned());
            }
        }
        if kept.len() > LABELS_MAX {
            warnings.push(format!("An issue can have {LABELS_MAX} labels."));
            kept.truncate(LABELS_MAX);
        }
        stored.issue.labels = kept;
    }

    fn numbers(&self, stored: &mut StoredIssue, source: &SourceIssue, warnings: &mut Warnings) {
        let issue = &mut stored.issue;
        for (what, text, field) in [
            ("due date", &source.due_date, &mut issue.due_date),
            ("start date", &source.start_date, &mut issue.start_date),
        ] {
            let Some(text) = text else { continue };
            *field = read_day(text, &self.zone);
            if field.is_none() {
                warnings.push(format!("Unknown {what}: {text}"));
            }
        }
        for (what, text, field) in [
            ("story points", &source.story_points, &mut issue.story_points),
            ("original estimate", &source.original_estimate, &mut issue.original_estimate),
            ("remaining estimate", &source.remaining_estimate, &mut issue.remaining_estimate),
        ] {
            let Some(text) = text else { continue };
            *field = text.trim().parse::<f64>().ok().filter(|number| (0.0..=NUMBER_MAX).contains(number));
            if field.is_none() {
                warnings.push(format!("Unknown {what}: {text}"));
            }
        }
    }

    /// Puts an issue below its parent, which is there already where the file has it; why not, for a subtask.
    async fn parent(
        &self,
        made: &Made,
        stored: &mut StoredIssue,
        source: &SourceIssue,
        warnings: &mut Warnings,
    ) -> Result<std::result::Result<(), String>> {
        let level = |type_id: &str| self.settings.issue_type(type_id).map_or(0, |kind| kind.level);
        let found = made.find(self, &source.parent).await?;
        if let (None, Some(text)) = (found, source.parent.last()) {
            warnings.push(format!("Unknown issue: {text}"));
        }
        let space = self.space.space_id.to_string();
        let child = Child { key: None, level: level(&stored.issue.type_id), space: &space, generations: 1 };
        let line = self.line(made, found).await?;
        let ids: Vec<&str> = line.iter().map(|(id, ..)| id.as_str()).collect();
        let parent = line.first().map(|(_, type_id, space)| Parent { level: level(type_id), space, line: &ids });
        match parent_of(child, parent) {
            Ok(()) => stored.issue.parent_id = found,
            Err(Error::Invalid { problems }) => {
                let message = problems.into_iter().next().map(|problem| problem.message).unwrap_or_default();
                if child.level < 0 {
                    return Ok(Err(message));
                }
                warnings.push(format!("Parent: {message}"));
            }
            Err(error) => return Err(error),
        }
        Ok(Ok(()))
    }

    /// An issue and those above it: id, type, space.
    async fn line(&self, made: &Made, start: Option<IssueId>) -> Result<Vec<(String, String, String)>> {
        let (mut line, mut next) = (Vec::new(), start);
        while let Some(id) = next.filter(|_| line.len() <= GENERATIONS_MAX) {
            if let Some(place) = made.places.get(&id) {
                let issue = &made.new[*place].stored.issue;
                line.push((id.to_string(), issue.type_id.clone(), issue.space_id.to_string()));
                next = issue.parent_id;
            } else {
                let Some(facts) = self.store.issue_parent_facts(self.org_id, id).await? else { break };
                line.push((id.to_string(), facts.type_id, facts.space_id.to_string()));
                next = facts.parent_id;
            }
        }
        Ok(line)
    }

    fn comments(&self, stored: &mut StoredIssue, source: &SourceIssue, warnings: &mut Warnings) -> Vec<Comment> {
        let most = usize::try_from(COMMENTS_MAX).unwrap_or(usize::MAX);
        if source.comments.len() > most {
            warnings.push(format!("An issue has at most {COMMENTS_MAX} comments."));
        }
        let issue_id = stored.issue.issue_id;
        let comment = |it: &SourceComment| self.comment((issue_id, stored.issue.created_at), it, warnings);
        let comments: Vec<Comment> = source.comments.iter().take(most).filter_map(comment).collect();
        stored.issue.comment_count = super::place(comments.len());
        comments
    }

    fn comment(
        &self,
        (issue_id, made): (IssueId, Timestamp),
        source: &SourceComment,
        warnings: &mut Warnings,
    ) -> Option<Comment> {
        let body = cut(source.body.trim(), COMMENT_LEN_MAX, "comment", warnings);
        let at = self.moment("comment", source.at.as_ref(), warnings).unwrap_or(made).min(self.now);
        let author = source.author.as_ref().and_then(|text| self.person(std::slice::from_ref(text), warnings));
        (!body.is_empty()).then(|| Comment {
            comment_id: IssueCommentId::new(at),
            issue_id,
            author_id: author.unwrap_or(self.importer),
            body,
            public: source.public && self.space.config.servicedesk.is_some(),
            version: 1,
            created_at: at,
            updated_at: at,
        })
    }
}

/// The beginning of a text that is too long, which is told.
fn cut(text: &str, most: usize, what: &str, warnings: &mut Warnings) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    warnings.push(format!("The {what} was cut after {most} characters."));
    text.chars().take(most).collect()
}
