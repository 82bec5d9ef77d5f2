//! Domains of organizations for mail (contract B 2.7): claims, whose a domain is, and the keys that sign what leaves from it.

use std::fmt;

use domain::{
    Timestamp,
    id::{MailDomainId, MailboxId, OrgId},
    mail::{
        DkimKey, DkimKind, DkimMode, DkimPlace, DomainName, DomainNote, DomainStatus, MailDomain, OrgDomain,
        lent_domain, lent_slug,
    },
};
use sea_orm::Value;

use super::IdRow;
use crate::{Change, Expect, Store, StoreError, json, reader::row, secrets::Cell, sql::Sql};

/// The columns of a claim, as [`ClaimRow`] reads them.
const COLUMNS: &str = "id, org_id, domain, status, owned_at, zone, dns_provider, note, mode, rotated_at, spf_before, checks, \
                       checked_at, looks_from, misses, missed_since, catch_all, version, created_at";

row! {
    struct ClaimRow {
        id: String,
        org_id: String,
        domain: String,
        status: String,
        owned_at: Option<i64>,
        zone: Option<String>,
        dns_provider: Option<String>,
        note: String,
        mode: String,
        rotated_at: Option<i64>,
        spf_before: Option<String>,
        checks: String,
        checked_at: Option<i64>,
        looks_from: i64,
        misses: i64,
        missed_since: Option<i64>,
        catch_all: Option<String>,
        version: i64,
        created_at: i64,
    }
}

row! {
    struct KeyRow {
        domain_id: String,
        selector: String,
        kind: String,
        public: String,
        place: String,
        since: i64,
    }
}

row! {
    struct PrivateRow {
        private: Vec<u8>,
    }
}

row! {
    struct OwnerRow {
        id: String,
        org_id: String,
        status: String,
    }
}

row! {
    struct CatchAllRow {
        lent_catch_all: Option<String>,
    }
}

/// A key with its private half, which is sealed where it is written.
#[derive(Clone, PartialEq, Eq)]
pub struct DkimPair {
    /// The public half.
    pub key: DkimKey,
    /// The private half (PKCS #8, DER).
    pub private: Vec<u8>,
}

impl fmt::Debug for DkimPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DkimPair").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The claim that owns a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainOwner {
    /// The claim.
    pub id: MailDomainId,
    /// Whose it is.
    pub org_id: OrgId,
    /// How it stands.
    pub status: DomainStatus,
}

