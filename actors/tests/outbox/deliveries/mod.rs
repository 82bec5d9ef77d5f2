//! What people are to be told reaches them: each try, what becomes of it, and what quiet hours hold back.

mod email;
mod held;
mod others;
mod refusals;

use std::time::Duration;

use actors::{notify::deliveries, work::Dispatcher};
use domain::{
    App, Platform, Timestamp, TokenHash,
    id::{DeliveryId, NoticeId, SignInId, UserId},
    notify::{Channel, NotifyPrefs, PushPlatform, PushTarget, QuietHours, Target, TimeOfDay, Zone},
};
use gateways::Mailer;
use store::{
    Change, Delivery, KeptMessage, NewDelivery,
    accounts::{Person, SignIn},
    notify::{DeviceAttrs, NewNotice, PushDevice, PushKey, StoredPrefs},
};

use crate::node::{Node, START};

const EMAIL: &str = "ada@example.org";
const PHONE: &str = "+491701234567";
/// The longest pause between two tries.
const HOUR: Duration = Duration::from_hours(1);

/// A node, and a person on it with a confirmed phone.
struct House {
    node: Node,
    ada: UserId,
}

impl House {
    async fn new() -> Self {
        Self::with_mailer(Mailer::console()).await
    }

    async fn with_mailer(mailer: Mailer) -> Self {
        let node = Node::with_mailer(mailer).await;
        let ada = UserId::new(START);
        let house = Self { node, ada };
        let person = Person {
            id: ada,
            email: EMAIL.parse().expect("an address"),
            name: "Ada".into(),
            password_hash: String::new(),
            password_change_due: false,
            locale: None,
            time_zone: None,
            phone: Some(PHONE.into()),
            otp_secret: None,
            otp_pending: None,
            otp_last_step: 0,
            version: 1,
            created_at: START,
            updated_at: START,
        };
        house
            .commit(|change| {
                change.person_add(&person);
                change.phone_confirm(ada, PHONE, START);
            })
            .await;
        house
    }

    /// After the process was killed and started again.
    async fn restarted(self) -> Self {
        Self { node: self.node.restarted().await, ada: self.ada }
    }

    fn now(&self) -> Timestamp {
        self.node.clock.now()
    }

    fn worker(&self) -> Dispatcher {
        Dispatcher::new(self.node.services.store.clone(), deliveries::lanes(&self.node.services))
    }

    async fn commit(&self, fill: impl FnOnce(&mut Change)) {
        let mut change = Change::new();
        fill(&mut change);
        self.node.services.store.commit(change).await.expect("a commit");
    }

    /// Tries all that is due.
    async fn deliver(&self) {
        self.worker().work_due().await.expect("delivered");
    }

    /// A delivery over this channel, at once, of a notice of its own; a moment later than the one before, as ids sort by
    /// when they were made.
    fn about(&self, title: &str, channel: Channel) -> NewDelivery {
        self.node.clock.advance(Duration::from_millis(1));
        let target = match channel {
            Channel::Email => Target::Email(EMAIL.into()),
            Channel::Sms | Channel::Voice => Target::Phone(PHONE.into()),
            Channel::Push => Target::Device(device("phone-1")),
            Channel::Inapp => Target::Inbox,
        };
        NewDelivery {
            id: DeliveryId::new(self.now()),
            user_id: self.ada,
            notice_id: Some(NoticeId::new(self.now())),
            escalation_id: None,
            channel,
            target,
            hold_until: None,
            urgent: false,
            title: title.into(),
            body: Some("On db-1.".into()),
            url: Some("/alarms/1".into()),
            created_at: self.now(),
        }
    }

    async fn add(&self, delivery: &NewDelivery) {
        self.commit(|change| change.delivery_add(delivery.clone())).await;
    }

    /// The notice that a delivery tells of, which shall be acknowledged.
    async fn notice(&self, delivery: &NewDelivery) {
        let notice = NewNotice {
            id: delivery.notice_id.expect("a notice"),
            user_id: self.ada,
            org_id: None,
            event: "ops.alarm".into(),
            app: App::Cloud,
            title: delivery.title.clone(),
            body: delivery.body.clone(),
            url: delivery.url.clone(),
            require_ack: true,
            escalation_id: None,
            is_read: false,
            created_at: self.now(),
            source: delivery.id.to_string(),
        };
        self.commit(|change| change.notice_add(notice)).await;
    }

    async fn read(&self, delivery: &NewDelivery) -> Delivery {
        self.node.services.store.delivery(delivery.id).await.expect("a read").expect("a delivery")
    }

    /// What was kept instead of sent, oldest first.
    async fn kept(&self) -> Vec<KeptMessage> {
        let mut kept = self.node.services.store.kept_list(None, 100).await.expect("a read");
        kept.reverse();
        kept
    }

    /// Registers a phone for push messages; answers its token.
    async fn register(&self, device_id: &str) -> PushKey {
        let sign_in = SignIn {
            id: SignInId::new(self.now()),
            user_id: self.ada,
            app: App::Cloud,
            platform: Platform::Ios,
            install_id: None,
            ip: None,
            user_agent: None,
            created_at: self.now(),
            last_seen_at: self.now(),
            expires_at: self.now().after(HOUR * 1_000),
            confirmed_until: None,
        };
        let key = PushKey { user_id: self.ada, device_id: device_id.into(), app: App::Cloud };
        let device = PushDevice {
            key: key.clone(),
            sign_in_id: sign_in.id,
            platform: PushPlatform::Ios,
            token: made_up(device_id).map(|byte| format!("{byte:02x}")).concat(),
            attrs: DeviceAttrs::default(),
            created_at: self.now(),
            updated_at: self.now(),
        };
        self.commit(|change| {
            change.sign_in_add(&sign_in, TokenHash(made_up(device_id)));
            change.push_device_put(&device);
        })
        .await;
        key
    }

    /// Sets quiet hours, in UTC.
    async fn quiet(&self, hours: Option<(u16, u16)>) {
        let time = |hour| TimeOfDay::new(hour, 0).expect("an hour");
        let quiet = |(start, end)| QuietHours { start: time(start), end: time(end), days: None, allow_urgent: false };
        let stored = self.node.services.store.notify_prefs(self.ada).await.expect("a read");
        let prefs = NotifyPrefs { quiet_hours: hours.map(quiet), zone: Zone::UTC, ..stored.prefs };
        let stored = StoredPrefs { prefs, ..stored };
        self.commit(|change| change.notify_prefs_set(self.ada, &stored, self.now())).await;
    }
}

fn device(device_id: &str) -> PushTarget {
    PushTarget { device_id: device_id.into(), platform: PushPlatform::Ios, app: App::Cloud }
}

/// The hash of a token that nobody shows.
fn made_up(text: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash[..text.len()].copy_from_slice(text.as_bytes());
    hash
}
