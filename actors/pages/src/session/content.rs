//! Writing what a page says, from outside co-editing or from what a co-editing client rendered; and bringing a version
//! back.

use domain::{
    Error, Result, Timestamp,
    id::{OrgId, UserId},
    pages::{
        Page, author,
        content::{Blocks, ContentBase, ContentDraft, ContentState},
        history::{History, Replacement},
        in_the_trash, not_found,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    pages::{PageContentWrite, PageHistory},
};

use super::{PageSession, ending::Ending};

/// How often a write is tried because the content, or what is edited together, changed on another node meanwhile.
const TRIES_MAX: u32 = 8;

/// Writes the page's content.
#[derive(Clone, Debug)]
pub struct PutContent {
    /// The organization that the page was asked for in.
    pub org_id: OrgId,
    /// What it is to say.
    pub draft: ContentDraft,
    /// What that rests on.
    pub base: ContentBase,
}

/// Has the page say again what it said in a version.
#[derive(Clone, Copy, Debug)]
pub struct RestoreVersion {
    /// The organization that the page was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub version: i64,
}

/// Where the content stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentWritten {
    /// Its version.
    pub version: i64,
    /// When it was written.
    pub updated_at: Timestamp,
}

impl Command for PutContent {
    /// An error in it leaves the others' document alone.
    type Reply = Result<ContentWritten>;

    const NAME: &'static str = "put_content";
}

impl Handle<PutContent> for PageSession {
    async fn handle(&mut self, command: &PutContent, turn: &mut Turn<'_, Self>) -> Result<Result<ContentWritten>> {
        for _ in 1..TRIES_MAX {
            match self.put_content(command, turn).await {
                Err(Error::Stale) => {}
                outcome => return Ok(outcome),
            }
        }
        Ok(self.put_content(command, turn).await)
    }
}

impl Command for RestoreVersion {
    /// An error in it leaves the others' document alone.
    type Reply = Result<ContentWritten>;

    const NAME: &'static str = "restore_version";
}

impl Handle<RestoreVersion> for PageSession {
    async fn handle(&mut self, command: &RestoreVersion, turn: &mut Turn<'_, Self>) -> Result<Result<ContentWritten>> {
        for _ in 1..TRIES_MAX {
            match self.restore_version(*command, turn).await {
                Err(Error::Stale) => {}
                outcome => return Ok(outcome),
            }
        }
        Ok(self.restore_version(*command, turn).await)
    }
}

impl PageSession {
    async fn put_content(&mut self, command: &PutContent, turn: &mut Turn<'_, Self>) -> Result<ContentWritten> {
        let PutContent { org_id, draft, base } = command;
        let (page_id, now, store) = (*turn.key(), turn.now(), &turn.services().services.store);
        let by = author(&turn.authority(*org_id).await?)?;
        let mut page = store.page(*org_id, page_id).await?.ok_or_else(not_found)?;
        let mut seen = None;
        if matches!(base, ContentBase::Version(_)) {
            // What was edited together until now is what the write must have seen.
            seen = self.settle_before_write(turn).await?;
            page = store.page(*org_id, page_id).await?.ok_or_else(not_found)?;
        }
        let epoch = match base {
            ContentBase::Epoch(_) => store.page_epoch(page_id).await?,
            ContentBase::Version(_) => None,
        };
        let state =
            ContentState { version: page.content_version, archived: page.is_archived(), epoch: epoch.as_deref() };
        state.accept(base)?;
        let mut change = Change::new();
        let version = replace(store, &mut change, &page, Writing { draft: draft.clone(), by: Some(by), now }).await?;
        audit(&mut change, turn, &page, "page.written", version, None);
        match base {
            ContentBase::Epoch(_) => turn.commit(change).await?,
            ContentBase::Version(_) => self.commit_from_outside(change, seen.as_ref(), turn).await?,
        }
        Ok(ContentWritten { version, updated_at: now })
    }

