//! What domains need beside their directory: keys, and looks at their records. Neither is done in a turn.

use std::time::{Duration, Instant};

use actors_base::{
    Services,
    work::job::{Halt, Handler, Job, Topic},
};
use domain::{
    Context, Error, Origin, Result, Tenant, Timestamp,
    id::{MailDomainId, OrgId},
    mail::{
        DKIM, DkimMode, DkimPlace, DomainName, DomainNote, DomainStatus, LOOKS_PER_MINUTE, MailDomain, Observed,
        OrgDomain, domain_is_lent, key_is_theirs, no_domain, platform_domain_check, rotation_failed, setup_failed,
    },
};
use gateways::{Limit, RetryAfter};
use kernel::{Cpu, CpuKind, Handle, Registry, TimerFired, Turn};
use serde::{Deserialize, Serialize};
use store::{Change, NewWork, Permits, mail::DkimPair};

use crate::{
    directory::MailDirectory,
    domains::{DkimRotate, DomainAdd, DomainObserve, claim_check, look_again},
    keys,
    look::look,
};

/// The job that looks at the records of a domain.
pub const DOMAIN_LOOKS: Topic = Topic { permits: Permits::with_spare(2, 6), ..Topic::new("mail.domain_looks") };

/// How long the turn may take in which a look is taken note of.
const TURN_MAX: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);
const TOO_MANY_LOOKS: &str = "This organization had its domains looked at often just now; try again in a minute.";

/// A key that an organization brings along.
#[derive(Clone)]
pub struct BroughtKey {
    /// What its record is found by, checked.
    pub selector: String,
    /// The private key, in PEM.
    pub pem: String,
}

/// Claims domains, looks at their records, and has their keys made. A cheap handle.
#[derive(Clone)]
pub struct MailDomains {
    services: Services,
    cpu: Cpu,
    directory: Registry<MailDirectory>,
}

impl MailDomains {
    /// With the directory that decides.
    pub const fn new(services: Services, cpu: Cpu, directory: Registry<MailDirectory>) -> Self {
        Self { services, cpu, directory }
    }

    /// Claims a domain, with keys of its own or the one that was brought along.
    ///
    /// 400 for a domain of the platform's, 409 for one that is in use, 502 where the key can't be made or nobody answers.
    pub async fn add(
        &self,
        org_id: OrgId,
        name: DomainName,
        brought: Option<BroughtKey>,
        context: Context,
    ) -> Result<MailDomain> {
        let settings = &self.services.settings;
        let public = domain::storage::url_host(&settings.public_url).unwrap_or_default();
        platform_domain_check(&name, &settings.platform_domain, &[&settings.mail_host.name, public])?;
        claim_check(&self.services, org_id, &name).await?;
        let now = self.services.store.now();
        let mode = if brought.is_some() { DkimMode::Byo } else { DkimMode::Easy };
        let pairs = match brought {
            Some(BroughtKey { selector, pem }) => {
                self.cpu.run(org_id.into(), CpuKind::Key, move || keys::brought(selector, &pem, now)).await??
            }
            None => self.keys(org_id, 1, now).await?.ok_or_else(setup_failed)?,
        };
        let keys = pairs.iter().map(|pair| pair.key.clone()).collect();
        let domain = MailDomain { mode, keys, ..unseen(org_id, name, now) };
        let observed = self.look(&domain).await;
        if observed.is_empty() {
            return Err(setup_failed());
        }
        self.directory.ask(&org_id, DomainAdd { domain, pairs, observed }, context).await
    }

    /// Looks at the records of a domain now. Where nobody answers, it stays as it was, and says so.
    pub async fn verify(&self, org_id: OrgId, name: &DomainName, context: Context) -> Result<OrgDomain> {
        let domain = match self.find(org_id, name).await? {
            OrgDomain::Claimed(domain) => domain,
            lent @ OrgDomain::Lent { .. } => return Ok(lent),
        };
        self.limit_check(org_id).await?;
        let command = DomainObserve { id: domain.id, observed: self.look(&domain).await };
        let domain = self.directory.ask(&org_id, command, context).await?;
        Ok(OrgDomain::Claimed(Box::new(domain)))
    }

