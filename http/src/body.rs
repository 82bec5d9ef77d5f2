//! The JSON body of a request.
//!
//! A body goes through two sieves. Its *structure* (fields, types, unknown fields) is what `serde` takes; its *rules*
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
