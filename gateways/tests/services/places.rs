use std::time::Duration;

use gateways::places::{Geocoder, Places, PlacesError, PlacesOptions};

use crate::{
    PATIENCE,
    server::{Reply, Service},
};

const PHOTON: &str = r#"{"type": "FeatureCollection", "features": [
  {"geometry": {"type": "Point", "coordinates": [16.37, 48.21]}, "properties": {"name": "Stephansdom", "street": "Stephansplatz",
   "housenumber": "3", "postcode": "1010", "city": "Wien", "country": "Österreich"}},
  {"geometry": {"coordinates": [16.4, 48.2]}, "properties": {"street": "Hauptstraße", "city": "Wien"}},
  {"geometry": {"coordinates": [500.0, 48.2]}, "properties": {"name": "Nowhere"}},
  {"geometry": {"coordinates": []}, "properties": {"name": "Nowhere"}}, {"geometry": {"coordinates": [1.0, 2.0]}}]}"#;

const NOMINATIM: &str = r#"[
  {"lat": "48.21", "lon": "16.37", "name": "Stephansdom", "display_name": "Stephansdom, Stephansplatz, Wien"},
  {"lat": "48.2", "lon": "16.4", "display_name": "3, Hauptstraße, Wien"}, {"lat": "x", "lon": "1", "display_name": "No"}]"#;

async fn asked(
    kind: Geocoder,
    reply: Reply,
    near: Option<(f64, f64)>,
) -> (Result<Vec<gateways::places::FoundPlace>, PlacesError>, String) {
    let service = Service::replying([reply]).await;
    let options = PlacesOptions { kind, base_url: service.url() + "/geo/", timeout: PATIENCE };
    let found = Places::new(&options).expect("places").look_up("Stephans dom&x", near).await;
    let only = service.only();
    (found, format!("{}?{}", only.path, only.query))
}

#[tokio::test]
async fn photon_answers_places_with_what_is_around_them() {
    let (found, path) = asked(Geocoder::Photon, Reply::new(200, PHOTON), Some((48.0, 16.0))).await;
    let found = found.expect("places");
    let named: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.detail.as_deref(), it.lat, it.lon)).collect();
    assert_eq!(
        named,
        [
            ("Stephansdom", Some("Stephansplatz 3, 1010 Wien, Österreich"), 48.21, 16.37),
            ("Hauptstraße", Some("Wien"), 48.2, 16.4),
        ]
    );
    assert_eq!(path, "/geo/api?q=Stephans+dom%26x&limit=15&lat=48&lon=16");
}

#[tokio::test]
async fn nominatim_answers_places_with_what_is_around_them() {
    let (found, path) = asked(Geocoder::Nominatim, Reply::new(200, NOMINATIM), Some((48.0, 16.0))).await;
    let found = found.expect("places");
    let named: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.detail.as_deref(), it.lat, it.lon)).collect();
    assert_eq!(
        named,
        [("Stephansdom", Some("Stephansplatz, Wien"), 48.21, 16.37), ("3", Some("Hauptstraße, Wien"), 48.2, 16.4)]
    );
    assert_eq!(path, "/geo/search?q=Stephans+dom%26x&format=jsonv2&limit=15&viewbox=15.5%2C47.5%2C16.5%2C48.5");
}

#[tokio::test]
async fn what_cant_be_read_or_doesnt_answer_is_away() {
    for kind in [Geocoder::Photon, Geocoder::Nominatim] {
        for reply in [Reply::new(200, "{}"), Reply::new(200, "<html>"), Reply::new(500, ""), Reply::new(302, "")] {
            let (found, _) = asked(kind, reply.clone(), None).await;
            assert!(matches!(found, Err(PlacesError::Away(_))), "{reply:?}");
        }
    }
    let service = Service::replying([Reply::never()]).await;
    let timeout = Duration::from_millis(50);
    let options = PlacesOptions { kind: Geocoder::Photon, base_url: service.url(), timeout };
    let found = Places::new(&options).expect("places").look_up("x", None).await;
    assert_eq!(found, Err(PlacesError::Away("the service did not answer in time".to_owned())));
    assert_eq!(Places::none().look_up("x", None).await, Err(PlacesError::NotConfigured));
    for base_url in ["", "ftp://example.org", "data:x", "example.org"] {
        let options = PlacesOptions { kind: Geocoder::Photon, base_url: base_url.to_owned(), timeout };
        assert!(Places::new(&options).is_err(), "{base_url}");
    }
}
