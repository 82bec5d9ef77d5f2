//! A repository's row.

use domain::{
    Timestamp,
    git::{AllowBy, BranchName, RepositorySettings, Visibility},
    resource::Resource,
};

pub(super) use self::entity::{ActiveModel, Column, Entity, Model};
use super::{RepositoryNo, StoredRepository};
use crate::StoreError;

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "repositories")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub repo_no: i64,
        pub id: String,
        pub org_id: String,
        pub description: String,
        pub default_branch: String,
        pub visibility: String,
        pub secrets_allow_by: String,
        pub version: i64,
        pub refs_version: i64,
        pub packs_version: i64,
        pub size: i64,
        pub pushed_at: Option<i64>,
        pub lfs_size: i64,
        pub purge_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The repository of a row and of its resource's record.
pub(super) fn read(row: Model, resource: Resource) -> Result<StoredRepository, StoreError> {
    let default_branch = BranchName::parse("defaultBranch", &row.default_branch)
        .map_err(|_| StoreError::corrupt("repositories.default_branch"))?;
    let visibility =
        Visibility::from_name(&row.visibility).ok_or_else(|| StoreError::corrupt("repositories.visibility"))?;
    let allow_secrets_by = AllowBy::from_name(&row.secrets_allow_by)
        .ok_or_else(|| StoreError::corrupt("repositories.secrets_allow_by"))?;
    Ok(StoredRepository {
        resource,
        no: RepositoryNo(row.repo_no),
        settings: RepositorySettings { description: row.description, default_branch, visibility, allow_secrets_by },
        version: row.version,
        refs_version: row.refs_version,
        packs_version: row.packs_version,
        size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
        lfs_size: u64::try_from(row.lfs_size).map_err(StoreError::corrupt)?,
        pushed_at: row.pushed_at.map(Timestamp),
        purge_at: row.purge_at.map(Timestamp),
    })
}
