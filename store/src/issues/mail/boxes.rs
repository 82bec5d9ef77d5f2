//! Letterboxes of desks. Each has the id of a mailbox that nobody opens, so that mail goes to it as to mailboxes and leaves from it.

use domain::{
    Email, Timestamp,
    id::{IssueId, MailboxId, OrgId, SpaceId},
    issues::mailing::SEAL_LEN,
    mail::{Mailbox, domain_of},
};
use hmac::Mac;

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// The letterbox of a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueMailBox {
    /// Its id.
    pub mailbox_id: MailboxId,
    /// The organization.
    pub org_id: OrgId,
    /// The desk's space.
    pub space_id: SpaceId,
    /// The desk's address, where it has one of its own.
    pub address: Option<Email>,
}

row! {
    struct BoxRow {
        mailbox_id: String,
        org_id: String,
        space_id: String,
        address: Option<String>,
    }
}

row! {
    struct HaverRow {
        mailbox_id: String,
    }
}

impl TryFrom<BoxRow> for IssueMailBox {
    type Error = StoreError;

    fn try_from(row: BoxRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("issue_mail_boxes");
        Ok(Self {
            mailbox_id: row.mailbox_id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
            address: row.address.map(|address| address.parse()).transpose().map_err(|_| corrupt())?,
        })
    }
}

impl Store {
    /// The letterbox with this id, where it is one of a desk's.
    pub async fn issue_mail_box(&self, id: MailboxId) -> Result<Option<IssueMailBox>, StoreError> {
        let statement = "SELECT mailbox_id, org_id, space_id, address FROM issue_mail_boxes WHERE mailbox_id = $1";
        let sql = Sql::new(statement, [id.to_string().into()]);
        self.reader().row::<BoxRow>(&sql).await?.map(IssueMailBox::try_from).transpose()
    }

    /// The letterbox of a space.
    pub async fn issue_mail_box_of(&self, id: SpaceId) -> Result<Option<IssueMailBox>, StoreError> {
        let statement = "SELECT mailbox_id, org_id, space_id, address FROM issue_mail_boxes WHERE space_id = $1";
        let sql = Sql::new(statement, [id.to_string().into()]);
        self.reader().row::<BoxRow>(&sql).await?.map(IssueMailBox::try_from).transpose()
    }

    /// What mail leaves from: a mailbox, or a desk's letterbox, which has no members.
    pub async fn mail_letterbox(&self, id: MailboxId) -> Result<Option<Mailbox>, StoreError> {
        if let Some(mailbox) = self.mailbox_by_id(id).await? {
            return Ok(Some(mailbox));
        }
        let found = self.issue_mail_box(id).await?;
        Ok(found.and_then(|it| {
            Some(Mailbox {
                id,
                org_id: it.org_id,
                address: it.address?,
                display_name: String::new(),
                members: Vec::new(),
                aliases: Vec::new(),
                version: 1,
                created_at: id.made_at(),
            })
        }))
    }

    /// Whether a mailbox or a desk of the organization has the address, or an alias like it.
    pub async fn mail_address_is_taken(&self, org_id: OrgId, address: &Email) -> Result<bool, StoreError> {
        let statement = "SELECT mailbox_id FROM mail_addresses WHERE org_id = $1 AND address = $2";
        let sql = Sql::new(statement, [org_id.to_string().into(), address.as_str().into()]);
        Ok(self.reader().row::<HaverRow>(&sql).await?.is_some_and(|row| !row.mailbox_id.is_empty()))
    }

    /// The seal of a request, which stands in the addresses that answers to it are sent to.
    pub fn issue_mail_seal(&self, id: IssueId) -> [u8; SEAL_LEN] {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-issue-mail/v1\n{id}").as_bytes());
        let mut seal = [0; SEAL_LEN];
        for (byte, of_mac) in seal.iter_mut().zip(mac.finalize().into_bytes()) {
            *byte = of_mac;
        }
        seal
    }

    /// Whether the seal is the request's.
    pub fn issue_mail_seal_is(&self, id: IssueId, seal: [u8; SEAL_LEN]) -> bool {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-issue-mail/v1\n{id}").as_bytes());
        mac.verify_truncated_left(&seal).is_ok()
    }

    /// What stands before the `@` of the Message-ID of a request's mail, the same for every try of the same job.
    pub fn issue_message_id(&self, id: IssueId, job: (i64, Timestamp)) -> String {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-issue-message/v1\n{id}\n{}\n{}", job.0, job.1).as_bytes());
        let mut random = [0; SEAL_LEN];
        for (byte, of_mac) in random.iter_mut().zip(mac.finalize().into_bytes()) {
            *byte = of_mac;
        }
        format!("{id}.{}", domain::issues::mailing::seal_text(random))
    }
}

impl Change {
    /// Gives a space a letterbox; stale where it has one.
    pub fn issue_mail_box_add(&mut self, it: &IssueMailBox, now: Timestamp) {
        let statement = "INSERT INTO issue_mail_boxes (mailbox_id, org_id, space_id, address, created_at) \
                         VALUES ($1, $2, $3, NULL, $4) ON CONFLICT (space_id) DO NOTHING";
        let values = [
            it.mailbox_id.to_string().into(),
            it.org_id.to_string().into(),
            it.space_id.to_string().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Gives a letterbox another address, or none; stale where the address is somebody's in the organization by then.
    pub fn issue_mail_address_set(&mut self, it: &IssueMailBox, address: Option<&Email>, now: Timestamp) {
        let mailbox_id = it.mailbox_id.to_string();
        let statement = "DELETE FROM mail_addresses WHERE mailbox_id = $1";
        self.run_statement(Sql::new(statement, [mailbox_id.clone().into()]), Expect::Any);
        let statement = "UPDATE issue_mail_boxes SET address = $2 WHERE mailbox_id = $1";
        let text = address.map(|address| address.as_str().to_owned());
        self.run_statement(Sql::new(statement, [mailbox_id.clone().into(), text.into()]), Expect::Rows(1));
        let Some(address) = address else { return };
        let statement = "INSERT INTO mail_addresses (org_id, address, mailbox_id, domain, kind, created_at) \
                         VALUES ($1, $2, $3, $4, 'desk', $5) ON CONFLICT (org_id, address) DO NOTHING";
        let values = [
            it.org_id.to_string().into(),
            address.as_str().into(),
            mailbox_id.into(),
            domain_of(address).into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
