//! `PUT /v1/orgs/:orgId/pages/:pageId/content`

use serde_json::{Value, json};

use super::{NEVER, Notes};
use crate::{accounts::org, harness::Answer};

const MB: usize = 1024 * 1024;
const TOO_LARGE: &str = "Pages can be up to 1 MB.";

impl Notes {
    /// Asks for a write of a page's content.
    pub async fn try_write(&self, id: &str, body: &Value) -> Answer {
        self.ada.client.put(&format!("{}/content", self.at(id))).json(body).send().await
    }

    /// Has a page say this Markdown; its new version.
    pub async fn write(&self, id: &str, base: i64, markdown: &str) -> i64 {
        let body = json!({ "blocks": null, "markdown": markdown, "baseVersion": base });
        self.try_write(id, &body).await.expect(200).int("/version")
    }

    /// What a page says.
    pub async fn content(&self, id: &str) -> Value {
        self.get(id).await.expect(200).json["content"].clone()
    }
}

#[tokio::test]
async fn what_is_written_is_read_to_the_letter() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    let sent =
        r##"{"baseVersion":0,"markdown":"# Plan\r\n\n- ä\t🚀 ","blocks": [ {"b":  1,"a":1.50e3}, "\u0000\u00e9" ]}"##;
    let written = notes.ada.client.put(&format!("{}/content", notes.at(&id))).raw(sent).send().await.expect(200);
    let now = notes.server.clock.now().0;
    assert_eq!(written.json, json!({ "version": 1, "updatedAt": now }));
    let read = notes.get(&id).await.expect(200);
    assert!(read.text.contains(r#""blocks":[ {"b":  1,"a":1.50e3}, "\u0000\u00e9" ]"#), "{}", read.text);
    assert_eq!(read.json["content"]["markdown"], "# Plan\r\n\n- ä\t🚀 ");
    assert_eq!(read.int("/content/version"), 1);
    assert_eq!(read.int("/page/contentVersion"), 1);
    assert_eq!(read.str("/page/updatedBy"), notes.ada.user_id);
    assert_eq!(notes.write(&id, 1, "Other").await, 2);
    assert_eq!(notes.content(&id).await, json!({ "version": 2, "blocks": null, "markdown": "Other" }));
}

#[tokio::test]
async fn a_write_rests_on_the_version_that_the_client_opened() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    for base in [1, i64::MAX] {
        let answer = notes.try_write(&id, &json!({ "blocks": null, "markdown": "", "baseVersion": base })).await;
        let answer = answer.expect_error(409, "stale_content", "This page changed since you opened it.");
        assert_eq!(answer.int("/contentVersion"), 0);
    }
    notes.write(&id, 0, "One").await;
    let answer = notes.try_write(&id, &json!({ "blocks": [], "markdown": "Two", "baseVersion": 0 })).await;
    answer.expect_error(409, "stale_content", "This page changed since you opened it.");
    assert_eq!(notes.content(&id).await["markdown"], "One");
}

#[tokio::test]
async fn of_writes_at_once_one_is_taken() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    let writes = (0..20).map(|number| {
        let (notes, id) = (&notes, &id);
        async move {
            let body = json!({ "blocks": null, "markdown": number.to_string(), "baseVersion": 0 });
            (number, notes.try_write(id, &body).await.status)
        }
    });
    let answers = futures::future::join_all(writes).await;
    let taken: Vec<_> = answers.iter().filter(|(_, status)| *status == 200).collect();
    assert!(answers.iter().all(|(_, status)| matches!(status, 200 | 409)), "{answers:?}");
    assert_eq!(taken.len(), 1);
    assert_eq!(notes.content(&id).await, json!({ "version": 1, "blocks": null, "markdown": taken[0].0.to_string() }));
}

