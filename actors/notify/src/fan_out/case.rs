//! An event that is to be decided on, and what must be known for that.

use std::collections::{BTreeMap, BTreeSet};

use actors_base::{
    Services,
    event::{Emitted, Event},
};
use domain::{
    Role, Timestamp,
    id::{OrgId, ProtocolId, UserId},
    notify::{EventType, Protocol, Recipient, ResourceType, escalation::DEDUP_KEY_LEN_MAX},
};
use serde_json::Value;
use store::{
    OutboxClaim, Store, StoreError,
    notify::{AlertKey, StoredAlert, escalations::Escalation},
};

use crate::ending::Ending;

/// The event that concerns an organization's owners and admins when it names nobody.
const ALARM: &str = "ops.alarm";
/// The event that happens in every organization of the person whom it concerns.
const NEW_SIGN_IN: &str = "account.new_sign_in";
/// Organizations of one person that are looked at for an event of theirs.
const ORGANIZATIONS_MAX: u64 = 1_000;

/// An event from the outbox.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub claim: &'a OutboxClaim,
    pub event: Event,
    pub at: Timestamp,
    pub kind: &'static EventType,
    /// What notices and escalations of it carry.
    pub source: String,
}

impl<'a> Case<'a> {
    /// Reads an event; why not, when it can't be.
    pub fn read(claim: &'a OutboxClaim, event: &Value) -> Result<Self, String> {
        let Emitted { mut event, at } = serde_json::from_value(event.clone()).map_err(|error| error.to_string())?;
        let kind = EventType::find(&event.kind).ok_or_else(|| format!("no type of event: {}", event.kind))?;
        event.dedup_key = event.dedup_key.map(|key| key.chars().take(DEDUP_KEY_LEN_MAX).collect());
        event.resolved &= event.dedup_key.is_some();
        Ok(Self { claim, event, at, kind, source: format!("outbox:{}", claim.work.seq) })
    }

    /// What the alert that it belongs to is known by, where it has a `dedupKey`.
    pub fn alert_key(&self, facts: &Facts) -> Option<AlertKey> {
        Some(AlertKey { org_id: facts.org_id, dedup_key: self.event.dedup_key.clone()? })
    }

    /// How many people it concerns, about.
    pub fn people(&self) -> usize {
        self.event.user_ids.len().max(1)
    }
}

/// What one event is decided on.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The organization that its notices name.
    pub org_id: Option<OrgId>,
    /// The people whom it concerns.
    pub concerned: Vec<UserId>,
    /// The protocols of what it happened in that have a rule for it.
    pub protocols: Vec<Protocol>,
    /// The escalations that it ends.
    pub ended: Vec<Ending>,
}

/// What must be known of several events, read with few queries.
#[derive(Debug)]
pub(super) struct Known {
    /// In the order of the events.
    pub facts: Vec<Facts>,
    /// Whoever may be told.
    pub recipients: BTreeMap<UserId, Recipient>,
    /// What takes in further events.
    pub open: Vec<Escalation>,
    /// The alerts that go on.
    pub alerts: Vec<StoredAlert>,
}

/// Protocols by organization and by what an event happened in.
type Protocols = BTreeMap<(OrgId, Vec<(ResourceType, String)>), Vec<Protocol>>;

