//! Looking places up (contract B 4.1).

use std::time::Duration;

use domain::{
    Error,
    issues::places::{
        LOOK_UPS_OF_ORGANIZATION, LOOK_UPS_OF_PERSON, LOOK_UPS_SPENT, PLACE_QUESTION_LEN, PLACES_AWAY,
        PLACES_NOT_SET_UP, Point, answered, places_unavailable,
    },
    problems::Problems,
};
use gateways::{
    hub::{Limit, RetryAfter},
    places::PlacesError,
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    permission::IssuesRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

const HOUR: Duration = Duration::from_hours(1);
/// When asking again makes sense where the geocoder is away.
const AWAY_RETRY: Duration = Duration::from_secs(30);

/// What is looked up.
#[derive(Deserialize, IntoParams)]
pub(crate) struct PlacesQuery {
    /// 3 to 200 characters.
    #[param(min_length = 3, max_length = 200, example = "Stephansplatz")]
    q: String,
    /// Degrees north and east, in decimals: the nearest places come first.
    #[param(example = "48.2,16.37")]
    near: Option<String>,
}

impl RequestQuery for PlacesQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = PLACE_QUESTION_LEN.contains(&self.q.trim().chars().count());
        problems.require(fits, "q", "Use 3 to 200 characters.");
    }
}

/// A place (contract B 2.2).
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"name": "Stephansdom", "detail": "Stephansplatz 3, 1010 Wien", "lat": 48.21, "lon": 16.37}))]
pub(crate) struct PlaceBody {
    name: String,
    /// Where it is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Degrees north.
    lat: f64,
    /// Degrees east.
    lon: f64,
}

/// Places.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlacesAnswer {
    /// At most five.
    places: Vec<PlaceBody>,
}

/// 429, where the caller or their organization has looked up as much as an hour allows.
async fn spend(org: &Org<IssuesRead>, state: &State) -> domain::Result<()> {
    let person = org.authority().on_behalf_of()?;
    for (key, most) in [
        (format!("places:{}:{person}", org.id()), LOOK_UPS_OF_PERSON),
        (format!("places:{}", org.id()), LOOK_UPS_OF_ORGANIZATION),
    ] {
        let verdict = state.hub.limit_check(&key, Limit::new(most, HOUR), state.store.now()).await;
        verdict
            .map_err(|RetryAfter(retry_after)| Error::RateLimited { message: LOOK_UPS_SPENT.into(), retry_after })?;
    }
    Ok(())
}

/// Look an address up
///
/// The operator's geocoder is asked; nothing is kept. A person may ask 60 times an hour, an organization 600 times.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/places", responses(
    (status = 429, description = "That's as many address look-ups as an hour allows. Try again later."),
    (status = 503, description = "Address look-ups aren't set up on this server.\n\n\
     Addresses can't be looked up right now. Try again later."),
))]
pub(crate) async fn issue_places(
    org: Org<IssuesRead>,
    query: Query<PlacesQuery>,
    state: State,
) -> Result<Json<PlacesAnswer>> {
    let near = query.near.as_deref().map(|text| Point::parse("near", text)).transpose()?;
    if !state.places.is_configured() {
        return Err(places_unavailable(PLACES_NOT_SET_UP, HOUR).into());
    }
    spend(&org, &state).await?;
    let found = state.places.look_up(query.q.trim(), near.map(|it| (it.lat, it.lon))).await;
    let found = found.map_err(|error| {
        if let PlacesError::Away(reason) = error {
            tracing::warn!(reason, "the geocoder doesn't answer");
        }
        places_unavailable(PLACES_AWAY, AWAY_RETRY)
    })?;
    let places = answered(found, near, |it| Point { lat: it.lat, lon: it.lon }).into_iter();
    let places = places.map(|it| PlaceBody { name: it.name, detail: it.detail, lat: it.lat, lon: it.lon });
    Ok(Json(PlacesAnswer { places: places.collect() }))
}
