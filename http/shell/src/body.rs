//! The JSON body of a request.
//!
//! A body is checked twice. Its *structure* (fields, types, unknown fields) is what `serde` takes; its *rules*
//! (lengths, ranges, patterns) are [`RequestBody::check`]'s. Each names every field at fault.

use std::ops::Deref;

use bytes::Bytes;
use domain::problems::Problems;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::{
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::{BodyRule, Facts},
    structure,
};

/// The default limit of a body: 1 MB.
pub const BODY_LEN_MAX: usize = 1024 * 1024;
/// What a body over its limit is answered with, where the contract gives no message of its own.
pub const TOO_LARGE: &str = "The request is too large.";

/// A type that is read from a request's body.
///
/// Derive `Deserialize` and `ToSchema`; `#[serde(deny_unknown_fields)]` where the contract says that unknown fields
/// are rejected.
pub trait RequestBody: DeserializeOwned + ToSchema {
    /// How large it may be, in bytes.
    const LIMIT: usize = BODY_LEN_MAX;
    /// The message of the 413 above it.
    const TOO_LARGE: &'static str = TOO_LARGE;

    /// Whether it may take longer to come, and to be worked on, than other requests have time.
    const TAKES_LONG: bool = false;

    /// Adds a problem for each field that breaks a rule.
    fn check(&self, problems: &mut Problems) {
        let _ = problems;
    }
}

/// A body whose structure and rules hold, with the bytes that were sent.
pub struct Body<T> {
    value: T,
    raw: Bytes,
}

impl<T> Body<T> {
    /// What was sent.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The bytes that were sent.
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }
}

impl<T> Deref for Body<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: RequestBody> Argument for Body<T> {
    fn describe(facts: &mut Facts) {
        facts.body::<T>(BodyRule { len_max: T::LIMIT, too_large: T::TOO_LARGE });
        facts.streams |= T::TAKES_LONG;
        facts.error(400, "The request has fields that can't be used as they are.");
        facts.error(413, T::TOO_LARGE);
        facts.error(415, "Send the body as application/json.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let is_json = call.has_json();
        if !is_json && call.announced_length() != Some(0) {
            return Err(ApiError::UnsupportedMediaType("application/json"));
        }
        let raw = call.read_body(T::LIMIT, T::TOO_LARGE).await?;
        let value = parse::<T>(&raw)?;
        Ok(Self { value, raw })
    }
}

/// Reads and checks a body.
pub fn parse<T: RequestBody>(raw: &[u8]) -> domain::Result<T> {
    let value: T = structure::read(raw)?;
    let mut problems = Problems::default();
    value.check(&mut problems);
    problems.into_result()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use domain::Error;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "what is read is what is tested")]
    struct Kdf {
        alg: Alg,
        m: u32,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(rename_all = "lowercase")]
    enum Alg {
        Argon2id,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "what is read is what is tested")]
    struct Sent {
        account_id: String,
        kdf: Kdf,
        changes: Vec<Change>,
        note: Option<String>,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "what is read is what is tested")]
    struct Change {
        base_revision: u64,
    }

    impl RequestBody for Sent {
        fn check(&self, problems: &mut Problems) {
            problems.require(!self.account_id.is_empty(), "accountId", "Must not be empty.");
            problems.require(self.kdf.m >= 8, "kdf.m", "Must be 8 or more.");
        }
    }

    fn problems(raw: &str) -> Vec<String> {
        match parse::<Sent>(raw.as_bytes()) {
            Err(Error::Invalid { problems }) => {
                problems.into_iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
            }
            other => panic!("{raw} gave {other:?}"),
        }
    }

    #[test]
    fn what_fits_is_read() {
        let raw = r#"{"accountId": "a", "kdf": {"alg": "argon2id", "m": 8}, "changes": [{"baseRevision": 0, "x": 1}]}"#;
        assert_eq!(parse::<Sent>(raw.as_bytes()).unwrap().changes.len(), 1);
    }

    #[test]
    fn every_field_at_fault_is_named_at_once() {
        let raw =
            r#"{"kdf": {"alg": "md5", "m": "8", "z": 1}, "changes": [{"baseRevision": 0}, {}], "note": 7, "y": 1}"#;
        assert_eq!(
            problems(raw),
            [
                "accountId: This field is required.",
                "changes[1].baseRevision: This field is required.",
                "kdf.alg: Use one of: argon2id.",
                "kdf.m: Use a whole number.",
                "kdf.z: There is no such field.",
                "note: Use a string or null.",
                "y: There is no such field.",
            ]
        );
    }

    #[test]
    fn every_broken_rule_is_named_at_once() {
        let raw = r#"{"accountId": "", "kdf": {"alg": "argon2id", "m": 7}, "changes": []}"#;
        assert_eq!(problems(raw), ["accountId: Must not be empty.", "kdf.m: Must be 8 or more."]);
    }

    #[test]
    fn a_number_out_of_its_type_is_named_too() {
        let raw = r#"{"accountId": "a", "kdf": {"alg": "argon2id", "m": -1}, "changes": []}"#;
        let found = problems(raw);
        assert!(found.len() == 1 && found[0].starts_with("kdf.m: "), "{found:?}");
        let raw = r#"{"accountId": "a", "kdf": {"alg": "argon2id", "m": 4294967296}, "changes": []}"#;
        assert!(problems(raw)[0].starts_with("kdf.m: "));
    }

    #[test]
    fn another_kind_of_value_is_a_problem_of_the_body() {
        assert_eq!(problems("[]"), [": Use an object."]);
        assert_eq!(problems("null"), [": Use an object."]);
    }

    #[test]
    fn what_is_no_json_is_malformed() {
        for raw in ["", "{", "{}x", "{\"accountId\": \"\u{1}\"}", "\u{feff}{}"] {
            assert!(
                matches!(parse::<Sent>(raw.as_bytes()), Err(Error::BadRequest { code: "malformed", .. })),
                "{raw:?}"
            );
        }
        assert!(matches!(
            parse::<Sent>(b"{\"accountId\": \"\xff\"}"),
            Err(Error::BadRequest { code: "malformed", .. })
        ));
    }
}
