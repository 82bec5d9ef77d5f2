//! Components and versions of a space, and what issues and queries do with them.

use domain::issues::jql::meaning::numbered_day;

use super::*;

impl Desk {
    async fn component(&self, body: Value) -> Answer {
        self.ada.client.post(&format!("{}/spaces/WEB/components", self.path)).json(&body).send().await
    }

    async fn version(&self, body: Value) -> Answer {
        self.ada.client.post(&format!("{}/spaces/WEB/versions", self.path)).json(&body).send().await
    }

    fn version_path(&self, answer: &Answer) -> String {
        format!("{}/spaces/WEB/versions/{}", self.path, answer.str("/version/versionId"))
    }

    fn component_path(&self, answer: &Answer) -> String {
        format!("{}/spaces/WEB/components/{}", self.path, answer.str("/component/componentId"))
    }

    async fn names(&self, what: &str) -> Vec<String> {
        let list = self.ada.client.get(&format!("{}/spaces/WEB/{what}", self.path)).send().await.expect(200);
        list.list(&format!("/{what}")).iter().map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
    }
}

#[tokio::test]
async fn components_are_made_changed_and_deleted_by_admins_of_the_space() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let made = desk.component(json!({ "name": " Front ", "leadId": bob.user_id, "defaultAssignee": "lead" })).await;
    let made = made.expect(201);
    assert_eq!((made.str("/component/name"), made.str("/component/leadId")), ("Front", bob.user_id.as_str()));
    let path = desk.component_path(&made);
    let taken = desk.component(json!({ "name": "FRONT" })).await;
    taken.expect_error(409, "name_taken", "Another component of the space has this name.");
    desk.component(json!({ "name": "Back", "defaultAssignee": "lead" })).await.expect_problems(&["defaultAssignee"]);
    let nobody = json!({ "name": "Back", "leadId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz" });
    desk.component(nobody).await.expect_problems(&["leadId"]);
    for (length, status) in [(0, 400), (1, 201), (99, 201), (100, 201), (101, 400)] {
        assert_eq!(desk.component(json!({ "name": "x".repeat(length) })).await.status, status, "{length}");
    }
    for (length, status) in [(999, 201), (1_000, 201), (1_001, 400)] {
        let body = json!({ "name": format!("d{length}"), "description": "x".repeat(length) });
        assert_eq!(desk.component(body).await.status, status, "{length}");
    }
    let changed = desk.ada.client.patch(&path).json(&json!({ "name": "Shop", "version": 1 })).send().await.expect(200);
    assert_eq!((changed.str("/component/name"), changed.int("/component/version")), ("Shop", 2));
    let stale = desk.ada.client.patch(&path).json(&json!({ "name": "Front", "version": 1 })).send().await;
    stale.expect_error(409, "stale_version", "The component changed. Load it again.");
    let refused = bob.client.patch(&path).json(&json!({ "name": "Mine" })).send().await;
    refused.expect_error(403, "space_admin", "Only admins of the space can do this.");
    let mine = desk.issue(json!({ "summary": "One", "components": ["shop"] })).await;
    let used = desk.ada.client.delete(&path).send().await;
    used.expect_error(409, "in_use", "\"Shop\" is still used.");
    desk.ada.client.delete(&format!("{}/{mine}", desk.path)).send().await.expect(204);
    desk.ada.client.delete(&path).send().await.expect_error(409, "in_use", "\"Shop\" is still used.");
    let free = desk.component(json!({ "name": "Free" })).await.expect(201);
    desk.ada.client.delete(&desk.component_path(&free)).send().await.expect(204);
    let gone = desk.ada.client.delete(&desk.component_path(&free)).send().await;
    gone.expect_error(404, "not_found", "Component not found.");
    assert!(!desk.names("components").await.contains(&"Free".to_owned()));
}

