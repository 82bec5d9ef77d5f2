//! `troupe backup` beside a running server, and `troupe restore` into an empty place.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;

use super::launch;
use crate::harness::{Client, Launch};

/// Every file below a folder, with what is in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let name = entry.strip_prefix(folder).expect("below").display().to_string();
                found.insert(name, fs::read(&entry).expect("a file"));
            }
        }
    }
    found
}

async fn sign_in(client: &Client, email: &str) -> Client {
    let body = json!({ "email": email, "password": "correct horse battery", "app": "account", "platform": "web" });
    let answer = client.post("/v1/auth/sign-in").json(&body).send().await.expect(200);
    client.with_token(answer.json["token"].as_str().expect("a token"))
}

async fn register(client: &Client, email: &str) -> u16 {
    let body = json!({ "email": email, "password": "correct horse battery", "name": "Somebody" });
    client.post("/v1/auth/register").json(&body).send().await.status
}

fn restored(folder: &Path) -> (tempfile::TempDir, Launch, i32, String) {
    let (place, launch) = launch();
    let (status, text) = launch.run(&["restore", &folder.display().to_string()]);
    (place, launch, status, text)
}

#[tokio::test]
async fn a_copy_taken_under_load_has_all_that_was_acknowledged_before_it() {
    let (place, launch) = launch();
    let process = launch.start();
    let client = process.client();
    assert_eq!(register(&client, "ada@example.com").await, 201);
    let ada = sign_in(&client, "ada@example.com").await;
    let org = ada.post("/v1/orgs").json(&json!({ "name": "Engines" })).send().await.expect(201).json;
    // People go on registering while the copy is taken.
    let crowd = tokio::spawn({
        let client = process.client();
        async move {
            for number in 0..200 {
                register(&client, &format!("somebody-{number}@example.com")).await;
            }
        }
    });
    let copy = place.path().join("copies/monday");
    let (status, text) = tokio::task::spawn_blocking({
        let (launch, copy) = (launch.clone(), copy.display().to_string());
        move || launch.run(&["backup", &copy])
    })
    .await
    .expect("a back-up");
    assert_eq!(status, 0, "{text}");
    crowd.await.expect("the crowd");

    let names: Vec<_> = files(&copy).into_keys().collect();
    let own = ["copy.json", "secret", "secrets.keys", "troupe.sqlite"];
    assert!(own.iter().all(|name| names.iter().any(|it| it == name)), "{names:?}");
    for name in [""].iter().chain(&own) {
        let mode = fs::metadata(copy.join(name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o077, 0, "others read {name:?}");
    }

    let (there, again, status, text) = restored(&copy);
    assert_eq!(status, 0, "{text}");
    let (before, after) = (files(&copy), files(there.path()));
    assert_eq!(before["troupe.sqlite"], after["troupe.sqlite"]);
    assert_eq!((&before["secret"], &before["secrets.keys"]), (&after["secret"], &after["secrets.keys"]));
    let process = again.start();
    let ada = ada.at(&process.url);
    // Even the sign-in is the same one.
    let orgs = ada.get("/v1/orgs").send().await.expect(200).json;
    let found = orgs["orgs"].as_array().expect("a list").iter().any(|found| found["orgId"] == org["org"]["orgId"]);
    assert!(found && org["org"]["orgId"].is_string(), "{orgs}");
}

#[tokio::test]
async fn nothing_is_overwritten_and_nothing_unfinished_is_restored() {
    let (place, launch) = launch();
    drop(launch.start());
    let copy = place.path().join("copy");
    let at = copy.display().to_string();
    assert_eq!(launch.run(&["backup", &at]).0, 0);
    let before = files(&copy);
    let (status, text) = launch.run(&["backup", &at]);
    assert!(status != 0 && text.contains("is there already"), "{text}");
    assert_eq!(files(&copy), before);
    let (status, text) = launch.run(&["restore", &at]);
    assert!(status != 0 && text.contains("is there already"), "{text}");

    let cut = fs::read(copy.join("troupe.sqlite")).expect("a database");
    fs::write(copy.join("troupe.sqlite"), &cut[..cut.len() - 1]).expect("written");
    let (there, _, status, text) = restored(&copy);
    assert!(status != 0 && text.contains("incomplete"), "{text}");
    assert!(!there.path().join("troupe.sqlite").exists());

    let mut damaged = cut;
    let middle = damaged.len() / 2 / 4096 * 4096;
    damaged[middle..middle + 4096].fill(0xa5);
    fs::write(copy.join("troupe.sqlite"), damaged).expect("written");
    let (there, _, status, text) = restored(&copy);
    assert!(status != 0 && text.contains("damaged") || text.contains("malformed"), "{text}");
    assert!(!there.path().join("troupe.sqlite").exists());

    fs::remove_file(copy.join("copy.json")).expect("removed");
    let (_, _, status, text) = restored(&copy);
    assert!(status != 0 && text.contains("no finished copy"), "{text}");
}

#[tokio::test]
async fn a_database_with_tools_of_its_own_is_left_to_them() {
    let (place, launch) = launch();
    let launch = launch.set("database.url=postgres://nobody@127.0.0.1:1/nothing");
    for command in ["backup", "restore"] {
        let (status, text) = launch.run(&[command, &place.path().join("copy").display().to_string()]);
        assert!(status != 0 && text.contains("pg_dump"), "{text}");
    }
}

#[tokio::test]
async fn a_copy_has_the_contents_that_its_database_names_and_no_others() {
    let (place, launch) = launch();
    let process = launch.start();
    assert_eq!(register(&process.client(), "ada@example.com").await, 201);
    let ada = sign_in(&process.client(), "ada@example.com").await;
    let org = ada.post("/v1/orgs").json(&json!({ "name": "Engines" })).send().await.expect(201);
    let buckets = format!("/v1/orgs/{}/storage", org.str("/org/orgId"));
    let made = ada.post(&buckets).json(&json!({ "name": "files" })).send().await.expect(201);
    let file = format!("{buckets}/{}/object?key=a", made.str("/bucket/resourceId"));
    ada.put(&file).body("text/plain", vec![b'x'; 100_000]).send().await.expect(200);
    let blobs = place.path().join("blobs");
    let named: Vec<_> = files(&blobs.join("contents")).into_keys().collect();
    assert_eq!(named.len(), 1);
    // As an upload leaves it that began after the database was copied, and what another area keeps.
    fs::create_dir_all(blobs.join("contents/zz")).expect("a folder");
    fs::create_dir_all(blobs.join("drive")).expect("a folder");
    for name in ["contents/zz/begun", "contents/zz/begun#1", "drive/photo"] {
        fs::write(blobs.join(name), "bytes").expect("written");
    }
    let copy = place.path().join("copy");
    let (status, text) = launch.run(&["backup", &copy.display().to_string()]);
    assert_eq!(status, 0, "{text}");
    let copied: Vec<_> = files(&copy.join("blobs")).into_keys().collect();
    assert_eq!(copied, [format!("contents/{}", named[0]), "drive/photo".to_owned()]);
    let (_, _, status, text) = restored(&copy);
    assert_eq!(status, 0, "{text}");
}
