//! The journal of moves that are under way.

use domain::{
    Timestamp,
    id::UserId,
    storage::{MoveCursor, MoveId, Moves},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::{BucketNo, entity::moves as row};
use crate::{Change, Expect, Store, StoreError, json, reader::Reads, sql::Sql};

/// Moves that are under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMoves {
    /// What they are recognized by.
    pub id: MoveId,
    /// They.
    pub moves: Moves,
    /// How far they are.
    pub cursor: MoveCursor,
    /// Files that have moved.
    pub moved: u64,
    /// Who asked for them.
    pub created_by: UserId,
    /// When they last went on.
    pub touched_at: Timestamp,
}

impl TryFrom<row::Model> for StoredMoves {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let id = row.id.as_slice().try_into().map_err(|_| StoreError::corrupt("bucket_moves.id"))?;
        Ok(Self {
            id: MoveId::from_bytes(id),
            moves: json::read("bucket_moves.moves", &row.moves)?,
            cursor: json::read("bucket_moves.cursor", &row.cursor)?,
            moved: u64::try_from(row.moved).map_err(StoreError::corrupt)?,
            created_by: row.created_by.parse().map_err(|_| StoreError::corrupt("bucket_moves.created_by"))?,
            touched_at: Timestamp(row.touched_at),
        })
    }
}

impl Store {
    /// The moves that are under way in a bucket.
    pub async fn bucket_moves(&self, no: BucketNo) -> Result<Vec<StoredMoves>, StoreError> {
        let select = row::Entity::find().filter(row::Column::BucketNo.eq(no.0)).order_by_asc(row::Column::Id);
        select.read_all(self.reader()).await?.into_iter().map(StoredMoves::try_from).collect()
    }
}

impl Change {
    /// Writes moves into the journal; stale where they are in it.
    pub fn bucket_moves_begin(&mut self, no: BucketNo, moves: &StoredMoves) {
        self.insert(row::ActiveModel {
            bucket_no: Set(no.0),
            id: Set(moves.id.as_bytes().to_vec()),
            moves: Set(json::text(&moves.moves)),
            cursor: Set(json::text(&moves.cursor)),
            moved: Set(moves.moved.cast_signed()),
            created_by: Set(moves.created_by.to_string()),
            touched_at: Set(moves.touched_at.0),
        });
    }

    /// Notes how far moves have come; stale where `before` isn't how far they were.
    pub fn bucket_moves_step(&mut self, no: BucketNo, before: &StoredMoves, after: &StoredMoves) {
        let statement = "UPDATE bucket_moves SET cursor = $3, moved = $4, touched_at = $5 \
                         WHERE bucket_no = $1 AND id = $2 AND cursor = $6";
        let values = [
            no.0.into(),
            before.id.as_bytes().to_vec().into(),
            json::text(&after.cursor).into(),
            after.moved.cast_signed().into(),
            after.touched_at.0.into(),
            json::text(&before.cursor).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes moves that are done out of the journal; stale where they aren't where they were.
    pub fn bucket_moves_end(&mut self, no: BucketNo, moves: &StoredMoves) {
        let statement = "DELETE FROM bucket_moves WHERE bucket_no = $1 AND id = $2 AND cursor = $3";
        let values = [no.0.into(), moves.id.as_bytes().to_vec().into(), json::text(&moves.cursor).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
