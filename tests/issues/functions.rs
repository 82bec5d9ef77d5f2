//! Functions of queries that ask for issues and spaces by what they have to do with others.

use super::*;

#[tokio::test]
async fn links_kinship_and_watching_are_asked_for() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    for (summary, kind, parent) in [
        ("Top", "epic", None),
        ("Child", "task", Some("WEB-1")),
        ("Grandchild", "subtask", Some("WEB-2")),
        ("Other", "task", None),
    ] {
        desk.issue(json!({ "summary": summary, "type": kind, "parent": parent })).await;
    }
    for (from, kind, to) in
        [("WEB-1", "blocks", "WEB-2"), ("WEB-4", "blocks", "WEB-1"), ("WEB-1", "relates to", "WEB-3")]
    {
        let path = format!("{}/{from}/links", desk.path);
        desk.ada.client.post(&path).json(&json!({ "type": kind, "to": to })).send().await.expect(201);
    }
    let bobs = json!({ "space": "WEB", "summary": "Bob's" });
    bob.client.post(&desk.path).json(&bobs).send().await.expect(201);
    for (jql, keys) in [
        ("key in linkedIssues(WEB-1) order by key", &["WEB-2", "WEB-3", "WEB-4"][..]),
        ("key in linkedIssues(web-1, blocks)", &["WEB-2"]),
        ("key in linkedIssues(WEB-1, 'is blocked by')", &["WEB-4"]),
        ("key in linkedIssues(WEB-1, 'relates to', 'is blocked by') order by key", &["WEB-3", "WEB-4"]),
        ("key in linkedIssues(WEB-3)", &["WEB-1"]),
        ("key not in linkedIssues(WEB-1) order by key", &["WEB-1", "WEB-5"]),
        ("key in linkedIssues(WEB-5)", &[]),
        ("key in childIssuesOf(WEB-1) order by key", &["WEB-2", "WEB-3"]),
        ("key in childIssuesOf(WEB-3)", &[]),
    ] {
        assert_eq!(desk.found(&desk.ada, jql).await, keys, "{jql}");
    }
    assert_eq!(desk.found(&bob, "key in watchedIssues()").await, ["WEB-5"]);
    assert_eq!(desk.found(&desk.ada, "key in watchedIssues() order by key").await.len(), 4);
    for jql in ["key in linkedIssues(WEB-99)", "key in linkedIssues(WEB-1, nothing)", "key in childIssuesOf(NO-1)"] {
        assert_eq!(desk.search_as(&desk.ada, jql).await.expect(400).str("/code"), "jql", "{jql}");
    }
    let filter = json!({ "name": "Linked", "jql": "key in linkedIssues(WEB-3)" });
    desk.ada.client.post(&format!("{}/filters", desk.path)).json(&filter).send().await.expect(201);
    assert_eq!(desk.found(&desk.ada, "filter = Linked").await, ["WEB-1"]);
}

#[tokio::test]
async fn what_a_hidden_space_holds_is_named_by_no_function() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let hidden = json!({ "key": "SAFE", "name": "Safe", "template": "basic" });
    desk.ada.client.post(&format!("{}/spaces", desk.path)).json(&hidden).send().await.expect(201);
    let private = json!({ "config": { "access": { "visibility": "private" } } });
    desk.ada.client.patch(&format!("{}/spaces/SAFE", desk.path)).json(&private).send().await.expect(200);
    desk.issue(json!({ "summary": "Open" })).await;
    desk.issue(json!({ "space": "SAFE", "summary": "Secret" })).await;
    let link = json!({ "type": "blocks", "to": "SAFE-1" });
    desk.ada.client.post(&format!("{}/WEB-1/links", desk.path)).json(&link).send().await.expect(201);
    assert_eq!(desk.found(&desk.ada, "key in linkedIssues(WEB-1)").await, ["SAFE-1"]);
    assert_eq!(desk.found(&bob, "key in linkedIssues(WEB-1)").await, [""; 0]);
    assert_eq!(desk.search_as(&bob, "key in linkedIssues(SAFE-1)").await.expect(400).str("/code"), "jql");
}

#[tokio::test]
async fn spaces_are_asked_for_by_lead_and_by_permission() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let ops = json!({ "key": "OPS", "name": "Ops", "template": "basic", "leadId": bob.user_id });
    desk.ada.client.post(&format!("{}/spaces", desk.path)).json(&ops).send().await.expect(201);
    desk.issue(json!({ "summary": "Web" })).await;
    desk.issue(json!({ "space": "OPS", "summary": "Ops" })).await;
    for (person, jql, keys) in [
        (&bob, "space in projectsLeadByUser()", &["OPS-1"][..]),
        (&desk.ada, "space in projectsLeadByUser()", &[]),
        (&desk.ada, "space in projectsLeadByUser(bob)", &["OPS-1"]),
        (&desk.ada, "space in projectsWhereUserHasPermission(administer) order by key", &["OPS-1", "WEB-1"]),
        (&bob, "space in projectsWhereUserHasPermission(administer)", &[]),
        (&bob, "space in projectsWhereUserHasPermission(edit) order by key", &["OPS-1", "WEB-1"]),
    ] {
        assert_eq!(desk.found(person, jql).await, keys, "{jql}");
    }
    for jql in ["space in projectsLeadByUser(nobody)", "space in projectsWhereUserHasPermission(fly)"] {
        assert_eq!(desk.search_as(&desk.ada, jql).await.expect(400).str("/code"), "jql", "{jql}");
    }
}
