//! Links in messages lead somewhere.

use serde_json::json;

use super::all_is_out;
use crate::{
    accounts::{join, letter, org},
    harness::Server,
};

/// The addresses of this server that stand in a text.
fn links<'t>(text: &'t str, server: &'t Server) -> Vec<&'t str> {
    text.split_whitespace().filter_map(|word| word.strip_prefix(server.url.as_str())).collect()
}

#[tokio::test]
async fn the_link_of_a_mention_is_answered() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "developer").await;
    let made = ada
        .client
        .post(&format!("{acme}/pages"))
        .json(&json!({ "parentId": "root", "title": "Plans" }))
        .send()
        .await
        .expect(201);
    let mail = json!({ "channels": ["email", "inapp"] });
    grace.client.put("/v1/me/notifications/settings/events/page.mentioned").json(&mail).send().await.expect(200);
    let comment = json!({ "body": "Look", "mentions": [grace.user_id] });
    let comments = format!("{acme}/pages/{}/comments", made.str("/page/pageId"));
    ada.client.post(&comments).json(&comment).send().await.expect(201);
    all_is_out(&server).await;
    let text = letter(&server, &grace.email, "ada mentioned you").await;
    let found = links(&text, &server);
    assert_eq!(found.len(), 1, "{text}");
    let shown = server.client().get(found[0]).send().await.expect(200);
    assert!(shown.text.contains("Notes page"), "{}", shown.text);
}
