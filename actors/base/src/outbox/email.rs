//! E-mails from the outbox.
//!
//! A temporary refusal is tried again after a growing pause, at most [`TRIES_MAX`] times; then, and after a refusal for
//! good, the entry is given up and kept with the reason, for operators. A console mailer sends nothing: what it would
//! have sent is kept in the same commit that settles the entry.

use domain::backoff::{TRIES_MAX, pause_after};
use gateways::{CalendarPart, Delivered, Email, SendError};
use store::{Change, EmailTo, KeptMessage, OutboxClaim, OutboxEntry, StoreError, outbox};

use crate::Services;

/// Hands e-mails over, one after the other, and settles their entries.
pub(super) async fn deliver_all(services: &Services, claims: &[OutboxClaim]) -> Result<(), StoreError> {
    for claim in claims {
        deliver(services, claim).await?;
    }
    Ok(())
}

async fn deliver(services: &Services, claim: &OutboxClaim) -> Result<(), StoreError> {
    let change = if let Some(email) = compose(services, claim).await? {
        let outcome = services.mailer.send(&email).await;
        settlement(services, claim, email, outcome)
    } else {
        let mut change = Change::new();
        change.work_done(&claim.work);
        change
    };
    Ok(services.store.commit(change).await?)
}

/// The e-mail as it goes out; `None` when there is nobody any more to send it to.
async fn compose(services: &Services, claim: &OutboxClaim) -> Result<Option<Email>, StoreError> {
    let OutboxEntry::Email { to, subject, body, calendar } = &claim.entry else { return Ok(None) };
    let to = match to {
        EmailTo::Address(address) => address.clone(),
        EmailTo::Person(user_id) => match services.store.person(*user_id).await? {
            Some(person) => person.email.to_string(),
            None => return Ok(None),
        },
    };
    let idempotency_key = format!("outbox-{}-{}", claim.work.created_at, claim.work.seq);
    let calendar =
        calendar.clone().map(|part| CalendarPart { method: part.method, file: part.file, reply_to: part.reply_to });
    Ok(Some(Email { to, subject: subject.clone(), text: body.clone(), calendar, idempotency_key }))
}

/// What becomes of the entry.
fn settlement(services: &Services, claim: &OutboxClaim, email: Email, outcome: Result<Delivered, SendError>) -> Change {
    let now = services.store.now();
    let mut change = Change::new();
    match outcome {
        Ok(Delivered::Sent { response }) => {
            tracing::debug!(seq = claim.work.seq, response, "an e-mail was sent");
            change.work_done(&claim.work);
        }
        Ok(Delivered::Keep) => {
            change.kept_add(KeptMessage {
                gateway: "console".to_owned(),
                channel: "email".to_owned(),
                recipient: email.to,
                subject: Some(email.subject),
                body: email.text,
                created_at: now,
            });
            change.work_done(&claim.work);
        }
        Err(error) if error.is_temporary() && claim.work.attempts < TRIES_MAX => {
            let pause = pause_after(claim.work.attempts, claim.work.seq);
            tracing::warn!(seq = claim.work.seq, tries = claim.work.attempts, ?pause, %error, "an e-mail waits for another try");
            metrics::counter!("troupe_outbox_retried_total", "topic" => "email").increment(1);
            change.work_put_off(outbox::EMAIL, &claim.work, &error.to_string(), now.after(pause));
        }
        Err(error) => {
            tracing::error!(seq = claim.work.seq, tries = claim.work.attempts, %error, "an e-mail was given up");
            metrics::counter!("troupe_outbox_given_up_total", "topic" => "email").increment(1);
            change.work_given_up(&claim.work, &error.to_string());
        }
    }
    change
}
