//! The fourth version of Amazon's signatures, as clients make them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};

const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');
const QUERY: &AsciiSet = &PATH.add(b'/');
const REGION: &str = "us-east-1";

/// An access key that signs.
#[derive(Clone, Debug)]
pub struct Signer {
    pub id: String,
    pub secret: String,
}

/// What is signed.
pub struct Signed<'s> {
    pub method: &'s str,
    pub host: &'s str,
    /// The path and the query, as they are sent.
    pub target: &'s str,
    pub headers: &'s [(&'s str, String)],
    /// What stands for the body.
    pub payload: &'s str,
    pub at: SystemTime,
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A moment as `20260101T000000Z`.
pub fn stamp(at: SystemTime) -> String {
    let text = store_date(at);
    format!("{}T{}Z", &text[..8], &text[8..])
}

/// A moment as fourteen digits.
fn store_date(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}{month:02}{day:02}{:02}{:02}{:02}", rest / 3_600, rest / 60 % 60, rest % 60)
}

/// The date so many days after the first of 1970, counted from March on so that leap days come last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let of_years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = of_years + era * 400 + u64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

impl Signer {
    fn scope(at: &str) -> String {
        format!("{}/{REGION}/s3/aws4_request", &at[..8])
    }

    fn signature(&self, at: &str, canonical: &str) -> String {
        let text = format!("AWS4-HMAC-SHA256\n{at}\n{}\n{}", Self::scope(at), sha256(canonical.as_bytes()));
        hex(&mac(&self.key(at), &text))
    }

    fn key(&self, at: &str) -> Vec<u8> {
        let day = mac(format!("AWS4{}", self.secret).as_bytes(), &at[..8]);
        let region = mac(&day, REGION);
        mac(&mac(&region, "s3"), "aws4_request")
    }

    /// The key's name and what it is good for, as forms say them.
    pub fn credential(&self, at: SystemTime) -> String {
        format!("{}/{}", self.id, Self::scope(&stamp(at)))
    }

    /// The signature of a form's policy.
    pub fn policy_signature(&self, at: SystemTime, policy: &str) -> String {
        hex(&mac(&self.key(&stamp(at)), policy))
    }

    /// The headers that a request needs beside its own.
    pub fn headers(&self, signed: &Signed<'_>) -> Vec<(String, String)> {
        let at = stamp(signed.at);
        let mut headers: Vec<(String, String)> = signed
            .headers
            .iter()
            .map(|(name, value)| (name.to_lowercase(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
            .collect();
        headers.push(("host".to_owned(), signed.host.to_owned()));
        headers.push(("x-amz-content-sha256".to_owned(), signed.payload.to_owned()));
        headers.push(("x-amz-date".to_owned(), at.clone()));
        headers.sort();
        let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(";");
        let lines: String =
            headers.iter().flat_map(|(name, value)| [name.as_str(), ":", value.as_str(), "\n"]).collect();
        let (path, query) = signed.target.split_once('?').unwrap_or((signed.target, ""));
        let canonical = format!(
            "{}\n{}\n{}\n{lines}\n{names}\n{}",
            signed.method,
            canonical_path(path),
            sorted(query),
            signed.payload
        );
        let signature = self.signature(&at, &canonical);
        let credential = format!("{}/{}", self.id, Self::scope(&at));
        let text = format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}");
        vec![
            ("authorization".to_owned(), text),
            ("x-amz-content-sha256".to_owned(), signed.payload.to_owned()),
            ("x-amz-date".to_owned(), at),
        ]
    }

    /// A path and query that are signed in advance, for so many seconds.
    pub fn presign(&self, signed: &Signed<'_>, seconds: u64) -> String {
        let at = stamp(signed.at);
        let credential = format!("{}/{}", self.id, Self::scope(&at));
        let (path, query) = signed.target.split_once('?').unwrap_or((signed.target, ""));
        let encode = |text: &str| utf8_percent_encode(text, QUERY).to_string();
        let added = format!(
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date={at}&X-Amz-Expires={seconds}\
             &X-Amz-SignedHeaders=host",
            encode(&credential)
        );
        let query = if query.is_empty() { added } else { format!("{query}&{added}") };
        let canonical = format!(
            "{}\n{}\n{}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD",
            signed.method,
            canonical_path(path),
            sorted(&query),
            signed.host
        );
        format!("{path}?{query}&X-Amz-Signature={}", self.signature(&at, &canonical))
    }
}

fn canonical_path(path: &str) -> String {
    let decoded = percent_decode_str(path).decode_utf8_lossy().into_owned();
    utf8_percent_encode(&decoded, PATH).to_string()
}

fn sorted(query: &str) -> String {
    let mut pairs: Vec<(String, String)> = form_urlencoded::parse(query.replace('+', "%2B").as_bytes())
        .map(|(name, value)| {
            (utf8_percent_encode(&name, QUERY).to_string(), utf8_percent_encode(&value, QUERY).to_string())
        })
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}
