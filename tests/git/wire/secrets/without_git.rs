//! Secrets in what is committed and merged without git.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

use super::{Place, RULES, place, planted_file, planted_of_each};
use crate::{
    git::wire::Workshop,
    harness::{Answer, Dice},
};

impl Workshop {
    /// A commit of these files to `main`, made without git.
    async fn commit_over_the_web(&self, files: &[(String, String)]) -> Answer {
        let put =
            |(path, text): &(String, String)| json!({ "op": "put", "path": path, "content": STANDARD.encode(text) });
        let body = json!({
            "branch": "main", "parentCommitId": self.tip("main").await, "message": "Plant",
            "changes": files.iter().map(put).collect::<Vec<_>>()
        });
        self.repos.ada.client.post(&self.repos.at("web/contents")).json(&body).send().await
    }
}

/// The files of a rule with their secrets, and where these are.
fn planted(rule: &str, dice: &mut Dice) -> (Vec<(String, String)>, BTreeSet<Place>) {
    let files = (0..planted_of_each()).map(|number| planted_file("a folder", rule, number, dice));
    files.map(|(path, text, place)| ((path, text), place)).unzip()
}

/// Where the secrets are for which something is refused.
fn places(refused: &Answer) -> BTreeSet<Place> {
    assert_eq!(refused.str("/code"), "secret_detected");
    refused.list("/findings").iter().map(place).collect()
}

#[tokio::test]
async fn secrets_of_every_rule_are_refused_with_path_and_line_in_commits_of_the_web() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    for rule in RULES {
        let (mut files, expected) = planted(rule, &mut dice);
        files.push(("a folder/harmless.txt".to_owned(), "nothing\n".to_owned()));
        let refused = shop.commit_over_the_web(&files).await.expect(422);
        assert_eq!(places(&refused), expected);
        let noted = shop.findings("?limit=100").await;
        assert!(expected.is_subset(&noted.iter().map(place).collect()), "{noted:?}");
    }
    assert_eq!(shop.mirrored("mirror").await, format!("refs/heads/main {}", shop.tip("main").await));
}

#[tokio::test]
async fn secrets_of_every_rule_are_refused_with_path_and_line_in_merges() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    for (number, rule) in (1..).zip(RULES) {
        shop.git("ada", &["checkout", "--quiet", "-b", rule, "main"]).await;
        let (files, expected) = planted(rule, &mut dice);
        for (path, text) in &files {
            shop.commit("ada", path, text).await;
        }
        // They come in because they are allowed, which is withdrawn before the base gains them.
        assert!(!shop.try_git("ada", &["push", "origin", rule]).await.is_ok);
        let found = shop.findings("?limit=100").await;
        let fingerprints: Vec<_> = found.iter().map(|finding| finding["fingerprint"].as_str().unwrap()).collect();
        let option = format!("secret.allow={}", fingerprints.join(","));
        shop.git("ada", &["push", "--quiet", "-o", &option, "origin", rule]).await;
        shop.open(rule, "main").await.expect(201);
        for fingerprint in &fingerprints {
            shop.withdraw(fingerprint).await.expect(204);
        }
        for method in ["merge", "squash", "rebase"] {
            assert_eq!(places(&shop.merge(number, method).await.expect(422)), expected, "{rule}: {method}");
        }
        for fingerprint in &fingerprints {
            shop.allow(fingerprint, json!({ "reason": "test" })).await.expect(200);
        }
    }
    let main = format!("refs/heads/main {}", shop.tip("main").await);
    assert_eq!(shop.mirrored("mirror").await.lines().find(|line| line.contains("/main ")), Some(main.as_str()));
}
