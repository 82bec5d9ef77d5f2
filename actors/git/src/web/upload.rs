//! Files that are sent before the commit that takes them. Each upload belongs to its maker, and is over after a day.

use domain::{
    Result,
    git::{
        repository_deleted,
        web::{WEB_UPLOAD_KEPT, WEB_UPLOADS_MAX, WebUploadId, too_many_web_uploads, web_upload_not_found},
    },
    id::OrgId,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Resource, Turn};
use store::{Change, blobs::contents::NewContent};

use crate::{Repository, resource::found};

/// What the name of the timer begins with that ends an upload.
const TIMER: &str = "upload:";

/// The name of the timer that ends this upload.
pub(super) fn timer_of(id: WebUploadId) -> String {
    format!("{TIMER}{id}")
}

/// The upload that a timer of this name ends.
pub(crate) fn upload_of_timer(name: &str) -> Option<WebUploadId> {
    name.strip_prefix(TIMER)?.parse().ok()
}

/// Begins an upload under an id that is new.
#[derive(Clone, Debug)]
pub struct BeginWebUpload {
    /// The organization whose repository it is for.
    pub org_id: OrgId,
    /// The id.
    pub id: WebUploadId,
    /// Bytes of its files.
    pub sizes: Vec<u64>,
}

impl Command for BeginWebUpload {
    type Reply = ();

    const NAME: &'static str = "begin_web_upload";
}

impl Handle<BeginWebUpload> for Repository {
    async fn handle(&mut self, command: &BeginWebUpload, turn: &mut Turn<'_, Self>) -> Result<()> {
        let BeginWebUpload { org_id, id, sizes } = command;
        let repository = self.written(*org_id, turn).await?;
        let (store, now) = (&turn.services().store, turn.now());
        let made_by = turn.authority(*org_id).await?.on_behalf_of()?;
        if store.web_uploads_of(repository.no, made_by).await? >= WEB_UPLOADS_MAX {
            return Err(too_many_web_uploads());
        }
        let mut change = Change::new();
        change.web_upload_add(now, repository.no, (*id, made_by), sizes);
        let (key, due) = (turn.key().to_string(), now.after(WEB_UPLOAD_KEPT));
        change.timer_set_for(*org_id, Self::KIND, &key, &timer_of(*id), due);
        turn.commit(change).await
    }
}

/// Takes a file of an upload whose bytes are kept already, in the place of what was sent before. A signed address permits it.
#[derive(Clone, Debug)]
pub struct PutUploadedFile {
    /// The upload.
    pub upload: WebUploadId,
    /// The file's number in it.
    pub index: u64,
    /// The file's bytes.
    pub content: NewContent,
}

impl Command for PutUploadedFile {
    type Reply = ();

    const NAME: &'static str = "put_uploaded_file";
}

impl Handle<PutUploadedFile> for Repository {
    async fn handle(&mut self, command: &PutUploadedFile, turn: &mut Turn<'_, Self>) -> Result<()> {
        let PutUploadedFile { upload, index, content } = command;
        let store = &turn.services().store;
        let repository = found(store, content.org_id(), *turn.key()).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let file = store.web_upload_file(repository.no, *upload, *index).await?;
        let file = file.filter(|file| file.size == content.size()).ok_or_else(web_upload_not_found)?;
        let mut change = Change::new();
        change.web_upload_put(turn.now(), repository.no, (*upload, &file), content);
        turn.commit(change).await
    }
}

impl Repository {
    /// Ends an upload that nobody committed.
    pub(crate) async fn end_upload(&self, id: WebUploadId, turn: &mut Turn<'_, Self>) -> Result<()> {
        let store = &turn.services().store;
        let mut change = Change::new();
        if let Some(org_id) = store.repository_org(*turn.key()).await?
            && let Some(repository) = store.repository(org_id, *turn.key()).await?
        {
            let files = store.web_upload(repository.no, id).await?;
            change.web_upload_remove(turn.now(), (repository.no, org_id), (id, &files));
        }
        turn.commit(change).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_names_the_upload_that_it_ends() {
        let id = WebUploadId::new().unwrap();
        assert_eq!(upload_of_timer(&timer_of(id)), Some(id));
        assert_eq!(upload_of_timer("purge"), None);
    }
}