impl Known {
    pub async fn load(services: &Services, cases: &[Case<'_>]) -> Result<Self, StoreError> {
        let store = &services.store;
        let mut protocols = Protocols::new();
        let mut facts = Vec::with_capacity(cases.len());
        for case in cases {
            facts.push(Facts::load(store, case, &mut protocols).await?);
        }
        let mut people: BTreeSet<UserId> = BTreeSet::new();
        for fact in &facts {
            people.extend(&fact.concerned);
            people.extend(fact.ended.iter().flat_map(Ending::people));
        }
        let recipients = store.recipients(&people.into_iter().collect::<Vec<_>>()).await?;
        let recipients = recipients.into_iter().map(|recipient| (recipient.user_id, recipient)).collect();
        let open = store.escalations_open(&open_keys(cases, &facts)).await?;
        let keys = cases.iter().zip(&facts).filter_map(|(case, facts)| case.alert_key(facts));
        let alerts = store.alerts(&keys.collect()).await?;
        Ok(Self { facts, recipients, open, alerts })
    }
}

fn open_keys<'c>(cases: &'c [Case<'_>], facts: &[Facts]) -> Vec<(ProtocolId, &'c str)> {
    let keys = cases.iter().zip(facts).filter_map(|(case, facts)| Some((case.event.dedup_key.as_deref()?, facts)));
    let keys = keys.flat_map(|(key, facts)| facts.protocols.iter().map(move |protocol| (protocol.id, key)));
    keys.collect::<BTreeSet<_>>().into_iter().collect()
}

impl Facts {
    async fn load(store: &Store, case: &Case<'_>, known: &mut Protocols) -> Result<Self, StoreError> {
        let event = &case.event;
        let mut facts = Self { org_id: event.org_id, concerned: event.user_ids.clone(), ..Self::default() };
        if event.kind == ALARM {
            facts.load_alarmed(store).await?;
        }
        let happened_in = facts.organizations(store, case).await?;
        for org_id in happened_in {
            if event.resolved {
                facts.load_ended(store, org_id, event).await?;
            } else {
                facts.load_protocols(store, org_id, event, known).await?;
            }
        }
        Ok(facts)
    }

    /// An alarm that names nobody concerns the owners and admins of its organization; one of no organization, those who
    /// own the platform.
    async fn load_alarmed(&mut self, store: &Store) -> Result<(), StoreError> {
        let roles: &[Role] = match self.org_id {
            Some(_) => &[Role::Owner, Role::Admin],
            None => &[Role::Owner],
        };
        if self.org_id.is_none() {
            self.org_id = store.platform_organization().await?.map(|organization| organization.id);
        }
        if let (Some(org_id), true) = (self.org_id, self.concerned.is_empty()) {
            let members = store.members_among(org_id, &[], roles).await?;
            self.concerned = members.into_iter().map(|(user_id, _)| user_id).collect();
        }
        Ok(())
    }

    /// The organizations that it happened in.
    async fn organizations(&self, store: &Store, case: &Case<'_>) -> Result<BTreeSet<OrgId>, StoreError> {
        let mut found: BTreeSet<_> = self.org_id.into_iter().collect();
        if case.event.kind == NEW_SIGN_IN {
            for user_id in &self.concerned {
                let parts = store.memberships(*user_id, None, ORGANIZATIONS_MAX).await?;
                found.extend(parts.into_iter().map(|(organization, _)| organization.id));
            }
        }
        Ok(found)
    }

    async fn load_ended(&mut self, store: &Store, org_id: OrgId, event: &Event) -> Result<(), StoreError> {
        let Some(key) = &event.dedup_key else { return Ok(()) };
        for escalation in store.escalations_of_key(org_id, key).await? {
            self.ended.push(Ending::load(store, escalation).await?);
        }
        Ok(())
    }

    async fn load_protocols(
        &mut self,
        store: &Store,
        org_id: OrgId,
        event: &Event,
        known: &mut Protocols,
    ) -> Result<(), StoreError> {
        let key = (org_id, event.within.clone());
        if !known.contains_key(&key) {
            let attached = store.protocols_attached(org_id, &event.within).await?;
            known.insert(key.clone(), attached);
        }
        let attached = known.get(&key).into_iter().flatten();
        let is_meant = |protocol: &&Protocol| {
            protocol.rules_for(&event.kind, &event.data).any(|(_, rule)| event.audience.has(rule))
        };
        let meant = attached.filter(is_meant);
        self.protocols.extend(meant.cloned());
        Ok(())
    }
}
