//! Issues that go out to a file, some at a time.

use std::collections::HashMap;

use domain::{
    Authority, Result, Scope,
    id::{IssueId, OrgId, SpaceId},
    issues::{
        issue::Comment,
        jql::meaning::Fallback,
        limits::EXPORT_MAX,
        settings::Settings,
        transfer::{CsvShape, ExportedComment, ExportedIssue, ExportedLink, FileFormat, csv_header, csv_row},
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::{Value, json};
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    issues::{HistoryRow, IssueLink, StoredIssue},
};

use super::{
    access::{Sight, sight},
    catalog::IssueCatalog,
    people::People,
    search::{Asked, search_seqs},
};

/// Issues that are read at once.
const AT_ONCE: usize = 50;

/// Has it be known who took issues out.
#[derive(Clone, Debug)]
pub struct NoteExport {
    /// The query.
    pub jql: String,
    /// How many issues.
    pub issues: usize,
}

impl Command for NoteExport {
    type Reply = ();

    const NAME: &'static str = "note_issue_export";
}

impl Handle<NoteExport> for IssueCatalog {
    async fn handle(&mut self, command: &NoteExport, turn: &mut Turn<'_, Self>) -> Result<()> {
        let org_id = *turn.key();
        turn.authority(org_id).await?.require(Scope::IssuesRead)?;
        let mut change = Change::new();
        let entry = AuditEntry::new(turn.context(), "issues.exported", AuditTarget::new("organization", org_id));
        let metadata = json!({ "jql": command.jql, "issues": command.issues });
        change.audit_add(turn.now(), entry.in_org(org_id).with_metadata(metadata));
        turn.commit(change).await
    }
}

/// A file of issues that is being written.
pub struct Export {
    store: Store,
    org_id: OrgId,
    format: FileFormat,
    seqs: Vec<i64>,
    /// How many there are beyond those that are written.
    left_out: u64,
    settings: Settings,
    sight: Sight,
    people: People,
    /// What components and versions are called, by their ids.
    parts: HashMap<String, String>,
    shape: CsvShape,
    written: usize,
    is_begun: bool,
    is_over: bool,
}

/// What hangs on some issues.
#[derive(Default)]
struct Hanging {
    keys: HashMap<IssueId, String>,
    links: HashMap<IssueId, Vec<IssueLink>>,
    comments: HashMap<IssueId, Vec<Comment>>,
    histories: HashMap<IssueId, Vec<HistoryRow>>,
}

impl Export {
    /// The file of what a query finds for a caller, up to 10,000 issues.
    ///
    /// # Errors
    /// As [`search`](super::search).
    pub async fn open(store: &Store, authority: &Authority, jql: &str, format: FileFormat) -> Result<Self> {
        let org_id = authority.org_id();
        let asked = Asked { jql, fallback: Fallback::default(), start: 0, limit: EXPORT_MAX as u64 };
        let found = search_seqs(store, authority, &asked).await?;
        Ok(Self {
            store: store.clone(),
            org_id,
            format,
            left_out: found.total.saturating_sub(found.seqs.len() as u64),
            seqs: found.seqs,
            settings: store.issue_catalog(org_id).await?.settings,
            sight: sight(store, authority).await?,
            people: People::read(store, org_id).await?,
            parts: part_names(store, org_id).await?,
            shape: CsvShape::default(),
            written: 0,
            is_begun: false,
            is_over: false,
        })
    }

    /// How many issues are in it.
    pub const fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether there is none in it.
    pub const fn is_empty(&self) -> bool {
        self.seqs.is_empty()
    }

    /// Whether the query finds more.
    pub const fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// The next part of the file; nothing behind its end.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if !self.is_begun {
            self.is_begun = true;
            return Ok(Some(match self.format {
                FileFormat::Csv => {
                    self.measure().await?;
                    csv_header(&self.shape)?
                }
                FileFormat::Json => b"{\"issues\":[".to_vec(),
            }));
        }
        let rest = &self.seqs[self.written..];
        if rest.is_empty() {
            let has_end = self.format == FileFormat::Json && !self.is_over;
            self.is_over = true;
            return Ok(has_end.then(|| b"]}".to_vec()));
        }
        let part: Vec<i64> = rest.iter().take(AT_ONCE).copied().collect();
        let issues = self.store.issues_whole(&part).await?;
        let hanging = self.hanging(&issues).await?;
        let mut bytes = Vec::new();
        for (at, stored) in issues.iter().enumerate() {
            match self.format {
                FileFormat::Csv => bytes.extend(self.row(stored, &hanging)?),
                FileFormat::Json => {
                    if self.written + at > 0 {
                        bytes.push(b',');
                    }
                    bytes.extend(self.object(stored, &hanging).to_string().into_bytes());
                }
            }
        }
        self.written += part.len();
        Ok(Some(bytes))
    }

    /// How often columns repeat.
    async fn measure(&mut self) -> Result<()> {
        for part in self.seqs.chunks(AT_ONCE) {
            let issues = self.store.issues_whole(part).await?;
            let ids: Vec<IssueId> = issues.iter().map(|it| it.issue.issue_id).collect();
            let links = self.links(&ids).await?;
            let keys = self.keys(links.values().flatten().map(|link| link.to)).await?;
            for stored in &issues {
                let shown = self.shown_links(links.get(&stored.issue.issue_id), &keys);
                self.shape.widen(&stored.issue, &shown);
            }
        }
        Ok(())
    }

    async fn links(&self, ids: &[IssueId]) -> Result<HashMap<IssueId, Vec<IssueLink>>> {
        let mut links: HashMap<IssueId, Vec<IssueLink>> = HashMap::new();
        for link in self.store.issue_links_from(self.org_id, ids).await? {
            links.entry(link.from).or_default().push(link);
        }
        Ok(links)
    }

    /// The keys of those of some issues that the caller may browse.
    async fn keys(&self, ids: impl Iterator<Item = IssueId>) -> Result<HashMap<IssueId, String>> {
        let ids: Vec<IssueId> = ids.collect();
        let key = |(id, (space, number)): (IssueId, (SpaceId, i64))| {
            self.sight.space(space).map(|(space, _)| (id, format!("{}-{number}", space.key)))
        };
        let mut keys = HashMap::new();
        for part in ids.chunks(500) {
            keys.extend(self.store.issue_numbers(part).await?.into_iter().filter_map(key));
        }
        Ok(keys)
    }

    async fn hanging(&self, issues: &[StoredIssue]) -> Result<Hanging> {
        let ids: Vec<IssueId> = issues.iter().map(|it| it.issue.issue_id).collect();
        let links = self.links(&ids).await?;
        let named = links.values().flatten().map(|link| link.to);
        let named = named.chain(issues.iter().filter_map(|it| it.issue.parent_id));
        Ok(Hanging {
            keys: self.keys(named).await?,
            comments: self.store.issue_comments_of(&ids).await?,
            histories: match self.format {
                FileFormat::Csv => HashMap::new(),
                FileFormat::Json => self.store.issue_histories(&ids).await?,
            },
            links,
        })
    }

    fn shown_links(&self, links: Option<&Vec<IssueLink>>, keys: &HashMap<IssueId, String>) -> Vec<ExportedLink> {
        let shown = |link: &IssueLink| {
            let kind = self.settings.link_types.iter().find(|kind| kind.id == link.type_id);
            let label = kind.map_or_else(|| link.type_id.clone(), |kind| kind.name.clone());
            Some(ExportedLink { label, key: keys.get(&link.to)?.clone() })
        };
        links.into_iter().flatten().filter_map(shown).collect()
    }

    fn row(&self, stored: &StoredIssue, hanging: &Hanging) -> Result<Vec<u8>> {
        let (issue, settings) = (&stored.issue, &self.settings);
        let person = |id: Option<domain::id::UserId>| id.map_or("", |id| self.people.name(id));
        let space =
            self.sight.space(issue.space_id).map_or(("", ""), |(space, _)| (space.key.as_str(), space.name.as_str()));
        let comments: Vec<ExportedComment> =
            hanging.comments.get(&issue.issue_id).into_iter().flatten().map(exported).collect();
        let links = self.shown_links(hanging.links.get(&issue.issue_id), &hanging.keys);
        let priority = settings.priorities.iter().find(|it| Some(&it.id) == issue.priority_id.as_ref());
        let resolution = settings.resolutions.iter().find(|it| Some(&it.id) == issue.resolution_id.as_ref());
        let parts = [&issue.component_ids, &issue.fix_version_ids, &issue.affects_version_ids];
        let [components, fix_versions, affects_versions] = parts.map(|ids| self.part_names(ids));
        let exported = ExportedIssue {
            issue,
            components: &components,
            fix_versions: &fix_versions,
            affects_versions: &affects_versions,
            description: &stored.description,
            kind: settings.issue_type(&issue.type_id).map_or(&issue.type_id, |it| &it.name),
            status: settings.status(&issue.status_id).map_or(&issue.status_id, |it| &it.name),
            priority: priority.map_or("", |it| &it.name),
            resolution: resolution.map_or("", |it| &it.name),
            space,
            assignee: person(issue.assignee_id),
            reporter: person(issue.reporter_id),
            creator: person(issue.creator_id),
            parent: issue.parent_id.and_then(|id| hanging.keys.get(&id)).map(String::as_str),
            links: &links,
            comments: &comments,
        };
        csv_row(&self.shape, &exported)
    }

    fn part_names(&self, ids: &[String]) -> Vec<String> {
        ids.iter().filter_map(|id| self.parts.get(id)).cloned().collect()
    }

    fn object(&self, stored: &StoredIssue, hanging: &Hanging) -> Value {
        let issue = &stored.issue;
        let mut value = serde_json::to_value(issue).unwrap_or_default();
        value["description"] = stored.description.clone().into();
        value["components"] = self.part_names(&issue.component_ids).into();
        value["fixVersions"] = self.part_names(&issue.fix_version_ids).into();
        value["affectsVersions"] = self.part_names(&issue.affects_version_ids).into();
        match issue.parent_id.map(|id| hanging.keys.get(&id)) {
            Some(Some(key)) => value["parent"] = key.clone().into(),
            // What may not be browsed isn't named.
            Some(None) => drop(value.as_object_mut().and_then(|object| object.remove("parentId"))),
            None => {}
        }
        let comments = hanging.comments.get(&issue.issue_id).into_iter().flatten();
        value["comments"] = comments
            .map(|it| {
                json!({
                    "commentId": it.comment_id, "authorId": it.author_id, "body": it.body, "public": it.public,
                    "createdAt": it.created_at, "updatedAt": it.updated_at,
                })
            })
            .collect();
        let links = self.shown_links(hanging.links.get(&issue.issue_id), &hanging.keys);
        value["links"] = links.into_iter().map(|it| json!({ "label": it.label, "key": it.key })).collect();
        let changes = hanging.histories.get(&issue.issue_id).into_iter().flatten();
        // Another issue, or another space, may be hidden meanwhile.
        let changes = changes.filter(|it| !matches!(it.field.as_str(), "parent" | "space"));
        value["history"] = changes
            .map(|it| json!({ "at": it.at, "by": it.by, "field": it.field, "from": it.from, "to": it.to }))
            .collect();
        value
    }
}

/// What components and versions of an organization are called, by their ids.
async fn part_names(store: &Store, org_id: OrgId) -> Result<HashMap<String, String>> {
    let components = store.issue_components(org_id, None).await?.into_iter().map(|it| (it.id.to_string(), it.name));
    let versions = store.issue_versions(org_id, None).await?.into_iter().map(|it| (it.id.to_string(), it.name));
    Ok(components.chain(versions).collect())
}

fn exported(comment: &Comment) -> ExportedComment {
    ExportedComment { at: comment.created_at, author: comment.author_id.to_string(), body: comment.body.clone() }
}
