//! Domains: claimed, changed, given up; and what follows from looks at their records.

use actors_base::event::Event;
use domain::{
    Caller, Result, Role, Scope,
    id::{MailDomainId, MailboxId},
    mail::{
        DKIM, DOMAINS_MAX, DkimMode, DkimPlace, DomainName, DomainStatus, Happened, MailDomain, Observed, OrgDomain,
        Rival, domain_in_use, domain_is_lent, key_is_theirs, mailboxes_first, no_domain, no_mailbox, too_many_domains,
    },
    notify::ResourceType,
};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::{Map, json};
use store::{
    Change,
    audit::AuditTarget,
    mail::{DkimPair, DomainOwner},
};

use crate::directory::{MailDirectory, audit};

/// Who is told what becomes of domains.
const CONCERNED: [Role; 2] = [Role::Owner, Role::Admin];

/// Claims a domain, of which something was seen already.
#[derive(Clone, Debug)]
pub(crate) struct DomainAdd {
    /// The claim, before anything was seen.
    pub domain: MailDomain,
    /// Its keys.
    pub pairs: Vec<DkimPair>,
    /// What was seen.
    pub observed: Observed,
}

impl Command for DomainAdd {
    type Reply = MailDomain;

    const NAME: &'static str = "mail_domain_add";
}

impl Handle<DomainAdd> for MailDirectory {
    async fn handle(&mut self, command: &DomainAdd, turn: &mut Turn<'_, Self>) -> Result<MailDomain> {
        let (org_id, now) = (*turn.key(), turn.now());
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let (draft, store) = (&command.domain, &turn.services().store);
        claim_check(turn.services(), org_id, &draft.name).await?;
        let owner = store.mail_domain_owner(draft.name.as_str()).await?;
        let (domain, happened) = draft.observed(&command.observed, Rival::None, now);
        let mut change = self.domain_change(turn, "mail.domain_added", &domain);
        take_over(&mut change, draft, &domain, owner);
        change.mail_domain_add(&domain);
        for pair in &command.pairs {
            change.dkim_key_add(domain.id, pair);
        }
        tell(&mut change, turn, &domain, happened).await?;
        look_again(&mut change, turn, &domain);
        self.commit(turn, change).await?;
        Ok(domain)
    }
}

/// 409 for a domain that the organization claims already, or another one has; 400 for one too many.
pub(crate) async fn claim_check(
    services: &actors_base::Services,
    org_id: domain::id::OrgId,
    name: &DomainName,
) -> Result<()> {
    let claims = services.store.mail_domains(org_id).await?;
    let owner = services.store.mail_domain_owner(name.as_str()).await?;
    if claims.iter().any(|claim| claim.name == *name) || owner.is_some_and(|it| it.status == DomainStatus::Active) {
        return Err(domain_in_use());
    }
    if claims.len() as u64 >= DOMAINS_MAX { Err(too_many_domains()) } else { Ok(()) }
}

/// Says what was seen of a domain.
#[derive(Clone, Debug)]
pub(crate) struct DomainObserve {
    /// Which claim.
    pub id: MailDomainId,
    /// What was seen.
    pub observed: Observed,
}

impl Command for DomainObserve {
    type Reply = MailDomain;

    const NAME: &'static str = "mail_domain_observe";
}

impl Handle<DomainObserve> for MailDirectory {
    async fn handle(&mut self, command: &DomainObserve, turn: &mut Turn<'_, Self>) -> Result<MailDomain> {
        let (org_id, now) = (*turn.key(), turn.now());
        if !matches!(turn.context().caller, Caller::System) {
            turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        }
        let store = &turn.services().store;
        let before = store.mail_domain_by_id(org_id, command.id).await?.ok_or_else(no_domain)?;
        let owner = store.mail_domain_owner(before.name.as_str()).await?.filter(|owner| owner.id != before.id);
        let (domain, happened) = before.observed(&command.observed, rival(owner), now);
        let mut change = self.change();
        take_over(&mut change, &before, &domain, owner);
        change.mail_domain_set(&domain);
        if domain.rotated_at != before.rotated_at {
            let target = AuditTarget::new("mail_domain", domain.name.as_str());
            audit(&mut change, turn, "mail.dkim_switched", target, json!({}));
        }
        tell(&mut change, turn, &domain, happened).await?;
        look_again(&mut change, turn, &domain);
        self.commit(turn, change).await?;
        Ok(MailDomain { version: domain.version + 1, ..domain })
    }
}