    /// Has other keys sign for a domain, once receivers find them.
    ///
    /// 400 for a key that was brought along and for the lent domain, 502 where the keys can't be made or nobody answers.
    pub async fn rotate(&self, org_id: OrgId, name: &DomainName, context: Context) -> Result<MailDomain> {
        let domain = match self.find(org_id, name).await? {
            OrgDomain::Claimed(domain) => domain,
            OrgDomain::Lent { .. } => return Err(domain_is_lent()),
        };
        if domain.mode == DkimMode::Byo {
            return Err(key_is_theirs());
        }
        if domain.keys_at(DkimPlace::Next).next().is_some() {
            return Ok(*domain);
        }
        self.limit_check(org_id).await?;
        let observed = self.look(&domain).await;
        if !observed.seen.contains_key(DKIM) {
            return Err(rotation_failed());
        }
        let number = keys::next_number(&domain);
        let pairs = self.keys(org_id, number, self.services.store.now()).await?.ok_or_else(rotation_failed)?;
        self.directory.ask(&org_id, DkimRotate { id: domain.id, pairs, observed }, context).await
    }

    async fn find(&self, org_id: OrgId, name: &DomainName) -> Result<OrgDomain> {
        let platform = &self.services.settings.platform_domain;
        self.services.store.org_domain(org_id, name, platform).await?.ok_or_else(no_domain)
    }

    async fn look(&self, domain: &MailDomain) -> Observed {
        look(&self.services.dns, domain, &self.services.settings.mail_host).await
    }

    /// A pair of keys; none where they can't be made.
    async fn keys(&self, org_id: OrgId, number: u32, now: Timestamp) -> Result<Option<Vec<DkimPair>>> {
        match self.cpu.run(org_id.into(), CpuKind::Key, move || keys::made(number, now)).await {
            Ok(Ok(pairs)) => Ok(Some(pairs)),
            Ok(Err(error)) => {
                tracing::error!(%error, "a key for DKIM can't be made");
                Ok(None)
            }
            Err(Error::Internal { log }) => {
                tracing::error!(error = %log, "making a key for DKIM failed");
                Ok(None)
            }
            Err(busy) => Err(busy),
        }
    }

    /// 429 for an organization that has domains looked at too often.
    async fn limit_check(&self, org_id: OrgId) -> Result<()> {
        let limit = Limit::new(LOOKS_PER_MINUTE, MINUTE);
        let now = self.services.store.now();
        let verdict = self.services.hub.limit_check(&format!("mail-looks:{org_id}"), limit, now).await;
        let refusal = |RetryAfter(retry_after)| Error::RateLimited { message: TOO_MANY_LOOKS.into(), retry_after };
        verdict.map_err(refusal)
    }
}

/// A claim of which nothing was seen yet, without keys.
fn unseen(org_id: OrgId, name: DomainName, now: Timestamp) -> MailDomain {
    MailDomain {
        id: MailDomainId::new(now),
        org_id,
        name,
        status: DomainStatus::Pending,
        owned_at: None,
        zone: None,
        dns_provider: None,
        note: DomainNote::None,
        mode: DkimMode::Easy,
        keys: Vec::new(),
        rotated_at: None,
        spf_before: None,
        checks: std::collections::BTreeMap::new(),
        checked_at: None,
        looks_from: now,
        misses: 0,
        missed_since: None,
        catch_all: None,
        version: 1,
        created_at: now,
    }
}

/// Which claim is to be looked at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DomainLook {
    domain_id: MailDomainId,
}

impl Handler for MailDomains {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (Tenant::Org(org_id), DomainLook { domain_id: id }) = (job.tenant(), job.payload()?) else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let Some(domain) = job.store().mail_domain_by_id(org_id, id).await? else { return Ok(Change::new()) };
        let observed = self.look(&domain).await;
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        match self.directory.ask(&org_id, DomainObserve { id, observed }, context).await {
            // Meanwhile it was given up.
            Ok(_) | Err(Error::NotFound { .. }) => Ok(Change::new()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Handle<TimerFired> for MailDirectory {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
        let name = fired.name.strip_prefix("dns:").and_then(|name| name.parse::<DomainName>().ok());
        let Some(name) = name else { return Ok(()) };
        let Some(domain) = store.mail_domain(org_id, &name).await? else { return Ok(()) };
        let mut change = Change::new();
        let look = NewWork::new(DOMAIN_LOOKS.name, org_id, &DomainLook { domain_id: domain.id });
        change.work_add(now, look.with_key(domain.id.to_string()));
        // Should the look come to nothing, there is another one.
        look_again(&mut change, turn, &domain);
        turn.commit(change).await
    }
}
