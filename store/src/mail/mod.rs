//! Mail (contract B 2.7): domains, and who has which mailboxes with which addresses.

mod addresses;
mod arrivals;
mod bounces;
mod conversations;
mod domains;
mod drafts;
mod filters;
mod folders;
mod labels;
mod outgoing;
mod people;
mod policies;
mod preferences;
mod raw;
mod recipients;
mod removal;
mod search;
mod states;
#[cfg(test)]
mod tests;
mod threads;
mod thrown;
mod transfer_addresses;
mod transfers;

use std::collections::HashMap;

use domain::{
    Email, Timestamp,
    id::{MailboxId, OrgId, UserId},
    mail::Mailbox,
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, Value,
};

use self::addresses::AddressKind;
pub use self::{
    arrivals::{MAIL_FILING, MailFiling},
    bounces::Bounced,
    domains::{DkimPair, DomainOwner},
    filters::{FilterJob, FilterJobState, FoundWanted},
    labels::LabelCount,
    outgoing::{MAIL_SENDING, MailQueue, MailSending},
    people::{ChosenSender, KnownPerson},
    raw::{NewRaw, RAW_BYTES_MAX, RawMail},
    recipients::Recipient,
    states::MailState,
    threads::ThreadsWanted,
    transfer_addresses::MailImportAddress,
    transfers::ExportedMail,
};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod directory {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "mail_directories")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        pub revision: i64,
        pub lent_catch_all: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod mailbox {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "mailboxes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub address: String,
        pub display_name: String,
        pub version: i64,
        pub created_at: i64,
        pub deleted_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod member {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "mail_members")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub mailbox_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub org_id: String,
        pub place: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct IdRow {
        id: String,
    }
}

row! {
    struct AliasRow {
        mailbox_id: String,
        address: String,
    }
}

row! {
    struct MemberRow {
        mailbox_id: String,
        user_id: String,
    }
}

/// The state of an organization's mailboxes that something is decided on. Read it before what is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailDirectoryState {
    /// Whose.
    pub org_id: OrgId,
    /// How many commits it has seen; 0 while there never was a mailbox.
    pub revision: i64,
}

impl MailDirectoryState {
    /// The state after the commit that turned it.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self { org_id: self.org_id, revision: self.revision + 1 }
    }
}

fn read(row: mailbox::Model, members: Vec<UserId>, aliases: Vec<Email>) -> Result<Mailbox, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mailboxes {}", row.id));
    Ok(Mailbox {
        id: row.id.parse().map_err(|_| corrupt())?,
        org_id: row.org_id.parse().map_err(|_| corrupt())?,
        address: row.address.parse::<Email>().map_err(|_| corrupt())?,
        display_name: row.display_name,
        members,
        aliases,
        version: row.version,
        created_at: Timestamp(row.created_at),
    })
}

fn there() -> sea_orm::Select<mailbox::Entity> {
    mailbox::Entity::find().filter(mailbox::Column::DeletedAt.is_null())
}

impl Store {
    /// The organization's mailboxes as something may be decided on them.
    pub async fn mail_directory(&self, org_id: OrgId) -> Result<MailDirectoryState, StoreError> {
        let row = directory::Entity::find_by_id(org_id.to_string()).read_one(self.reader()).await?;
        Ok(MailDirectoryState { org_id, revision: row.map_or(0, |row| row.revision) })
    }

    /// The mailbox of the organization with this id.
    pub async fn mailbox(&self, org_id: OrgId, id: MailboxId) -> Result<Option<Mailbox>, StoreError> {
        let select = there()
            .filter(mailbox::Column::Id.eq(id.to_string()))
            .filter(mailbox::Column::OrgId.eq(org_id.to_string()));
        let Some(row) = select.read_one(self.reader()).await? else { return Ok(None) };
        Ok(self.mailboxes_read(vec![row]).await?.into_iter().next())
    }

    /// The mailbox with this id, whosever it is.
    pub async fn mailbox_by_id(&self, id: MailboxId) -> Result<Option<Mailbox>, StoreError> {
        let select = there().filter(mailbox::Column::Id.eq(id.to_string()));
        let Some(row) = select.read_one(self.reader()).await? else { return Ok(None) };
        Ok(self.mailboxes_read(vec![row]).await?.into_iter().next())
    }

    /// The mailbox of the organization, where the person is one of its members.
    pub async fn mailbox_of(
        &self,
        org_id: OrgId,
        id: MailboxId,
        user_id: UserId,
    ) -> Result<Option<Mailbox>, StoreError> {
        Ok(self.mailbox(org_id, id).await?.filter(|mailbox| mailbox.members.contains(&user_id)))
    }

    /// The organization's mailboxes in the order in which they were made, at most `limit`.
    pub async fn mailboxes(&self, org_id: OrgId, limit: u64) -> Result<Vec<Mailbox>, StoreError> {
        let select = there().filter(mailbox::Column::OrgId.eq(org_id.to_string()));
        let rows = select.order_by_asc(mailbox::Column::Id).limit(limit).read_list(self.reader()).await?;
        self.mailboxes_read(rows).await
    }

