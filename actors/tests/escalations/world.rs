//! A node that can be killed at any time, an organization with people who sleep, and a clock that the test moves.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors::{Actors, Services, event::Event, notify::escalation::Escalation};
use domain::{
    App, Context, OrgKind, Origin, Platform, Result, Role, Timestamp, Token, TokenKind,
    id::{EscalationId, OrgId, ProtocolId, SignInId, UserId},
    notify::{
        Attachment, NotifyPrefs, Protocol, ProtocolDraft, PushPlatform, QuietHours, ResourceType, Rule, TimeOfDay, Zone,
    },
};
use kernel::{Command, Handle, KernelOptions};
use serde_json::json;
use store::{
    Change, Clock, PushDevice, PushKey, Store,
    accounts::{Organization, Person, SignIn},
    notify::{
        DeviceAttrs, StoredPrefs,
        escalations::{Escalation as Row, EscalationQuery},
    },
    testing::Scratch,
};

use crate::calendar::Quiet;

const PHONE: &str = "+436601234567";
const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody in the organization.
#[derive(Clone, Debug)]
pub struct Member {
    pub user_id: UserId,
    pub role: Role,
    pub quiet: Option<Quiet>,
    pub has_phone: bool,
    pub has_device: bool,
}

pub struct World {
    pub org_id: OrgId,
    pub clock: Clock,
    /// Reads what the node did; it is none of the node's.
    pub store: Store,
    node: Option<(Actors, Store)>,
    /// Another node on the same database.
    other: Option<(Actors, Store)>,
    /// Dropped last: it removes the database.
    scratch: Arc<Scratch>,
}

