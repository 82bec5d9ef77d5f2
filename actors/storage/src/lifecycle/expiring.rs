//! What a step takes away.

use actors_base::work::job::Halt;
use domain::{
    Timestamp,
    storage::{AgedVersion, Fate, KeyRun, Tags, VersionName, Versioning},
};
use store::{
    Change,
    storage::{FileRows, FileVersion, OldVersion},
};

use super::{Looking, Progress, page::PAGE};
use crate::plan::{Draft, FileBefore};

/// What the next commit takes away.
pub(super) struct Expiring<'e> {
    looking: &'e Looking<'e>,
    rows: FileRows,
    files: u64,
    versions: u64,
}

/// A key whose versions are being shown to the rules.
pub(super) struct ExpiringKey<'k, 'e> {
    expiring: &'k mut Expiring<'e>,
    run: KeyRun<'e>,
    head: FileVersion,
    expires: bool,
    /// The version `null` among the old ones, which makes room for the delete marker of a suspended bucket.
    null: Option<FileVersion>,
}

fn aged<'v>(version: &'v FileVersion, ended_at: Option<Timestamp>, none: &'v Tags) -> AgedVersion<'v> {
    AgedVersion {
        version: version.version(),
        made_at: version.modified,
        ended_at,
        size: version.bytes(),
        tags: version.content.as_ref().map_or(none, |content| &content.tags),
    }
}

impl<'e> Expiring<'e> {
    pub fn new(looking: &'e Looking<'e>) -> Self {
        Self { looking, rows: FileRows::new(), files: 0, versions: 0 }
    }

    /// Begins with a key; none where no rule is for it, and while a folder that it lies in is being moved.
    pub fn key(&mut self, head: FileVersion) -> Option<ExpiringKey<'_, 'e>> {
        let Looking { open, rules, at, .. } = self.looking;
        let mut run = rules.run(&head.key, *at);
        if run.is_idle() || open.moving.check_write(&head.key).is_err() {
            return None;
        }
        let expires = run.show(&aged(&head, None, &Tags::default())) == Fate::FileExpires;
        Some(ExpiringKey { expiring: self, run, head, expires, null: None })
    }

    /// Commits it, and how far the run came.
    pub async fn commit(self, progress: &mut Progress) -> Result<(), Halt> {
        let store = self.looking.job.store();
        progress.files += self.files;
        progress.versions += self.versions;
        let mut change = Change::new();
        change.file_rows(self.looking.open.seen(), store.now(), &self.rows);
        self.looking.job.step(change, progress).await
    }
}

impl ExpiringKey<'_, '_> {
    /// Shows the next old versions, the newest first.
    pub fn show(&mut self, versions: &[OldVersion]) {
        let makes_room = self.expires && self.expiring.looking.open.versioning() == Some(Versioning::Suspended);
        for OldVersion { version, ended_at } in versions {
            let fate = self.run.show(&aged(version, Some(*ended_at), &Tags::default()));
            if makes_room && version.name == VersionName::Null {
                self.null = Some(version.clone());
            } else if fate == Fate::VersionExpires {
                self.expiring.rows.old_goes(version);
                self.expiring.rows.release(version);
                self.expiring.versions += 1;
            }
        }
    }

    /// Whether it is as much as one commit takes away.
    pub fn is_full(&self) -> bool {
        self.expiring.versions >= PAGE
    }

    /// After all versions: what becomes of the newest one.
    pub fn finish(self) -> Result<(), Halt> {
        let Self { expiring, run, head, expires, null } = self;
        if expires {
            return expire(expiring, head, null);
        }
        if run.finish().is_some() {
            expiring.rows.head(Some(&head), None);
            expiring.versions += 1;
        }
        Ok(())
    }
}

/// Deletes a file as somebody would.
fn expire(expiring: &mut Expiring<'_>, head: FileVersion, null: Option<FileVersion>) -> Result<(), Halt> {
    let (now, versioning) = (expiring.looking.job.store().now(), expiring.looking.open.versioning());
    let (key, by) = (head.key.clone(), head.created_by);
    let before = FileBefore { head: Some(head), others: null.into_iter().collect() };
    // One that is locked stays.
    let Ok(changes) = before.state().delete(versioning, now) else { return Ok(()) };
    before.rewrite(&mut expiring.rows, &changes, now, Some(&Draft { key: &key, by, content: None }))?;
    expiring.files += 1;
    Ok(())
}
