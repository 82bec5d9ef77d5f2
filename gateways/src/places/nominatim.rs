//! Nominatim's interface: a list, whose coordinates are texts.

use serde::Deserialize;

use super::{ASKED_FOR, Configured, FoundPlace, PlacesError, is_on_earth, unread};

/// Degrees around a point within which places are preferred.
const AROUND: f64 = 0.5;

#[derive(Deserialize)]
struct Found {
    lat: String,
    lon: String,
    #[serde(default)]
    name: String,
    display_name: String,
}

pub(super) async fn look_up(
    geocoder: &Configured,
    text: &str,
    near: Option<(f64, f64)>,
) -> Result<Vec<FoundPlace>, PlacesError> {
    let mut parameters =
        vec![("q", text.to_owned()), ("format", "jsonv2".to_owned()), ("limit", ASKED_FOR.to_string())];
    if let Some((lat, lon)) = near {
        let corners = [lon - AROUND, lat - AROUND, lon + AROUND, lat + AROUND];
        let corners: Vec<String> = corners.iter().map(ToString::to_string).collect();
        parameters.push(("viewbox", corners.join(",")));
    }
    let answer = geocoder.ask(geocoder.question("search", &parameters)).await?;
    let found: Vec<Found> = answer.json().ok_or_else(unread)?;
    Ok(found.into_iter().filter_map(place).collect())
}

fn place(found: Found) -> Option<FoundPlace> {
    let (lat, lon) = (found.lat.parse().ok()?, found.lon.parse().ok()?);
    let (first, rest) = found.display_name.split_once(", ").unwrap_or((&found.display_name, ""));
    let name = if found.name.is_empty() { first.to_owned() } else { found.name };
    let detail = if first == name { rest.to_owned() } else { found.display_name.clone() };
    let detail = Some(detail).filter(|detail| !detail.is_empty());
    (is_on_earth(lat, lon) && !name.is_empty()).then_some(FoundPlace { name, detail, lat, lon })
}
