//! What a person may do in an hour.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn a_person_raises_thirty_requests_an_hour() {
    let desk = Desk::new().await;
    for at in 0..30 {
        desk.request(&desk.eve.client, &format!("Request {at}")).await;
    }
    let body = json!({ "requestType": "get_help", "summary": "One more" });
    let raise = async || desk.eve.client.post(&format!("{}/requests", desk.portal)).json(&body).send().await;
    let refused = raise().await.expect(429);
    assert_eq!(refused.json["error"], "That's as many requests as an hour allows. Try again later.");
    assert!(refused.header("retry-after").is_some());
    desk.server.clock.advance(Duration::from_hours(1));
    raise().await.expect(201);
}

#[tokio::test]
async fn a_request_takes_a_hundred_files_and_a_person_begins_so_many_an_hour() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let body = json!({ "name": "a", "size": 1 });
    let begin = async |path: &str| desk.eve.client.post(&format!("{path}/attachments")).json(&body).send().await;
    for _ in 0..100 {
        begin(&path).await.expect(201);
    }
    begin(&path).await.expect_error(400, "limit_reached", "A request has at most 100 attachments.");
    let other = desk.request(&desk.eve.client, "Water").await;
    let refused = begin(&other).await.expect(429);
    assert_eq!(refused.json["error"], "That's as many attachments as an hour allows. Try again later.");
    desk.server.clock.advance(Duration::from_hours(1));
    begin(&other).await.expect(201);
}
