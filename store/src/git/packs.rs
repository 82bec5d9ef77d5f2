//! Packs of repositories: what their objects are in.

use domain::{
    Timestamp,
    git::{ObjectId, PackFacts},
    id::ContentId,
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{RepositoryNo, StoredRepository, refs::oid_of, removal::RepositoryRest};
use crate::{Change, Expect, PurgeBatch, Store, StoreError, blobs::contents::NewContent, reader::Reads, sql::Sql};

/// Packs whose contents one commit lets go of.
const LET_GO_MAX: u64 = 200;

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "git_packs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub hash: Vec<u8>,
        pub pack: String,
        pub pack_index: String,
        pub objects: i64,
        pub size: i64,
        pub made_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A pack that no commit has named yet.
#[derive(Clone, Debug)]
pub struct NewPack {
    /// What git calls it.
    pub hash: ObjectId,
    /// Objects in it.
    pub objects: u64,
    /// The pack.
    pub pack: NewContent,
    /// Where in it each object is.
    pub index: NewContent,
}

impl NewPack {
    /// Bytes of the pack and of its index.
    pub const fn size(&self) -> u64 {
        self.pack.size() + self.index.size()
    }
}

/// A pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPack {
    /// What git calls it.
    pub hash: ObjectId,
    /// The content that it is.
    pub pack: ContentId,
    /// The content that says where in it each object is.
    pub index: ContentId,
    /// How large both are together, and when it was made.
    pub facts: PackFacts,
}

impl TryFrom<entity::Model> for StoredPack {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let content = |id: &str| id.parse().map_err(|_| StoreError::corrupt("a content of git_packs"));
        let size = u64::try_from(row.size).map_err(StoreError::corrupt)?;
        let facts = PackFacts { size, made_at: Timestamp(row.made_at) };
        Ok(Self { pack: content(&row.pack)?, index: content(&row.pack_index)?, hash: oid_of(row.hash)?, facts })
    }
}

impl Store {
    /// The packs of a repository, the newest first.
    pub async fn repository_packs(&self, no: RepositoryNo) -> Result<Vec<StoredPack>, StoreError> {
        let select = entity::Entity::find()
            .filter(entity::Column::RepoNo.eq(no.0))
            .order_by_desc(entity::Column::MadeAt)
            .order_by_asc(entity::Column::Hash);
        select.read_list(self.reader()).await?.into_iter().map(StoredPack::try_from).collect()
    }

    /// Whether a repository has a pack of this name.
    pub async fn repository_has_pack(&self, no: RepositoryNo, hash: ObjectId) -> Result<bool, StoreError> {
        let select = entity::Entity::find_by_id((no.0, hash.as_bytes().to_vec()));
        Ok(select.read_one(self.reader()).await?.is_some())
    }

    /// Lets go of the next packs of a repository that is deleted for good.
    pub(super) async fn repository_packs_next(&self, rest: RepositoryRest) -> Result<PurgeBatch, StoreError> {
        let select = entity::Entity::find().filter(entity::Column::RepoNo.eq(rest.no.0)).limit(LET_GO_MAX);
        let packs = select.read_list(self.reader()).await?;
        let mut batch = PurgeBatch::default();
        if packs.is_empty() {
            return Ok(batch);
        }
        batch.rows.push(("packs", u32::try_from(packs.len()).unwrap_or(u32::MAX)));
        let packs: Vec<_> = packs.into_iter().map(StoredPack::try_from).collect::<Result<_, _>>()?;
        batch.change.contents_unref(self.now(), rest.org_id, packs.iter().flat_map(|pack| [pack.pack, pack.index]));
        for pack in &packs {
            let statement = "DELETE FROM git_packs WHERE repo_no = $1 AND hash = $2";
            let values = [rest.no.0.into(), pack.hash.as_bytes().to_vec().into()];
            batch.change.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
        Ok(batch)
    }
}

impl Change {
    /// Adds a pack to a repository.
    pub fn repository_pack_add(&mut self, now: Timestamp, no: RepositoryNo, pack: &NewPack) {
        self.content_put(now, &pack.pack);
        self.content_put(now, &pack.index);
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.insert(entity::ActiveModel {
            repo_no: Set(no.0),
            hash: Set(pack.hash.as_bytes().to_vec()),
            pack: Set(pack.pack.id().to_string()),
            pack_index: Set(pack.index.id().to_string()),
            objects: Set(signed(pack.objects)),
            size: Set(signed(pack.size())),
            made_at: Set(now.0),
        });
    }

    /// Puts a pack in the place of those of which it has all objects. Stale where the repository hasn't one of them any more, or
    /// is deleted.
    pub fn repository_packs_join(
        &mut self,
        now: Timestamp,
        repository: &StoredRepository,
        (packs, joined): (&[StoredPack], &NewPack),
    ) {
        let no = repository.no;
        for pack in packs {
            let statement = "DELETE FROM git_packs WHERE repo_no = $1 AND hash = $2 AND pack = $3";
            let values = [no.0.into(), pack.hash.as_bytes().to_vec().into(), pack.pack.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
        let contents = packs.iter().flat_map(|pack| [pack.pack, pack.index]);
        self.contents_unref(now, repository.resource.org_id, contents);
        self.repository_pack_add(now, no, joined);
        // A push that found one of them there looks again.
        let statement = "UPDATE repositories SET version = version + 1, packs_version = packs_version + 1, \
                         size = size + $2 WHERE repo_no = $1 AND purge_at IS NULL";
        let before: u64 = packs.iter().map(|pack| pack.facts.size).sum();
        let grown = i64::try_from(joined.size()).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(i64::MAX);
        self.run_statement(Sql::new(statement, [no.0.into(), grown.into()]), Expect::Rows(1));
    }
}

impl Store {
    /// Lets go of a pack that no commit names, or only of what none has named.
    pub async fn repository_pack_abandon(&self, pack: &NewPack) -> Result<(), StoreError> {
        self.content_abandon(&pack.pack).await?;
        self.content_abandon(&pack.index).await
    }
}