    /// The mailboxes of the organization that the person is a member of, at most `limit`, in the order in which they were made.
    pub async fn mailboxes_of_person(
        &self,
        org_id: OrgId,
        user_id: UserId,
        limit: u64,
    ) -> Result<Vec<Mailbox>, StoreError> {
        let sql = Sql::new(
            "SELECT mailbox_id, user_id FROM mail_members WHERE org_id = $1 AND user_id = $2 ORDER BY mailbox_id LIMIT $3",
            [org_id.to_string().into(), user_id.to_string().into(), i64::try_from(limit).unwrap_or(i64::MAX).into()],
        );
        let rows: Vec<MemberRow> = self.reader().rows(&sql).await?;
        let ids: Vec<String> = rows.into_iter().map(|row| row.mailbox_id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let select = there().filter(mailbox::Column::Id.is_in(ids)).order_by_asc(mailbox::Column::Id);
        let rows = select.read_all(self.reader()).await?;
        self.mailboxes_read(rows).await
    }

    /// How many mailboxes the organization has.
    pub async fn mailboxes_count(&self, org_id: OrgId) -> Result<u64, StoreError> {
        there().filter(mailbox::Column::OrgId.eq(org_id.to_string())).read_count(self.reader()).await
    }

    /// Mailboxes with their members and aliases. Whoever left the organization isn't a member.
    async fn mailboxes_read(&self, rows: Vec<mailbox::Model>) -> Result<Vec<Mailbox>, StoreError> {
        /// Mailboxes whose members and aliases a statement each reads.
        const AT_ONCE: usize = 500;
        let mut members: HashMap<String, Vec<UserId>> = HashMap::new();
        let mut aliases: HashMap<String, Vec<Email>> = HashMap::new();
        for some in rows.chunks(AT_ONCE) {
            let places: Vec<String> = (1..=some.len()).map(|place| format!("${place}")).collect();
            let places = places.join(", ");
            let values = || some.iter().map(|row| Value::from(row.id.clone()));
            let text = format!(
                "SELECT mailbox_id, user_id FROM mail_members WHERE mailbox_id IN ({places}) ORDER BY mailbox_id, place"
            );
            for row in self.reader().rows::<MemberRow>(&Sql::new(text, values())).await? {
                let user_id = row.user_id.parse().map_err(|_| StoreError::corrupt("mail_members.user_id"))?;
                members.entry(row.mailbox_id).or_default().push(user_id);
            }
            let text = format!(
                "SELECT mailbox_id, address FROM mail_addresses WHERE mailbox_id IN ({places}) AND kind = 'alias' \
                 ORDER BY mailbox_id, created_at, address"
            );
            for row in self.reader().rows::<AliasRow>(&Sql::new(text, values())).await? {
                let address = row.address.parse().map_err(|_| StoreError::corrupt("mail_addresses.address"))?;
                aliases.entry(row.mailbox_id).or_default().push(address);
            }
        }
        rows.into_iter()
            .map(|row| {
                let (members, aliases) = (members.remove(&row.id), aliases.remove(&row.id));
                read(row, members.unwrap_or_default(), aliases.unwrap_or_default())
            })
            .collect()
    }
}

impl Change {
    /// Counts the revision of the organization's mailboxes up; stale when somebody else has since it was read.
    pub fn mail_directory_turn(&mut self, state: MailDirectoryState) {
        let org_id = state.org_id.to_string();
        if state.revision == 0 {
            let row = directory::ActiveModel { org_id: Set(org_id), revision: Set(1), lent_catch_all: Set(None) };
            self.insert(row);
            return;
        }
        let statement = "UPDATE mail_directories SET revision = revision + 1 WHERE org_id = $1 AND revision = $2";
        self.run_statement(Sql::new(statement, [org_id.into(), state.revision.into()]), Expect::Rows(1));
    }

    /// Stale when the mailbox is out of sight by then.
    pub fn mailbox_confirm(&mut self, id: MailboxId) {
        let statement = "UPDATE mailboxes SET version = version WHERE id = $1 AND deleted_at IS NULL";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
    }

    /// Adds a mailbox with its members; stale when its address is somebody's by then.
    pub fn mailbox_add(&mut self, mailbox: &Mailbox) {
        let row = mailbox::Model {
            id: mailbox.id.to_string(),
            org_id: mailbox.org_id.to_string(),
            address: mailbox.address.to_string(),
            display_name: mailbox.display_name.clone(),
            version: mailbox.version,
            created_at: mailbox.created_at.0,
            deleted_at: None,
        };
        self.insert(row.into_active_model());
        self.mail_address_add(mailbox, &mailbox.address, AddressKind::Address, mailbox.created_at);
        self.mail_members_add(mailbox);
    }

    /// Counts a change of what belongs to a mailbox; stale when it has another version than it was read with.
    pub fn mailbox_touch(&mut self, mailbox: &Mailbox) {
        let statement =
            "UPDATE mailboxes SET version = version + 1 WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
        let values = [mailbox.id.to_string().into(), mailbox.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what a mailbox is called and who its members are, under the next version; stale when it has another version
    /// than it was read with.
    pub fn mailbox_set(&mut self, mailbox: &Mailbox) {
        let statement = "UPDATE mailboxes SET display_name = $3, version = version + 1 \
                         WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
        let values = [mailbox.id.to_string().into(), mailbox.version.into(), mailbox.display_name.clone().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let statement = "DELETE FROM mail_members WHERE mailbox_id = $1";
        self.run_statement(Sql::new(statement, [mailbox.id.to_string().into()]), Expect::Any);
        self.mail_members_add(mailbox);
    }

    fn mail_members_add(&mut self, mailbox: &Mailbox) {
        for (place, user_id) in (0..).zip(&mailbox.members) {
            let row = member::Model {
                mailbox_id: mailbox.id.to_string(),
                user_id: user_id.to_string(),
                org_id: mailbox.org_id.to_string(),
                place,
            };
            self.insert(row.into_active_model());
        }
    }

    /// Takes the person out of the organization's mailboxes, and forgets what they chose of them.
    pub(crate) fn mail_members_forget(&mut self, org_id: OrgId, user_id: UserId) {
        for table in ["mail_members", "mail_preferences"] {
            let statement = format!("DELETE FROM {table} WHERE org_id = $1 AND user_id = $2");
            let values = [org_id.to_string().into(), user_id.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
    }
}
