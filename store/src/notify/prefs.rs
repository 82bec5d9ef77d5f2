//! What people chose about being told things.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::UserId,
    notify::{Channels, NotifyPrefs, QuietHours, Zone},
};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};

use crate::{Change, Expect, Store, StoreError, json, reader::Reads};

pub(super) mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "notify_prefs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub quiet_hours: Option<String>,
        pub time_zone: Option<String>,
        pub vip_senders: String,
        pub meeting_lead_minutes: i32,
        pub calendar_reminders: bool,
        pub choices: String,
        pub version: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A person's settings as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPrefs {
    /// The settings; their zone is the one of the person's profile until they choose another here.
    pub prefs: NotifyPrefs,
    /// Whether they chose the zone here.
    pub zone_chosen: bool,
    /// Counts changes; nothing was stored yet at 0.
    pub version: i64,
}

impl StoredPrefs {
    /// The settings of a person whose profile names `profile_zone`, from what is stored of them.
    pub(super) fn read(row: Option<row::Model>, profile_zone: Option<&str>) -> Result<Self, StoreError> {
        let mut stored = row.map(Self::try_from).transpose()?.unwrap_or_default();
        if !stored.zone_chosen {
            // A profile takes any text that looks like a zone's name.
            stored.prefs.zone = profile_zone.and_then(Zone::find).unwrap_or_default();
        }
        Ok(stored)
    }
}

impl TryFrom<row::Model> for StoredPrefs {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("notify_prefs of {}", row.user_id));
        let quiet_hours: Option<QuietHours> =
            row.quiet_hours.as_deref().map(serde_json::from_str).transpose().map_err(|_| corrupt())?;
        let choices: BTreeMap<String, Channels> = serde_json::from_str(&row.choices).map_err(|_| corrupt())?;
        let prefs = NotifyPrefs {
            quiet_hours,
            // A zone that a later zone database no longer has counts as none.
            zone: row.time_zone.as_deref().and_then(Zone::find).unwrap_or_default(),
            vip_senders: serde_json::from_str(&row.vip_senders).map_err(|_| corrupt())?,
            meeting_lead_minutes: u16::try_from(row.meeting_lead_minutes).map_err(|_| corrupt())?,
            calendar_reminders: row.calendar_reminders,
            choices,
        };
        Ok(Self { prefs, zone_chosen: row.time_zone.is_some(), version: row.version })
    }
}

impl Store {
    /// A person's settings.
    pub async fn notify_prefs(&self, user_id: UserId) -> Result<StoredPrefs, StoreError> {
        let row = row::Entity::find_by_id(user_id.to_string()).read_one(self.reader()).await?;
        let zone = match &row {
            Some(row) if row.time_zone.is_some() => None,
            _ => self.person(user_id).await?.and_then(|person| person.time_zone),
        };
        StoredPrefs::read(row, zone.as_deref())
    }
}

impl Change {
    /// Writes a person's settings over those that were read; stale when they are others by now.
    pub fn notify_prefs_set(&mut self, user_id: UserId, stored: &StoredPrefs, now: Timestamp) {
        let prefs = &stored.prefs;
        let row = row::Model {
            user_id: user_id.to_string(),
            quiet_hours: prefs.quiet_hours.as_ref().map(json::text),
            time_zone: stored.zone_chosen.then(|| prefs.zone.name().to_owned()),
            vip_senders: json::text(&prefs.vip_senders),
            meeting_lead_minutes: prefs.meeting_lead_minutes.into(),
            calendar_reminders: prefs.calendar_reminders,
            choices: json::text(&prefs.choices),
            version: stored.version + 1,
            updated_at: now.0,
        };
        if stored.version == 0 {
            return self.insert(row.into_active_model());
        }
        let whole = row.into_active_model().reset_all();
        let update = row::Entity::update_many()
            .set(whole)
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .filter(row::Column::Version.eq(stored.version));
        self.run(update, Expect::Rows(1));
    }
}
