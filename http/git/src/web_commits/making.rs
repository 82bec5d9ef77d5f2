//! Making a commit: its objects are made in a quarantine and scanned for secrets, then its repository has the branch name it.

use std::{collections::HashMap, time::Instant};

use actors::git::{
    LandWebCommit, SpentUpload,
    host::{NewCommit, NewObjects, Quarantine, Unpacked},
};
use domain::{
    Context, Error,
    git::{
        BranchName, ObjectId, RefKind, RefName, branch_among, no_such_commit,
        objects::Commit,
        repository_deleted,
        web::{
            WebChanges, WebEdit, branch_moved, parent_required, secrets_detected, upload_missing, web_branch_not_found,
            web_commit_refused,
        },
        wire::{Listing, PushCommand},
    },
    id::UserId,
    resource::ResourceStatus,
};
use http_shell::{error::Result, permission::GitWrite, repository::Repository, state::State};
use serde_json::Value;
use store::git::{StoredRepository, UploadedFile};

use super::body::Draft;
use crate::secret_findings::SecretFindingBody;

/// A commit that is being made.
pub(super) struct Making {
    state: State,
    stored: StoredRepository,
    context: Context,
    user_id: UserId,
    draft: Draft,
}

/// What was made.
pub(super) struct Made {
    /// The commit; none where nothing would change.
    pub commit: Option<ObjectId>,
    /// The branch that it is on.
    pub branch: BranchName,
}

