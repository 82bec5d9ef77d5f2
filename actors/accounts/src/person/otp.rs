//! The second factor: enrolling, confirming, showing it again, switching it off.

use domain::{
    Error, Result, Timestamp,
    account::{STEP_UP_LASTS, step_up_check},
    otp::{OtpSecret, RECOVERY_CODES, RecoveryCode},
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{Person, asking, audit, current, email};
use crate::{
    login_attempt::LoginAttempt,
    second_factor::{self, Checked, not_enrolled, wrong_code},
};

/// Starts enrolling: makes a secret that counts once a code of it was shown. Starting again makes another.
#[derive(Clone, Copy, Debug)]
pub struct EnrolOtp;

/// What the person's authenticator app needs.
#[derive(Clone, Debug)]
pub struct Enrolment {
    /// In base32, to be typed.
    pub secret: String,
    /// As an `otpauth://` address, to be scanned.
    pub uri: String,
}

/// Shows the first code: the second factor counts from now on. Answers the recovery codes, shown once.
#[derive(Clone)]
pub struct ConfirmOtp {
    /// What was typed.
    pub otp: String,
}

/// Switches the second factor off. It must have been shown within the last ten minutes.
#[derive(Clone, Copy, Debug)]
pub struct RemoveOtp;

/// Shows the second factor again, for what needs it fresh. Answers until when it counts.
#[derive(Clone)]
pub struct StepUp {
    /// What was typed.
    pub otp: String,
}

impl Command for EnrolOtp {
    type Reply = Enrolment;

    const NAME: &'static str = "enrol_otp";
}

impl Handle<EnrolOtp> for Person {
    async fn handle(&mut self, _: &EnrolOtp, turn: &mut Turn<'_, Self>) -> Result<Enrolment> {
        let mut person = current(turn).await?;
        if person.otp_secret.is_some() {
            return Err(Error::conflict("otp_enrolled", "You have a second factor already."));
        }
        let secret = OtpSecret::generate()?;
        let enrolment = Enrolment { secret: secret.to_base32(), uri: secret.uri(&person.email)? };
        person.otp_pending = Some(secret);
        let mut change = Change::new();
        change.person_set(&person);
        audit(&mut change, turn, "otp.started");
        turn.commit(change).await?;
        Ok(enrolment)
    }
}

impl Command for ConfirmOtp {
    type Reply = Vec<RecoveryCode>;

    const NAME: &'static str = "confirm_otp";
}

impl Handle<ConfirmOtp> for Person {
    async fn handle(&mut self, command: &ConfirmOtp, turn: &mut Turn<'_, Self>) -> Result<Vec<RecoveryCode>> {
        let (mut person, now) = (current(turn).await?, turn.now());
        let Some(secret) = person.otp_pending.take() else {
            return Err(Error::conflict("otp_not_started", "Start with POST /v1/me/otp."));
        };
        let typed: String = command.otp.chars().filter(|character| !character.is_whitespace()).collect();
        person.otp_last_step = secret.accept(&typed, now, 0).ok_or_else(wrong_code)?;
        person.otp_secret = Some(secret);
        let codes = (0..RECOVERY_CODES).map(|_| RecoveryCode::generate()).collect::<Result<Vec<_>>>()?;
        let hashes: Vec<String> = codes.iter().map(RecoveryCode::hash).collect();
        let mut change = Change::new();
        change.person_set(&person);
        change.recovery_codes_set(person.id, &hashes);
        change.sign_in_confirm(now, asking(turn)?.sign_in_id, now.after(STEP_UP_LASTS));
        audit(&mut change, turn, "otp.enrolled");
        email(&mut change, turn, "Second factor switched on", "Signing in to your account asks for a code now.");
        turn.commit(change).await?;
        Ok(codes)
    }
}

impl Command for RemoveOtp {
    type Reply = ();

    const NAME: &'static str = "remove_otp";
}

impl Handle<RemoveOtp> for Person {
    async fn handle(&mut self, _: &RemoveOtp, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (mut person, now) = (current(turn).await?, turn.now());
        if person.otp_secret.take().is_none() {
            return Err(not_enrolled());
        }
        let sign_in = turn.services().store.sign_in(person.id, asking(turn)?.sign_in_id).await?;
        let sign_in = sign_in.ok_or(Error::Unauthenticated)?;
        step_up_check(sign_in.confirmed_until, now)?;
        let mut change = Change::new();
        change.person_set(&person);
        change.recovery_codes_set(person.id, &[]);
        audit(&mut change, turn, "otp.removed");
        email(&mut change, turn, "Second factor switched off", "Signing in to your account asks for no code any more.");
        turn.commit(change).await
    }
}

impl Command for StepUp {
    type Reply = Timestamp;

    const NAME: &'static str = "step_up";
}

impl Handle<StepUp> for Person {
    async fn handle(&mut self, command: &StepUp, turn: &mut Turn<'_, Self>) -> Result<Timestamp> {
        let (mut person, now) = (current(turn).await?, turn.now());
        let store = &turn.services().store;
        let attempt = LoginAttempt::begin(store, &person.email, now).await?;
        let used = match second_factor::check(store, &person, &command.otp, now).await? {
            Checked::NotEnrolled => return Err(not_enrolled()),
            Checked::Wrong => return attempt.fail(turn, Some(&person), wrong_code()).await,
            Checked::Right(used) => used,
        };
        let until = now.after(STEP_UP_LASTS);
        let mut change = Change::new();
        used.spend(&mut change, &mut person, now);
        change.person_set(&person);
        change.sign_in_confirm(now, asking(turn)?.sign_in_id, until);
        audit(&mut change, turn, "sign_in.confirmed");
        turn.commit(change).await?;
        Ok(until)
    }
}