#[tokio::test]
async fn a_page_says_up_to_a_megabyte() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    let mut base = 0;
    for over in [-1_isize, 0, 1] {
        let markdown = "a".repeat(MB.saturating_add_signed(over) - 5);
        let answer =
            notes.try_write(&id, &json!({ "blocks": [1, 2], "markdown": markdown, "baseVersion": base })).await;
        if over <= 0 {
            base = answer.expect(200).int("/version");
        } else {
            answer.expect_error(413, "too_large", TOO_LARGE);
        }
    }
    assert_eq!(notes.content(&id).await["markdown"].as_str().map(str::len), Some(MB - 5));
    // Of two bytes a character, half as many.
    for (length, status) in [(MB / 2, 200), (MB / 2 + 1, 413)] {
        let body = json!({ "blocks": null, "markdown": "é".repeat(length), "baseVersion": base });
        notes.try_write(&id, &body).await.expect(status);
    }
}

#[tokio::test]
async fn a_body_has_up_to_1041_kilobytes() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    let body = r#"{"blocks":null,"markdown":"","baseVersion":0}"#;
    for (length, status) in [(1041 * 1024, 200), (1041 * 1024 + 1, 413)] {
        let padded = format!("{body}{}", " ".repeat(length - body.len()));
        let path = format!("{}/content", notes.at(&id));
        let answer = notes.ada.client.put(&path).raw(padded).send().await.expect(status);
        if status == 413 {
            answer.expect_error(413, "too_large", TOO_LARGE);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_a_content_is_named() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    notes.try_write(&id, &json!({})).await.expect_problems(&["baseVersion", "blocks", "markdown"]);
    let whole = json!({ "blocks": null, "markdown": "", "baseVersion": 0 });
    for (field, value) in [
        ("blocks", json!({})),
        ("blocks", json!("[]")),
        ("markdown", json!(null)),
        ("markdown", json!("a\u{0}b")),
        ("baseVersion", json!(-1)),
        ("baseVersion", json!(0.5)),
        ("baseVersion", json!(u64::MAX)),
        ("collab", json!("yes")),
        ("epoch", json!("")),
        ("epoch", json!("é".repeat(65))),
    ] {
        let mut body = whole.clone();
        body[field] = value;
        notes.try_write(&id, &body).await.expect_problems(&[field]);
    }
    let mut body = whole;
    body["epoch"] = json!("é".repeat(64));
    notes.try_write(&id, &body).await.expect(200);
}

#[tokio::test]
async fn what_a_co_editor_rendered_needs_the_history_that_is_there() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    for epoch in [json!(null), json!("made-up")] {
        let body = json!({ "blocks": null, "markdown": "", "baseVersion": 0, "collab": true, "epoch": epoch });
        let answer = notes.try_write(&id, &body).await;
        answer.expect_error(409, "stale_epoch", "This page was changed elsewhere and reloaded.");
    }
}

#[tokio::test]
async fn a_page_that_is_not_there_is_not_written() {
    let notes = Notes::new().await;
    let body = json!({ "blocks": null, "markdown": "", "baseVersion": 0 });
    for id in [NEVER, "doc_1", "pgx_1"] {
        notes.try_write(id, &body).await.expect_error(404, "not_found", "Page not found");
    }
    let cleo = notes.server.person("cleo").await;
    let elsewhere = format!("{}/pages", org(&cleo, "Elsewhere").await);
    let theirs = cleo.client.post(&elsewhere).json(&json!({})).send().await.expect(201);
    notes.try_write(theirs.str("/page/pageId"), &body).await.expect_error(404, "not_found", "Page not found");
}

#[tokio::test]
async fn a_page_in_the_trash_is_not_written() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    notes.archive(&id).await;
    for collab in [false, true] {
        let body = json!({ "blocks": null, "markdown": "", "baseVersion": 0, "collab": collab, "epoch": "e" });
        let answer = notes.try_write(&id, &body).await;
        answer.expect_error(409, "in_trash", "This page is in the trash. Restore it to edit.");
    }
}

#[tokio::test]
async fn a_write_stands_in_the_audit_trail() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    notes.write(&id, 0, "One").await;
    let trail = notes.path.replace("/pages", "/audit?action=page.written");
    let trail = notes.ada.client.get(&trail).send().await.expect(200);
    assert_eq!(trail.list("/events").len(), 1);
    assert_eq!(trail.json["events"][0]["target"], json!({ "type": "page", "id": id, "label": "Plans" }));
    assert_eq!(trail.json["events"][0]["metadata"], json!({ "contentVersion": 1 }));
}