impl Making {
    /// In the name of the person who asks, or who made the key that does.
    pub fn new(repository: &Repository<GitWrite>, draft: Draft, state: State) -> Result<Self> {
        let stored = repository.stored.clone();
        if stored.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted().into());
        }
        let user_id = repository.org().authority().on_behalf_of()?;
        Ok(Self { state, stored, context: repository.context(), user_id, draft })
    }

    pub async fn make(mut self) -> Result<Made> {
        let refs = self.state.git.refs(self.stored.no).await?;
        let parent = self.parent(&refs).await?;
        let uploaded = self.uploaded().await?;
        let edits = self.edits(parent.as_ref(), &uploaded).await?;
        let mut quarantine = self.state.git.quarantine(&self.stored).await?;
        let made = self.make_in(&mut quarantine, (parent.as_ref(), &edits, &uploaded)).await?;
        // The bytes of the files are kept by now.
        drop(edits);
        let Some(commit) = made else { return Ok(Made { commit: None, branch: self.draft.branch }) };
        self.land(&quarantine, &refs, commit, uploaded).await?;
        let branch = self.draft.new_branch.unwrap_or(self.draft.branch);
        Ok(Made { commit: Some(commit), branch })
    }

    /// The commit that is followed: none by the first one of an empty repository.
    async fn parent(&self, refs: &[Listing]) -> Result<Option<Commit>> {
        let Draft { branch, new_branch, parent, .. } = &self.draft;
        let tip = branch_among(refs, branch).map(|listing| listing.oid);
        let is_empty = !refs.iter().any(|listing| listing.name.kind() == RefKind::Branch);
        let parent = match (tip, parent) {
            (None, None) if is_empty => return Ok(None),
            (_, None) => return Err(parent_required().into()),
            (None, Some(_)) => return Err(web_branch_not_found(branch).into()),
            (Some(tip), Some(parent)) if new_branch.is_none() && tip != *parent => return Err(branch_moved(tip).into()),
            (Some(_), Some(parent)) => *parent,
        };
        let commit = self.state.git.reading(&self.stored).await?.commit(parent).await?;
        Ok(Some(commit.ok_or_else(no_such_commit)?))
    }

    /// The files of the upload, whose maker the person has to be; none where no change takes any.
    async fn uploaded(&self) -> Result<Vec<UploadedFile>> {
        let Draft { upload: Some(upload), changes, .. } = &self.draft else { return Ok(Vec::new()) };
        if changes.uploaded().next().is_none() {
            return Ok(Vec::new());
        }
        let files = self.state.store.web_upload(self.stored.no, *upload).await?;
        let is_there = |index: u64| {
            files.iter().any(|file| file.index == index && file.content.is_some() && file.made_by == self.user_id)
        };
        if changes.uploaded().all(is_there) { Ok(files) } else { Err(upload_missing().into()) }
    }

    /// What is done to the files of the parent.
    async fn edits(&mut self, parent: Option<&Commit>, uploaded: &[UploadedFile]) -> Result<Vec<WebEdit>> {
        let changes: WebChanges = self.draft.changes.take();
        let sizes: HashMap<u64, u64> = uploaded.iter().map(|file| (file.index, file.size)).collect();
        changes.check_size(|index| sizes.get(&index).copied().unwrap_or(0))?;
        let Some(parent) = parent else { return Ok(changes.decide(&HashMap::new())?) };
        let paths = changes.paths();
        let places = self.state.git.reading(&self.stored).await?.places(parent.tree, &paths).await?;
        Ok(changes.decide(&paths.into_iter().zip(places).collect())?)
    }

    /// Makes the objects; none where nothing would change.
    async fn make_in(
        &self,
        quarantine: &mut Quarantine,
        (parent, edits, uploaded): (Option<&Commit>, &[WebEdit], &[UploadedFile]),
    ) -> Result<Option<ObjectId>> {
        let person = self.state.store.person(self.user_id).await?.ok_or(Error::Unauthenticated)?;
        let commit = NewCommit {
            parent,
            name: &person.name,
            email: person.email.as_str(),
            at: self.state.store.now(),
            message: &self.draft.message,
            edits,
            uploaded,
            org_id: self.stored.resource.org_id,
        };
        Ok(quarantine.make_commit(commit).await?)
    }

    /// Scans what was made, keeps it where there are no secrets in it, and has the branch name it.
    async fn land(
        &self,
        quarantine: &Quarantine,
        refs: &[Listing],
        commit: ObjectId,
        uploaded: Vec<UploadedFile>,
    ) -> Result<()> {
        let (state, stored) = (&self.state, &self.stored);
        let Draft { branch, new_branch, parent, upload, .. } = &self.draft;
        let target = new_branch.as_ref().unwrap_or(branch).clone();
        let old = parent.filter(|_| new_branch.is_none());
        let name = RefName::of_branch(&target).as_bytes().to_vec();
        let command = PushCommand { name, old, new: Some(commit) };
        let Unpacked { mut moves, refused, new: names } = quarantine.look(&[command], refs).await?;
        if let Some((_, reason)) = refused.first() {
            return Err(web_commit_refused(reason).into());
        }
        let rules = state.store.branch_rules(stored.no).await?;
        quarantine.look_for_merges(&mut moves, refs, &rules).await?;
        let asked = moves.pop().ok_or_else(|| Error::internal("a commit moves no branch"))?;
        let new = NewObjects { folder: quarantine.folder(), tips: &[commit], known: refs };
        let secrets = state.git.scan(stored, (new, names), std::collections::HashSet::new()).await?;
        let pack = if secrets.refuses() { None } else { quarantine.keep(stored).await? };
        let command = LandWebCommit {
            org_id: stored.resource.org_id,
            branch: target,
            asked,
            is_new_branch: new_branch.is_some(),
            pack: pack.clone(),
            secrets,
            spends: upload.filter(|_| !uploaded.is_empty()).map(|id| SpentUpload { id, files: uploaded }),
        };
        let context = Context { deadline: Instant::now() + state.options.request_timeout, ..self.context.clone() };
        let landed = state.actors.repository.ask(&stored.id(), command, context).await;
        if let Some(pack) = &pack
            && !landed.as_ref().is_ok_and(|landed| landed.took_pack)
            && let Err(error) = state.store.repository_pack_abandon(pack).await
        {
            tracing::warn!(%error, "a pack that was refused could not be deleted yet");
        }
        match landed?.secrets {
            Some(secrets) => {
                let findings = secrets.findings.into_iter().map(SecretFindingBody::from);
                let findings: Result<Vec<Value>, _> = findings.map(serde_json::to_value).collect();
                Err(secrets_detected(findings.map_err(Error::internal)?).into())
            }
            None => Ok(()),
        }
    }
}
