//! What never shows through this door.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn an_internal_comment_shows_nowhere() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    desk.say(&path, "Hello", true).await;
    let before = desk.eve.client.get(&path).send().await.expect(200);
    desk.server.clock.advance(Duration::from_mins(1));
    desk.say(&path, "SECRET", false).await;
    let after = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!(after.json, before.json, "not even updatedAt tells of it");
    let list = desk.eve.client.get(&format!("{}/requests?status=all", desk.portal)).send().await.expect(200);
    assert!(!list.text.contains("SECRET"));
    assert_eq!(list.list("/requests")[0]["updatedAt"], before.json["request"]["updatedAt"]);
    desk.say(&path, "Goodbye", true).await;
    desk.server
        .eventually("the public answers", async || {
            let kept = desk.server.operator().get(&format!("/kept?to={}", desk.eve.email)).send().await.expect(200);
            assert!(!kept.text.contains("SECRET"), "{}", kept.text);
            kept.text.contains("Goodbye").then_some(())
        })
        .await;
    let later = desk.eve.client.get(&path).send().await.expect(200);
    assert!(later.int("/request/updatedAt") > before.int("/request/updatedAt"));
}

#[tokio::test]
async fn a_public_comment_that_is_deleted_is_gone_and_one_that_is_changed_is_changed() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let said = desk.say(&path, "Hello", true).await;
    assert_eq!(said.json["comment"]["public"], true);
    let one = format!("{}/comments/{}", desk.issue(&path), said.str("/comment/commentId"));
    desk.ada.client.patch(&one).json(&json!({ "body": "Goodbye" })).send().await.expect(200);
    assert_eq!(desk.eve.client.get(&path).send().await.expect(200).str("/comments/0/body"), "Goodbye");
    desk.ada.client.delete(&one).send().await.expect(204);
    assert_eq!(desk.eve.client.get(&path).send().await.expect(200).list("/comments").len(), 0);
}

#[tokio::test]
async fn what_members_do_among_themselves_moves_nothing() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let before = desk.eve.client.get(&path).send().await.expect(200);
    desk.server.clock.advance(Duration::from_mins(1));
    let issue = desk.issue(&path);
    let body = json!({ "labels": ["hot"], "assignee": desk.ada.email, "priority": "high", "environment": "SECRET" });
    desk.ada.client.patch(&issue).json(&body).send().await.expect(200);
    let epic = json!({ "space": "HELP", "summary": "SECRET", "type": "subtask", "parent": "HELP-1" });
    desk.ada.client.post(&format!("{}/issues", desk.org)).json(&epic).send().await.expect(201);
    let after = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!(after.json, before.json);
    for word in ["issueId", "issue_id", "assignee", "labels", "environment", "watchers", "commentCount", "@example.org"]
    {
        assert!(!after.text.contains(word), "{word}: {}", after.text);
    }
}

#[tokio::test]
async fn others_requests_and_issues_that_are_no_requests_do_not_exist() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let bob = desk.member("bob", "admin").await;
    let gone = |answer: Answer| answer.expect_error(404, "not_found", "Request not found.");
    gone(bob.client.get(&path).send().await);
    for (method, rest) in [("post", "comments"), ("post", "participants"), ("post", "rating"), ("post", "attachments")]
    {
        let body = match rest {
            "comments" => json!({ "body": "x" }),
            "participants" => json!({ "email": "bob@example.org" }),
            "rating" => json!({ "rating": 1 }),
            _ => json!({ "name": "a", "size": 1 }),
        };
        assert_eq!(method, "post");
        gone(bob.client.post(&format!("{path}/{rest}")).json(&body).send().await);
    }
    let own = json!({ "space": "HELP", "summary": "Mine", "type": "incident" });
    let made = bob.client.post(&format!("{}/issues", desk.org)).json(&own).send().await.expect(201);
    gone(bob.client.get(&format!("{}/requests/{}", desk.portal, made.str("/issue/key"))).send().await);
    for key in ["HELP-99", "x", "NONE-1", "%20"] {
        gone(desk.eve.client.get(&format!("{}/requests/{key}", desk.portal)).send().await);
    }
    desk.ada.client.delete(&desk.issue(&path)).send().await.expect(204);
    gone(desk.eve.client.get(&path).send().await);
    let list = desk.eve.client.get(&format!("{}/requests?status=all", desk.portal)).send().await.expect(200);
    assert_eq!(list.list("/requests").len(), 0);
}

