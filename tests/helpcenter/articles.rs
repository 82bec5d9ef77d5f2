//! Articles: pages of notes below those that a desk names.

use super::*;

impl Desk {
    /// Makes a page that says something; its id.
    async fn page(&self, parent: Option<&str>, title: &str, markdown: &str) -> String {
        let mut body = json!({ "title": title });
        if let Some(parent) = parent {
            body["parentId"] = json!(parent);
        }
        let pages = format!("{}/pages", self.org);
        let page = self.ada.client.post(&pages).json(&body).send().await.expect(201).str("/page/pageId").to_owned();
        let content = json!({ "blocks": null, "markdown": markdown, "baseVersion": 0 });
        self.ada.client.put(&format!("{pages}/{page}/content")).json(&content).send().await.expect(200);
        page
    }

    async fn articles(&self, q: &str) -> Vec<String> {
        let found = self.eve.client.get(&format!("{}/articles?q={q}", self.portal)).send().await.expect(200);
        found.list("/articles").iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn articles_are_listed_found_and_read_and_nothing_beside_them() {
    let desk = Desk::new().await;
    assert_eq!(desk.articles("").await, [""; 0]);
    let root = desk.page(None, "Manuals", "All of them").await;
    let printer = desk.page(Some(&root), "Printer", "How the printer is <b>switched</b> on").await;
    desk.page(Some(&printer), "Paper", "Paper for the printer").await;
    let secret = desk.page(None, "Secret", "The printer is bugged").await;
    desk.configure(|config| config["articles"] = json!({ "pageIds": [root] })).await;
    assert_eq!(desk.articles("").await, ["Manuals", "Printer", "Paper"]);
    assert_eq!(desk.articles("printer").await, ["Printer", "Paper"]);
    assert_eq!(desk.articles("bugged").await, [""; 0]);
    let found = desk.eve.client.get(&format!("{}/articles?q=switched", desk.portal)).send().await.expect(200);
    assert!(found.str("/articles/0/snippet").contains("<mark>switched</mark>"), "{}", found.text);
    assert!(!found.str("/articles/0/snippet").contains("<b>"), "{}", found.text);
    let path = format!("{}/articles", desk.portal);
    let read = desk.eve.client.get(&format!("{path}/{printer}")).send().await.expect(200);
    assert_eq!((read.str("/article/title"), read.int("/article/updatedAt") > 0), ("Printer", true));
    assert!(read.str("/article/markdown").contains("switched"));
    for id in [secret.as_str(), "doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "x"] {
        let gone = desk.eve.client.get(&format!("{path}/{id}")).send().await;
        gone.expect_error(404, "not_found", "Article not found");
    }
    let trash = json!({ "archived": true });
    desk.ada.client.patch(&format!("{}/pages/{printer}", desk.org)).json(&trash).send().await.expect(200);
    assert_eq!(desk.articles("").await, ["Manuals"]);
    assert_eq!(desk.articles("paper").await, [""; 0]);
    desk.eve.client.get(&format!("{path}/{printer}")).send().await.expect(404);
    for length in [200, 201] {
        let answer = desk.eve.client.get(&format!("{path}?q={}", "x".repeat(length))).send().await;
        assert_eq!(answer.status, if length > 200 { 400 } else { 200 }, "{length}");
    }
}

#[tokio::test]
async fn pages_of_another_organization_are_no_articles() {
    let desk = Desk::new().await;
    let other = org(&desk.eve, "Elsewhere").await;
    let page =
        desk.eve.client.post(&format!("{other}/pages")).json(&json!({ "title": "Theirs" })).send().await.expect(201);
    let page = page.str("/page/pageId").to_owned();
    desk.configure(|config| config["articles"] = json!({ "pageIds": [page] })).await;
    assert_eq!(desk.articles("").await, [""; 0]);
    desk.eve.client.get(&format!("{}/articles/{page}", desk.portal)).send().await.expect(404);
}
