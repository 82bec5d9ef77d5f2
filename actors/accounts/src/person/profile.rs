//! What a person is called and how they are reached.

use domain::Result;
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, accounts,
    audit::{AuditEntry, AuditTarget},
};

use super::{Person, current};

/// Changes the fields that are given; `Some(None)` clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeProfile {
    /// What they are called.
    pub name: Option<String>,
    /// Their language.
    pub locale: Option<Option<String>>,
    /// Their time zone.
    pub time_zone: Option<Option<String>>,
    /// Their telephone number.
    pub phone: Option<Option<String>>,
}

impl ChangeProfile {
    /// Applies it; answers the names of the fields that differ now.
    fn apply(&self, person: &mut accounts::Person) -> Vec<&'static str> {
        let before = person.clone();
        if let Some(name) = &self.name {
            person.name.clone_from(name);
        }
        for (field, new) in [
            (&mut person.locale, &self.locale),
            (&mut person.time_zone, &self.time_zone),
            (&mut person.phone, &self.phone),
        ] {
            if let Some(new) = new {
                field.clone_from(new);
            }
        }
        let differs = [
            ("name", before.name != person.name),
            ("locale", before.locale != person.locale),
            ("timeZone", before.time_zone != person.time_zone),
            ("phone", before.phone != person.phone),
        ];
        differs.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
    }
}

impl Command for ChangeProfile {
    type Reply = accounts::Person;

    const NAME: &'static str = "change_profile";
}

impl Handle<ChangeProfile> for Person {
    async fn handle(&mut self, command: &ChangeProfile, turn: &mut Turn<'_, Self>) -> Result<accounts::Person> {
        let (mut person, now) = (current(turn).await?, turn.now());
        let fields = command.apply(&mut person);
        if fields.is_empty() {
            return Ok(person);
        }
        person.updated_at = now;
        let mut change = Change::new();
        change.person_set(&person);
        if fields.contains(&"phone") {
            // Another number is not confirmed, and neither is the old one when it comes back.
            change.phone_unconfirm(person.id);
        }
        let entry = AuditEntry::new(turn.context(), "person.changed", AuditTarget::new("person", person.id));
        change.audit_add(now, entry.with_metadata(json!({ "fields": fields })));
        turn.commit(change).await?;
        person.version += 1;
        Ok(person)
    }
}
