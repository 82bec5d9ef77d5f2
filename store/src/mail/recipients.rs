//! To which mailbox what is sent to an address goes.

use domain::{
    Email,
    id::{MailboxId, OrgId},
    mail::{domain_of, is_of_the_domain, without_tag},
};

use crate::{Store, StoreError, reader::row, sql::Sql};

/// Where what is sent to an address goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// Into a mailbox.
    Mailbox {
        /// Whose.
        org_id: OrgId,
        /// Which one.
        mailbox_id: MailboxId,
    },
    /// The domain is of this server, and nobody has the address.
    Unknown,
    /// The domain is not of this server.
    Foreign,
}

row! {
    struct HaverRow {
        address: String,
        mailbox_id: String,
    }
}

row! {
    struct CatchAllRow {
        catch_all: Option<String>,
    }
}

row! {
    struct OldestRow {
        mailbox_id: String,
    }
}

impl Store {
    /// Where what is sent to `address` goes; `platform` is the domain below which organizations have one of their own. The address
    /// itself counts first, then what stands before a `+`, then the domain's catch-all, and for `postmaster` and `abuse` the
    /// domain's oldest mailbox (RFC 2142).
    pub async fn mail_recipient(&self, address: &Email, platform: &str) -> Result<Recipient, StoreError> {
        let domain = domain_of(address);
        let Some(org_id) = self.mail_domain_organization(domain, platform).await? else {
            return Ok(Recipient::Foreign);
        };
        let found = match self.mail_address_haver(org_id, address).await? {
            Some(found) => Some(found),
            None => self.mail_unmatched(org_id, address, platform).await?,
        };
        Ok(found.map_or(Recipient::Unknown, |mailbox_id| Recipient::Mailbox { org_id, mailbox_id }))
    }

    /// Who has the address, or the one without its tag.
    async fn mail_address_haver(&self, org_id: OrgId, address: &Email) -> Result<Option<MailboxId>, StoreError> {
        let plain = without_tag(address);
        let statement = "SELECT address, mailbox_id FROM mail_addresses WHERE org_id = $1 AND address IN ($2, $3)";
        let values = [org_id.to_string().into(), address.as_str().into(), plain.as_str().into()];
        let rows: Vec<HaverRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let exact = rows.iter().find(|row| row.address == address.as_str());
        exact.or_else(|| rows.first()).map(|row| read(&row.mailbox_id)).transpose()
    }

    /// Who gets what no address of the domain matches.
    async fn mail_unmatched(
        &self,
        org_id: OrgId,
        address: &Email,
        platform: &str,
    ) -> Result<Option<MailboxId>, StoreError> {
        let domain = domain_of(address);
        let catch_all = if self.lent_domain(org_id, platform).await?.is_some_and(|lent| lent == domain) {
            self.mail_lent_catch_all(org_id).await?
        } else {
            let statement = "SELECT catch_all FROM mail_domains WHERE org_id = $1 AND domain = $2";
            let values = [org_id.to_string().into(), domain.into()];
            let row: Option<CatchAllRow> = self.reader().row(&Sql::new(statement, values)).await?;
            row.and_then(|row| row.catch_all).map(|id| read(&id)).transpose()?
        };
        if catch_all.is_some() || !is_of_the_domain(address) {
            return Ok(catch_all);
        }
        let statement = "SELECT mailbox_id FROM mail_addresses WHERE org_id = $1 AND domain = $2 AND kind = 'address' \
                         ORDER BY created_at, mailbox_id LIMIT 1";
        let values = [org_id.to_string().into(), domain.into()];
        let row: Option<OldestRow> = self.reader().row(&Sql::new(statement, values)).await?;
        row.map(|row| read(&row.mailbox_id)).transpose()
    }
}

fn read(id: &str) -> Result<MailboxId, StoreError> {
    id.parse().map_err(|_| StoreError::corrupt("the mailbox of an address"))
}
