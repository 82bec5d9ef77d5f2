//! The people of an organization, as files and columns name them.

use std::collections::HashMap;

use domain::{
    Result,
    id::{OrgId, UserId},
};
use store::Store;

/// People whose names are known.
pub(crate) const PEOPLE_MAX: u64 = 10_000;

/// The members of an organization, by what they are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct People {
    names: HashMap<UserId, String>,
    /// Whom a name or an e-mail address in small letters means; nobody where it means several.
    by_name: HashMap<String, Option<UserId>>,
}

impl People {
    pub(crate) async fn read(store: &Store, org_id: OrgId) -> Result<Self> {
        let mut people = Self::default();
        for member in store.members(org_id, None, PEOPLE_MAX).await? {
            let id = member.user_id;
            for called in [member.name.to_lowercase(), member.email.to_string().to_lowercase()] {
                let known = people.by_name.entry(called).or_insert(Some(id));
                *known = known.filter(|known| *known == id);
            }
            people.names.insert(id, member.name);
        }
        Ok(people)
    }

    /// What a person is called; nothing for who has left.
    pub(crate) fn name(&self, id: UserId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// Whom a text names: by id, e-mail address, or a name that only one has.
    pub(crate) fn find(&self, text: &str) -> Option<UserId> {
        let text = text.trim();
        if let Ok(id) = text.parse::<UserId>() {
            return self.names.contains_key(&id).then_some(id);
        }
        self.by_name.get(&text.to_lowercase()).copied().flatten()
    }
}
