//! On-call rotas.

use domain::{
    Timestamp,
    id::{OrgId, RotaId, UserId},
    notify::{OnCall, Rota, RotaDraft, TurnStart, Zone},
};
use sea_orm::{ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};

use crate::{Change, Expect, Store, StoreError, json, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "rotas")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub people: String,
        pub handover: String,
        pub time_zone: String,
        pub start_at: i64,
        pub start_place: i64,
        pub overrides: String,
        pub created_by: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl row::Model {
    fn of(rota: &Rota) -> Self {
        Self {
            id: rota.id.to_string(),
            org_id: rota.org_id.to_string(),
            name: rota.draft.name.clone(),
            people: json::text(&rota.draft.people),
            handover: json::text(&rota.draft.handover),
            time_zone: rota.draft.zone.name().to_owned(),
            start_at: rota.start.at.0,
            start_place: i64::try_from(rota.start.place).unwrap_or(0),
            overrides: json::text(&rota.overrides),
            created_by: rota.created_by.to_string(),
            created_at: rota.created_at.0,
            updated_at: rota.updated_at.0,
        }
    }
}

impl TryFrom<row::Model> for Rota {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("rotas {}", row.id));
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            draft: RotaDraft {
                people: serde_json::from_str(&row.people).map_err(|_| corrupt())?,
                handover: serde_json::from_str(&row.handover).map_err(|_| corrupt())?,
                // A zone that a later zone database no longer has counts as universal time.
                zone: Zone::find(&row.time_zone).unwrap_or_default(),
                name: row.name.clone(),
            },
            start: TurnStart {
                at: Timestamp(row.start_at),
                place: usize::try_from(row.start_place).map_err(|_| corrupt())?,
            },
            overrides: serde_json::from_str(&row.overrides).map_err(|_| corrupt())?,
            created_by: row.created_by.parse().map_err(|_| corrupt())?,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Change {
    /// Adds a rota.
    pub fn rota_add(&mut self, rota: &Rota) {
        self.insert(row::Model::of(rota).into_active_model());
    }

    /// Writes all of the rota.
    pub fn rota_set(&mut self, rota: &Rota) {
        let whole = row::Model::of(rota).into_active_model().reset_all();
        let update = row::Entity::update_many().set(whole).filter(row::Column::Id.eq(rota.id.to_string()));
        self.run(update, Expect::Rows(1));
    }

    /// Removes the rota.
    pub fn rota_remove(&mut self, id: RotaId) {
        self.run_statement(Sql::new("DELETE FROM rotas WHERE id = $1", [id.to_string().into()]), Expect::Rows(1));
    }
}

impl Store {
    /// The organization's rota with this id.
    pub async fn rota(&self, org_id: OrgId, id: RotaId) -> Result<Option<Rota>, StoreError> {
        Ok(self.rotas_by_id(org_id, &[id]).await?.into_iter().next())
    }

    /// The organization's rotas, oldest first.
    pub async fn rotas(&self, org_id: OrgId) -> Result<Vec<Rota>, StoreError> {
        self.rotas_where(of_organization(org_id)).await
    }

    /// Those of these rotas that the organization has, oldest first.
    pub async fn rotas_by_id(&self, org_id: OrgId, ids: &[RotaId]) -> Result<Vec<Rota>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.rotas_where(of_organization(org_id).add(row::Column::Id.is_in(ids.iter().map(RotaId::to_string)))).await
    }

    /// Who is on call on the rota at `at`, of those who still belong to the organization.
    pub async fn on_call(&self, rota: &Rota, at: Timestamp) -> Result<Option<OnCall>, StoreError> {
        let everybody: Vec<UserId> = rota.everybody().into_iter().collect();
        let members = self.members_among(rota.org_id, &everybody, &[]).await?;
        Ok(rota.on_call(at, |user_id| members.iter().any(|(member, _)| *member == user_id)))
    }

    async fn rotas_where(&self, condition: Condition) -> Result<Vec<Rota>, StoreError> {
        let rows = row::Entity::find().filter(condition).order_by_asc(row::Column::Id).read_all(self.reader()).await?;
        rows.into_iter().map(Rota::try_from).collect()
    }
}

fn of_organization(org_id: OrgId) -> Condition {
    Condition::all().add(row::Column::OrgId.eq(org_id.to_string()))
}
