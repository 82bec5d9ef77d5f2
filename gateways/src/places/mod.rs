//! Looking places up, at a geocoder that somebody else runs: Photon or Nominatim, both of OpenStreetMap's data.
//!
//! Nothing is kept of a question or its answer, and neither is logged. How often may be asked, the caller says.

mod nominatim;
mod photon;

use std::{sync::Arc, time::Duration};

use reqwest::{Client, RequestBuilder, Url};

use crate::outgoing::{self, Answer};

/// Places that are asked for: more than are shown, so that the nearest are among them.
const ASKED_FOR: usize = 15;

/// A place.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPlace {
    /// What it is called.
    pub name: String,
    /// Where it is, in words.
    pub detail: Option<String>,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
}

/// The interface that a geocoder speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geocoder {
    /// Photon's (`/api`).
    Photon,
    /// Nominatim's (`/search`).
    Nominatim,
}

/// Where places are looked up.
#[derive(Clone, Debug)]
pub struct PlacesOptions {
    /// The interface.
    pub kind: Geocoder,
    /// Where the geocoder is, as `https://photon.example.org`.
    pub base_url: String,
    /// The longest that an answer takes, connecting included.
    pub timeout: Duration,
}

/// The options can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PlacesOptionsError {
    /// No address.
    #[error("`{0}` is no http(s) address of a geocoder")]
    BaseUrl(String),
    /// The system's part of TLS can't be set up.
    #[error("requests can't be made: {0}")]
    Client(String),
}

/// Why nothing was looked up. The words are for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacesError {
    /// No geocoder is configured.
    #[error("no geocoder is configured")]
    NotConfigured,
    /// The geocoder is away, refuses, or says what nobody understands.
    #[error("{0}")]
    Away(String),
}

/// A handle to the geocoder; cheap to clone.
#[derive(Clone, Debug)]
pub struct Places(Option<Arc<Configured>>);

#[derive(Debug)]
struct Configured {
    client: Client,
    kind: Geocoder,
    base: Url,
}

impl Places {
    /// Where nothing is configured.
    pub const fn none() -> Self {
        Self(None)
    }

    /// As the options say. Connects when there is something to look up.
    pub fn new(options: &PlacesOptions) -> Result<Self, PlacesOptionsError> {
        let wrong = || PlacesOptionsError::BaseUrl(options.base_url.clone());
        let base = Url::parse(&options.base_url).map_err(|_| wrong())?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(wrong());
        }
        let client = outgoing::client(options.timeout).build();
        let client = client.map_err(|error| PlacesOptionsError::Client(error.to_string()))?;
        Ok(Self(Some(Arc::new(Configured { client, kind: options.kind, base }))))
    }

    /// Whether there is a geocoder.
    pub const fn is_configured(&self) -> bool {
        self.0.is_some()
    }

    /// The places that a text may mean, as the geocoder has them in order; around a point where one is given (degrees north and
    /// east).
    pub async fn look_up(&self, text: &str, near: Option<(f64, f64)>) -> Result<Vec<FoundPlace>, PlacesError> {
        let Some(configured) = &self.0 else { return Err(PlacesError::NotConfigured) };
        match configured.kind {
            Geocoder::Photon => photon::look_up(configured, text, near).await,
            Geocoder::Nominatim => nominatim::look_up(configured, text, near).await,
        }
    }
}

impl Configured {
    /// A question at a path below the geocoder's address.
    fn question(&self, path: &str, parameters: &[(&str, String)]) -> RequestBuilder {
        let mut url = self.base.clone();
        let folder = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{folder}/{path}"));
        url.query_pairs_mut().clear().extend_pairs(parameters);
        self.client.get(url)
    }

    async fn ask(&self, question: RequestBuilder) -> Result<Answer, PlacesError> {
        let answer = outgoing::ask(question).await.map_err(PlacesError::Away)?;
        if answer.status.is_success() { Ok(answer) } else { Err(PlacesError::Away(answer.refusal("the geocoder", ""))) }
    }
}

/// What is said of an answer that has another form.
fn unread() -> PlacesError {
    PlacesError::Away("the geocoder's answer can't be read".to_owned())
}

/// Whether a point is one of the earth's.
fn is_on_earth(lat: f64, lon: f64) -> bool {
    (-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon)
}
