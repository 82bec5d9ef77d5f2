//! `POST|GET /v1/orgs/:orgId/databases`, `GET|PATCH /v1/orgs/:orgId/databases/:resourceId`

use domain::{
    id::ResourceId,
    resource::{Resource, ResourceType, physical_name},
};
use serde_json::{Value, json};
use store::Change;

use super::{NEVER, Tables, user, users};

fn plain(name: &str) -> Value {
    json!({"name": name, "partitionKey": {"name": "id", "type": "S"}})
}

#[tokio::test]
async fn the_list_has_the_first_5000_by_name_of_all_databases() {
    let tables = Tables::new().await;
    tables.try_make(plain("Zzz")).await.expect(201);
    let store = tables.server.store().await;
    let resources = store.resources(tables.org_id(), ResourceType::Database, 1).await.unwrap();
    // The later one was made, the earlier its name.
    let others: Vec<_> = (0..5_000).rev().map(|at| format!("Table{at:04}")).collect();
    for some in others.chunks(250) {
        let mut change = Change::new();
        for name in some {
            let id = ResourceId::new(store.now());
            let names = [name, name, &physical_name(name, id)].map(String::to_owned);
            let [name, name_key, physical_name] = names;
            change.resource_add(&Resource { id, name, name_key, physical_name, ..resources[0].clone() });
        }
        store.commit(change).await.unwrap();
    }
    let list = tables.ada.client.get(&tables.path).send().await.expect(200);
    let names: Vec<_> = list.list("/databases").iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0], names[4_999]), (5_000, "Table0000", "Table4999"));
    assert_eq!(list.json["databases"][0]["error"], "missing");
}

#[tokio::test]
async fn a_table_is_made_listed_and_shown() {
    let tables = Tables::new().await;
    let made = tables.try_make(users("Users")).await.expect(201);
    let id = made.str("/database/resourceId").to_owned();
    let org_id = tables.org_id().to_string();
    let now = tables.server.clock.now().0;
    let record = &made.json["database"];
    let arn = record["arn"].as_str().unwrap().to_owned();
    assert!(arn.starts_with("arn:aws:dynamodb:us-east-1:") && arn.ends_with(":table/Users"), "{arn}");
    assert_eq!(
        *record,
        json!({
            "orgId": org_id, "resourceId": id, "type": "database", "name": "Users", "status": "active",
            "createdAt": now, "updatedAt": now, "createdBy": tables.ada.user_id, "location": "main",
            "region": "us-east-1", "arn": arn, "physicalName": format!("Users-{}", &id[id.len() - 8..])
        })
    );
    let indexes = json!([
        {
            "name": "by-email", "partitionKey": {"name": "email", "type": "S"}, "kind": "global",
            "projection": {"type": "ALL"}, "status": "ACTIVE"
        },
        {
            "name": "by-age", "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "age", "type": "N"},
            "kind": "local", "projection": {"type": "KEYS_ONLY"}, "status": "ACTIVE"
        }
    ]);
    assert_eq!(
        made.json["table"],
        json!({
            "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "at", "type": "N"}, "name": "Users",
            "status": "ACTIVE", "indexes": indexes, "itemCount": 0, "sizeBytes": 0, "billingMode": "PAY_PER_REQUEST",
            "tableClass": "STANDARD", "deletionProtection": false, "createdAt": now
        })
    );
    let got = tables.ada.client.get(&format!("{}/{id}", tables.path)).send().await.expect(200);
    assert_eq!(got.json, made.json);
    tables.try_make(plain("Alpha")).await.expect(201);
    let list = tables.ada.client.get(&tables.path).send().await.expect(200);
    let names: Vec<_> = list.list("/databases").iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Alpha", "Users"]);
    assert_eq!(list.json["databases"][1]["arn"], arn);
    assert_eq!(
        list.json["databases"][1]["table"],
        json!({
            "status": "ACTIVE", "itemCount": 0, "sizeBytes": 0, "partitionKey": {"name": "id", "type": "S"},
            "sortKey": {"name": "at", "type": "N"}, "indexCount": 2, "deletionProtection": false
        })
    );
    let trail = tables.ada.client.get(&format!("{}/audit?action=table.created", tables.org())).send().await.expect(200);
    assert_eq!(trail.list("/events").len(), 2);
}