impl World {
    pub async fn new(now: Timestamp) -> Self {
        let scratch = Arc::new(Scratch::new().await.expect("an empty database"));
        let clock = Clock::manual(now);
        let store = scratch.store(clock.clone()).await.expect("a store");
        let org_id = OrgId::new(now);
        let mut change = Change::new();
        change.organization_add(&Organization {
            id: org_id,
            name: "Acme".into(),
            slug: domain::Slug::parse("acme").expect("a slug"),
            kind: OrgKind::Customer,
            version: 1,
            created_at: now,
            updated_at: now,
        });
        store.commit(change).await.expect("an organization");
        let mut world = Self { org_id, clock, store, node: None, other: None, scratch };
        world.start().await;
        world
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Kills the node where it stands.
    pub async fn kill(&mut self) {
        if let Some((actors, store)) = self.node.take() {
            drop(actors);
            store.close().await;
        }
    }

    pub async fn start(&mut self) {
        self.node = Some(self.another("node").await);
    }

    /// Starts a second node.
    pub async fn start_other(&mut self) {
        self.other = Some(self.another("other").await);
    }

    async fn another(&self, name: &str) -> (Actors, Store) {
        let store = self.scratch.store(self.clock.clone()).await.expect("a store");
        let actors = Actors::start(&Services::in_process(store.clone()), KernelOptions::new(name)).expect("actors");
        (actors, store)
    }

    pub async fn commit(&self, fill: impl FnOnce(&mut Change)) {
        let mut change = Change::new();
        fill(&mut change);
        self.store.commit(change).await.expect("a commit");
    }

    /// Moves the clock on by so many minutes.
    pub fn pass(&self, minutes: i64) {
        self.clock.set(Timestamp(self.now().0 + minutes * crate::calendar::MINUTE));
    }

    /// The escalation with this title once `check` holds for it.
    pub async fn escalation_once(&self, title: &str, check: impl Fn(&Row) -> bool) -> Row {
        self.eventually(title, async || self.escalation(title).await.filter(|row| check(row))).await
    }

    /// The titles of what the person was told, the newest first, once there are `count`.
    pub async fn notices(&self, user_id: UserId, count: usize) -> Vec<store::Notice> {
        let query = store::notify::NoticesQuery { user_id, app: None, before: None, limit: 100 };
        let all = async || self.store.notices_page(query).await.expect("notices").notices;
        let enough = async || Some(all().await).filter(|notices| notices.len() >= count);
        let notices = self.eventually(&format!("{count} notices"), enough).await;
        assert_eq!(notices.len(), count, "{notices:#?}");
        notices
    }

    pub async fn member(
        &self,
        name: &str,
        role: Role,
        quiet: Option<Quiet>,
        has_phone: bool,
        has_device: bool,
    ) -> Member {
        let now = self.now();
        let user_id = UserId::new(now);
        let mut change = Change::new();
        change.person_add(&person(user_id, name, has_phone, now));
        change.member_add(now, self.org_id, user_id, role);
        let prefs = StoredPrefs { prefs: prefs(quiet), zone_chosen: true, version: 0 };
        change.notify_prefs_set(user_id, &prefs, now);
        if has_phone {
            change.phone_confirm(user_id, PHONE, now);
        }
        if has_device {
            add_device(&mut change, user_id, now);
        }
        self.store.commit(change).await.expect("a member");
        Member { user_id, role, quiet, has_phone, has_device }
    }

    /// A protocol that is attached to the organization.
    pub async fn protocol(&self, rules: Vec<Rule>) -> ProtocolId {
        let (now, id) = (self.now(), ProtocolId::new(self.now()));
        let draft = ProtocolDraft { name: "Protocol".into(), description: None, enabled: true, rules };
        let attachment =
            Attachment { resource_type: ResourceType::Org, resource_id: self.org_id.to_string(), resource_label: None };
        let created_by = UserId::new(now);
        let attachments = vec![attachment];
        let protocol =
            Protocol { id, org_id: self.org_id, draft, created_by, created_at: now, updated_at: now, attachments };
        let mut change = Change::new();
        change.protocol_add(&protocol);
        for attachment in &protocol.attachments {
            change.protocol_attach(now, self.org_id, id, attachment);
        }
        self.store.commit(change).await.expect("a protocol");
        id
    }

    /// Emits `event` in the organization, on the node when it is up.
    pub async fn emit(&self, event: Event) {
        let store = self.node.as_ref().map_or(&self.store, |(_, store)| store);
        let mut change = Change::new();
        Event { org_id: Some(self.org_id), ..event }.emit(&mut change, self.now());
        store.commit(change).await.expect("an event");
    }

    pub async fn ask<C: Command>(&self, id: EscalationId, command: C) -> Result<C::Reply>
    where
        Escalation: Handle<C>,
    {
        let (actors, _) = self.node.as_ref().expect("a node");
        actors.escalation.ask(&id, command, Context::system(Origin::Http, Instant::now() + PATIENCE)).await
    }

    /// All escalations, newest first.
    pub async fn escalations(&self) -> Vec<Row> {
        let query = EscalationQuery { state: None, before: None, limit: 10_000 };
        self.store.escalations(self.org_id, query).await.expect("escalations")
    }

    /// The escalation whose title this is, if it started.
    pub async fn escalation(&self, title: &str) -> Option<Row> {
        self.escalations().await.into_iter().find(|escalation| escalation.title == title)
    }

    /// Waits until `found` answers something.
    pub async fn eventually<T>(&self, what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(it) = found().await {
                return it;
            }
            assert!(Instant::now() < until, "{what} did not happen");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn person(id: UserId, name: &str, has_phone: bool, now: Timestamp) -> Person {
    Person {
        id,
        email: format!("{name}@example.org").parse().expect("an address"),
        name: name.to_owned(),
        password_hash: String::new(),
        password_change_due: false,
        locale: None,
        time_zone: None,
        phone: has_phone.then(|| PHONE.to_owned()),
        otp_secret: None,
        otp_pending: None,
        otp_last_step: 0,
        version: 1,
        created_at: now,
        updated_at: now,
    }
}

fn prefs(quiet: Option<Quiet>) -> NotifyPrefs {
    let Some(quiet) = quiet else { return NotifyPrefs::default() };
    let time =
        |minutes: i64| TimeOfDay::parse("", &format!("{:02}:{:02}", minutes / 60, minutes % 60)).expect("a time");
    let days = quiet.days.map(|days| days.iter().map(|day| u8::try_from(*day).expect("a day")).collect());
    let (start, end, allow_urgent) = (time(quiet.start), time(quiet.end), quiet.allow_urgent);
    NotifyPrefs {
        quiet_hours: Some(QuietHours { start, end, days, allow_urgent }),
        zone: Zone::find(quiet.place.zone).expect("a zone"),
        ..NotifyPrefs::default()
    }
}

fn add_device(change: &mut Change, user_id: UserId, now: Timestamp) {
    let sign_in_id = SignInId::new(now);
    let sign_in = SignIn {
        id: sign_in_id,
        user_id,
        app: App::Assistant,
        platform: Platform::Ios,
        install_id: None,
        ip: None,
        user_agent: None,
        created_at: now,
        last_seen_at: now,
        expires_at: now.after(Duration::from_hours(400 * 24)),
        confirmed_until: None,
    };
    change.sign_in_add(&sign_in, Token::generate(TokenKind::SignIn).expect("a token").hash());
    change.push_device_put(&PushDevice {
        key: PushKey { user_id, device_id: format!("phone-{user_id}"), app: App::Assistant },
        sign_in_id,
        platform: PushPlatform::Ios,
        token: format!("token-{user_id}"),
        attrs: DeviceAttrs { name: json!(null), model: json!(null), os_version: json!(null), app_version: json!(null) },
        created_at: now,
        updated_at: now,
    });
}
