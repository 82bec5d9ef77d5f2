//! Domains as they are written (contract B 2.7).

use std::collections::BTreeMap;

use domain::mail::{DkimMode, DomainRecord, DomainStatus, MailDomain, OrgDomain};
use http_shell::state::AppState;
use serde::Serialize;
use utoipa::ToSchema;

/// A record that the domain's zone shall have.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "key": "mx", "purpose": "receiving", "type": "MX", "name": "@", "fqdn": "acme.example", "value": "mail.example.net",
    "priority": 10
}))]
pub(crate) struct RecordBody {
    /// What `checks` knows it by.
    key: String,
    /// `discovery`, `dkim`, `receiving`, `spf`, `dmarc` or `mailfrom`
    purpose: &'static str,
    /// `TXT`, `MX` or `SRV`
    #[serde(rename = "type")]
    kind: &'static str,
    /// Where it stands in the zone; `@` for the zone itself.
    name: String,
    /// The same, whole.
    fqdn: String,
    /// What it says; weight, port and host for `SRV`.
    value: String,
    /// What `MX` and `SRV` have before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u16>,
    /// True where the domain does without it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
}

impl From<DomainRecord> for RecordBody {
    fn from(record: DomainRecord) -> Self {
        let DomainRecord { key, purpose, kind, fqdn, name, value, priority, optional } = record;
        Self { key, purpose: purpose.as_str(), kind: kind.as_str(), name, fqdn, value, priority, optional }
    }
}

/// A domain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "domain": "acme.example", "status": "pending", "region": "us-east-1", "zone": "acme.example",
    "message": "These records weren't found: dkim-1, mx, spf.", "dkimMode": "easy",
    "records": [{"key": "mx", "purpose": "receiving", "type": "MX", "name": "@", "fqdn": "acme.example",
        "value": "mail.example.net", "priority": 10}],
    "checks": {"mx": false}, "checkedAt": 1_767_225_600_000_i64, "lent": false, "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct DomainBody {
    /// The domain's name.
    domain: String,
    /// `pending`, `verifying`, `active` or `error`
    status: &'static str,
    /// Where its mail is kept.
    region: String,
    /// The zone that its records stand in, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    /// The provider that seems to serve the zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    dns_provider: Option<String>,
    /// What is to be said of its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// `easy`, where its keys were made here, or `byo`
    dkim_mode: &'static str,
    /// When other keys began to sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    dkim_rotated_at: Option<i64>,
    /// The records that its zone shall have, those that it needs first.
    records: Vec<RecordBody>,
    /// Which of them were seen, by their keys.
    checks: BTreeMap<String, bool>,
    /// When somebody last answered for the zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at: Option<i64>,
    /// The mailbox that gets what no address matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    catch_all_mailbox_id: Option<String>,
    /// Whether the platform lends it.
    lent: bool,
    /// When it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
}

impl DomainBody {
    pub(crate) fn new(domain: OrgDomain, state: &AppState) -> Self {
        let region = state.settings.region.clone();
        match domain {
            OrgDomain::Claimed(domain) => Self::claimed(*domain, state, region),
            OrgDomain::Lent { name, catch_all } => Self {
                domain: name,
                status: DomainStatus::Active.as_str(),
                region,
                zone: None,
                dns_provider: None,
                message: None,
                dkim_mode: DkimMode::Easy.as_str(),
                dkim_rotated_at: None,
                records: Vec::new(),
                checks: BTreeMap::new(),
                checked_at: None,
                catch_all_mailbox_id: catch_all.map(|id| id.to_string()),
                lent: true,
                created_at: None,
            },
        }
    }

    fn claimed(domain: MailDomain, state: &AppState, region: String) -> Self {
        let records = domain.records(&state.settings.mail_host);
        let seen = |record: &DomainRecord| domain.checks.get(&record.key).copied().unwrap_or_default();
        Self {
            status: domain.status.as_str(),
            region,
            message: domain.message(),
            dkim_mode: domain.mode.as_str(),
            dkim_rotated_at: domain.rotated_at.map(|at| at.0),
            checks: records.iter().map(|record| (record.key.clone(), seen(record))).collect(),
            records: records.into_iter().map(RecordBody::from).collect(),
            checked_at: domain.checked_at.map(|at| at.0),
            catch_all_mailbox_id: domain.catch_all.map(|id| id.to_string()),
            lent: false,
            created_at: Some(domain.created_at.0),
            zone: domain.zone,
            dns_provider: domain.dns_provider,
            domain: domain.name.to_string(),
        }
    }
}

/// A domain.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DomainAnswer {
    /// The domain.
    domain: DomainBody,
}

impl DomainAnswer {
    pub(crate) fn new(domain: OrgDomain, state: &AppState) -> Self {
        Self { domain: DomainBody::new(domain, state) }
    }

    pub(crate) fn claimed(domain: MailDomain, state: &AppState) -> Self {
        Self::new(OrgDomain::Claimed(Box::new(domain)), state)
    }
}

/// Domains.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DomainsAnswer {
    /// The one that the platform lends first, then in the order in which they were added.
    domains: Vec<DomainBody>,
}

impl DomainsAnswer {
    pub(crate) fn new(domains: Vec<OrgDomain>, state: &AppState) -> Self {
        Self { domains: domains.into_iter().map(|domain| DomainBody::new(domain, state)).collect() }
    }
}