fn rival(owner: Option<DomainOwner>) -> Rival {
    if owner.is_some_and(|owner| owner.status == DomainStatus::Active) { Rival::Active } else { Rival::None }
}

/// Takes the domain from the organization that lost it, where the look has proved that it is this one's.
fn take_over(change: &mut Change, before: &MailDomain, after: &MailDomain, owner: Option<DomainOwner>) {
    if let Some(owner) = owner.filter(|_| before.owned_at.is_none() && after.owned_at.is_some()) {
        change.mail_domain_take_over(&owner);
    }
}

/// Tells the owners and admins, and the audit trail, what became of a domain.
async fn tell(
    change: &mut Change,
    turn: &Turn<'_, MailDirectory>,
    domain: &MailDomain,
    happened: Option<Happened>,
) -> Result<()> {
    let Some(happened) = happened else { return Ok(()) };
    let (name, missing) = (domain.name.as_str(), domain.missing());
    let (kind, action, title, body) = match happened {
        Happened::Verified => (
            "domain.verified",
            "mail.domain_verified",
            format!("{name} is verified"),
            "Mail can be sent and received.".to_owned(),
        ),
        Happened::Failed => {
            let body = format!("These records are missing: {}.", missing.join(", "));
            ("domain.failed", "mail.domain_failed", format!("{name} is no longer verified"), body)
        }
    };
    let said = json!({ "missing": missing });
    audit(change, turn, action, AuditTarget::new("mail_domain", name), said);
    let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
    let concerned = store.members_among(org_id, &[], &CONCERNED).await?;
    let data = [("domain", json!(name)), ("kind", json!("mail")), ("missing", json!(missing))];
    let event = Event {
        org_id: Some(org_id),
        user_ids: concerned.into_iter().map(|(user_id, _)| user_id).collect(),
        body,
        within: vec![(ResourceType::Org, org_id.to_string())],
        data: data.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
        ..Event::new(kind, ("domain", name.to_owned()), title)
    };
    event.emit(change, now);
    Ok(())
}

/// The name of the timer that has a domain looked at.
pub(crate) fn timer_of(name: &DomainName) -> String {
    format!("dns:{name}")
}

/// Has the domain looked at again when it is time.
pub(crate) fn look_again(change: &mut Change, turn: &Turn<'_, MailDirectory>, domain: &MailDomain) {
    let due = domain.next_look(turn.now());
    change.timer_set(MailDirectory::KIND, &turn.key().to_string(), &timer_of(&domain.name), due);
}

/// Has other keys sign for a domain: at once where the keys that it has were never seen, otherwise once they are.
#[derive(Clone, Debug)]
pub(crate) struct DkimRotate {
    /// Which claim.
    pub id: MailDomainId,
    /// The other keys.
    pub pairs: Vec<DkimPair>,
    /// What was seen of the domain before.
    pub observed: Observed,
}

impl Command for DkimRotate {
    type Reply = MailDomain;

    const NAME: &'static str = "mail_dkim_rotate";
}

