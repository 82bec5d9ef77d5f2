//! Looking addresses up.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use http_body_util::Full;
use hyper::{Request, Response, body::Bytes, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};

use super::*;

const FOUND: &str = r#"{"features": [
  {"geometry": {"coordinates": [1.0, 1.0]}, "properties": {"name": "Far"}},
  {"geometry": {"coordinates": [16.37, 48.21]}, "properties": {"name": "Near", "city": "Wien", "country": "Österreich"}}]}"#;
const PATH: &str = "places?q=Stephansdom";

/// A geocoder that answers the same to everybody; its address, and what it was asked.
async fn geocoder(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let (url, asked) = (format!("http://{}", listener.local_addr().unwrap()), Arc::<Mutex<Vec<String>>>::default());
    let heard = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let heard = Arc::clone(&heard);
            let service = service_fn(move |request: Request<Incoming>| {
                heard.lock().unwrap().push(request.uri().to_string());
                async move { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(answer.as_bytes())))) }
            });
            tokio::spawn(async move {
                // A client that goes away is no failure of the geocoder.
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    (url, asked)
}

async fn desk(url: &str) -> Desk {
    let server = Server::with(&[format!("places.base_url={url}").as_str()]).await;
    let ada = server.person("ada").await;
    let path = format!("{}/issues", org(&ada, "Acme").await);
    Desk { server, ada, path }
}

#[tokio::test]
async fn without_a_geocoder_nothing_is_looked_up() {
    let desk = Desk::new().await;
    let answer = desk.ada.client.get(&format!("{}/{PATH}", desk.path)).send().await;
    answer.expect_error(503, "places_unavailable", "Address look-ups aren't set up on this server.");
}

#[tokio::test]
async fn the_nearest_places_come_first() {
    let (url, asked) = geocoder(FOUND).await;
    let desk = desk(&url).await;
    let ask = async |query: &str| desk.ada.client.get(&format!("{}/places?{query}", desk.path)).send().await;
    let answer = ask("q=%20Stephansdom%20&near=48.2,16.4").await.expect(200);
    assert_eq!(
        answer.json["places"],
        json!([
            { "name": "Near", "detail": "Wien, Österreich", "lat": 48.21, "lon": 16.37 }, { "name": "Far", "lat": 1.0, "lon": 1.0 }
        ])
    );
    assert_eq!(*asked.lock().unwrap(), ["/api?q=Stephansdom&limit=15&lat=48.2&lon=16.4"]);
    assert_eq!(ask("q=Stephansdom").await.expect(200).str("/places/0/name"), "Far", "as the geocoder has them");
    for (length, status) in [(2, 400), (3, 200), (199, 200), (200, 200), (201, 400)] {
        assert_eq!(ask(&format!("q={}", "x".repeat(length))).await.status, status, "{length}");
    }
    for near in ["", "48.2", "91,0", "0,181", "x,y", "NaN,0", "1e1,1"] {
        ask(&format!("q=Stephansdom&near={near}")).await.expect_problems(&["near"]);
    }
}

#[tokio::test]
async fn a_person_has_sixty_look_ups_an_hour() {
    let (url, _) = geocoder(FOUND).await;
    let desk = desk(&url).await;
    let path = format!("{}/{PATH}", desk.path);
    for _ in 0..60 {
        desk.ada.client.get(&path).send().await.expect(200);
    }
    let spent = "That's as many address look-ups as an hour allows. Try again later.";
    let refused = desk.ada.client.get(&path).send().await.expect_error(429, "rate_limited", spent);
    assert!(refused.header("retry-after").is_some());
    let bob = desk.member("bob", "viewer").await;
    bob.client.get(&path).send().await.expect(200);
    desk.server.clock.advance(std::time::Duration::from_mins(1));
    desk.ada.client.get(&path).send().await.expect(200);
}

#[tokio::test]
async fn a_geocoder_that_is_away_is_told() {
    for answer in ["<html>", "{}"] {
        let (url, _) = geocoder(answer).await;
        let desk = desk(&url).await;
        let answer = desk.ada.client.get(&format!("{}/{PATH}", desk.path)).send().await;
        answer.expect_error(503, "places_unavailable", "Addresses can't be looked up right now. Try again later.");
    }
}
