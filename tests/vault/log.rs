//! The vault's log.

use std::time::Duration;

use reqwest::Method;

use super::Owner;

const LOG: &str = "/v1/me/vault/log";

#[tokio::test]
async fn the_log_tells_what_happened_when_and_through_which_device() {
    let mut owner = Owner::with_vault().await;
    let made_at = owner.server.clock.now().0;
    owner.server.clock.advance(Duration::from_secs(1));
    let second = owner.second_device().await;
    let path = format!("/v1/me/vault/devices/{}", second.device_id);
    owner.device.signed(Method::DELETE, &path, None).header("user-agent", "Authenticator/1").send().await.expect(200);
    owner.device.client.delete("/v1/me/vault").send().await.expect(202);
    owner.device.signed(Method::POST, "/v1/me/vault/reset/cancel", None).send().await.expect(200);
    owner.device.signed(Method::DELETE, "/v1/me/vault", None).send().await.expect(200);

    let answer = owner.device.client.get(LOG).send().await.expect(200);
    let seen: Vec<_> = answer
        .list("/entries")
        .iter()
        .map(|entry| {
            (entry["event"].as_str().unwrap(), entry["at"].as_i64().unwrap() - made_at, entry["deviceId"].as_str())
        })
        .collect();
    let (first, second) = (Some(owner.device.device_id.as_str()), Some(second.device_id.as_str()));
    assert_eq!(
        seen,
        [
            ("vault.deleted", 1_000, first),
            ("vault.reset_cancelled", 1_000, first),
            ("vault.reset_requested", 1_000, None),
            ("vault.device_removed", 1_000, second),
            ("vault.device_added", 1_000, second),
            ("vault.created", 0, first),
        ]
    );
    let removed = &answer.list("/entries")[3];
    assert_eq!((&removed["deviceName"], &removed["userAgent"]), (&"A phone".into(), &"Authenticator/1".into()));
    assert_eq!(removed["ip"], "127.0.0.1");
    assert!(answer.json["cursor"].is_null());
}

#[tokio::test]
async fn the_log_comes_in_pages_that_neither_repeat_nor_skip() {
    let mut owner = Owner::with_vault().await;
    for _ in 0..4 {
        owner.second_device().await;
    }
    let mut path = format!("{LOG}?limit=2");
    let mut events = Vec::new();
    loop {
        let page = owner.device.client.get(&path).send().await.expect(200);
        assert!((1..=2).contains(&page.list("/entries").len()));
        events.extend(page.list("/entries").iter().map(|entry| (entry["event"].clone(), entry["deviceId"].clone())));
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        path = format!("{LOG}?limit=2&cursor={cursor}");
        // What is added meanwhile stands before the first page.
        owner.device.client.delete("/v1/me/vault").send().await.expect(202);
    }
    let whole = owner.device.client.get(LOG).send().await.expect(200);
    let whole: Vec<_> =
        whole.list("/entries")[1..].iter().map(|entry| (entry["event"].clone(), entry["deviceId"].clone())).collect();
    assert_eq!(events, whole);
}

#[tokio::test]
async fn pages_have_1_to_100_entries_and_cursors_of_their_own() {
    let owner = Owner::with_vault().await;
    let client = &owner.device.client;
    for (limit, fits) in [(0, false), (1, true), (100, true), (101, false)] {
        let answer = client.get(&format!("{LOG}?limit={limit}")).send().await;
        if fits {
            answer.expect(200)
        } else {
            answer.expect_problems(&["limit"])
        };
    }
    client.get(&format!("{LOG}?limit=many")).send().await.expect(400);
    for cursor in ["x", "AAAAAAAAAAAA", "%C3%A9"] {
        let answer = client.get(&format!("{LOG}?cursor={cursor}")).send().await;
        answer.expect_error(400, "invalid_cursor", "Invalid cursor");
    }
}

#[tokio::test]
async fn nobody_elses_log_is_shown() {
    let owner = Owner::with_vault().await;
    let bob = owner.server.person("bob").await.authenticator().await;
    assert!(bob.get(LOG).send().await.expect(200).list("/entries").is_empty());
}
