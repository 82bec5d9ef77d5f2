//! Pairs of rows that relations name, which both sides show.

use std::collections::BTreeMap;

use domain::{
    id::{OrgId, PageId},
    pages::database::{Relation, RelationEnd},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::row::{Column, Entity};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod pair {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_relations")]
    pub struct Model {
        pub database_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub property_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub row_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub target_id: String,
        pub place: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct PairRow {
        seen_from: String,
        value: String,
    }
}

row! {
    struct CountRow {
        row_id: String,
        named: i64,
    }
}

/// The pairs of a relation, seen from the row or from the row that it names. What isn't a row of its database any more, or is in
/// the trash, is left out; it comes back with the row. Rows stand in the order in which they were sent, or by age.
macro_rules! pairs {
    ($seen_from:literal, $value:literal, $order:literal, $of:literal) => {
        concat!(
            "SELECT page_relations.",
            $seen_from,
            " AS seen_from, page_relations.",
            $value,
            " AS value \
             FROM page_relations JOIN pages ON pages.id = page_relations.",
            $value,
            " WHERE page_relations.database_id = $1 AND page_relations.property_id = $2 \
             AND pages.parent_id = $3 AND pages.archived_at IS NULL",
            $of,
            " ORDER BY page_relations.",
            $seen_from,
            ", page_relations.",
            $order
        )
    };
}

/// The rows that each row is related to, in their order.
pub(super) type RelatedRows = BTreeMap<String, Vec<String>>;

impl Store {
    /// What a relation says: of one row, or of all.
    pub(super) async fn page_related(
        &self,
        relation: &Relation,
        of: Option<PageId>,
    ) -> Result<RelatedRows, StoreError> {
        let statement = match (relation.end, of.is_some()) {
            (RelationEnd::Row, false) => pairs!("row_id", "target_id", "place", ""),
            (RelationEnd::Target, false) => pairs!("target_id", "row_id", "row_id", ""),
            (RelationEnd::Row, true) => pairs!("row_id", "target_id", "place", " AND page_relations.row_id = $4"),
            (RelationEnd::Target, true) => {
                pairs!("target_id", "row_id", "row_id", " AND page_relations.target_id = $4")
            }
        };
        let mut values = vec![
            relation.database_id.to_string().into(),
            relation.property_id.clone().into(),
            relation.values_of.to_string().into(),
        ];
        values.extend(of.map(|id| id.to_string().into()));
        let mut related = RelatedRows::new();
        for PairRow { seen_from, value } in self.reader().rows::<PairRow>(&Sql::new(statement, values)).await? {
            related.entry(seen_from).or_default().push(value);
        }
        Ok(related)
    }

    /// Those of `ids` that are rows of `database` and not in the trash.
    pub async fn page_rows_among(
        &self,
        org_id: OrgId,
        database: PageId,
        ids: &[PageId],
    ) -> Result<Vec<PageId>, StoreError> {
        let select = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::Id.is_in(ids.iter().map(PageId::to_string)))
            .filter(Column::OrgId.eq(org_id.to_string()))
            .filter(Column::ParentId.eq(database.to_string()))
            .filter(Column::ArchivedAt.is_null());
        let found: Vec<(String,)> = select.read_all_columns(self.reader()).await?;
        found.into_iter().map(|(id,)| id.parse().map_err(|_| StoreError::corrupt("pages.id"))).collect()
    }

    /// How many rows a row names in a relation, for each that names any, `target` aside.
    pub async fn page_relation_counts(
        &self,
        relation: &Relation,
        target: PageId,
    ) -> Result<BTreeMap<PageId, u64>, StoreError> {
        let sql = Sql::new(
            "SELECT row_id, COUNT(*) AS named FROM page_relations \
             WHERE database_id = $1 AND property_id = $2 AND target_id <> $3 GROUP BY row_id",
            [relation.database_id.to_string().into(), relation.property_id.clone().into(), target.to_string().into()],
        );
        let read = |row: CountRow| {
            let id = row.row_id.parse().map_err(|_| StoreError::corrupt("page_relations.row_id"))?;
            Ok((id, u64::try_from(row.named).unwrap_or_default()))
        };
        self.reader().rows::<CountRow>(&sql).await?.into_iter().map(read).collect()
    }
}

impl Change {
    /// Has the row `of` name exactly these rows in a relation, or be named by exactly these, as the relation sees it. Pairs
    /// that stay keep their places.
    pub fn page_relation_set(&mut self, relation: &Relation, of: PageId, others: &[PageId]) {
        let (own, other) = match relation.end {
            RelationEnd::Row => (pair::Column::RowId, pair::Column::TargetId),
            RelationEnd::Target => (pair::Column::TargetId, pair::Column::RowId),
        };
        let mut gone = pair::Entity::delete_many()
            .filter(pair::Column::PropertyId.eq(relation.property_id.as_str()))
            .filter(own.eq(of.to_string()));
        if relation.end == RelationEnd::Target {
            gone = gone
                .filter(pair::Column::DatabaseId.eq(relation.database_id.to_string()))
                .filter(other.is_not_in(others.iter().map(PageId::to_string)));
        }
        self.run(gone, Expect::Any);
        for other in others {
            let (row, target) = if relation.end == RelationEnd::Row { (of, *other) } else { (*other, of) };
            let values = [
                relation.database_id.to_string().into(),
                relation.property_id.clone().into(),
                row.to_string().into(),
                target.to_string().into(),
            ];
            self.run_statement(Sql::new(PAIR_ADD, values), Expect::Any);
        }
    }
}

/// Behind the others that the row names. A pair from when the row was in another database becomes one of this one's.
const PAIR_ADD: &str = "INSERT INTO page_relations (database_id, property_id, row_id, target_id, place) \
     SELECT $1, $2, $3, $4, COALESCE(MAX(place) + 1, 0) FROM page_relations WHERE row_id = $3 AND property_id = $2 \
     ON CONFLICT (row_id, property_id, target_id) DO UPDATE SET database_id = excluded.database_id";