#[tokio::test]
async fn a_request_is_found_in_its_own_help_center_only() {
    let desk = Desk::new().await;
    desk.request(&desk.eve.client, "Fire").await;
    let space = json!({ "key": "TWO", "name": "Two", "template": "service" });
    let made = desk.ada.client.post(&format!("{}/issues/spaces", desk.org)).json(&space).send().await.expect(201);
    let mut config = made.json["space"]["config"].clone();
    config["servicedesk"]["portal"] = json!({ "enabled": true, "access": "any" });
    let two = format!("{}/issues/spaces/TWO", desk.org);
    desk.ada.client.patch(&two).json(&json!({ "config": config })).send().await.expect(200);
    let two = desk.portal.replace("/HELP", "/TWO");
    let elsewhere = desk.eve.client.get(&format!("{two}/requests/HELP-1")).send().await;
    elsewhere.expect_error(404, "not_found", "Request not found.");
    let list = desk.eve.client.get(&format!("{two}/requests?status=all")).send().await.expect(200);
    assert_eq!(list.list("/requests").len(), 0);
}

#[tokio::test]
async fn a_customer_opens_nothing_but_this_door() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let issue = desk.issue(&path);
    for path in [desk.org.clone(), format!("{}/issues", desk.org), issue.clone(), format!("{issue}/comments")] {
        desk.eve.client.get(&path).send().await.expect_error(404, "not_found", "Organization not found.");
    }
}

#[tokio::test]
async fn customers_addresses_are_told_the_spaces_admins_only() {
    let desk = Desk::new().await;
    desk.configure(|config| config["portal"]["customers"] = json!(["eve@example.org"])).await;
    let bob = desk.member("bob", "developer").await;
    let space = format!("{}/issues/spaces/HELP", desk.org);
    let told = desk.ada.client.get(&space).send().await.expect(200);
    assert!(told.text.contains("eve@example.org"));
    for path in [space, format!("{}/issues/spaces", desk.org), format!("{}/issues/config/meta", desk.org)] {
        let answer = bob.client.get(&path).send().await.expect(200);
        assert!(!answer.text.contains("eve@example.org"), "{path}: {}", answer.text);
    }
    let meta = desk.ada.client.get(&format!("{}/issues/config/meta", desk.org)).send().await.expect(200);
    assert!(!meta.text.contains("eve@example.org"), "{}", meta.text);
    assert!(!desk.eve.client.get(&desk.portal).send().await.expect(200).text.contains("@example.org"));
}

#[tokio::test]
async fn public_comments_need_an_agent_and_a_desk() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let bob = desk.member("bob", "developer").await;
    let comments = format!("{}/comments", desk.issue(&path));
    let refused = bob.client.post(&comments).json(&json!({ "body": "x", "public": true })).send().await;
    refused.expect_error(403, "space_permission", "You can't answer requests in this space.");
    bob.client.post(&comments).json(&json!({ "body": "x" })).send().await.expect(201);
    let basic = json!({ "key": "WEB", "name": "Web", "template": "basic" });
    desk.ada.client.post(&format!("{}/issues/spaces", desk.org)).json(&basic).send().await.expect(201);
    let issue = json!({ "space": "WEB", "summary": "One" });
    desk.ada.client.post(&format!("{}/issues", desk.org)).json(&issue).send().await.expect(201);
    let comments = format!("{}/issues/WEB-1/comments", desk.org);
    let refused = desk.ada.client.post(&comments).json(&json!({ "body": "x", "public": true })).send().await;
    refused.expect_problems(&["public"]);
}

#[tokio::test]
async fn who_may_not_come_in_any_more_is_told_nothing() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "viewer").await;
    let path = desk.request(&bob.client, "Fire").await;
    let invite = json!({ "email": desk.eve.email });
    bob.client.post(&format!("{path}/participants")).json(&invite).send().await.expect(201);
    desk.configure(|config| config["portal"]["access"] = json!("org")).await;
    desk.say(&path, "For members", true).await;
    let kept = async |to: &str| {
        desk.server.operator().get(&format!("/kept?to={to}")).send().await.expect(200).text.contains("For members")
    };
    desk.server.eventually("the mail to bob", async || kept(&bob.email).await.then_some(())).await;
    assert!(!kept(&desk.eve.email).await);
}
