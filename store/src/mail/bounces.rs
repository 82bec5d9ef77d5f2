//! Addresses to which other servers report on our messages, and what a report changes. They are signed, and kept nowhere.

use domain::{
    Email,
    id::{MailMessageId, MailboxId, OrgId},
    mail::{BounceAddress, Outgoing, domain_of},
};
use hmac::{Hmac, Mac};
use sea_orm::Value;
use sha2::Sha256;

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Bytes of a mark: an address has no room for more, and who guesses is answered one recipient at a time.
const MARK_BYTES: usize = 10;

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounced {
    /// Whose mailbox sent the message.
    pub org_id: OrgId,
    /// Which one.
    pub mailbox_id: MailboxId,
    /// The message.
    pub message_id: MailMessageId,
    /// The domain of the recipients whose servers know the address.
    pub domain: String,
}

row! {
    struct SentRow {
        org_id: String,
        mailbox_id: String,
        domain: String,
        sender: String,
    }
}

impl Store {
    /// The address to which reports on a message come from servers of `recipients`; none where `sender` has too long a domain.
    pub fn mail_bounce_address(&self, message_id: MailMessageId, sender: &Email, recipients: &str) -> Option<Email> {
        let mac = self.mail_bounce_mac(message_id, recipients).finalize().into_bytes();
        let digits = mac.iter().take(MARK_BYTES).flat_map(|byte| [byte >> 4, byte & 15]);
        let mark = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
        BounceAddress { message_id, mark, domain: domain_of(sender).to_owned() }.address()
    }

    /// What reports to the address are about; none where this server made no such address, and where the sender's domain is another
    /// organization's by now.
    pub async fn mail_bounced(&self, address: &BounceAddress, platform: &str) -> Result<Option<Bounced>, StoreError> {
        let Some(mark) = bytes(&address.mark) else { return Ok(None) };
        let statement = "SELECT DISTINCT org_id, mailbox_id, domain, sender FROM mail_outgoing WHERE message_id = $1";
        let rows: Vec<SentRow> =
            self.reader().rows(&Sql::new(statement, [address.message_id.to_string().into()])).await?;
        let is_its = |row: &&SentRow| {
            let mac = self.mail_bounce_mac(address.message_id, &row.domain);
            let sender_domain = row.sender.rsplit_once('@').map(|(_, domain)| domain);
            sender_domain == Some(address.domain.as_str()) && mac.verify_truncated_left(&mark).is_ok()
        };
        let Some(row) = rows.iter().find(is_its) else { return Ok(None) };
        let corrupt = || StoreError::corrupt(format_args!("mail_outgoing {}", address.message_id));
        let org_id: OrgId = row.org_id.parse().map_err(|_| corrupt())?;
        let mailbox_id = row.mailbox_id.parse().map_err(|_| corrupt())?;
        let is_owner = self.mail_domain_organization(&address.domain, platform).await? == Some(org_id);
        let bounced = Bounced { org_id, mailbox_id, message_id: address.message_id, domain: row.domain.clone() };
        Ok(is_owner.then_some(bounced))
    }

    fn mail_bounce_mac(&self, message_id: MailMessageId, recipients: &str) -> Hmac<Sha256> {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-bounce/v1\n{message_id}\n{recipients}").as_bytes());
        mac
    }
}

impl Change {
    /// Writes what a report says of a message that left. What was settled otherwise meanwhile stays so.
    pub fn mail_outgoing_report(&mut self, row: &Outgoing) {
        let statement = "UPDATE mail_outgoing SET state = $4, reply = $5, host = $6 WHERE mailbox_id = $1 AND message_id = $2 \
                         AND recipient = $3 AND state IN ('sent', 'delayed')";
        let values: [Value; 6] = [
            row.mailbox_id.to_string().into(),
            row.message_id.to_string().into(),
            row.recipient.to_string().into(),
            row.state.as_str().into(),
            row.reply.clone().into(),
            row.host.clone().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }
}

/// The bytes that small hexadecimal digits stand for, where there are as many as a mark has.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let is_mark = digits.len() == 2 * MARK_BYTES && digits.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    let pairs = (0..MARK_BYTES).map(|at| digits.get(2 * at..2 * at + 2));
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<Vec<u8>>>().filter(|_| is_mark)
}
