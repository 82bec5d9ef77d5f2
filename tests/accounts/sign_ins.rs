//! `GET /v1/me/sign-ins` and `DELETE /v1/me/sign-ins/:signInId`

use serde_json::json;

use crate::{accounts::is_alive, harness::Server};

#[tokio::test]
async fn a_person_sees_where_they_are_signed_in_newest_first() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    server.clock.advance(std::time::Duration::from_secs(1));
    let phone = ada.authenticator().await;
    let answer = phone.get("/v1/me/sign-ins").send().await.expect(200);
    let sign_ins = answer.list("/signIns");
    assert_eq!(sign_ins.len(), 2);
    assert_eq!(sign_ins[0]["platform"], "ios");
    assert_eq!([&sign_ins[0]["current"], &sign_ins[1]["current"]], [&json!(true), &json!(false)]);
    assert_eq!(sign_ins[0]["ip"], "127.0.0.1");
    assert!(!answer.text.contains("trp_"), "{}", answer.text);
}

#[tokio::test]
async fn an_ended_sign_in_is_dead_at_once() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    assert!(is_alive(&phone).await);
    let sign_ins = ada.client.get("/v1/me/sign-ins").send().await.expect(200);
    let of_phone = sign_ins.list("/signIns").iter().find(|one| one["platform"] == "ios").unwrap();
    let path = format!("/v1/me/sign-ins/{}", of_phone["signInId"].as_str().unwrap());
    ada.client.delete(&path).send().await.expect(200);
    assert!(!is_alive(&phone).await);
    assert!(is_alive(&ada.client).await);
    ada.client.delete(&path).send().await.expect_error(404, "not_found", "Sign-in not found.");
}

#[tokio::test]
async fn nobody_ends_somebody_elses_sign_in() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let eve = server.person("eve").await;
    let sign_ins = ada.client.get("/v1/me/sign-ins").send().await.expect(200);
    let path = format!("/v1/me/sign-ins/{}", sign_ins.str("/signIns/0/signInId"));
    eve.client.delete(&path).send().await.expect_error(404, "not_found", "Sign-in not found.");
    eve.client.delete("/v1/me/sign-ins/sgn_nonsense").send().await.expect(404);
    assert!(is_alive(&ada.client).await);
}
