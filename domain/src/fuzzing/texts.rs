//! Short texts, each of which some field, header or part of an address is: ids, tokens, signatures, names, codes.

use std::{fmt::Display, str::FromStr};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{
        DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig,
        general_purpose::{STANDARD as BASE64, URL_SAFE_NO_PAD},
    },
};

use crate::{
    Email, Slug, Timestamp, Token,
    account::{EMAIL_LEN_MAX, locale_check, name_check, phone_check},
    base64_text::is_base64,
    blank::blank_secrets,
    id::{self, UserId, is_id},
    issues::closing::closed_keys,
    key::{scopes_from_text, scopes_to_text},
    notify::{AckCode, TimeOfDay, WebSubscription, Zone, phone::ConfirmationCode},
    otp::{OtpSecret, RecoveryCode, SecondFactor},
    pages::{Parent, comment, icon_check, title_check},
    vault::{AccountId, DeviceId, DeviceName, SignedRequest, SigningKey, VaultSignature},
};

/// Reads a text as everything that it may be; what reads, prints and reads again as the same.
pub fn texts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    ids(text);
    account(text);
    codes(text);
    vault(text);
    closing(text);
    rest(text);
}

/// What has one writing only.
fn has_one_writing<T: FromStr + Display>(text: &str) -> bool {
    let read = text.parse::<T>();
    read.is_ok_and(|read| {
        assert_eq!(read.to_string(), text);
        true
    })
}

/// What is put in order once stays as it is.
fn is_settled<E>(text: &str, check: impl Fn(&str) -> Result<String, E>) {
    if let Ok(settled) = check(text) {
        assert_eq!(check(&settled).ok().as_deref(), Some(&*settled));
    }
}

/// The issues that it says it closes stand in it, and are read again of a list.
fn closing(text: &str) {
    let keys: Vec<_> = closed_keys(text).iter().map(ToString::to_string).collect();
    let capitals = text.to_ascii_uppercase();
    assert!(keys.iter().all(|key| capitals.contains(key)));
    let again: Vec<_> = closed_keys(&format!("closes {}", keys.join(", "))).iter().map(ToString::to_string).collect();
    assert_eq!(again, keys);
}

fn ids(text: &str) {
    let found = has_one_writing::<UserId>(text)
        || has_one_writing::<id::PageId>(text)
        || has_one_writing::<id::DeliveryId>(text)
        || has_one_writing::<id::AlarmHookId>(text);
    assert!(!found || is_id(text));
    has_one_writing::<DeviceId>(text);
    if let Ok(token) = text.parse::<Token>() {
        assert_eq!(token.reveal(), text);
    }
    if let Ok(Parent::Page(page)) = Parent::parse("parentId", text) {
        assert_eq!(page.to_string(), text);
    }
}

fn account(text: &str) {
    is_settled(text, |text| {
        Email::parse("email", text).map(|email| {
            let address = email.to_string();
            assert!(address.len() <= EMAIL_LEN_MAX && address.bytes().all(|byte| byte.is_ascii_graphic()));
            address
        })
    });
    is_settled(text, |text| name_check("name", text));
    is_settled(text, |text| title_check("title", text));
    is_settled(text, |text| icon_check("icon", text).map(Option::unwrap_or_default));
    is_settled(text, comment::body_check);
    is_settled(text, |text| locale_check("locale", text));
    is_settled(text, |text| {
        phone_check("phone", text).inspect(|number| assert!(number.len() <= 16 && number.starts_with('+')))
    });
    is_settled(text, |text| DeviceName::parse("name", text).map(|name| name.to_string()));
    if let Ok(slug) = Slug::parse(text) {
        assert_eq!(slug.as_str(), text);
    }
    let made = Slug::from_name(text, "x7k2");
    assert!(Slug::parse(made.as_str()).is_ok(), "{made}");
    let scopes = scopes_from_text(text);
    assert_eq!(scopes_from_text(&scopes_to_text(scopes)), scopes);
}

fn codes(text: &str) {
    if let Some(code) = RecoveryCode::parse(text) {
        assert_eq!(RecoveryCode::parse(&code.reveal()), Some(code));
    }
    if let Some(SecondFactor::Code(digits)) = SecondFactor::parse(text) {
        assert_eq!(SecondFactor::parse(&digits), Some(SecondFactor::Code(digits.clone())));
        let (secret, now) = (OtpSecret::from_bytes(&[7; 20]), Timestamp(1_700_000_000_000));
        // A code that is right once is not taken again.
        if let Some((secret, step)) = secret.and_then(|it| it.accept(&digits, now, 0).map(|step| (it, step))) {
            assert_eq!(secret.accept(&digits, now, step), None);
        }
    }
    if let Ok(code) = ConfirmationCode::parse("code", text) {
        assert_eq!(ConfirmationCode::parse("code", code.reveal()).ok(), Some(code));
    }
    if let Some(code) = AckCode::in_reply(text) {
        assert_eq!(AckCode::in_reply(&format!("ACK {code}")), Some(code));
    }
}

fn vault(text: &str) {
    if let Ok(signature) = text.parse::<VaultSignature>() {
        let VaultSignature { device_id, signed_at, bytes } = signature;
        assert_eq!(format!("v1;d={device_id};t={signed_at};s={}", URL_SAFE_NO_PAD.encode(bytes)), text);
        let request = SignedRequest::new(signature, "PUT", "/v1/me/vault/keyset", b"{}");
        // The curve's base point, whose secret nobody has.
        let mut point = [0x66; 32];
        point[0] = 0x58;
        let key = SigningKey::parse("key", &BASE64.encode(point)).expect("a point");
        assert!(request.verify(&key, signed_at).is_err());
    }
    if let Ok(key) = SigningKey::parse("key", text) {
        assert_eq!(key.to_string(), text);
    }
    is_settled(text, |text| AccountId::parse(text.to_owned()).map(|id| id.as_str().to_owned()));
    if is_base64(text) {
        let config = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
            .with_decode_allow_trailing_bits(true);
        assert!(GeneralPurpose::new(&STANDARD, config).decode(text).is_ok());
    }
}

fn rest(text: &str) {
    if let Ok(time) = TimeOfDay::parse("at", text) {
        assert_eq!(time.to_string(), text);
    }
    if let Some(zone) = Zone::find(text) {
        assert_eq!(Zone::find(zone.name()).as_ref(), Some(&zone));
    }
    if let Ok(subscription) = WebSubscription::parse("token", text) {
        let again = serde_json::to_string(&subscription).ok();
        assert_eq!(again.and_then(|token| WebSubscription::parse("token", &token).ok()), Some(subscription));
    }
    let blank = blank_secrets(text);
    assert!(blank.len() <= text.len().saturating_mul(9));
    assert!(comment::excerpt(text).chars().count() <= 200);
    let _ = comment::block_check(text);
}
