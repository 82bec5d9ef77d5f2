//! Who may do what in a repository, as far as pipelines ask.

use domain::{
    Authority, Result,
    git::{AccessLevel, level_of, repository_deleted, repository_not_found},
    id::ResourceId,
    resource::ResourceStatus,
};
use store::{Store, git::StoredRepository};

/// The repository, where the caller's part in it is large enough: 404 for who has none, 403 for whose part is smaller. Nothing is done
/// in one that is deleted.
pub(crate) async fn reaches(
    store: &Store,
    authority: &Authority,
    id: ResourceId,
    wanted: AccessLevel,
) -> Result<StoredRepository> {
    let found = store.repository(authority.org_id(), id).await?.filter(|repository| !repository.is_gone());
    let repository = found.ok_or_else(repository_not_found)?;
    let granted = match authority.on_behalf_of() {
        Ok(user_id) => store.repository_granted(repository.no, authority.org_id(), user_id).await?,
        Err(_) => None,
    };
    let level = level_of(authority, repository.settings.visibility, granted).ok_or_else(repository_not_found)?;
    level.require(wanted)?;
    if repository.resource.status == ResourceStatus::Deleting {
        return Err(repository_deleted());
    }
    Ok(repository)
}
