//! Whose which address is: each is one of an organization's, so that whoever merely claims a domain keeps nobody out of it.

use domain::{
    Email, Timestamp,
    id::{MailboxId, OrgId},
    mail::{Mailbox, domain_of},
};

use super::IdRow;
use crate::{Change, Expect, Store, StoreError, sql::Sql};

/// What an address is to its mailbox.
#[derive(Clone, Copy)]
pub(super) enum AddressKind {
    Address,
    Alias,
}

impl AddressKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Alias => "alias",
        }
    }
}

impl Store {
    /// The mailbox on this server that mail to the address goes to: of who owns the domain, or has it from the platform.
    pub async fn mailbox_at(&self, address: &Email, platform: &str) -> Result<Option<Mailbox>, StoreError> {
        match self.mail_domain_organization(domain_of(address), platform).await? {
            Some(org_id) => self.mailbox_within(org_id, address).await,
            None => Ok(None),
        }
    }

    /// The mailbox of the organization that has the address, as its own or as an alias.
    pub async fn mailbox_within(&self, org_id: OrgId, address: &Email) -> Result<Option<Mailbox>, StoreError> {
        self.mailbox_having(org_id, address, &[AddressKind::Address, AddressKind::Alias]).await
    }

    /// The mailbox of the organization that has the alias.
    pub async fn mailbox_aliased(&self, org_id: OrgId, alias: &Email) -> Result<Option<Mailbox>, StoreError> {
        self.mailbox_having(org_id, alias, &[AddressKind::Alias]).await
    }

    async fn mailbox_having(
        &self,
        org_id: OrgId,
        address: &Email,
        kinds: &[AddressKind],
    ) -> Result<Option<Mailbox>, StoreError> {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let statement = format!(
            "SELECT mailbox_id AS id FROM mail_addresses WHERE org_id = $1 AND address = $2 AND kind IN ({})",
            kinds.join(", ")
        );
        let values = [org_id.to_string().into(), address.as_str().into()];
        let Some(row) = self.reader().row::<IdRow>(&Sql::new(statement, values)).await? else { return Ok(None) };
        let id: MailboxId = row.id.parse().map_err(|_| StoreError::corrupt("mail_addresses.mailbox_id"))?;
        self.mailbox(org_id, id).await
    }
}

impl Change {
    /// Gives a mailbox an alias; stale when the address is somebody's in the organization by then.
    pub fn mailbox_alias_add(&mut self, mailbox: &Mailbox, alias: &Email, now: Timestamp) {
        self.mail_address_add(mailbox, alias, AddressKind::Alias, now);
    }

    pub(super) fn mail_address_add(&mut self, mailbox: &Mailbox, address: &Email, kind: AddressKind, now: Timestamp) {
        let statement = "INSERT INTO mail_addresses (org_id, address, mailbox_id, domain, kind, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org_id, address) DO NOTHING";
        let values = [
            mailbox.org_id.to_string().into(),
            address.as_str().into(),
            mailbox.id.to_string().into(),
            domain_of(address).into(),
            kind.as_str().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes an alias from a mailbox; stale when it hasn't it any more.
    pub fn mailbox_alias_remove(&mut self, mailbox: &Mailbox, alias: &Email) {
        let statement =
            "DELETE FROM mail_addresses WHERE org_id = $1 AND address = $2 AND mailbox_id = $3 AND kind = $4";
        let values = [
            mailbox.org_id.to_string().into(),
            alias.as_str().into(),
            mailbox.id.to_string().into(),
            AddressKind::Alias.as_str().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Frees all addresses of a mailbox; it gets what no address matches no more.
    pub(super) fn mail_addresses_free(&mut self, id: MailboxId) {
        for statement in [
            "DELETE FROM mail_addresses WHERE mailbox_id = $1",
            "UPDATE mail_domains SET catch_all = NULL, version = version + 1 WHERE catch_all = $1",
            "UPDATE mail_directories SET lent_catch_all = NULL WHERE lent_catch_all = $1",
        ] {
            self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
        }
    }
}
