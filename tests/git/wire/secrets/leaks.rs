//! Tokens of this program's in what is pushed: whoever can revoke one is told.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::token::{Token, TokenKind};
use serde_json::{Value, json};

use crate::{
    accounts::org,
    git::wire::{Workshop, key, refusals::key_of},
    harness::Client,
};

impl Workshop {
    /// Commits a file to which somebody has a token, and has the push be refused.
    async fn leak_token(&self, file: &str, token: &str) {
        std::fs::write(self.at("ada").join(file), format!("\ntoken = {token}\n")).unwrap();
        self.commit_all(file).await;
        let said = self.leaks(&[]).await;
        assert!(said.contains(&format!("{file}:2")) && !said.contains(token), "{said}");
    }

    /// What somebody was told of tokens that were found, once it is so much.
    async fn told_of_tokens(&self, client: &Client, count: usize) -> Vec<Value> {
        self.repos
            .server
            .eventually(&format!("{count} notices"), async || {
                let answer = client.get("/v1/me/notifications").send().await.expect(200);
                let notices = answer.list("/notices").iter().filter(|it| it["event"] == "security.git_key").cloned();
                let notices: Vec<_> = notices.collect();
                (notices.len() >= count).then_some(notices)
            })
            .await
    }
}

#[tokio::test]
async fn who_can_revoke_a_token_is_told_once_where_it_was_found() {
    let shop = Workshop::begun().await;
    let ada = &shop.repos.ada.client;
    shop.leak_token("settings", &shop.key).await;
    let told = shop.told_of_tokens(ada, 1).await;
    assert_eq!(told[0]["title"], "Your key Git was found in a repository");
    assert_eq!(
        told[0]["body"],
        "Your key Git stands in what was sent to the repository web, at settings:2. Revoke it, and use another one in \
         its place."
    );
    assert!(!told[0].to_string().contains(&shop.key), "{told:?}");
    // Nobody has this one, and the other one is known by now.
    shop.leak_token("nobody", Token::generate(TokenKind::Key).unwrap().reveal()).await;
    // A commit of the web tells the same.
    let second = key(&shop.repos, ada, &["git:read"]).await;
    let tip = shop.git("ada", &["ls-remote", "origin", "main"]).await;
    let body = json!({
        "branch": "main", "parentCommitId": tip.split('\t').next().unwrap(), "message": "Plant",
        "changes": [{ "op": "put", "path": "web", "content": STANDARD.encode(&second) }]
    });
    ada.post(&shop.repos.at("web/contents")).json(&body).send().await.expect(422);
    let told = shop.told_of_tokens(ada, 2).await;
    let places: BTreeSet<_> = told.iter().map(|it| it["body"].as_str().unwrap()).collect();
    assert!(told.len() == 2 && places.iter().any(|it| it.contains("the repository web, at web:1.")), "{told:?}");
    assert_eq!(told[0]["orgId"], shop.repos.org.rsplit('/').next().unwrap());
    // They still open what they opened.
    shop.git("ada", &["ls-remote", "origin"]).await;
}

#[tokio::test]
async fn who_has_no_part_in_the_repository_is_not_told_which_one_it_is() {
    let shop = Workshop::begun().await;
    let eve = shop.repos.server.person("eve").await;
    let elsewhere = org(&eve, "Elsewhere").await;
    let body = json!({ "name": "Deploy", "kind": "api", "scopes": ["git:read"] });
    let made = eve.client.post(&format!("{elsewhere}/keys")).json(&body).send().await.expect(201);
    shop.leak_token("hers", made.str("/secret")).await;
    shop.leak_token("sign-in", &key_of(&shop, &eve).await).await;
    let told = shop.told_of_tokens(&eve.client, 2).await;
    let said: BTreeSet<_> =
        told.iter().map(|it| (it["title"].as_str().unwrap(), it["body"].as_str().unwrap())).collect();
    let expected = [
        (
            "The token of one of your sign-ins was found in a repository",
            "The token of one of your sign-ins stands in what was sent to a repository in which you have no part. Revoke \
             it, and use another one in its place.",
        ),
        (
            "Your key Deploy was found in a repository",
            "Your key Deploy stands in what was sent to a repository in which you have no part. Revoke it, and use \
             another one in its place.",
        ),
    ];
    assert_eq!(said, BTreeSet::from(expected));
    assert!(told.iter().all(|it| it.get("orgId").is_none()), "{told:?}");
}
