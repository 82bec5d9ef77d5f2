//! Messages that areas write themselves and that the operators' mail server brings away.

use gateways::Delivered;
use store::KeptMessage;

use crate::Services;

/// A message that is written already.
#[derive(Clone, Copy, Debug)]
pub struct WrittenMail<'w> {
    /// The one address that it goes to.
    pub to: &'w str,
    /// What it is about, for who reads what was kept.
    pub subject: &'w str,
    /// What it says, for the same.
    pub text: &'w str,
    /// All of it.
    pub bytes: &'w [u8],
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHandedOver {
    /// Trying again may help.
    Later(String),
    /// Trying again can't help.
    Never(String),
}

/// Hands a message to the operators' mail server; without one, answers what is to be kept in its place.
pub async fn hand_over(services: &Services, mail: WrittenMail<'_>) -> Result<Option<KeptMessage>, NotHandedOver> {
    match services.mailer.send_written(mail.to, mail.bytes).await {
        Ok(Delivered::Sent { .. }) => Ok(None),
        Ok(Delivered::Keep) => Ok(Some(KeptMessage {
            gateway: "console".to_owned(),
            channel: "email".to_owned(),
            recipient: mail.to.to_owned(),
            subject: Some(mail.subject.to_owned()),
            body: mail.text.to_owned(),
            created_at: services.store.now(),
        })),
        Err(error) if error.is_temporary() => Err(NotHandedOver::Later(error.to_string())),
        Err(error) => Err(NotHandedOver::Never(error.to_string())),
    }
}

/// Counts a message that came to a desk, by what became of it.
pub fn desk_mail_count(outcome: &'static str) {
    metrics::counter!("troupe_desk_mails_total", "outcome" => outcome).increment(1);
}
