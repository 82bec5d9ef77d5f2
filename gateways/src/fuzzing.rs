//! What fuzzing has this package read: what providers of texts and push services answer and report, and what browsers
//! register. Built for tests, and with the feature `fuzzing`.

#[cfg(test)]
#[path = "../../fuzz/play.rs"]
mod play;

use std::time::Duration;

use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use crate::{
    Call, PushError, SignedCallback, TextError,
    outgoing::Answer,
    push::{apns, fcm, web},
    texts::twilio,
};

/// Characters of what the log says of a refusal: 300 of the service's own, and whose they are.
const REASON_LEN_MAX: usize = 400;
/// The longest pause that a service may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(24 * 3_600);

/// An answer (`status`, headers, an empty line, a body), a form that is signed, or a browser's subscription.
pub fn providers(bytes: &[u8]) {
    answer(bytes);
    callback(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        web::fuzzing(text);
        spoken(text);
    }
}

fn answer(bytes: &[u8]) {
    let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap_or(bytes.len());
    let (head, body) = (&bytes[..end], bytes.get(end + 2..).unwrap_or_default());
    let mut lines = head.split(|byte| *byte == b'\n');
    let status = lines.next().and_then(|status| StatusCode::from_bytes(status).ok()).unwrap_or(StatusCode::BAD_REQUEST);
    let mut headers = HeaderMap::new();
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(&line[..colon]), HeaderValue::from_bytes(line[colon + 1..].trim_ascii()))
        {
            headers.append(name, value);
        }
    }
    let answer = Answer::new(status, headers, body.to_vec());
    assert!(answer.retry_after().is_none_or(|pause| pause <= PAUSE_MAX));
    for refused in [apns::refusal(&answer), fcm::refusal(&answer), web::refusal(&answer)] {
        match refused {
            PushError::Temporary { reason, retry_after } => temporary(&reason, retry_after),
            PushError::Permanent(reason) | PushError::DeadToken(reason) => is_short(&reason),
        }
    }
    match twilio::refusal(&answer) {
        TextError::Temporary { reason, retry_after } => temporary(&reason, retry_after),
        TextError::Permanent(reason) => is_short(&reason),
    }
}

fn temporary(reason: &str, retry_after: Option<Duration>) {
    is_short(reason);
    assert!(retry_after.is_none_or(|pause| pause <= PAUSE_MAX));
}

fn is_short(reason: &str) {
    assert!(reason.chars().count() <= REASON_LEN_MAX, "{reason}");
}

/// What is signed is genuine, in whatever order its fields came, and nothing else is.
fn callback(bytes: &[u8]) {
    let mut fields: Vec<(String, String)> = form_urlencoded::parse(bytes).into_owned().collect();
    let url = "https://troupe.example.com/v1/hooks/notify/sms";
    let signature = {
        let unsigned = SignedCallback { url, fields: &fields, signature: "" };
        unsigned.sign("token").expect("any token is a key")
    };
    fields.reverse();
    assert!(SignedCallback { url, fields: &fields, signature: &signature }.is_genuine("token"));
    assert!(!SignedCallback { url, fields: &fields, signature: &signature }.is_genuine("taken"));
    if let Some((_, value)) = fields.first_mut() {
        value.push('1');
        let doubled = fields[1..].contains(&fields[0]);
        assert!(doubled || !SignedCallback { url, fields: &fields, signature: &signature }.is_genuine("token"));
    }
}

/// Whatever is said is no part of the script that says it.
fn spoken(text: &str) {
    let script = twilio::script(&Call {
        to: String::new(),
        say: text.to_owned(),
        gather_url: Some(text.to_owned()),
        status_callback: None,
        idempotency_key: String::new(),
    });
    let plain = ["&amp;", "&lt;", "&gt;", "&quot;"].iter().fold(script, |script, entity| script.replace(entity, ""));
    assert!(!plain.contains('&') && plain.matches('<').count() == 6 && plain.matches('"').count() == 12, "{plain}");
    assert!(!plain.contains(|letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}')));
}

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn providers_hold() {
        play("providers", providers);
    }
}
