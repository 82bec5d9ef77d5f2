//! The people who are told.

use std::collections::BTreeSet;

use domain::{
    App, Timestamp,
    id::{NoticeId, UserId},
};
use store::{Change, NewNotice, OutboxEntry, Store, accounts::Person};

use crate::report::Result;

/// People whom each event concerns.
pub(super) const PEOPLE: usize = 100;
/// An event that whoever never chose channels finds in the list of their notices, and nowhere else.
pub(super) const EVENT: &str = "sharing.activity";

/// People with an account.
#[derive(Clone, Debug)]
pub(super) struct People(pub Vec<UserId>);

impl People {
    pub async fn enrol(store: &Store) -> Result<Self> {
        let now = store.now();
        let people: Vec<_> = (0..PEOPLE).map(|_| UserId::new(now)).collect();
        let mut change = Change::new();
        for (number, user_id) in people.iter().enumerate() {
            change.person_add(&person(*user_id, number, now)?);
        }
        store.commit(change).await?;
        Ok(Self(people))
    }

    /// How many notices they have all together.
    pub async fn notices(&self, store: &Store) -> Result<u64> {
        let people: BTreeSet<_> = self.0.iter().copied().collect();
        Ok(store.notices_unread_counts(&people).await?.values().sum())
    }
}

fn person(id: UserId, number: usize, now: Timestamp) -> Result<Person> {
    Ok(Person {
        id,
        email: format!("person{number}@example.org").parse()?,
        name: format!("Person {number}"),
        password_hash: String::new(),
        password_change_due: false,
        locale: None,
        time_zone: None,
        phone: None,
        otp_secret: None,
        otp_pending: None,
        otp_last_step: 0,
        version: 1,
        created_at: now,
        updated_at: now,
    })
}

/// A notice to a person of what `source` names.
pub(super) fn notice(user_id: UserId, source: String, now: Timestamp) -> NewNotice {
    NewNotice {
        id: NoticeId::new(now),
        user_id,
        org_id: None,
        event: EVENT.to_owned(),
        app: App::Account,
        title: TITLE.to_owned(),
        body: Some(BODY.to_owned()),
        url: None,
        require_ack: false,
        escalation_id: None,
        is_read: false,
        created_at: now,
        source,
    }
}

/// What everybody is told.
pub(super) const TITLE: &str = "Ada changed the vault of the kitchen";
/// The same, in a sentence.
pub(super) const BODY: &str = "Three entries were added, and one was taken away.";

/// Has the person's sockets told of the notice, as Troupe itself does.
pub(super) fn announce(change: &mut Change, notice: &NewNotice) {
    let message = serde_json::json!({
        "type": "notice.created", "unread": 1,
        "notice": { "noticeId": notice.id, "app": notice.app, "event": notice.event, "title": notice.title, "body": notice.body },
    });
    change.outbox_add(notice.created_at, &OutboxEntry::Live { user_id: notice.user_id, message });
}
