//! The rows.

pub(super) mod bucket {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "buckets")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub bucket_no: i64,
        pub id: String,
        pub org_id: String,
        pub settings: String,
        pub epoch: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Files.
pub(super) mod live {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "objects_live")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub bucket_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub key: Vec<u8>,
        pub stamp: Vec<u8>,
        pub is_null: bool,
        pub revision: Vec<u8>,
        pub modified: i64,
        pub created_by: String,
        pub content_id: String,
        pub size: i64,
        pub etag: String,
        pub class: String,
        pub headers: String,
        pub tags: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Keys whose newest version is a delete marker.
pub(super) mod gone {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "objects_gone")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub bucket_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub key: Vec<u8>,
        pub stamp: Vec<u8>,
        pub is_null: bool,
        pub revision: Vec<u8>,
        pub modified: i64,
        pub created_by: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Versions that aren't the newest of their key.
pub(super) mod version {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "object_versions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub bucket_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub key: Vec<u8>,
        #[sea_orm(primary_key, auto_increment = false)]
        pub stamp: Vec<u8>,
        pub is_null: bool,
        pub revision: Vec<u8>,
        pub modified: i64,
        pub created_by: String,
        pub content_id: Option<String>,
        pub size: i64,
        pub etag: Option<String>,
        pub class: String,
        pub headers: String,
        pub tags: String,
        pub ended_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Moves that are under way.
pub(super) mod moves {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "bucket_moves")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub bucket_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Vec<u8>,
        pub moves: String,
        pub cursor: String,
        pub moved: i64,
        pub created_by: String,
        pub touched_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Uploads in parts.
pub(super) mod upload {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "object_uploads")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub bucket_no: i64,
        pub key: Vec<u8>,
        pub content_type: Option<String>,
        pub size: i64,
        pub revision: i64,
        pub created_by: String,
        pub created_at: i64,
        pub completed_at: Option<i64>,
        pub digest: Option<Vec<u8>>,
        pub version_id: Option<String>,
        pub about: Option<String>,
        pub file: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Their parts.
pub(super) mod part {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "object_parts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub upload_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        pub content_id: String,
        pub size: i64,
        pub etag: String,
        pub checksum: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
