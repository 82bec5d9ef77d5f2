//! What was pushed, and what became of it.

use std::collections::HashMap;

use domain::{
    Timestamp,
    git::{ObjectId, RefName, RefVerdict},
    id::{JobId, KeyId, PushId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::{RepositoryNo, refs::oid_of};
use crate::{Change, Store, StoreError, reader::Reads};

mod push {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "pushes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub pushed_by: String,
        pub key_id: Option<String>,
        pub job_id: Option<String>,
        pub ip: Option<String>,
        pub atomic: bool,
        pub report: String,
        pub pushed_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod pushed {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "push_refs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub push_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: Vec<u8>,
        pub old_oid: Option<Vec<u8>>,
        pub new_oid: Option<Vec<u8>>,
        pub verdict: String,
        pub reason: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A push.
#[derive(Clone, Debug)]
pub struct StoredPush {
    /// Its id.
    pub id: PushId,
    /// Who pushed, or made the key that did.
    pub pushed_by: UserId,
    /// The key that did.
    pub key_id: Option<KeyId>,
    /// The job whose credential did.
    pub job_id: Option<JobId>,
    /// From where.
    pub ip: Option<String>,
    /// Whether it was to be done whole or not at all.
    pub is_atomic: bool,
    /// What people were shown of it.
    pub report: String,
    /// When.
    pub pushed_at: Timestamp,
}

/// What a push asked for a ref, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedRef {
    /// The ref.
    pub name: RefName,
    /// What it was to name before.
    pub old: Option<ObjectId>,
    /// What it was to name then.
    pub new: Option<ObjectId>,
    /// What became of it.
    pub verdict: RefVerdict,
    /// Why it wasn't moved.
    pub reason: Option<String>,
}

/// Which pushes are listed.
#[derive(Clone, Debug, Default)]
pub struct PushList {
    /// Those that asked something for this ref.
    pub name: Option<RefName>,
    /// Those of which a ref became this.
    pub verdict: Option<RefVerdict>,
    /// Those that left a ref at one of these objects, where there are any.
    pub ended_at: Vec<ObjectId>,
    /// Those before this one.
    pub before: Option<PushId>,
    /// How many at most.
    pub limit: u64,
}

impl TryFrom<push::Model> for StoredPush {
    type Error = StoreError;

    fn try_from(row: push::Model) -> Result<Self, StoreError> {
        let corrupt = |_| StoreError::corrupt("an id of pushes");
        Ok(Self {
            id: row.id.parse().map_err(corrupt)?,
            pushed_by: row.pushed_by.parse().map_err(corrupt)?,
            key_id: row.key_id.map(|id| id.parse()).transpose().map_err(corrupt)?,
            job_id: row.job_id.map(|id| id.parse()).transpose().map_err(corrupt)?,
            ip: row.ip,
            is_atomic: row.atomic,
            report: row.report,
            pushed_at: Timestamp(row.pushed_at),
        })
    }
}

impl TryFrom<pushed::Model> for PushedRef {
    type Error = StoreError;

    fn try_from(row: pushed::Model) -> Result<Self, StoreError> {
        Ok(Self {
            name: RefName::parse(&row.name).ok_or_else(|| StoreError::corrupt("push_refs.name"))?,
            old: row.old_oid.map(oid_of).transpose()?,
            new: row.new_oid.map(oid_of).transpose()?,
            verdict: RefVerdict::from_name(&row.verdict).ok_or_else(|| StoreError::corrupt("push_refs.verdict"))?,
            reason: row.reason,
        })
    }
}

impl Store {
    /// Pushes to a repository, the newest first, each with its refs by their names.
    pub async fn pushes(
        &self,
        no: RepositoryNo,
        list: &PushList,
    ) -> Result<Vec<(StoredPush, Vec<PushedRef>)>, StoreError> {
        let mut select = push::Entity::find().filter(push::Column::RepoNo.eq(no.0));
        if let Some(before) = list.before {
            select = select.filter(push::Column::Id.lt(before.to_string()));
        }
        if list.name.is_some() || list.verdict.is_some() || !list.ended_at.is_empty() {
            let mut refs = pushed::Entity::find()
                .select_only()
                .column(pushed::Column::PushId)
                .filter(pushed::Column::RepoNo.eq(no.0));
            if let Some(name) = &list.name {
                refs = refs.filter(pushed::Column::Name.eq(name.as_bytes().to_vec()));
            }
            if let Some(verdict) = list.verdict {
                refs = refs.filter(pushed::Column::Verdict.eq(verdict.as_str()));
            }
            if !list.ended_at.is_empty() {
                let oids = list.ended_at.iter().map(|oid| oid.as_bytes().to_vec());
                refs = refs
                    .filter(pushed::Column::NewOid.is_in(oids))
                    .filter(pushed::Column::Verdict.ne(RefVerdict::Refused.as_str()));
            }
            select = select.filter(push::Column::Id.in_subquery(refs.into_query()));
        }
        let select = select.order_by_desc(push::Column::Id).limit(list.limit);
        let found = select.read_list(self.reader()).await?;
        let refs = pushed::Entity::find()
            .filter(pushed::Column::RepoNo.eq(no.0))
            .filter(pushed::Column::PushId.is_in(found.iter().map(|row| row.id.clone())))
            .order_by_asc(pushed::Column::Name);
        let mut of_push: HashMap<String, Vec<PushedRef>> = HashMap::new();
        for row in refs.read_list(self.reader()).await? {
            of_push.entry(row.push_id.clone()).or_default().push(row.try_into()?);
        }
        let with_refs = |row: push::Model| {
            let refs = of_push.remove(&row.id).unwrap_or_default();
            Ok((row.try_into()?, refs))
        };
        found.into_iter().map(with_refs).collect()
    }
}

impl Change {
    /// Notes a push.
    pub fn push_add(&mut self, no: RepositoryNo, pushed: &StoredPush, refs: &[PushedRef]) {
        self.insert(push::ActiveModel {
            repo_no: Set(no.0),
            id: Set(pushed.id.to_string()),
            pushed_by: Set(pushed.pushed_by.to_string()),
            key_id: Set(pushed.key_id.map(|id| id.to_string())),
            job_id: Set(pushed.job_id.map(|id| id.to_string())),
            ip: Set(pushed.ip.clone()),
            atomic: Set(pushed.is_atomic),
            report: Set(pushed.report.clone()),
            pushed_at: Set(pushed.pushed_at.0),
        });
        let bytes = |oid: ObjectId| oid.as_bytes().to_vec();
        for it in refs {
            self.insert(pushed::ActiveModel {
                repo_no: Set(no.0),
                push_id: Set(pushed.id.to_string()),
                name: Set(it.name.as_bytes().to_vec()),
                old_oid: Set(it.old.map(bytes)),
                new_oid: Set(it.new.map(bytes)),
                verdict: Set(it.verdict.as_str().to_owned()),
                reason: Set(it.reason.clone()),
            });
        }
    }
}
