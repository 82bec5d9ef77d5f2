//! Photon's interface: `GeoJSON`, whose coordinates are east and north.

use serde::Deserialize;

use super::{ASKED_FOR, Configured, FoundPlace, PlacesError, is_on_earth, unread};

#[derive(Deserialize)]
struct Found {
    features: Vec<Feature>,
}

#[derive(Deserialize)]
struct Feature {
    geometry: Geometry,
    #[serde(default)]
    properties: Properties,
}

#[derive(Deserialize)]
struct Geometry {
    coordinates: Vec<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Properties {
    name: Option<String>,
    street: Option<String>,
    housenumber: Option<String>,
    postcode: Option<String>,
    city: Option<String>,
    state: Option<String>,
    country: Option<String>,
}

pub(super) async fn look_up(
    geocoder: &Configured,
    text: &str,
    near: Option<(f64, f64)>,
) -> Result<Vec<FoundPlace>, PlacesError> {
    let mut parameters = vec![("q", text.to_owned()), ("limit", ASKED_FOR.to_string())];
    if let Some((lat, lon)) = near {
        parameters.extend([("lat", lat.to_string()), ("lon", lon.to_string())]);
    }
    let answer = geocoder.ask(geocoder.question("api", &parameters)).await?;
    let found: Found = answer.json().ok_or_else(unread)?;
    Ok(found.features.into_iter().filter_map(place).collect())
}

fn place(feature: Feature) -> Option<FoundPlace> {
    let [lon, lat, ..] = feature.geometry.coordinates[..] else { return None };
    let it = feature.properties;
    let street =
        it.street.map(|street| [Some(street), it.housenumber].into_iter().flatten().collect::<Vec<_>>().join(" "));
    let name = it.name.clone().or_else(|| street.clone()).or_else(|| it.city.clone())?;
    let town = [it.postcode, it.city].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let parts = [street, Some(town), it.state, it.country].into_iter().flatten();
    let detail = parts.filter(|part| !part.is_empty() && *part != name).collect::<Vec<_>>().join(", ");
    is_on_earth(lat, lon).then(|| FoundPlace { name, detail: Some(detail).filter(|it| !it.is_empty()), lat, lon })
}
