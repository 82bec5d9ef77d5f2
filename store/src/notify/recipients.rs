//! People, as far as telling them something goes: one query per table, however many people there are.

use std::collections::HashMap;

use domain::{
    id::UserId,
    notify::{PushTarget, Recipient},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::{phones, prefs};
use crate::{Store, StoreError, notify::StoredPrefs, reader::Reads};

/// People in one query.
const PEOPLE_PER_QUERY: usize = 1_000;

impl Store {
    /// Those of these people whom there are, in the order in which they are named.
    pub async fn recipients(&self, user_ids: &[UserId]) -> Result<Vec<Recipient>, StoreError> {
        let mut recipients = Vec::with_capacity(user_ids.len());
        for some in user_ids.chunks(PEOPLE_PER_QUERY) {
            recipients.append(&mut self.some_recipients(some).await?);
        }
        Ok(recipients)
    }

    async fn some_recipients(&self, user_ids: &[UserId]) -> Result<Vec<Recipient>, StoreError> {
        let mut people = HashMap::new();
        for person in self.people_by_id(user_ids).await? {
            people.insert(person.id, person);
        }
        let (mut prefs, mut phones) = (self.prefs_of(user_ids).await?, self.phones_of(user_ids).await?);
        let mut devices: HashMap<UserId, Vec<PushTarget>> = HashMap::new();
        for device in self.push_devices_of(user_ids, self.now()).await? {
            devices.entry(device.key.user_id).or_default().push(device.target());
        }
        let mut recipients = Vec::new();
        for user_id in user_ids {
            let Some(person) = people.remove(user_id) else { continue };
            let id = user_id.to_string();
            let confirmed = phones.remove(&id);
            recipients.push(Recipient {
                user_id: *user_id,
                prefs: StoredPrefs::read(prefs.remove(&id), person.time_zone.as_deref())?.prefs,
                phone: person.phone.filter(|phone| confirmed.as_ref() == Some(phone)),
                name: person.name,
                email: person.email,
                devices: devices.remove(user_id).unwrap_or_default(),
            });
        }
        Ok(recipients)
    }

    async fn prefs_of(&self, user_ids: &[UserId]) -> Result<HashMap<String, prefs::row::Model>, StoreError> {
        let rows = prefs::row::Entity::find()
            .filter(prefs::row::Column::UserId.is_in(user_ids.iter().map(UserId::to_string)))
            .read_all(self.reader())
            .await?;
        Ok(rows.into_iter().map(|row| (row.user_id.clone(), row)).collect())
    }

    async fn phones_of(&self, user_ids: &[UserId]) -> Result<HashMap<String, String>, StoreError> {
        let rows = phones::row::Entity::find()
            .filter(phones::row::Column::UserId.is_in(user_ids.iter().map(UserId::to_string)))
            .read_all(self.reader())
            .await?;
        Ok(rows.into_iter().map(|row| (row.user_id, row.phone)).collect())
    }
}
