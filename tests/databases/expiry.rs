//! Items that expire.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Tables, user, with};

#[tokio::test]
async fn what_has_expired_is_deleted_and_what_was_written_anew_stays() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    tables.ada.client.patch(&table.path).json(&json!({"ttlAttribute": "until"})).send().await.expect(200);
    let now = tables.server.clock.now().0 / 1_000;
    let until = |id: &str, value: Value| with(with(user(id, 1), "until", value), "email", json!({"S": "a@x"}));
    let seconds = |from_now: i64| json!({"N": (now + from_now).to_string()});
    for (id, value) in [
        ("soon", seconds(60)),
        ("kept", seconds(60)),
        ("later", seconds(86_400)),
        ("text", json!({"S": "1"})),
        ("long-ago", json!({"N": "1"})),
        ("past", seconds(-1)),
    ] {
        table.add(until(id, value)).await;
    }
    let kept = until("kept", seconds(60));
    table.put(json!({"item": until("kept", json!({"NULL": true})), "original": kept})).await.expect(200);
    // It can be read until then.
    table.get(user("soon", 1)).await.expect(200);
    let is_gone = async |id: &str| (table.get(user(id, 1)).await.status == 404).then_some(());
    tables.server.clock.advance(Duration::from_mins(3));
    tables
        .server
        .eventually("two have expired", async || {
            is_gone("soon").await?;
            is_gone("past").await
        })
        .await;
    for id in ["kept", "later", "text", "long-ago"] {
        table.get(user(id, 1)).await.expect(200);
    }
    tables.server.clock.advance(Duration::from_hours(24));
    tables.server.eventually("the other has, too", async || is_gone("later").await).await;
    super::model::check_rows(&tables, &table).await;
    assert_eq!(table.counts().await.0, 3);
}
