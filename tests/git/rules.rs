//! Making, changing and deleting rules of repositories.

use serde_json::json;

use super::Repos;

#[tokio::test]
async fn a_rule_is_made_read_changed_and_deleted() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    let (client, path) = (&repos.ada.client, repos.at("web/rules"));
    let body = json!({
        "name": " Main ", "patterns": ["main", "release/**", "main"], "requirePull": { "approvals": 2 },
        "bypass": { "roles": ["admin"] }
    });
    let made = client.post(&path).json(&body).send().await.expect(201);
    let rule = &made.json["rule"];
    assert_eq!((&rule["name"], &rule["target"], &rule["enabled"]), (&json!("Main"), &json!("branch"), &json!(true)));
    assert_eq!(rule["patterns"], json!(["main", "release/**"]));
    assert_eq!((&rule["blockForcePush"], &rule["blockDeletion"]), (&json!(true), &json!(true)));
    let pull = json!({ "approvals": 2, "dismissStale": false, "resolveThreads": false, "codeOwners": false });
    assert_eq!((&rule["requirePull"], &rule["restrictTo"]), (&pull, &json!(null)));
    let one = format!("{path}/{}", made.str("/rule/ruleId"));
    assert_eq!(client.get(&one).send().await.expect(200).json["rule"], *rule);
    assert_eq!(client.get(&path).send().await.expect(200).json["rules"], json!([rule]));
    let wanted =
        json!({ "requirePull": null, "blockDeletion": false, "restrictTo": { "people": [repos.ada.user_id] } });
    let changed = client.patch(&one).json(&wanted).send().await.expect(200);
    assert_eq!(changed.json["rule"]["requirePull"], json!(null));
    assert_eq!(changed.json["rule"]["restrictTo"]["people"], json!([repos.ada.user_id]));
    assert_eq!(changed.json["rule"]["bypass"]["roles"], json!(["admin"]));
    // What changes nothing is no change.
    client.patch(&one).json(&wanted).send().await.expect(200);
    client.delete(&one).send().await.expect(204);
    client.get(&one).send().await.expect_error(404, "not_found", "Rule not found");
    client.delete(&one).send().await.expect_error(404, "not_found", "Rule not found");
    client.patch(&one).json(&wanted).send().await.expect_error(404, "not_found", "Rule not found");
    let audited = ["branch_rule.changed", "branch_rule.created", "branch_rule.deleted"];
    assert_eq!(repos.audited("branch_rule.").await, audited);
}

#[tokio::test]
async fn a_rule_of_another_repository_is_not_there() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    repos.make("other", "organization").await;
    let client = &repos.ada.client;
    let body = json!({ "name": "Main", "patterns": ["main"] });
    let made = client.post(&repos.at("web/rules")).json(&body).send().await.expect(201);
    let elsewhere = repos.at(&format!("other/rules/{}", made.str("/rule/ruleId")));
    client.get(&elsewhere).send().await.expect_error(404, "not_found", "Rule not found");
    client.delete(&elsewhere).send().await.expect_error(404, "not_found", "Rule not found");
    let dev = repos.member("dev", "developer").await;
    dev.client.get(&repos.at("web/rules")).send().await.expect(200);
    let refused = dev.client.post(&repos.at("web/rules")).json(&body).send().await;
    refused.expect_error(403, "missing_scope", "This needs the git:admin permission.");
}

#[tokio::test]
async fn what_a_rule_cannot_say_is_named() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    let (client, path) = (&repos.ada.client, repos.at("web/rules"));
    let stranger = repos.server.person("eve").await;
    for (body, problems) in [
        (json!({ "name": "", "patterns": [] }), &["name", "patterns"][..]),
        (json!({ "name": "a", "patterns": ["ok", "a b", "a**"] }), &["patterns[1]", "patterns[2]"]),
        (json!({ "name": "a", "patterns": ["a"], "target": "note" }), &["target"]),
        (json!({ "name": "a", "patterns": ["a"], "requirePull": { "approvals": 7 } }), &["requirePull.approvals"]),
        (
            json!({ "name": "a", "patterns": ["a"], "target": "tag", "requirePull": {}, "linear": true }),
            &["requirePull", "linear"],
        ),
        (
            json!({ "name": "a", "patterns": ["a"], "bypass": { "roles": ["boss"], "teams": ["x"] } }),
            &["bypass.roles[0]", "bypass.teams[0]"],
        ),
        (json!({ "name": "a", "patterns": ["a"], "bypass": { "people": [stranger.user_id] } }), &["bypass.people"]),
        (
            json!({ "name": "a", "patterns": ["a"], "restrictTo": { "teams": ["tea_01jd7rt4m5e9fv2w8x3c6k0hqz"] } }),
            &["restrictTo.teams"],
        ),
    ] {
        client.post(&path).json(&body).send().await.expect_problems(problems);
    }
}

#[tokio::test]
async fn a_repository_has_a_hundred_rules_and_no_more() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    let (client, path) = (&repos.ada.client, repos.at("web/rules"));
    let patterns: Vec<_> = (0..20).map(|at| format!("branch-{at}")).collect();
    let body = json!({ "name": "a".repeat(100), "patterns": patterns });
    for _ in 0..100 {
        client.post(&path).json(&body).send().await.expect(201);
    }
    let more = client.post(&path).json(&body).send().await;
    more.expect_error(400, "limit_reached", "A repository has at most 100 rules.");
    assert_eq!(client.get(&path).send().await.expect(200).list("/rules").len(), 100);
    let longer = json!({ "name": "a".repeat(101), "patterns": (0..21).map(|at| at.to_string()).collect::<Vec<_>>() });
    client.post(&path).json(&longer).send().await.expect_problems(&["name", "patterns"]);
    client.delete(&repos.at("web")).send().await.expect(202);
    let refused = client.post(&path).json(&body).send().await;
    refused.expect_error(409, "repository_deleted", "This repository is deleted. Restore it first.");
}
