//! Files of requests.

use std::time::Duration;

use super::*;

/// The path of an address that the server signed.
fn path_of(url: &str) -> String {
    url[url.find("/v1/").expect("a path")..].to_owned()
}

impl Desk {
    /// Begins a file; its id, and the path that takes its bytes.
    async fn begin(&self, request: &str, name: &str, size: usize) -> (String, String) {
        let body = json!({ "name": name, "size": size, "contentType": "text/html" });
        let begun = self.eve.client.post(&format!("{request}/attachments")).json(&body).send().await.expect(201);
        assert_eq!(begun.json["headers"], json!({ "content-type": "text/html" }));
        (begun.str("/attachmentId").to_owned(), path_of(begun.str("/uploadUrl")))
    }

    async fn put(&self, path: &str, bytes: &str) -> Answer {
        self.server.client().put(path).body("text/html", bytes.to_owned()).send().await
    }
}

#[tokio::test]
async fn a_file_is_begun_sent_completed_and_read() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let (id, upload) = desk.begin(&request, "../a \"b\".html", 5).await;
    let complete = format!("{request}/attachments/{id}/complete");
    let missing = desk.eve.client.post(&complete).send().await;
    missing.expect_error(409, "upload_missing", "The upload isn't there yet.");
    desk.put(&upload, "hell").await.expect(400);
    desk.put(&upload, "hello!").await.expect(413);
    desk.put(&upload, "jello").await.expect(200);
    desk.put(&upload, "hello").await.expect(200);
    let hidden = desk.eve.client.get(&format!("{request}/attachments/{id}")).send().await;
    hidden.expect_error(404, "not_found", "Attachment not found.");
    assert_eq!(desk.eve.client.get(&request).send().await.expect(200).list("/attachments").len(), 0);
    for _ in 0..2 {
        let done = desk.eve.client.post(&complete).send().await.expect(200);
        assert_eq!(done.json, json!({ "attachmentId": id }));
    }
    desk.put(&upload, "hello").await.expect_error(409, "upload_over", "This upload is complete.");
    let listed = desk.eve.client.get(&request).send().await.expect(200).list("/attachments")[0].clone();
    assert_eq!((listed["name"].clone(), listed["size"].clone()), (json!("a \"b\".html"), json!(5)));
    assert_eq!(desk.ada.client.get(&desk.issue(&request)).send().await.expect(200).int("/issue/attachmentCount"), 1);
    let link = desk.eve.client.get(&format!("{request}/attachments/{id}")).send().await.expect(200);
    assert_eq!((link.str("/contentType"), link.int("/size")), ("text/html", 5));
    let file = desk.server.client().get(&path_of(link.str("/url"))).send().await.expect(200);
    assert_eq!((file.text.as_str(), file.header("x-content-type-options")), ("hello", Some("nosniff")));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename*=UTF-8''a%20%22b%22.html"));
    let members = format!("{}/attachments", desk.issue(&request));
    let listed = desk.ada.client.get(&members).send().await.expect(200);
    assert_eq!((listed.str("/attachments/0/attachmentId"), listed.list("/attachments").len()), (id.as_str(), 1));
    let theirs = desk.ada.client.get(&format!("{members}/{id}")).send().await.expect(200);
    assert_eq!(desk.server.client().get(&path_of(theirs.str("/url"))).send().await.expect(200).text, "hello");
    let part =
        desk.server.client().get(&path_of(link.str("/url"))).header("range", "bytes=1-2").send().await.expect(206);
    assert_eq!(part.text, "el");
}

#[tokio::test]
async fn a_large_file_and_the_other_reading_of_the_path_are_served() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let bytes = "0123456789".repeat(20_000);
    let (id, upload) = desk.begin(&request, "a.txt", bytes.len()).await;
    desk.put(&upload, &bytes).await.expect(200);
    let alone = format!("{}/attachments/{id}", desk.portal);
    desk.eve.client.post(&format!("{alone}/complete")).send().await.expect(200);
    let link = desk.eve.client.get(&alone).send().await.expect(200);
    let file = desk.server.client().get(&path_of(link.str("/url"))).send().await.expect(200);
    assert_eq!(file.text.len(), bytes.len());
    let bob = desk.server.person("bob").await;
    bob.client.get(&alone).send().await.expect_error(404, "not_found", "Attachment not found.");
}

