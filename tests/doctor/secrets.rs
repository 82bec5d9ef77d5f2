//! The keys of secrets: made at the first start, needed at every later one, exchanged by `troupe admin secrets-rekey`.

use std::fs;

use super::launch;
use crate::harness::Launch;

const OTHER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

/// Somebody who waits for the first code of a second factor.
async fn enrol(launch: &Launch) {
    let process = launch.start();
    let client = process.client();
    let email = client.register("ada").await;
    let ada = client.sign_in(&email, "account", "web").await;
    ada.post("/v1/me/otp").send().await.expect(200);
    assert_eq!(process.terminate(), Some(0));
}

#[tokio::test]
async fn a_server_that_lost_its_keys_does_not_start_and_says_which_one_it_wants() {
    let (folder, launch) = launch();
    enrol(&launch).await;
    let keys = folder.path().join("secrets.keys");
    let kept = fs::read(&keys).expect("the keys");
    fs::remove_file(&keys).expect("a file");
    for command in ["serve", "doctor"] {
        let (status, text) = launch.run(&[command]);
        assert_eq!(status, 1, "{text}");
        assert!(text.contains("secrets of this database are sealed under the key"), "{text}");
    }
    fs::write(&keys, kept).expect("a file");
    assert_eq!(launch.start().terminate(), Some(0));
}

#[tokio::test]
async fn a_damaged_file_of_keys_stops_the_start_and_is_named() {
    let (folder, launch) = launch();
    fs::write(folder.path().join("secrets.keys"), "no key\n").expect("a file");
    let (status, text) = launch.run(&["serve"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("secrets.keys is damaged: each line should be 32 bytes in base64"), "{text}");
}

#[tokio::test]
async fn after_a_rekey_the_old_key_can_be_taken_away() {
    let (folder, launch) = launch();
    enrol(&launch).await;
    let keys = folder.path().join("secrets.keys");
    let old = fs::read_to_string(&keys).expect("the keys");
    fs::write(&keys, format!("{OTHER_KEY}\n{old}")).expect("a file");
    let (status, text) = launch.run(&["admin", "secrets-rekey"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("Sealed 1 secrets anew."), "{text}");
    fs::write(&keys, OTHER_KEY).expect("a file");
    let process = launch.start();
    process.client().sign_in("ada@example.com", "account", "web").await;
}

#[tokio::test]
async fn doctor_says_when_access_keys_were_made_under_another_secret_of_the_server() {
    let (folder, launch) = launch();
    let process = launch.start();
    let client = process.client();
    let email = client.register("ada").await;
    let ada = client.sign_in(&email, "account", "web").await;
    let org_id = ada.org("Acme").await;
    let body = serde_json::json!({ "name": "Backups", "access": "read" });
    ada.post(&format!("/v1/orgs/{org_id}/access-keys")).json(&body).send().await.expect(201);
    assert_eq!(process.terminate(), Some(0));
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("access keys: all were made under this server's secret"), "{text}");
    fs::write(folder.path().join("secret"), [7; 32]).expect("a file");
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("access keys: 1 were made under another secret of the server"), "{text}");
}
