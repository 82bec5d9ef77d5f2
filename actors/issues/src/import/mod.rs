//! Issues that come in from a file, up to 200 a call, all of a call in one commit.
//!
//! Each call brings the whole file, so it can be read anew and nothing is kept between two but which rows became which issues
//! (by the file's digest). A repeated call answers these and makes none twice. Rows are taken parents first; a link is made with
//! the later of its ends. Nobody is notified.

mod parts;
mod row;
mod ties;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use domain::{
    Authority, Error, Result, Scope,
    id::{IssueId, OrgId, UserId},
    issues::{
        access::Permission,
        label::folded,
        limits::IMPORT_ROWS,
        settings::Settings,
        space::Space,
        transfer::{FileFormat, SOURCE_KEY_LEN_MAX, SourceFile, SourceIssue, parents_first},
    },
    notify::Zone,
};
use kernel::{Command, CpuKind, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
};

use self::{parts::FileParts, row::NewIssue};
use super::{
    access::{Sight, require_open, sight, space_with},
    people::People,
    space::IssueSpace,
};

/// Labels that are looked among.
const LABELS_KNOWN_MAX: u64 = 100_000;

/// Imports the next rows of a file.
#[derive(Clone, Debug)]
pub struct ImportIssues {
    /// The organization.
    pub org_id: OrgId,
    /// The whole file.
    pub content: Arc<str>,
    /// Its digest, by which a repeated call is known.
    pub digest: String,
    /// Its form.
    pub format: FileFormat,
    /// How many rows earlier calls have taken.
    pub start: usize,
    /// What keys of the source became.
    pub key_map: BTreeMap<String, String>,
    /// Whether labels that nobody has used yet are made, and components and versions that the space hasn't.
    pub create_missing: bool,
}

impl Command for ImportIssues {
    type Reply = ImportOutcome;

    const NAME: &'static str = "import_issues";
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOutcome {
    /// Rows of the file.
    pub total: usize,
    /// Rows that this call and those before it have taken.
    pub processed: usize,
    /// What keys of the source became, with those that came with the call.
    pub key_map: BTreeMap<String, String>,
    /// The rows of this call.
    pub results: Vec<ImportedRow>,
}

/// What became of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedRow {
    /// The row's place in the file.
    pub row: usize,
    /// The issue.
    pub key: Option<String>,
    /// What the source calls it.
    pub from: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
    /// What was left out.
    pub warnings: Vec<String>,
}

/// What the rows of a call are read with.
struct Desk<'a> {
    store: &'a Store,
    org_id: OrgId,
    space: Space,
    settings: Settings,
    sight: Sight,
    people: People,
    importer: UserId,
    zone: Zone,
    /// Labels that somebody has used, folded.
    labels: HashSet<String>,
    create_missing: bool,
    now: domain::Timestamp,
}

impl<'a> Desk<'a> {
    async fn open(turn: &Turn<'a, IssueSpace>, authority: &Authority, command: &ImportIssues) -> Result<Self> {
        let store = &turn.services().store;
        let (space, _) = space_with(store, authority, *turn.key(), Permission::Administer).await?;
        require_open(&space)?;
        let importer = authority.on_behalf_of()?;
        let sight = sight(store, authority).await?;
        let spaces: Vec<_> = sight.spaces.iter().map(|(space, _)| space.space_id).collect();
        let labels = store.issue_labels(command.org_id, &spaces, LABELS_KNOWN_MAX).await?;
        let person = store.person(importer).await?;
        let zone = person.and_then(|person| person.time_zone).and_then(|name| Zone::find(&name));
        Ok(Self {
            store,
            org_id: command.org_id,
            space,
            settings: store.issue_catalog(command.org_id).await?.settings,
            sight,
            people: People::read(store, command.org_id).await?,
            importer,
            zone: zone.unwrap_or(Zone::UTC),
            labels: labels.iter().map(|label| folded(label)).collect(),
            create_missing: command.create_missing,
            now: turn.now(),
        })
    }
}

/// What is known of the issues of the file: those of this call, and those of earlier ones.
#[derive(Default)]
struct Made {
    /// The new issues, parents first.
    new: Vec<NewIssue>,
    /// Their places among them.
    places: HashMap<IssueId, usize>,
    /// By what the source calls it.
    by_name: HashMap<String, IssueId>,
    /// The key of each.
    keys: BTreeMap<String, String>,
    /// Components and versions of the space.
    parts: FileParts,
}

impl Made {
    /// Remembers what the source's names mean.
    fn named(&mut self, source: &SourceIssue, id: IssueId, key: &str) {
        for name in &source.names {
            self.by_name.insert(name.clone(), id);
            if name.chars().count() <= SOURCE_KEY_LEN_MAX {
                self.keys.insert(name.clone(), key.to_owned());
            }
        }
    }