#[tokio::test]
async fn a_component_says_who_is_responsible_for_its_new_issues() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let lead = json!({ "leadId": desk.ada.user_id });
    desk.ada.client.patch(&format!("{}/spaces/WEB", desk.path)).json(&lead).send().await.expect(200);
    let path = format!("{}/spaces/WEB", desk.path);
    let mut config = desk.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
    config["defaultAssignee"] = json!("lead");
    desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await.expect(200);
    for (name, assignee, lead) in
        [("Plain", "space", None), ("Front", "lead", Some(&bob.user_id)), ("Open", "unassigned", None)]
    {
        let body = json!({ "name": name, "defaultAssignee": assignee, "leadId": lead });
        desk.component(body).await.expect(201);
    }
    for (components, expected) in [
        (json!([]), Some(&desk.ada.user_id)),
        (json!(["plain"]), Some(&desk.ada.user_id)),
        (json!(["plain", "front"]), Some(&bob.user_id)),
        (json!(["open", "front"]), None),
    ] {
        let key = desk.issue(json!({ "summary": "One", "components": components })).await;
        let shown = desk.ada.client.get(&format!("{}/{key}", desk.path)).send().await.expect(200);
        assert_eq!(shown.json["issue"]["assigneeId"].as_str(), expected.map(String::as_str), "{components}");
    }
    let said = desk.issue(json!({ "summary": "One", "components": ["front"], "assignee": null })).await;
    let shown = desk.ada.client.get(&format!("{}/{said}", desk.path)).send().await.expect(200);
    assert_eq!(shown.json["issue"].get("assigneeId"), None, "what is said counts");
}

#[tokio::test]
async fn versions_are_ordered_released_and_archived() {
    let desk = Desk::new().await;
    let mut paths = Vec::new();
    for name in ["1.0", "2.0", "3.0"] {
        let made = desk.version(json!({ "name": name, "startDate": "2027-01-01" })).await.expect(201);
        paths.push(desk.version_path(&made));
    }
    let taken = desk.version(json!({ "name": "2.0" })).await;
    taken.expect_error(409, "name_taken", "Another version of the space has this name.");
    desk.version(json!({ "name": "", "releaseDate": "soon" })).await.expect_problems(&["name", "releaseDate"]);
    let moved = desk.ada.client.patch(&paths[2]).json(&json!({ "position": 0 })).send().await.expect(200);
    assert_eq!(moved.int("/version/version"), 2);
    assert_eq!(desk.names("versions").await, ["3.0", "1.0", "2.0"]);
    desk.ada.client.patch(&paths[2]).json(&json!({ "position": 500 })).send().await.expect(200);
    assert_eq!(desk.names("versions").await, ["1.0", "2.0", "3.0"]);
    let open =
        desk.issue(json!({ "summary": "Open", "fixVersions": ["1.0"], "affectsVersions": ["2.0", "2.0"] })).await;
    let done = desk.issue(json!({ "summary": "Done *now*", "fixVersions": ["1.0", "2.0"] })).await;
    let path = format!("{}/{done}/transitions", desk.path);
    desk.ada.client.post(&path).json(&json!({ "to": "done" })).send().await.expect(200);
    let release = async |path: &str, released: bool| {
        desk.ada.client.post(&format!("{path}/release")).json(&json!({ "released": released })).send().await
    };
    let released = release(&paths[0], true).await.expect(200);
    assert_eq!((released.int("/unresolved"), &released.json["version"]["released"]), (1, &json!(true)));
    let today = numbered_day(desk.server.clock.now().as_millis().div_euclid(86_400_000)).expect("a day");
    assert_eq!(released.str("/version/releaseDate"), today.to_string());
    let notes = desk.ada.client.get(&format!("{}/notes", paths[0])).send().await.expect(200);
    assert_eq!(notes.str("/notes"), format!("# 1.0\n\n## Task\n\n- {done}: Done \\*now\\*\n"));
    for (jql, found) in [
        ("fixVersion = \"1.0\" order by key", vec![&open, &done]),
        ("fixVersion = \"2.0\"", vec![&done]),
        ("fixVersion != \"2.0\"", vec![&open]),
        ("fixVersion > \"1.0\"", vec![&done]),
        ("fixVersion < \"2.0\" order by key", vec![&open, &done]),
        ("fixVersion in releasedVersions() order by key", vec![&open, &done]),
        ("fixVersion in unreleasedVersions(WEB)", vec![&done]),
        ("fixVersion = latestReleasedVersion(WEB) order by key", vec![&open, &done]),
        ("fixVersion = earliestUnreleasedVersion(WEB)", vec![&done]),
        ("affectedVersion = \"2.0\"", vec![&open]),
        ("affectedVersion is empty", vec![&done]),
        ("fixVersion was \"1.0\" order by key", vec![&open, &done]),
        ("fixVersion changed", vec![]),
    ] {
        let expected: Vec<String> = found.into_iter().cloned().collect();
        assert_eq!(desk.found(&desk.ada, jql).await, expected, "{jql}");
    }
    let unknown = desk.search_as(&desk.ada, "fixVersion in releasedVersions(NONE)").await.expect(400);
    assert_eq!(unknown.json["code"], "jql");
    desk.search_as(&desk.ada, "fixVersion = \"9.9\"").await.expect(400);
    let back = release(&paths[0], false).await.expect(200);
    assert_eq!((&back.json["version"]["released"], back.json["version"].get("releasedAt")), (&json!(false), None));
    desk.ada.client.patch(&paths[1]).json(&json!({ "archived": true })).send().await.expect(200);
    let late =
        desk.ada.client.patch(&format!("{}/{open}", desk.path)).json(&json!({ "fixVersions": ["2.0"] })).send().await;
    let late = late.expect_problems(&["fixVersions.0"]);
    assert!(late.text.contains("This version is archived."), "{}", late.text);
    let stays = json!({ "fixVersions": ["2.0"], "components": [] });
    desk.ada.client.patch(&format!("{}/{done}", desk.path)).json(&stays).send().await.expect(200);
    assert_eq!(desk.found(&desk.ada, "fixVersion changed from \"1.0\"").await, [done]);
    desk.ada.client.delete(&paths[1]).send().await.expect_error(409, "in_use", "\"2.0\" is still used.");
    desk.ada.client.delete(&paths[2]).send().await.expect(204);
    desk.ada.client.get(&format!("{}/notes", paths[2])).send().await.expect_error(
        404,
        "not_found",
        "Version not found.",
    );
}

