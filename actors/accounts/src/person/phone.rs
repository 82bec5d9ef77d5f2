//! Confirming a telephone number. Nothing but the code is ever texted to one that isn't confirmed.

use domain::{
    Error, Result, Timestamp,
    id::DeliveryId,
    notify::{
        Channel, Target,
        phone::{
            CODE_LASTS, CODE_TRIES_MAX, CODES_COUNTED_FOR, CODES_MAX, ConfirmationCode, count_code, no_code, no_texts,
            too_many_codes, wrong_code,
        },
    },
};
use gateways::hub::{Limit, RetryAfter};
use kernel::{Command, Handle, Turn};
use store::{Change, NewDelivery, accounts, notify::PhoneCode};

use super::{Person, audit, current};

/// Texts a code to a number that the person says is theirs.
#[derive(Clone, Debug)]
pub struct SendPhoneCode {
    /// The number.
    pub phone: String,
}

/// A code is on its way.
#[derive(Clone, Debug)]
pub struct CodeSent {
    /// The number that it goes to.
    pub phone: String,
    /// When it can no longer be typed back.
    pub expires_at: Timestamp,
}

/// Confirms the number that the last code went to, and makes it the person's; answers it.
#[derive(Clone, Debug)]
pub struct ConfirmPhone(pub ConfirmationCode);

impl Command for SendPhoneCode {
    type Reply = CodeSent;

    const NAME: &'static str = "send_phone_code";
}

impl Handle<SendPhoneCode> for Person {
    async fn handle(&mut self, SendPhoneCode { phone }: &SendPhoneCode, turn: &mut Turn<'_, Self>) -> Result<CodeSent> {
        let (services, user_id, now) = (turn.services(), *turn.key(), turn.now());
        if !services.calls_available() {
            return Err(no_texts());
        }
        let before = services.store.phone_code(user_id).await?;
        let (mut sent_at, version) = before.map_or((Vec::new(), 0), |code| (code.sent_at, code.version));
        count_code(&mut sent_at, now)?;
        // Several people who name one number are told apart by nobody but whom it belongs to.
        let limit = Limit::new(CODES_MAX, CODES_COUNTED_FOR);
        let verdict = services.hub.limit_check(&format!("phone-code:{phone}"), limit, now).await;
        verdict.map_err(|RetryAfter(retry_after)| too_many_codes(retry_after))?;

        let code = ConfirmationCode::generate()?;
        let expires_at = now.after(CODE_LASTS);
        let mut change = Change::new();
        change.phone_code_set(
            user_id,
            &PhoneCode {
                phone: phone.clone(),
                code_hash: Some(code.hash(user_id, phone)),
                expires_at,
                tries: 0,
                sent_at,
                version,
            },
        );
        change.delivery_add(text(turn, phone, &code));
        audit(&mut change, turn, "person.phone_code_sent");
        turn.commit(change).await?;
        Ok(CodeSent { phone: phone.clone(), expires_at })
    }
}

impl Command for ConfirmPhone {
    type Reply = String;

    const NAME: &'static str = "confirm_phone";
}

impl Handle<ConfirmPhone> for Person {
    async fn handle(&mut self, ConfirmPhone(typed): &ConfirmPhone, turn: &mut Turn<'_, Self>) -> Result<String> {
        let (user_id, now) = (*turn.key(), turn.now());
        let code = turn.services().store.phone_code(user_id).await?.filter(|code| code.expires_at > now);
        let mut code = code.filter(|code| code.tries < CODE_TRIES_MAX).ok_or_else(no_code)?;
        let hash = code.code_hash.take().ok_or_else(no_code)?;
        if hash != typed.hash(user_id, &code.phone) {
            return self.wrong(PhoneCode { tries: code.tries + 1, code_hash: Some(hash), ..code }, turn).await;
        }
        let mut person = current(turn).await?;
        let mut change = Change::new();
        if person.phone.as_ref() != Some(&code.phone) {
            person = accounts::Person { phone: Some(code.phone.clone()), updated_at: now, ..person };
            change.person_set(&person);
        }
        change.phone_confirm(user_id, &code.phone, now);
        change.phone_code_set(user_id, &code);
        audit(&mut change, turn, "person.phone_confirmed");
        turn.commit(change).await?;
        Ok(code.phone)
    }
}

impl Person {
    /// Counts a wrong code, durably, before saying so.
    async fn wrong<T>(&self, counted: PhoneCode, turn: &mut Turn<'_, Self>) -> Result<T, Error> {
        let mut change = Change::new();
        change.phone_code_set(*turn.key(), &counted);
        turn.commit(change).await?;
        Err(wrong_code())
    }
}

fn text(turn: &Turn<'_, Person>, phone: &str, code: &ConfirmationCode) -> NewDelivery {
    let now = turn.now();
    NewDelivery {
        id: DeliveryId::new(now),
        user_id: *turn.key(),
        notice_id: None,
        escalation_id: None,
        channel: Channel::Sms,
        target: Target::Phone(phone.to_owned()),
        hold_until: None,
        urgent: true,
        title: format!("{} is your code to confirm this number. It counts for ten minutes.", code.reveal()),
        body: None,
        url: None,
        created_at: now,
    }
}
