//! The row of an escalation, and the writes that name its version.

use domain::{
    Timestamp,
    id::{EscalationId, ProtocolId},
    notify::escalation::{AckVia, EndReason, EscalationState, Next},
};
use sea_orm::{ActiveValue::Set, entity::prelude::*};
use serde::de::DeserializeOwned;

use super::{Acked, Ended, Escalation, TIMER_KIND, TIMER_STEP};
use crate::{Change, Expect, StoreError, json, sql::Sql};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "escalations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub org_id: String,
    pub protocol_id: String,
    pub protocol_name: String,
    pub source: String,
    pub is_test: bool,
    pub kind: String,
    pub title: String,
    pub body: Option<String>,
    pub url: Option<String>,
    pub concerned: String,
    pub rules: String,
    pub progress: String,
    pub next_at: Option<i64>,
    pub state: String,
    pub dedup_key: Option<String>,
    pub open_key: Option<String>,
    pub event_count: i64,
    pub last_title: String,
    pub last_event_at: i64,
    pub handed_to: Option<String>,
    pub acked_by: Option<String>,
    pub acked_via: Option<String>,
    pub acked_at: Option<i64>,
    pub end_reason: Option<String>,
    pub ended_at: Option<i64>,
    pub event_at: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What at most one escalation has at a time.
pub(super) fn open_key(protocol_id: ProtocolId, dedup_key: &str) -> String {
    format!("{protocol_id}/{dedup_key}")
}

fn parsed<T: std::str::FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(format_args!("escalations.{column}")))
}

fn read<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(format_args!("escalations.{column}: {error}")))
}

fn named<T>(column: &'static str, found: Option<T>) -> Result<T, StoreError> {
    found.ok_or_else(|| StoreError::corrupt(format_args!("escalations.{column}")))
}

impl Model {
    fn acked(&self) -> Result<Option<Acked>, StoreError> {
        let (Some(by), Some(via), Some(at)) = (&self.acked_by, &self.acked_via, self.acked_at) else { return Ok(None) };
        let via = named("acked_via", AckVia::from_name(via))?;
        Ok(Some(Acked { by: parsed("acked_by", by)?, via, at: Timestamp(at) }))
    }

    fn ended(&self) -> Result<Option<Ended>, StoreError> {
        let (Some(reason), Some(at)) = (&self.end_reason, self.ended_at) else { return Ok(None) };
        Ok(Some(Ended { reason: named("end_reason", EndReason::from_name(reason))?, at: Timestamp(at) }))
    }
}

impl TryFrom<Model> for Escalation {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("id", &row.id)?,
            version: row.version,
            org_id: parsed("org_id", &row.org_id)?,
            protocol_id: parsed("protocol_id", &row.protocol_id)?,
            acked: row.acked()?,
            ended: row.ended()?,
            concerned: read("concerned", &row.concerned)?,
            rules: read("rules", &row.rules)?,
            progress: read("progress", &row.progress)?,
            state: named("state", EscalationState::from_name(&row.state))?,
            handed_to: row.handed_to.as_deref().map(|id| parsed("handed_to", id)).transpose()?,
            protocol_name: row.protocol_name,
            source: row.source,
            is_test: row.is_test,
            kind: row.kind,
            title: row.title,
            body: row.body,
            url: row.url,
            dedup_key: row.dedup_key,
            is_open: row.open_key.is_some(),
            event_count: row.event_count,
            last_title: row.last_title,
            last_event_at: Timestamp(row.last_event_at),
            event_at: Timestamp(row.event_at),
            created_at: Timestamp(row.created_at),
        })
    }
}

impl Escalation {
    fn next_at(&self) -> Option<Timestamp> {
        self.progress.next().filter(|_| self.is_running()).map(Next::at)
    }

    fn open_key(&self) -> Option<String> {
        let key = self.dedup_key.as_ref().filter(|_| self.is_open)?;
        Some(open_key(self.protocol_id, key))
    }

    fn columns(&self) -> ActiveModel {
        ActiveModel {
            version: Set(self.version),
            progress: Set(json::text(&self.progress)),
            next_at: Set(self.next_at().map(|at| at.0)),
            state: Set(self.state.to_string()),
            open_key: Set(self.open_key()),
            handed_to: Set(self.handed_to.map(|id| id.to_string())),
            acked_by: Set(self.acked.map(|acked| acked.by.to_string())),
            acked_via: Set(self.acked.map(|acked| acked.via.to_string())),
            acked_at: Set(self.acked.map(|acked| acked.at.0)),
            end_reason: Set(self.ended.map(|ended| ended.reason.to_string())),
            ended_at: Set(self.ended.map(|ended| ended.at.0)),
            ..Default::default()
        }
    }
}

impl Change {
    /// Starts an escalation, with the timer for its first step. Fails when one of the same event, or an open one with the
    /// same `dedupKey`, is there already.
    pub fn escalation_add(&mut self, escalation: &Escalation) {
        self.insert(ActiveModel {
            id: Set(escalation.id.to_string()),
            org_id: Set(escalation.org_id.to_string()),
            protocol_id: Set(escalation.protocol_id.to_string()),
            protocol_name: Set(escalation.protocol_name.clone()),
            source: Set(escalation.source.clone()),
            is_test: Set(escalation.is_test),
            kind: Set(escalation.kind.clone()),
            title: Set(escalation.title.clone()),
            body: Set(escalation.body.clone()),
            url: Set(escalation.url.clone()),
            concerned: Set(json::text(&escalation.concerned)),
            rules: Set(json::text(&escalation.rules)),
            dedup_key: Set(escalation.dedup_key.clone()),
            event_count: Set(escalation.event_count),
            last_title: Set(escalation.last_title.clone()),
            last_event_at: Set(escalation.last_event_at.0),
            event_at: Set(escalation.event_at.0),
            created_at: Set(escalation.created_at.0),
            ..escalation.columns()
        });
        self.escalation_timer(escalation);
    }

    /// Writes what was decided at the version that was read, with the timer for what comes next.
    pub fn escalation_set(&mut self, escalation: &Escalation) {
        let columns = ActiveModel { version: Set(escalation.version + 1), ..escalation.columns() };
        self.run(
            Entity::update_many()
                .set(columns)
                .filter(Column::Id.eq(escalation.id.to_string()))
                .filter(Column::Version.eq(escalation.version)),
            Expect::Rows(1),
        );
        self.escalation_timer(escalation);
    }

    fn escalation_timer(&mut self, escalation: &Escalation) {
        let key = escalation.id.to_string();
        match escalation.next_at() {
            Some(next) => self.timer_set_for(escalation.org_id, TIMER_KIND, &key, TIMER_STEP, next),
            None => self.timer_cancel(TIMER_KIND, &key, TIMER_STEP),
        }
    }

    /// Holds the protocol until this change is committed, so that it isn't disabled or deleted meanwhile; stale when it was.
    pub fn protocol_hold(&mut self, id: ProtocolId) {
        self.run_statement(
            Sql::new(
                "UPDATE protocols SET enabled = enabled WHERE id = $1 AND enabled = $2",
                [id.to_string().into(), true.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Counts another event of an open escalation; stale when it takes none in any more.
    pub fn escalation_take_in(&mut self, id: EscalationId, title: &str, at: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE escalations SET event_count = event_count + 1, last_title = $2, last_event_at = $3 \
                 WHERE id = $1 AND open_key IS NOT NULL",
                [id.to_string().into(), title.into(), at.0.into()],
            ),
            Expect::Rows(1),
        );
    }
}