#[tokio::test]
async fn addresses_end_and_can_be_neither_made_up_nor_turned_around() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let (id, upload) = desk.begin(&request, "a.txt", 5).await;
    let forged = |answer: Answer| answer.expect_error(403, "file_address", "This address was not signed here.");
    forged(desk.put(&upload.replace("size=5", "size=6"), "hello!").await);
    forged(desk.server.client().get(&upload).send().await);
    desk.put(&upload, "hello").await.expect(200);
    desk.eve.client.post(&format!("{request}/attachments/{id}/complete")).send().await.expect(200);
    let link = desk.eve.client.get(&format!("{request}/attachments/{id}")).send().await.expect(200);
    let link = path_of(link.str("/url"));
    forged(desk.put(&link, "hello").await);
    desk.server.clock.advance(Duration::from_mins(5));
    let over = desk.server.client().get(&link).send().await;
    over.expect_error(403, "file_address", "This address has expired.");
    desk.server.clock.advance(Duration::from_mins(55));
    desk.put(&upload, "hello").await.expect_error(403, "file_address", "This address has expired.");
}

#[tokio::test]
async fn who_signs_out_or_is_removed_sends_nothing_more() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let (_, upload) = desk.begin(&request, "a.txt", 5).await;
    desk.configure(|config| config["portal"]["access"] = json!("org")).await;
    no_help_center(desk.put(&upload, "hello").await);
    desk.configure(|config| config["portal"]["access"] = json!("any")).await;
    desk.eve.client.post("/v1/auth/sign-out").send().await.expect_success();
    let over = desk.put(&upload, "hello").await;
    over.expect_error(403, "file_address", "Whoever made this address may not write here any more.");
}

#[tokio::test]
async fn a_file_that_cannot_be_sent_is_refused() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let begin = async |body: Value| desk.eve.client.post(&format!("{request}/attachments")).json(&body).send().await;
    begin(json!({ "name": " ", "size": 1 })).await.expect_problems(&["name"]);
    begin(json!({ "name": "a", "size": 0 })).await.expect_problems(&["size"]);
    begin(json!({ "name": "a", "size": 1, "contentType": "a/b\r\nx: y" })).await.expect_problems(&["contentType"]);
    let mega = 1024 * 1024;
    let large = begin(json!({ "name": "a", "size": 100 * mega + 1 })).await;
    large.expect_error(413, "too_large", "Attachments can be up to 100 MB.");
    begin(json!({ "name": "a", "size": 100 * mega })).await.expect(201);
    for length in [255, 256] {
        let answer = begin(json!({ "name": "é".repeat(length), "size": 1 })).await;
        assert_eq!(answer.status, if length > 255 { 400 } else { 201 }, "{length}");
    }
}

#[tokio::test]
async fn a_file_that_nobody_completes_is_given_up_after_a_day() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let (id, upload) = desk.begin(&request, "a.txt", 5).await;
    desk.put(&upload, "hello").await.expect(200);
    desk.server.clock.advance(Duration::from_hours(24) - Duration::from_millis(1));
    let store = desk.server.store().await;
    let id = id.parse().expect("an id");
    assert!(store.issue_attachment(id).await.expect("a read").is_some());
    desk.server.clock.advance(Duration::from_millis(1));
    desk.server
        .in_time("the file's end", async || store.issue_attachment(id).await.expect("a read").is_none().then_some(()))
        .await;
}

#[tokio::test]
async fn only_who_began_a_file_completes_it() {
    let desk = Desk::new().await;
    let request = desk.request(&desk.eve.client, "Fire").await;
    let bob = desk.server.person("bob").await;
    desk.eve
        .client
        .post(&format!("{request}/participants"))
        .json(&json!({ "email": bob.email }))
        .send()
        .await
        .expect(201);
    let (id, upload) = desk.begin(&request, "a.txt", 5).await;
    desk.put(&upload, "hello").await.expect(200);
    let other = bob.client.post(&format!("{request}/attachments/{id}/complete")).send().await;
    other.expect_error(404, "not_found", "Attachment not found.");
}
