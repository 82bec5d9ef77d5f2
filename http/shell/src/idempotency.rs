//! `Idempotency-Key`: a repeated `POST` that creates is answered with the first answer.
//!
//! The claim on a key is staked before anything else happens. Its id travels in the context, so that the commit that
//! the handler leads to settles it together with what was made; the answer is kept after that. A request that came to
//! nothing gives its key back.

use std::{sync::Arc, time::Duration};

use actix_web::{
    HttpResponse,
    body::{BoxBody, to_bytes},
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Caller, Error};
use sha2::{Digest, Sha256};
use store::{Idempotency, IdempotencyAnswer, IdempotencyRequest};

use crate::{
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
};

/// The header.
const HEADER: &str = "idempotency-key";
/// How long a key may be, in characters.
const KEY_LEN_MAX: usize = 255;
/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// How much longer than the request may take a claim is held, should the process die.
const LEASE_BEYOND_DEADLINE: Duration = Duration::from_secs(5);
/// When a request whose first one is still under way may be repeated.
const RETRY_AFTER: Duration = Duration::from_secs(1);

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

/// What a key has come to, for this request.
pub(crate) enum IdempotencyState {
    /// The endpoint honours no key, or the request carries none.
    No,
    /// The key is this request's.
    Claim(Claim),
    /// The first answer.
    Replay(HttpResponse),
}

/// A key that this request holds.
pub(crate) struct Claim {
    id: Arc<str>,
}

/// Stakes the claim on the request's key, where it carries one.
pub(crate) async fn stake(call: &mut Call) -> Result<IdempotencyState> {
    if !call.endpoint.rules.creates || !call.request.headers().contains_key(HEADER) {
        return Ok(IdempotencyState::No);
    }
    // Nobody makes anything, and has nothing written down either.
    let Some(caller) = caller(&call.context.caller) else { return Ok(IdempotencyState::No) };
    Box::pin(staked(call, caller)).await
}

async fn staked(call: &mut Call, caller: String) -> Result<IdempotencyState> {
    let key = call.header(HEADER).filter(|key| (1..=KEY_LEN_MAX).contains(&key.len())).map(str::to_owned);
    let key = key.ok_or_else(|| {
        Error::bad_request("idempotency_key", "An Idempotency-Key has 1 to 255 visible ASCII characters.")
    })?;
    let request = IdempotencyRequest { caller, key, fingerprint: fingerprint(call).await? };
    let lease = call.state.options.request_timeout + LEASE_BEYOND_DEADLINE;
    match call.state.store.idempotency_claim(&request, lease).await? {
        Idempotency::Claimed(id) => {
            call.context.idempotency = Some(Arc::clone(&id));
            Ok(IdempotencyState::Claim(Claim { id }))
        }
        Idempotency::Answered(answer) => Ok(IdempotencyState::Replay(replayed(answer))),
        Idempotency::Mismatch => {
            Err(Error::conflict("idempotency_mismatch", "This Idempotency-Key was used with another request.").into())
        }
        Idempotency::InProgress => Err(ApiError::InProgress { retry_after: RETRY_AFTER }),
        Idempotency::AnswerLost => Err(Error::conflict(
            "idempotency_answer_lost",
            "The first request with this Idempotency-Key was done, but its answer is lost.",
        )
        .into()),
    }
}

/// Whose the key is. A replay passes no door, so a person in one app is not answered what they were told in another.
fn caller(caller: &Caller) -> Option<String> {
    match caller {
        Caller::Person(person) => Some(format!("{} {} {}", person.user_id, person.app, person.platform)),
        Caller::Key(key) => Some(key.key_id.to_string()),
        Caller::AccessKey(key) => Some(key.id.to_string()),
        Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => None,
    }
}

async fn fingerprint(call: &mut Call) -> Result<String> {
    let body = match call.endpoint.facts.body {
        Some(rule) => call.read_body(rule.len_max, rule.too_large).await?,
        None => bytes::Bytes::new(),
    };
    let mut digest = Sha256::new();
    digest.update(call.request.method().as_str());
    digest.update([b'\n']);
    digest.update(call.path_and_query());
    digest.update([b'\n']);
    digest.update(&body);
    Ok(URL_SAFE_NO_PAD.encode(digest.finalize()))
}

fn replayed(answer: IdempotencyAnswer) -> HttpResponse {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = HttpResponse::build(status);
    for (name, value) in answer.headers {
        response.insert_header((name, value));
    }
    response.insert_header((REPLAYED, HeaderValue::from_static("true")));
    response.body(answer.body)
}

impl Claim {
    /// Keeps a success for repetitions; gives the key back otherwise.
    pub(crate) async fn settle(self, call: &Call, outcome: Result<HttpResponse>) -> Result<HttpResponse> {
        match outcome {
            Ok(response) if response.status().is_success() => self.keep(call, response).await,
            outcome => {
                self.give_back(call).await;
                outcome
            }
        }
    }

    async fn keep(self, call: &Call, response: HttpResponse) -> Result<HttpResponse> {
        let (head, body) = response.into_parts();
        let body = to_bytes(body).await.map_err(|_| Error::internal("an answer has no bytes to keep"))?;
        let kept = |name: header::HeaderName| {
            let value = head.headers().get(&name)?.to_str().ok()?;
            Some((name.to_string(), value.to_owned()))
        };
        let answer = IdempotencyAnswer {
            status: head.status().as_u16(),
            headers: [header::CONTENT_TYPE, header::ETAG].into_iter().filter_map(kept).collect(),
            body: body.to_vec(),
        };
        // What was made is committed. A repetition of a request whose answer could not be kept is told so.
        if let Err(error) = call.state.store.idempotency_answer(&self.id, &answer).await {
            tracing::warn!(%error, "the answer to a request with an Idempotency-Key could not be kept");
        }
        Ok(head.set_body(BoxBody::new(body)))
    }

    async fn give_back(self, call: &Call) {
        if let Err(error) = call.state.store.idempotency_release(&self.id).await {
            tracing::warn!(%error, "an Idempotency-Key could not be given back; it frees itself");
        }
    }
}