#[tokio::test]
async fn a_name_is_one_tables_in_an_organization_and_has_its_letters() {
    let tables = Tables::new().await;
    tables.try_make(plain("Users")).await.expect(201);
    tables.try_make(plain("Users")).await.expect_error(409, "table_exists", "A table with this name exists.");
    tables.try_make(plain("users")).await.expect(201);
    for (name, status) in [("ab", 400), ("abc", 201), (&"a".repeat(255), 201), (&"a".repeat(256), 400), ("a b", 400)] {
        tables.try_make(plain(name)).await.expect(status);
    }
    let other = super::org(&tables.ada, "Other").await;
    tables.ada.client.post(&format!("{other}/databases")).json(&plain("Users")).send().await.expect(201);
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_table_is_named() {
    let tables = Tables::new().await;
    let index = |name: &str| json!({"name": name, "partitionKey": {"name": "e", "type": "S"}, "kind": "global"});
    let indexes = |count: usize| (0..count).map(|at| index(&format!("by-{at}"))).collect::<Vec<_>>();
    let with =
        |indexes: Vec<Value>| json!({"name": "Users", "partitionKey": {"name": "id", "type": "S"}, "indexes": indexes});
    for (body, paths) in [
        (json!({"name": "Users"}), &["partitionKey"][..]),
        (json!({"name": "Users", "partitionKey": {"name": "", "type": "S"}}), &["partitionKey.name"]),
        (json!({"name": "Users", "partitionKey": {"name": "id", "type": "X"}}), &["partitionKey.type"]),
        (with(indexes(21)), &["indexes"]),
        (with(vec![index(""); 26]), &["indexes"]),
        (with(vec![index("by-e"), index("by-e")]), &["indexes[1].name"]),
        (
            with(vec![json!({"name": "b", "partitionKey": {"name": "e", "type": "S"}, "kind": "other"})]),
            &["indexes[0].name", "indexes[0].kind"],
        ),
        (json!({"name": "Users", "partitionKey": {"name": "id", "type": "S"}, "ttlAttribute": ""}), &["ttlAttribute"]),
        (
            json!({"name": "Users", "partitionKey": {"name": "id", "type": "S"}, "billingMode": "FREE"}),
            &["billingMode"],
        ),
        (json!({"name": "Users", "partitionKey": {"name": "id", "type": "S"}, "keepChanges": true}), &["keepChanges"]),
    ] {
        tables.try_make(body).await.expect_problems(paths);
    }
    tables.try_make(with(indexes(20))).await.expect(201);
}

#[tokio::test]
async fn an_organization_has_as_many_tables_as_the_configuration_says() {
    let tables = Tables::with(&["databases.max_tables=2"]).await;
    tables.try_make(plain("One")).await.expect(201);
    let two = tables.make(plain("Two")).await;
    let refused = tables.try_make(plain("Three")).await;
    refused.expect_error(400, "limit_reached", "An organization has at most 2 tables.");
    tables.ada.client.delete(&two.path).send().await.expect(202);
    tables
        .server
        .eventually("there is room again", async || {
            let answer = tables.try_make(plain("Three")).await;
            (answer.status == 201).then_some(())
        })
        .await;
}

#[tokio::test]
async fn what_a_table_does_can_be_changed() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let patch = async |body: Value| tables.ada.client.patch(&table.path).json(&body).send().await;
    let changed =
        patch(json!({"deletionProtection": true, "billingMode": "PROVISIONED", "ttlAttribute": "until"})).await;
    let changed = changed.expect(200);
    assert_eq!(changed.json["table"]["deletionProtection"], true);
    assert_eq!(changed.json["table"]["billingMode"], "PROVISIONED");
    assert_eq!(changed.json["table"]["ttlAttribute"], "until");
    let refused = tables.ada.client.delete(&table.path).send().await;
    refused.expect_error(409, "table_protected", "This table is protected from deletion.");
    let changed = patch(json!({"deletionProtection": false, "ttlAttribute": null})).await.expect(200);
    assert_eq!(changed.json["table"].get("ttlAttribute"), None);
    assert_eq!(changed.json["table"]["billingMode"], "PROVISIONED");
    patch(json!({"ttlAttribute": "a".repeat(256)})).await.expect_problems(&["ttlAttribute"]);
    patch(json!({"recoveryDays": 1})).await.expect_problems(&["recoveryDays"]);
    // Items are written as before.
    table.add(user("ada", 1)).await;
    assert_eq!(table.describe().await.expect(200).json["table"]["itemCount"], 1);
}

#[tokio::test]
async fn tables_are_read_and_written_by_who_may_and_found_in_their_organization_only() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let viewer = tables.member("vic", "viewer").await.client;
    viewer.get(&table.path).send().await.expect(200);
    let refused = viewer.delete(&table.path).send().await;
    refused.expect_error(403, "missing_scope", "This needs the resources:write permission.");
    let stranger = tables.server.person("eve").await;
    let elsewhere = super::org(&stranger, "Elsewhere").await;
    stranger.client.get(&table.path).send().await.expect_error(404, "not_found", "Organization not found.");
    for id in [table.id.as_str(), NEVER, "res_x", "prj_01jd7rt4m5e9fv2w8x3c6k0hqz"] {
        let path = format!("{elsewhere}/databases/{id}");
        let client = &stranger.client;
        client.get(&path).send().await.expect_error(404, "not_found", "Database not found");
        client.delete(&path).send().await.expect_error(404, "not_found", "Database not found");
        client.patch(&path).json(&json!({})).send().await.expect_error(404, "not_found", "Database not found");
        let put = client.put(&format!("{path}/items")).json(&json!({"item": user("a", 1)})).send().await;
        put.expect_error(404, "not_found", "Database not found");
        let scan = client.post(&format!("{path}/scan")).json(&json!({})).send().await;
        scan.expect_error(404, "not_found", "Database not found");
    }
}