impl Handle<DkimRotate> for MailDirectory {
    async fn handle(&mut self, command: &DkimRotate, turn: &mut Turn<'_, Self>) -> Result<MailDomain> {
        let (org_id, now) = (*turn.key(), turn.now());
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let store = &turn.services().store;
        let mut domain = store.mail_domain_by_id(org_id, command.id).await?.ok_or_else(no_domain)?;
        if domain.mode == DkimMode::Byo {
            return Err(key_is_theirs());
        }
        if domain.keys_at(DkimPlace::Next).next().is_some() {
            return Ok(domain);
        }
        let was_seen = domain.checks.get(DKIM) == Some(&true) || command.observed.seen.get(DKIM) == Some(&true);
        let place = if was_seen { DkimPlace::Next } else { DkimPlace::Current };
        if !was_seen {
            domain.keys.retain(|key| key.place == DkimPlace::Former);
            domain.rotated_at = Some(now);
        }
        let pairs = command.pairs.iter().cloned().map(|mut pair| {
            (pair.key.place, pair.key.since) = (place, now);
            pair
        });
        let pairs: Vec<DkimPair> = pairs.collect();
        domain.keys.extend(pairs.iter().map(|pair| pair.key.clone()));
        let mut change = self.domain_change(turn, "mail.dkim_rotated", &domain);
        change.mail_domain_set(&domain);
        for pair in &pairs {
            change.dkim_key_add(domain.id, pair);
        }
        look_again(&mut change, turn, &domain);
        self.commit(turn, change).await?;
        Ok(MailDomain { version: domain.version + 1, ..domain })
    }
}

/// Says which mailbox gets what no address of a domain matches.
#[derive(Clone, Debug)]
pub struct DomainUpdate {
    /// Which domain.
    pub name: DomainName,
    /// The mailbox; none where such mail is refused.
    pub catch_all: Option<MailboxId>,
}

impl Command for DomainUpdate {
    type Reply = OrgDomain;

    const NAME: &'static str = "mail_domain_update";
}

impl Handle<DomainUpdate> for MailDirectory {
    async fn handle(&mut self, command: &DomainUpdate, turn: &mut Turn<'_, Self>) -> Result<OrgDomain> {
        let org_id = *turn.key();
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let (store, platform) = (&turn.services().store, &turn.services().settings.platform_domain);
        let before = store.org_domain(org_id, &command.name, platform).await?.ok_or_else(no_domain)?;
        if let Some(id) = command.catch_all {
            store.mailbox(org_id, id).await?.ok_or_else(no_mailbox)?;
        }
        let (mut change, catch_all) = (self.change(), command.catch_all);
        let target = AuditTarget::new("mail_domain", command.name.as_str());
        audit(&mut change, turn, "mail.domain_changed", target, json!({ "catchAllMailboxId": catch_all }));
        let after = match before {
            OrgDomain::Lent { name, .. } => {
                change.mail_lent_catch_all_set(org_id, catch_all);
                OrgDomain::Lent { name, catch_all }
            }
            OrgDomain::Claimed(domain) => {
                let mut domain = MailDomain { catch_all, ..*domain };
                change.mail_domain_set(&domain);
                domain.version += 1;
                OrgDomain::Claimed(Box::new(domain))
            }
        };
        self.commit(turn, change).await?;
        Ok(after)
    }
}

/// Gives a domain up, with its aliases.
#[derive(Clone, Debug)]
pub struct DomainDelete(pub DomainName);

impl Command for DomainDelete {
    type Reply = ();

    const NAME: &'static str = "mail_domain_delete";
}

impl Handle<DomainDelete> for MailDirectory {
    async fn handle(&mut self, DomainDelete(name): &DomainDelete, turn: &mut Turn<'_, Self>) -> Result<()> {
        let org_id = *turn.key();
        turn.authority(org_id).await?.require(Scope::MailAdmin)?;
        let (store, platform) = (&turn.services().store, &turn.services().settings.platform_domain);
        let domain = match store.org_domain(org_id, name, platform).await?.ok_or_else(no_domain)? {
            OrgDomain::Lent { .. } => return Err(domain_is_lent()),
            OrgDomain::Claimed(domain) => domain,
        };
        if store.mail_domain_has_mailboxes(org_id, name).await? {
            return Err(mailboxes_first());
        }
        let mut change = self.domain_change(turn, "mail.domain_removed", &domain);
        change.mail_domain_remove(&domain);
        change.timer_cancel(Self::KIND, &org_id.to_string(), &timer_of(name));
        self.commit(turn, change).await
    }
}