#[tokio::test]
async fn a_space_has_so_many_components() {
    let desk = Desk::new().await;
    let columns = ",Components".repeat(50);
    let row = |row: usize| {
        let names: String = (0..50).map(|at| format!(",c{}", row * 50 + at)).collect::<Vec<_>>().concat();
        format!("Row {row}{names}\n")
    };
    let rows: String = (0..4).map(row).collect();
    let content = format!("Summary{columns}\n{rows}");
    let body = json!({ "space": "WEB", "format": "csv", "content": content, "createMissing": true });
    desk.ada.client.post(&format!("{}/import", desk.path)).json(&body).send().await.expect(200);
    let names = desk.names("components").await;
    assert_eq!(names.len(), 200);
    let full = desk.component(json!({ "name": "one more" })).await;
    full.expect_error(400, "limit_reached", "A space has at most 200 components.");
    let body =
        json!({ "space": "WEB", "format": "csv", "content": "Summary,Components\nOne,more\n", "createMissing": true });
    let refused = desk.ada.client.post(&format!("{}/import", desk.path)).json(&body).send().await.expect(200);
    assert_eq!(refused.json["results"][0]["warnings"], json!(["Unknown component: more"]));
}

#[tokio::test]
async fn components_and_versions_go_out_with_a_file_and_come_back() {
    let desk = Desk::new().await;
    desk.component(json!({ "name": "Front" })).await.expect(201);
    for name in ["1.0", "2.0"] {
        desk.version(json!({ "name": name })).await.expect(201);
    }
    let body = json!({
        "summary": "One", "components": ["Front"], "fixVersions": ["1.0", "2.0"], "affectsVersions": ["1.0"],
    });
    desk.issue(body).await;
    let space = json!({ "key": "NEW", "name": "A space", "template": "basic" });
    desk.ada.client.post(&format!("{}/spaces", desk.path)).json(&space).send().await.expect(201);
    for format in ["csv", "json"] {
        let file = desk.ada.client.get(&format!("{}/export?format={format}&jql=space%3DWEB", desk.path)).send().await;
        let body = json!({ "space": "NEW", "format": format, "content": file.expect(200).text, "createMissing": true });
        let came = desk.ada.client.post(&format!("{}/import", desk.path)).json(&body).send().await.expect(200);
        let (key, warnings) = (came.str("/results/0/key"), &came.json["results"][0]["warnings"]);
        assert!(warnings.as_array().is_none_or(Vec::is_empty), "{format}: {warnings}");
        for jql in ["component = Front", "fixVersion = \"1.0\" and fixVersion = \"2.0\"", "affectedVersion = \"1.0\""] {
            let found = desk.found(&desk.ada, &format!("space = NEW and key = {key} and {jql}")).await;
            assert_eq!(found, [key.to_owned()], "{format}: {jql}");
        }
    }
    let names = desk.ada.client.get(&format!("{}/spaces/NEW/versions", desk.path)).send().await.expect(200);
    assert_eq!(names.list("/versions").len(), 2, "the second file names what the first one made");
    let left = json!({ "space": "WEB", "format": "csv", "content": "Summary,Fix versions\nOne,9.9\n" });
    let left = desk.ada.client.post(&format!("{}/import", desk.path)).json(&left).send().await.expect(200);
    assert_eq!(left.json["results"][0]["warnings"], json!(["Unknown version: 9.9"]));
}
