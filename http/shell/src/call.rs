//! One request under way: what arguments are taken from and answers are written for.

use std::{sync::Arc, time::Duration};

use actix_web::{
    HttpRequest,
    dev::Payload,
    http::header::{self, AsHeaderName, HeaderName},
};
use bytes::{Bytes, BytesMut};
use domain::{Context, Error, id::OrgId};
use futures::StreamExt;
use store::git::StoredRepository;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout_at},
};

use crate::{
    body_room::{FREE_LEN, REST_MAX},
    endpoint::Endpoint,
    error::{ApiError, Result},
    state::State,
};

/// How much of a body there is room for before any of it came, in bytes.
const BODY_LEN_EXPECTED: usize = 64 * 1024;

/// How long the next bytes of a body may take.
const SILENCE_MAX: Duration = Duration::from_mins(1);

/// A request on its way through the server.
pub struct Call {
    /// The server.
    pub state: State,
    /// Who asks, until when, under which request id.
    pub context: Context,
    /// The request line and headers.
    pub request: HttpRequest,
    /// The endpoint that it is for.
    pub endpoint: Arc<Endpoint>,
    /// The path's parameters in their order, decoded.
    pub path_values: Vec<String>,
    /// The organization of the path, once an argument has proven that the caller may come in.
    pub(crate) entered: Option<OrgId>,
    /// The repository of the path, once an argument has proven that the caller has a part in it.
    pub repository: Option<Box<StoredRepository>>,
    /// The body, as far as nobody has read it.
    pub payload: Payload,
    pub(crate) raw_body: Option<Bytes>,
    /// The room that a large body takes until the request is answered.
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

impl Call {
    /// A header's value, when it is there and visible ASCII.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.request.headers().get(name)?.to_str().ok()
    }

    /// The path's parameter of this name. An endpoint that asks for one that its path does not have fails.
    pub fn path_value(&self, name: &str) -> Result<&str> {
        let place = self.endpoint.path_names.iter().position(|known| *known == name);
        place
            .and_then(|place| self.path_values.get(place))
            .map(String::as_str)
            .ok_or_else(|| Error::internal(format_args!("{} has no parameter {name}", self.endpoint.path)).into())
    }

    /// The address as it was asked for: path and query.
    pub fn path_and_query(&self) -> &str {
        self.request.uri().path_and_query().map_or("/", |whole| whole.as_str())
    }

    /// The body, when it has been read.
    pub fn raw_body(&self) -> Option<&Bytes> {
        self.raw_body.as_ref()
    }

    /// Reads the body, of at most `len_max` bytes; one byte more is a 413 with `too_large`.
    pub async fn read_body(&mut self, len_max: usize, too_large: &'static str) -> Result<Bytes> {
        if let Some(body) = &self.raw_body {
            return Ok(body.clone());
        }
        if self.request.headers().contains_key(header::CONTENT_ENCODING) {
            return Err(ApiError::UnsupportedMediaType("plain bytes, without a content encoding"));
        }
        let refusal = || ApiError::from(Error::too_large(too_large));
        let announced = self.announced_length();
        if announced.is_some_and(|length| length > len_max) {
            return Err(refusal());
        }
        let mut body = BytesMut::with_capacity(announced.unwrap_or(0).min(BODY_LEN_EXPECTED));
        let broke_off = || Error::bad_request("malformed", "The body broke off.");
        let mut ends_at: Option<Instant> = None;
        loop {
            let silent_at = Instant::now() + SILENCE_MAX;
            let until = ends_at.map_or(silent_at, |ends_at| silent_at.min(ends_at));
            let Some(chunk) = timeout_at(until, self.payload.next()).await.map_err(|_| broke_off())? else { break };
            let chunk = chunk.map_err(|_| broke_off())?;
            let len = body.len() + chunk.len();
            if len > len_max {
                return Err(refusal());
            }
            if len > FREE_LEN && self.room.is_none() {
                self.room = Some(self.state.body_room.take(announced.unwrap_or(len_max)).await?);
                ends_at = Some(Instant::now() + REST_MAX);
            }
            body.extend_from_slice(&chunk);
        }
        let body = body.freeze();
        self.raw_body = Some(body.clone());
        Ok(body)
    }

    /// Takes the body to read it as it comes.
    pub fn take_payload(&mut self) -> Payload {
        std::mem::replace(&mut self.payload, Payload::None)
    }

    /// What `Content-Length` says.
    pub fn announced_length(&self) -> Option<usize> {
        self.header(header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Whether the body is said to be JSON.
    pub(crate) fn has_json(&self) -> bool {
        self.header(header::CONTENT_TYPE).is_some_and(|content_type| {
            let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
        })
    }
}

/// The header that carries the request id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
