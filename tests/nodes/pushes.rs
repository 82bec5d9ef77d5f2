//! Two nodes on which the same branch is pushed at once: one push lands, and the other one's client reads why it didn't. Packs
//! that one of them joins are found by the other one.
//!
//! `TROUPE_GIT_RACES` sets how often.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use domain::git::PACKS_MAX;
use serde_json::json;

use super::Pair;
use crate::harness::{Client, number};

const RACES: usize = 6;
/// How long packs may take to be joined.
const PATIENCE: Duration = Duration::from_mins(1);

/// Git in a folder, with nothing of this machine's configuration: whether it ended well, and what it said.
async fn git(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("git");
    command.current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.com");
    }
    command.args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("git");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).trim().to_owned())
}

async fn well(folder: &Path, arguments: &[&str]) -> String {
    let (is_ok, said) = git(folder, arguments).await;
    assert!(is_ok, "git {arguments:?}: {said}");
    said
}

async fn commit(folder: &Path, name: &str) -> String {
    std::fs::write(folder.join(name), name).unwrap();
    well(folder, &["add", "."]).await;
    well(folder, &["commit", "--quiet", "-m", name]).await;
    well(folder, &["rev-parse", "HEAD"]).await
}

fn address(client: &Client, org: &str, key: &str) -> String {
    let base = client.base().replace("http://", &format!("http://ada:{key}@"));
    format!("{base}/git/{org}/web.git")
}

/// A repository `web` and a key for it; the address on either node.
async fn addresses(pair: &Pair) -> [String; 2] {
    let clients = pair.clients();
    let ada = clients[0].with_authenticator("ada").await;
    let org = ada.org("Acme").await;
    let path = format!("/v1/orgs/{org}");
    ada.post(&format!("{path}/repos")).json(&json!({ "name": "web" })).send().await.expect(201);
    let key = json!({ "name": "Git", "kind": "api", "scopes": ["git:read", "git:write"] });
    let key = ada.post(&format!("{path}/keys")).json(&key).send().await.expect(201).str("/secret").to_owned();
    clients.map(|client| address(&client, &org, &key))
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_pushes_to_a_branch_on_two_nodes_one_lands_and_the_other_reads_why() {
    let races = number("TROUPE_GIT_RACES", RACES);
    let blobs = tempfile::tempdir().unwrap();
    let shared = format!("blobs.path={}", blobs.path().display());
    let Some(pair) = Pair::without_redis(&[&shared]).await else { return };
    let addresses = addresses(&pair).await;
    let folder = tempfile::tempdir().unwrap();
    let places = ["left", "right"].map(|name| folder.path().join(name));
    well(folder.path(), &["init", "--quiet", "--initial-branch=main", "left"]).await;
    commit(&places[0], "first").await;
    well(&places[0], &["push", "--quiet", &addresses[0], "main"]).await;
    well(folder.path(), &["clone", "--quiet", &addresses[1], "right"]).await;
    for race in 0..races {
        let mut tips = Vec::new();
        for (place, side) in places.iter().zip(["left", "right"]) {
            tips.push(commit(place, &format!("{side}-{race}")).await);
        }
        let push = async |at: usize| git(&places[at], &["push", "--porcelain", &addresses[at], "main"]).await;
        let (left, right) = tokio::join!(push(0), push(1));
        assert!(left.0 != right.0, "one lands: {left:?}, {right:?}");
        let (winner, loser) = if left.0 { (0, &right.1) } else { (1, &left.1) };
        let reasons = ["stale info", "fetch first", "non-fast-forward"];
        assert!(reasons.iter().any(|reason| loser.contains(reason)), "{loser}");
        for (place, address) in places.iter().zip(&addresses) {
            let listed = well(place, &["ls-remote", address, "refs/heads/main"]).await;
            assert!(listed.starts_with(&tips[winner]), "{listed}");
            well(place, &["fetch", "--quiet", address, "main"]).await;
            well(place, &["reset", "--quiet", "--hard", "FETCH_HEAD"]).await;
            well(place, &["fsck", "--full", "--strict"]).await;
        }
    }
}

/// How many packs the nodes have joined.
async fn joined(pair: &Pair) -> u64 {
    let mut joined = 0;
    for node in &pair.nodes {
        let text = Client::new(&node.operators_url).get("/metrics").send().await.expect(200).text;
        let value = text.lines().find_map(|line| line.strip_prefix("troupe_git_packs_joined_total "));
        joined += value.expect("the metric").parse::<u64>().expect("a whole number");
    }
    joined
}

#[tokio::test(flavor = "multi_thread")]
async fn packs_that_one_node_joins_are_found_by_both() {
    let blobs = tempfile::tempdir().unwrap();
    let shared = format!("blobs.path={}", blobs.path().display());
    let Some(pair) = Pair::without_redis(&[&shared]).await else { return };
    let addresses = addresses(&pair).await;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("work");
    well(folder.path(), &["init", "--quiet", "--initial-branch=main", "work"]).await;
    // Some come while others are joined, and either node has the old packs.
    for (at, address) in (0..PACKS_MAX + 4).zip(addresses.iter().cycle()) {
        commit(&place, &format!("file-{at}")).await;
        well(&place, &["push", "--quiet", address, "main"]).await;
    }
    let started = Instant::now();
    while joined(&pair).await < PACKS_MAX as u64 {
        assert!(started.elapsed() < PATIENCE, "packs aren't joined");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let head = well(&place, &["rev-parse", "HEAD"]).await;
    for (name, address) in ["left", "right"].iter().zip(&addresses) {
        well(folder.path(), &["clone", "--quiet", "--mirror", address, name]).await;
        let clone = folder.path().join(name);
        well(&clone, &["fsck", "--full", "--strict"]).await;
        assert_eq!(well(&clone, &["rev-parse", "main"]).await, head);
    }
}
