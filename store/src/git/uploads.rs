//! Files that are sent before the commit of the web that takes them.

use domain::{
    Timestamp,
    git::web::WebUploadId,
    id::{ContentId, OrgId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{RepositoryNo, removal::RepositoryRest};
use crate::{
    Change, Expect, PurgeBatch, Store, StoreError,
    blobs::contents::NewContent,
    reader::{Reads, row},
    sql::Sql,
};

/// Files whose contents one commit lets go of, where a repository is deleted.
const LET_GO_MAX: u64 = 200;

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "web_uploads")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub upload_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub file_index: i64,
        pub size: i64,
        pub content_id: Option<String>,
        pub made_by: String,
        pub made_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// A file that is to be sent, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// The number in the upload, from 0.
    pub index: u64,
    /// The bytes.
    pub size: u64,
    /// What was sent.
    pub content: Option<ContentId>,
    /// The person whose upload it is.
    pub made_by: UserId,
}

impl TryFrom<entity::Model> for UploadedFile {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let content = row.content_id.map(|id| id.parse());
        Ok(Self {
            index: u64::try_from(row.file_index).map_err(StoreError::corrupt)?,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
            content: content.transpose().map_err(|_| StoreError::corrupt("web_uploads.content_id"))?,
            made_by: row.made_by.parse().map_err(|_| StoreError::corrupt("web_uploads.made_by"))?,
        })
    }
}

impl Store {
    /// The files of an upload, by their numbers; none where there is no such upload.
    pub async fn web_upload(&self, no: RepositoryNo, id: WebUploadId) -> Result<Vec<UploadedFile>, StoreError> {
        let select = entity::Entity::find()
            .filter(entity::Column::RepoNo.eq(no.0))
            .filter(entity::Column::UploadId.eq(id.to_string()))
            .order_by_asc(entity::Column::FileIndex);
        select.read_list(self.reader()).await?.into_iter().map(UploadedFile::try_from).collect()
    }

    /// The file of an upload with this number.
    pub async fn web_upload_file(
        &self,
        no: RepositoryNo,
        id: WebUploadId,
        index: u64,
    ) -> Result<Option<UploadedFile>, StoreError> {
        let found = entity::Entity::find_by_id((no.0, id.to_string(), index.cast_signed()));
        found.read_one(self.reader()).await?.map(UploadedFile::try_from).transpose()
    }

    /// How many uploads of somebody wait for their commits.
    pub async fn web_uploads_of(&self, no: RepositoryNo, made_by: UserId) -> Result<u64, StoreError> {
        let statement =
            "SELECT COUNT(*) AS count FROM web_uploads WHERE repo_no = $1 AND made_by = $2 AND file_index = 0";
        let sql = Sql::new(statement, [no.0.into(), made_by.to_string().into()]);
        let counted: Option<CountRow> = self.reader().row(&sql).await?;
        counted.map_or(Ok(0), |row| u64::try_from(row.count).map_err(StoreError::corrupt))
    }

    /// Lets go of the next files of a repository that is deleted for good.
    pub(super) async fn web_uploads_next(&self, rest: RepositoryRest) -> Result<PurgeBatch, StoreError> {
        let select = entity::Entity::find().filter(entity::Column::RepoNo.eq(rest.no.0)).limit(LET_GO_MAX);
        let rows = select.read_list(self.reader()).await?;
        let mut batch = PurgeBatch::default();
        if rows.is_empty() {
            return Ok(batch);
        }
        batch.rows.push(("uploaded files", u32::try_from(rows.len()).unwrap_or(u32::MAX)));
        for row in &rows {
            let statement = "DELETE FROM web_uploads WHERE repo_no = $1 AND upload_id = $2 AND file_index = $3";
            let values = [row.repo_no.into(), row.upload_id.as_str().into(), row.file_index.into()];
            batch.change.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
        let files = rows.into_iter().map(UploadedFile::try_from).collect::<Result<Vec<_>, _>>()?;
        batch.change.contents_unref(self.now(), rest.org_id, files.iter().filter_map(|file| file.content));
        Ok(batch)
    }
}

impl Change {
    /// Adds an upload of files of these sizes.
    pub fn web_upload_add(
        &mut self,
        now: Timestamp,
        no: RepositoryNo,
        (id, made_by): (WebUploadId, UserId),
        sizes: &[u64],
    ) {
        for (index, size) in (0_i64..).zip(sizes) {
            self.insert(entity::ActiveModel {
                repo_no: Set(no.0),
                upload_id: Set(id.to_string()),
                file_index: Set(index),
                size: Set(size.cast_signed()),
                content_id: Set(None),
                made_by: Set(made_by.to_string()),
                made_at: Set(now.0),
            });
        }
    }

    /// Notes what was sent as a file of an upload, in the place of what it was before; stale where it wasn't that.
    pub fn web_upload_put(
        &mut self,
        now: Timestamp,
        no: RepositoryNo,
        (id, file): (WebUploadId, &UploadedFile),
        content: &NewContent,
    ) {
        self.content_put(now, content);
        let (index, new) = (file.index.cast_signed(), content.id().to_string());
        let key = "repo_no = $1 AND upload_id = $2 AND file_index = $3";
        let sql = match file.content {
            Some(before) => Sql::new(
                format!("UPDATE web_uploads SET content_id = $4 WHERE {key} AND content_id = $5"),
                vec![no.0.into(), id.to_string().into(), index.into(), new.into(), before.to_string().into()],
            ),
            None => Sql::new(
                format!("UPDATE web_uploads SET content_id = $4 WHERE {key} AND content_id IS NULL"),
                vec![no.0.into(), id.to_string().into(), index.into(), new.into()],
            ),
        };
        self.run_statement(sql, Expect::Rows(1));
        self.contents_unref(now, content.org_id(), file.content);
    }

    /// Takes an upload away that has these files; stale where something else was sent by now.
    pub fn web_upload_remove(
        &mut self,
        now: Timestamp,
        (no, org_id): (RepositoryNo, OrgId),
        (id, files): (WebUploadId, &[UploadedFile]),
    ) {
        let sent: Vec<_> = files.iter().filter_map(|file| file.content).collect();
        let (sent_count, all) = (sent.len() as u64, files.len() as u64);
        for (condition, count) in [("IS NULL", all - sent_count), ("IS NOT NULL", sent_count)] {
            let statement =
                format!("DELETE FROM web_uploads WHERE repo_no = $1 AND upload_id = $2 AND content_id {condition}");
            self.run_statement(Sql::new(statement, [no.0.into(), id.to_string().into()]), Expect::Rows(count));
        }
        // A content that another one has taken the place of isn't referred to any more.
        self.contents_unref(now, org_id, sent);
    }
}
