//! Reading the vault as a whole.

use std::time::Duration;

use super::{Owner, REMOVED};

const DEVICE: &str = "X-Vault-Device";

#[tokio::test]
async fn without_a_vault_there_is_nothing_but_its_limits() {
    let owner = Owner::without_vault_on(&["vault.max_items=7"]).await;
    assert_eq!(
        owner.overview().await,
        serde_json::json!({
            "account": null, "vaults": [], "devices": [], "reset": null,
            "limits": { "maxItems": 7, "maxDevices": 20 },
        })
    );
}

#[tokio::test]
async fn only_the_authenticator_apps_own_sign_in_opens_it() {
    let owner = Owner::with_vault().await;
    let (account, device) = (&owner.device.vault_id, &owner.device.device_id);
    for (app, platform) in
        [("account", "ios"), ("assistant", "android"), ("authenticator", "web"), ("authenticator", "cli")]
    {
        let client = owner.person.sign_in(app, platform).await;
        for (method, path) in [
            ("GET", "/v1/me/vault".to_owned()),
            ("POST", "/v1/me/vault".to_owned()),
            ("DELETE", "/v1/me/vault".to_owned()),
            ("GET", "/v1/me/vault/log".to_owned()),
            ("PUT", "/v1/me/vault/keyset".to_owned()),
            ("POST", "/v1/me/vault/reset/cancel".to_owned()),
            ("GET", format!("/v1/me/vault/vaults/{account}/index")),
            ("GET", format!("/v1/me/vault/vaults/{account}/items")),
            ("POST", format!("/v1/me/vault/vaults/{account}/items")),
            ("PUT", format!("/v1/me/vault/devices/{device}")),
            ("DELETE", format!("/v1/me/vault/devices/{device}")),
        ] {
            let answer = client.request(method.parse().unwrap(), &path).raw("not even JSON").send().await;
            answer.expect_error(403, "authenticator_only", "Passwords opens only in the Authenticator app.");
        }
    }
    owner.person.sign_in("authenticator", "android").await.get("/v1/me/vault").send().await.expect(200);
    owner.device.client.nobody().get("/v1/me/vault").send().await.expect_error(
        401,
        "unauthenticated",
        "Sign in to continue.",
    );
}

#[tokio::test]
async fn a_device_that_names_itself_is_seen_at_most_once_a_minute() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let start = owner.server.clock.now().0;
    let seen = async |millis: u64| {
        owner.server.clock.advance(Duration::from_millis(millis));
        let request = owner.device.client.get("/v1/me/vault").header(DEVICE, &owner.device.device_id);
        let answer = request.send().await.expect(200);
        let devices = answer.list("/devices").to_vec();
        let of = |id: &str| {
            devices.iter().find(|device| device["deviceId"] == id).expect("a device")["lastSeenAt"].as_i64().unwrap()
        };
        assert_eq!(of(&second.device_id), start, "the other was not seen");
        assert_eq!(owner.overview().await["devices"], answer.json["devices"], "what was answered is what is kept");
        of(&owner.device.device_id) - start
    };
    assert_eq!(seen(59_999).await, 0);
    assert_eq!(seen(1).await, 60_000);
    assert_eq!(seen(59_999).await, 60_000);
    assert_eq!(seen(1).await, 120_000);
}

#[tokio::test]
async fn a_device_that_removed_itself_is_told_so_and_its_sign_in_goes_on() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let path = format!("/v1/me/vault/devices/{}", second.device_id);
    second.signed(reqwest::Method::DELETE, &path, None).send().await.expect(200);
    let answer = second.client.get("/v1/me/vault").header(DEVICE, &second.device_id).send().await;
    answer.expect_error(403, "device_removed", REMOVED);
    second.client.get("/v1/me/vault").send().await.expect(200);
}

#[tokio::test]
async fn a_device_that_was_never_registered_is_no_matter_and_one_that_cannot_be_is_invalid() {
    let mut owner = Owner::with_vault().await;
    let id = owner.new_id();
    owner.device.client.get("/v1/me/vault").header(DEVICE, id).send().await.expect(200);
    let answer = owner.device.client.get("/v1/me/vault").header(DEVICE, "short").send().await;
    answer.expect_problems(&[DEVICE]);
}