    async fn restore_version(&mut self, command: RestoreVersion, turn: &mut Turn<'_, Self>) -> Result<ContentWritten> {
        let (page_id, now, store) = (*turn.key(), turn.now(), &turn.services().services.store);
        let by = author(&turn.authority(command.org_id).await?)?;
        let page = store.page(command.org_id, page_id).await?.ok_or_else(not_found)?;
        if page.is_archived() {
            return Err(in_the_trash());
        }
        let seen = self.settle_before_write(turn).await?;
        let page = store.page(command.org_id, page_id).await?.ok_or_else(not_found)?;
        // What the page says already needs no restoring.
        let current = store.page_content_written(page_id).await?.filter(|it| it.content.version == command.version);
        if let Some(current) = current {
            return Ok(ContentWritten { version: current.content.version, updated_at: current.updated_at });
        }
        let kept = store.page_version(page_id, command.version).await?;
        let kept = kept.ok_or_else(version_not_found)?.content;
        let draft = ContentDraft { blocks: kept.blocks.map(Blocks::from_json_text), markdown: kept.markdown };
        let mut change = Change::new();
        let writing = Writing { draft, by: Some(by), now };
        let version = replace_for(store, &mut change, &page, writing, Replacement::Restore).await?;
        change.page_version_keep(page_id, version, now);
        audit(&mut change, turn, &page, "page.version_restored", version, Some(command.version));
        self.commit_from_outside(change, seen.as_ref(), turn).await?;
        Ok(ContentWritten { version, updated_at: now })
    }

    /// Commits what doesn't come from the shared document, whose history ends with that as it was `seen`.
    async fn commit_from_outside(
        &mut self,
        mut change: Change,
        seen: Option<&PageHistory>,
        turn: &mut Turn<'_, Self>,
    ) -> Result<()> {
        Self::end_history(*turn.key(), seen, &mut change);
        turn.commit(change).await?;
        self.close_live(*turn.key(), turn.services(), Ending::ChangedElsewhere);
        Ok(())
    }
}

/// A content to be written.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    /// What the page is to say.
    pub draft: ContentDraft,
    /// Who wrote it; none where many wrote it together.
    pub by: Option<UserId>,
    /// When.
    pub now: Timestamp,
}

/// Adds to `change` that the page says something else from now on, after an edit; its new version. The content that goes
/// is kept where the history's rule says so, and search finds the new one.
///
/// The commit is stale when the content changed since `page` was read.
pub(super) async fn replace(store: &Store, change: &mut Change, page: &Page, writing: Writing) -> Result<i64> {
    replace_for(store, change, page, writing, Replacement::Edit).await
}

async fn replace_for(
    store: &Store,
    change: &mut Change,
    page: &Page,
    writing: Writing,
    replacement: Replacement,
) -> Result<i64> {
    let Writing { draft, by, now } = writing;
    let newest_kept = store.page_version_kept(page.id).await?;
    let history = History { current: page.content_version, newest_kept, since: page.created_at };
    if history.keeps(replacement, now) {
        change.page_version_keep(page.id, page.content_version, now);
    }
    change.page_content_write(PageContentWrite { page_id: page.id, replaces: page.content_version, draft, now, by });
    Ok(page.content_version + 1)
}

fn audit(
    change: &mut Change,
    turn: &Turn<'_, PageSession>,
    page: &Page,
    action: &str,
    version: i64,
    restored: Option<i64>,
) {
    let target = AuditTarget::new("page", page.id).labelled(&page.title);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(page.org_id);
    let about = restored.map_or_else(
        || json!({ "contentVersion": version }),
        |restored| json!({ "contentVersion": version, "restored": restored }),
    );
    change.audit_add(turn.now(), AuditEntry { metadata: Some(about), ..entry });
}

/// 404: the page keeps no such version.
pub fn version_not_found() -> Error {
    Error::not_found("Version not found.")
}
