//! `GET /v1/orgs/:orgId/pages/search`

use serde_json::json;

use super::{Notes, titles};
use crate::harness::Answer;

impl Notes {
    async fn search(&self, question: &str) -> Answer {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", question).finish();
        self.ada.client.get(&format!("{}/search?{query}", self.path)).send().await
    }
}

#[tokio::test]
async fn pages_are_found_by_their_titles() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Release planning").await;
    let made = notes.try_make(json!({ "parentId": top, "title": "Released in Wien", "icon": "🚀" })).await.expect(201);
    let page = &made.json["page"];
    let answer = notes.search("WIEN rel").await.expect(200);
    let expected = json!({
        "results": [{
            "pageId": page["pageId"], "parentId": top, "kind": "doc", "title": "Released in Wien", "icon": "🚀",
            "updatedAt": page["updatedAt"],
        }]
    });
    assert_eq!(answer.json, expected);
    assert_eq!(notes.search("plans").await.expect(200).list("/results").len(), 1);
    assert_eq!(notes.search("nowhere").await.expect(200).json, json!({ "results": [] }));
    notes.ada.client.patch(&notes.at(&top)).json(&json!({ "title": "Other" })).send().await.expect(200);
    assert_eq!(notes.search("planning").await.expect(200).json, json!({ "results": [] }));
    assert_eq!(titles(notes.search("oth").await.expect(200).list("/results")), ["Other"]);
}

#[tokio::test]
async fn without_a_question_the_pages_that_changed_last_are_answered() {
    let notes = Notes::new().await;
    for title in ["One", "Two"] {
        notes.page("root", title).await;
        notes.server.clock.advance(std::time::Duration::from_secs(1));
    }
    for path in ["", "?q=", "?q=%20"] {
        let answer = notes.ada.client.get(&format!("{}/search{path}", notes.path)).send().await.expect(200);
        assert_eq!(titles(answer.list("/results")), ["Two", "One"], "{path}");
    }
    assert_eq!(notes.search("*").await.expect(200).json, json!({ "results": [] }), "a question without words");
}

#[tokio::test]
async fn a_question_has_up_to_two_hundred_characters_of_any_kind() {
    let notes = Notes::new().await;
    notes.page("root", "One").await;
    for (length, fits) in [(199, true), (200, true), (201, false)] {
        let answer = notes.search(&"é".repeat(length)).await;
        if fits {
            answer.expect(200)
        } else {
            answer.expect_problems(&["q"])
        };
    }
    for question in
        ["\"", "'", "one\"*", "one AND", "NEAR(one)", "title:one", "one:*", "!one", "<->", "(", "\\", "{org}: x", "%"]
    {
        notes.search(question).await.expect(200);
    }
}

#[tokio::test]
async fn what_others_have_or_is_in_the_trash_is_not_found() {
    let notes = Notes::new().await;
    let bob = notes.server.person("bob").await;
    let other = format!("{}/pages", crate::accounts::org(&bob, "Other").await);
    bob.client.post(&other).json(&json!({ "title": "Secret" })).send().await.expect(201);
    assert_eq!(notes.search("secret").await.expect(200).json, json!({ "results": [] }));
    let page = notes.page("root", "Rubbish").await;
    let below = notes.page(&page, "Rubbish below").await;
    notes.ada.client.patch(&notes.at(&page)).json(&json!({ "archived": true })).send().await.expect(200);
    assert_eq!(notes.search("rubbish").await.expect(200).json, json!({ "results": [] }));
    notes.ada.client.patch(&notes.at(&page)).json(&json!({ "archived": false })).send().await.expect(200);
    assert_eq!(notes.search("rubbish").await.expect(200).list("/results").len(), 2);
    notes.ada.client.patch(&notes.at(&below)).json(&json!({ "archived": true })).send().await.expect(200);
    notes.ada.client.delete(&notes.at(&below)).send().await.expect(200);
    assert_eq!(titles(notes.search("rubbish").await.expect(200).list("/results")), ["Rubbish"]);
}