const fn private_cell<'a>(row: &'a [&'a str]) -> Cell<'a> {
    Cell { table: "mail_dkim_keys", column: "private", row }
}

fn corrupt(column: &'static str) -> impl Fn() -> StoreError {
    move || StoreError::corrupt(format_args!("mail_domains.{column}"))
}

impl ClaimRow {
    fn read(self, keys: Vec<DkimKey>) -> Result<MailDomain, StoreError> {
        let catch_all = self.catch_all.map(|id| id.parse()).transpose();
        Ok(MailDomain {
            id: self.id.parse().map_err(|_| corrupt("id")())?,
            org_id: self.org_id.parse().map_err(|_| corrupt("org_id")())?,
            name: self.domain.parse().map_err(|_| corrupt("domain")())?,
            status: DomainStatus::from_name(&self.status).ok_or_else(corrupt("status"))?,
            owned_at: self.owned_at.map(Timestamp),
            zone: self.zone,
            dns_provider: self.dns_provider,
            note: DomainNote::from_name(&self.note).ok_or_else(corrupt("note"))?,
            mode: DkimMode::from_name(&self.mode).ok_or_else(corrupt("mode"))?,
            keys,
            rotated_at: self.rotated_at.map(Timestamp),
            spf_before: self.spf_before,
            checks: json::read("mail_domains.checks", &self.checks)?,
            checked_at: self.checked_at.map(Timestamp),
            looks_from: Timestamp(self.looks_from),
            misses: self.misses,
            missed_since: self.missed_since.map(Timestamp),
            catch_all: catch_all.map_err(|_| corrupt("catch_all")())?,
            version: self.version,
            created_at: Timestamp(self.created_at),
        })
    }
}

impl KeyRow {
    fn read(self) -> Result<DkimKey, StoreError> {
        let corrupt = || StoreError::corrupt("mail_dkim_keys");
        Ok(DkimKey {
            kind: DkimKind::from_name(&self.kind).ok_or_else(corrupt)?,
            place: DkimPlace::from_name(&self.place).ok_or_else(corrupt)?,
            selector: self.selector,
            public: self.public,
            since: Timestamp(self.since),
        })
    }
}

impl Store {
    /// The organization's claims, in the order in which they were made.
    pub async fn mail_domains(&self, org_id: OrgId) -> Result<Vec<MailDomain>, StoreError> {
        let claims = format!("SELECT {COLUMNS} FROM mail_domains WHERE org_id = $1 ORDER BY created_at, id");
        let keys = "SELECT domain_id, selector, kind, public, place, since FROM mail_dkim_keys \
                    WHERE domain_id IN (SELECT id FROM mail_domains WHERE org_id = $1) ORDER BY since, selector";
        let claims: Vec<ClaimRow> = self.reader().rows(&Sql::new(claims, [org_id.to_string().into()])).await?;
        let mut keys: Vec<KeyRow> = self.reader().rows(&Sql::new(keys, [org_id.to_string().into()])).await?;
        let mut domains = Vec::with_capacity(claims.len());
        for claim in claims {
            let own = keys.extract_if(.., |key| key.domain_id == claim.id);
            let own = own.map(KeyRow::read).collect::<Result<_, _>>()?;
            domains.push(claim.read(own)?);
        }
        Ok(domains)
    }

    /// The organization's claim to a domain.
    pub async fn mail_domain(&self, org_id: OrgId, name: &DomainName) -> Result<Option<MailDomain>, StoreError> {
        self.mail_domain_where("org_id = $1 AND domain = $2", [org_id.to_string(), name.to_string()]).await
    }

    /// The claim with this id, of the organization.
    pub async fn mail_domain_by_id(&self, org_id: OrgId, id: MailDomainId) -> Result<Option<MailDomain>, StoreError> {
        self.mail_domain_where("org_id = $1 AND id = $2", [org_id.to_string(), id.to_string()]).await
    }

    async fn mail_domain_where(&self, condition: &str, values: [String; 2]) -> Result<Option<MailDomain>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM mail_domains WHERE {condition}");
        let found: Option<ClaimRow> = self.reader().row(&Sql::new(statement, values.map(Value::from))).await?;
        let Some(claim) = found else { return Ok(None) };
        let statement = "SELECT domain_id, selector, kind, public, place, since FROM mail_dkim_keys \
                         WHERE domain_id = $1 ORDER BY since, selector";
        let keys: Vec<KeyRow> = self.reader().rows(&Sql::new(statement, [claim.id.as_str().into()])).await?;
        let keys = keys.into_iter().map(KeyRow::read).collect::<Result<_, _>>()?;
        claim.read(keys).map(Some)
    }

    /// The claim that owns a domain, whosever it is.
    pub async fn mail_domain_owner(&self, name: &str) -> Result<Option<DomainOwner>, StoreError> {
        let statement = "SELECT id, org_id, status FROM mail_domains WHERE domain = $1 AND owned_at IS NOT NULL";
        let found: Option<OwnerRow> = self.reader().row(&Sql::new(statement, [name.into()])).await?;
        let read = |row: OwnerRow| {
            Ok(DomainOwner {
                id: row.id.parse().map_err(|_| corrupt("id")())?,
                org_id: row.org_id.parse().map_err(|_| corrupt("org_id")())?,
                status: DomainStatus::from_name(&row.status).ok_or_else(corrupt("status"))?,
            })
        };
        found.map(read).transpose()
    }

    /// The organization whose mail that of a domain is: who owns it, or to whom the platform lends it.
    pub async fn mail_domain_organization(&self, name: &str, platform: &str) -> Result<Option<OrgId>, StoreError> {
        if let Some(slug) = lent_slug(name, platform) {
            return Ok(self.organization_by_slug(&slug).await?.map(|organization| organization.id));
        }
        Ok(self.mail_domain_owner(name).await?.map(|owner| owner.org_id))
    }

    /// The domain of the organization with this name: the one that it has from the platform, or one that it claims.
    pub async fn org_domain(
        &self,
        org_id: OrgId,
        name: &DomainName,
        platform: &str,
    ) -> Result<Option<OrgDomain>, StoreError> {
        match self.lent_domain(org_id, platform).await? {
            Some(lent) if lent == name.as_str() => self.org_domain_lent(org_id, lent).await.map(Some),
            _ => Ok(self.mail_domain(org_id, name).await?.map(|domain| OrgDomain::Claimed(Box::new(domain)))),
        }
    }

    /// All domains of the organization, the one that it has from the platform first.
    pub async fn org_domains(&self, org_id: OrgId, platform: &str) -> Result<Vec<OrgDomain>, StoreError> {
        let mut domains = Vec::new();
        if let Some(lent) = self.lent_domain(org_id, platform).await? {
            domains.push(self.org_domain_lent(org_id, lent).await?);
        }
        let claimed = self.mail_domains(org_id).await?.into_iter();
        domains.extend(claimed.map(|domain| OrgDomain::Claimed(Box::new(domain))));
        Ok(domains)
    }

    /// The name of the domain that the platform lends the organization, where it lends any.
    pub async fn lent_domain(&self, org_id: OrgId, platform: &str) -> Result<Option<String>, StoreError> {
        let organization = self.organization(org_id).await?;
        Ok(organization.and_then(|organization| lent_domain(&organization.slug, platform)))
    }

    async fn org_domain_lent(&self, org_id: OrgId, name: String) -> Result<OrgDomain, StoreError> {
        Ok(OrgDomain::Lent { name, catch_all: self.mail_lent_catch_all(org_id).await? })
    }

    /// The mailbox that gets what no address of the lent domain matches.
    pub async fn mail_lent_catch_all(&self, org_id: OrgId) -> Result<Option<MailboxId>, StoreError> {
        let statement = "SELECT lent_catch_all FROM mail_directories WHERE org_id = $1";
        let row: Option<CatchAllRow> = self.reader().row(&Sql::new(statement, [org_id.to_string().into()])).await?;
        let id = row.and_then(|row| row.lent_catch_all).map(|id| id.parse());
        id.transpose().map_err(|_| StoreError::corrupt("mail_directories.lent_catch_all"))
    }

    /// Whether the organization has a mailbox or a desk whose own address is of the domain.
    pub async fn mail_domain_has_mailboxes(&self, org_id: OrgId, name: &DomainName) -> Result<bool, StoreError> {
        let statement = "SELECT mailbox_id AS id FROM mail_addresses \
                         WHERE org_id = $1 AND domain = $2 AND kind IN ('address', 'desk') LIMIT 1";
        let values = [org_id.to_string().into(), name.as_str().into()];
        Ok(self.reader().row::<IdRow>(&Sql::new(statement, values)).await?.is_some())
    }

    /// The private half of a key (PKCS #8, DER).
    pub async fn dkim_private(&self, id: MailDomainId, selector: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let id = id.to_string();
        let statement = "SELECT private FROM mail_dkim_keys WHERE domain_id = $1 AND selector = $2";
        let values = [id.as_str().into(), selector.into()];
        let Some(row) = self.reader().row::<PrivateRow>(&Sql::new(statement, values)).await? else { return Ok(None) };
        Ok(Some(self.secrets().open(&private_cell(&[&id, selector]), &row.private)?))
    }
}