    /// The issue that a name of the source means, also by the answers of earlier calls.
    async fn find(&self, desk: &Desk<'_>, names: &[String]) -> Result<Option<IssueId>> {
        for name in names {
            if let Some(id) = self.by_name.get(name) {
                return Ok(Some(*id));
            }
            let Some(key) = self.keys.get(name) else { continue };
            let found = desk.store.issue_named(desk.org_id, key).await?;
            // What the importer may not browse reads as what isn't there.
            if let Some(stored) = found.filter(|it| desk.sight.space(it.issue.space_id).is_some()) {
                return Ok(Some(stored.issue.issue_id));
            }
        }
        Ok(None)
    }
}

/// Reads the file where that holds up no actor; its issues, and the order in which they are taken.
async fn read(turn: &Turn<'_, IssueSpace>, command: &ImportIssues) -> Result<(SourceFile, Vec<usize>)> {
    let (content, format) = (Arc::clone(&command.content), command.format);
    let read = move || {
        let file = format.read(&content)?;
        let order = parents_first(&file.issues);
        Ok::<_, Error>((file, order))
    };
    turn.processor().run(command.org_id.into(), CpuKind::Document, read).await?
}

impl Handle<ImportIssues> for IssueSpace {
    async fn handle(&mut self, command: &ImportIssues, turn: &mut Turn<'_, Self>) -> Result<ImportOutcome> {
        let authority = turn.authority(command.org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let desk = Desk::open(turn, &authority, command).await?;
        let (file, order) = read(turn, command).await?;
        let (start, end) = (command.start.min(order.len()), command.start.saturating_add(IMPORT_ROWS).min(order.len()));
        let mut made = Made { keys: command.key_map.clone(), parts: desk.known_parts().await?, ..Made::default() };
        let mut outcome = ImportOutcome { total: order.len(), processed: end, ..ImportOutcome::default() };
        let known = desk.store.issue_imports(*turn.key(), &command.digest, (place(0), place(end))).await?;
        let mut fresh = Vec::new();
        for (at, row) in order.iter().copied().enumerate().take(end) {
            let source = &file.issues[row];
            let from = source.names.first().cloned();
            if let Some((id, key)) = known.get(&place(at)) {
                made.named(source, *id, key);
                if at >= start {
                    outcome.results.push(ImportedRow { row, key: Some(key.clone()), from, ..ImportedRow::default() });
                }
                continue;
            }
            if at < start {
                continue;
            }
            let mut result = ImportedRow { row, from, ..ImportedRow::default() };
            if at == 0 {
                result.warnings.extend(file.unknown.iter().map(|column| format!("Unknown column: {column}")));
            }
            match desk.issue(&mut made, source, &mut result.warnings).await? {
                Ok(()) => {
                    fresh.push((at, made.new.len() - 1));
                    result.key = made.new.last().map(|new| new.stored.issue.key.clone());
                }
                Err(message) => result.error = Some(message),
            }
            outcome.results.push(result);
        }
        if !fresh.is_empty() {
            let ties = desk.ties(&made, (&file, &order[..end]), (start, outcome.results.as_mut_slice())).await?;
            let mut change = desk.change(&made, &ties);
            for (at, new) in &fresh {
                change.issue_import_add(&command.digest, place(*at), &made.new[*new].stored.issue, desk.now);
            }
            let target = AuditTarget::new("issue_space", desk.space.space_id).labelled(&desk.space.name);
            let entry = AuditEntry::new(turn.context(), "issues.imported", target).in_org(command.org_id);
            change.audit_add(desk.now, entry.with_metadata(json!({ "issues": fresh.len() })));
            turn.commit(change).await?;
        }
        outcome.key_map = made.keys;
        Ok(outcome)
    }
}

fn place(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

impl Desk<'_> {
    /// The components and versions that the space has.
    async fn known_parts(&self) -> Result<FileParts> {
        let of = (self.org_id, Some(self.space.space_id));
        let components = self.store.issue_components(of.0, of.1).await?;
        Ok(FileParts::new(components, self.store.issue_versions(of.0, of.1).await?))
    }

    /// What the call writes, but for which rows became which issues.
    fn change(&self, made: &Made, ties: &[store::issues::IssueLink]) -> Change {
        let mut change = Change::new();
        made.parts.write(&mut change, self.org_id);
        change.issue_numbers_take(&self.space, place(made.new.len()));
        for new in &made.new {
            change.issue_add(&new.stored);
            change.issue_history_begin(&new.stored.issue, self.importer);
            for comment in &new.comments {
                change.issue_comment_add(&new.stored.issue, comment);
            }
        }
        for link in ties {
            change.issue_link_add(self.org_id, link, self.now);
        }
        change
    }
}