/// The values of a claim that change, as [`Change::mail_domain_set`] writes them from its third on.
fn changing(domain: &MailDomain) -> [Value; 14] {
    [
        domain.status.as_str().into(),
        domain.owned_at.map(|at| at.0).into(),
        domain.zone.clone().into(),
        domain.dns_provider.clone().into(),
        domain.note.as_str().into(),
        domain.mode.as_str().into(),
        domain.rotated_at.map(|at| at.0).into(),
        domain.spf_before.clone().into(),
        json::text(&domain.checks).into(),
        domain.checked_at.map(|at| at.0).into(),
        domain.looks_from.0.into(),
        domain.misses.into(),
        domain.missed_since.map(|at| at.0).into(),
        domain.catch_all.map(|id| id.to_string()).into(),
    ]
}

impl Change {
    /// Adds a claim without keys; stale when the organization has one to the domain by then.
    pub fn mail_domain_add(&mut self, domain: &MailDomain) {
        let statement = "INSERT INTO mail_domains (id, version, status, owned_at, zone, dns_provider, note, mode, rotated_at, \
                         spf_before, checks, checked_at, looks_from, misses, missed_since, catch_all, org_id, domain, \
                         created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
                         $18, $19) ON CONFLICT (org_id, domain) DO NOTHING";
        let named = [domain.org_id.to_string().into(), domain.name.as_str().into(), domain.created_at.0.into()];
        let values = [domain.id.to_string().into(), domain.version.into()];
        let values = values.into_iter().chain(changing(domain)).chain(named);
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what of a claim changes, and which of its keys there still are, under the next version; stale when it has
    /// another version than it was read with.
    pub fn mail_domain_set(&mut self, domain: &MailDomain) {
        let statement = "UPDATE mail_domains SET status = $3, owned_at = $4, zone = $5, dns_provider = $6, note = $7, \
                         mode = $8, rotated_at = $9, spf_before = $10, checks = $11, checked_at = $12, looks_from = $13, \
                         misses = $14, missed_since = $15, catch_all = $16, version = version + 1 \
                         WHERE id = $1 AND version = $2";
        let id = domain.id.to_string();
        let values = [id.as_str().into(), domain.version.into()].into_iter().chain(changing(domain));
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let places: Vec<String> = (2..domain.keys.len() + 2).map(|place| format!("${place}")).collect();
        let others =
            if places.is_empty() { String::new() } else { format!(" AND selector NOT IN ({})", places.join(", ")) };
        let statement = format!("DELETE FROM mail_dkim_keys WHERE domain_id = $1{others}");
        let selectors = domain.keys.iter().map(|key| Value::from(key.selector.as_str()));
        let values = std::iter::once(Value::from(id.as_str())).chain(selectors);
        self.run_statement(Sql::new(statement, values), Expect::Any);
        for key in &domain.keys {
            let statement = "UPDATE mail_dkim_keys SET place = $3, since = $4 WHERE domain_id = $1 AND selector = $2";
            let values =
                [id.as_str().into(), key.selector.as_str().into(), key.place.as_str().into(), key.since.0.into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
    }

    /// Adds a key of a claim.
    pub fn dkim_key_add(&mut self, id: MailDomainId, pair: &DkimPair) {
        let (id, DkimPair { key, private }) = (id.to_string(), pair.clone());
        self.sealed(move |keys, change| {
            let sealed = keys.seal(&private_cell(&[&id, &key.selector]), &private)?;
            let statement = "INSERT INTO mail_dkim_keys (domain_id, selector, kind, public, place, since, private) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7)";
            let values: [Value; 7] = [
                id.as_str().into(),
                key.selector.into(),
                key.kind.as_str().into(),
                key.public.into(),
                key.place.as_str().into(),
                key.since.0.into(),
                sealed.into(),
            ];
            change.run_statement(Sql::new(statement, values), Expect::Rows(1));
            Ok(())
        });
    }

    /// Takes a domain from the claim that owned it and is in error; stale when it isn't any more.
    pub fn mail_domain_take_over(&mut self, owner: &DomainOwner) {
        let statement = "UPDATE mail_domains SET owned_at = NULL, note = $2, version = version + 1 \
                         WHERE id = $1 AND status = $3 AND owned_at IS NOT NULL";
        let values =
            [owner.id.to_string().into(), DomainNote::Taken.as_str().into(), DomainStatus::Error.as_str().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a claim with its keys, and the organization's aliases of the domain.
    pub fn mail_domain_remove(&mut self, domain: &MailDomain) {
        let id = domain.id.to_string();
        let statement = "DELETE FROM mail_domains WHERE id = $1 AND version = $2";
        self.run_statement(Sql::new(statement, [id.as_str().into(), domain.version.into()]), Expect::Rows(1));
        let statement = "DELETE FROM mail_dkim_keys WHERE domain_id = $1";
        self.run_statement(Sql::new(statement, [id.as_str().into()]), Expect::Any);
        let statement = "DELETE FROM mail_addresses WHERE org_id = $1 AND domain = $2 AND kind = 'alias'";
        let values = [domain.org_id.to_string().into(), domain.name.as_str().into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Says which mailbox gets what no address of the lent domain matches.
    pub fn mail_lent_catch_all_set(&mut self, org_id: OrgId, mailbox: Option<MailboxId>) {
        let statement = "UPDATE mail_directories SET lent_catch_all = $2 WHERE org_id = $1";
        let values = [org_id.to_string().into(), mailbox.map(|id| id.to_string()).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes all claims of an organization that is gone.
    pub(crate) fn mail_domains_end(&mut self, org_id: OrgId) {
        for statement in [
            "DELETE FROM mail_dkim_keys WHERE domain_id IN (SELECT id FROM mail_domains WHERE org_id = $1)",
            "DELETE FROM mail_domains WHERE org_id = $1",
        ] {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }
}
