//! Messages that are being written.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::threads::{Post, message};
use crate::harness::Answer;

impl Post {
    pub async fn write(&self, body: Value) -> Answer {
        self.ada.client.post(&self.at("drafts")).json(&body).send().await
    }

    pub async fn attach(&self, draft: &str, name: &str, bytes: &[u8]) -> Answer {
        let body = json!({"name": name, "contentType": "image/png", "content": STANDARD.encode(bytes)});
        self.ada.client.post(&self.at(&format!("drafts/{draft}/attachments"))).json(&body).send().await
    }

    pub async fn change(&self, draft: &str, body: Value) -> Answer {
        self.ada.client.patch(&self.at(&format!("drafts/{draft}"))).json(&body).send().await
    }
}

fn id(draft: &Answer) -> String {
    draft.str("/draft/draftId").to_owned()
}

#[tokio::test]
async fn a_draft_is_written_read_changed_listed_and_deleted() {
    let post = Post::new().await;
    let bob = json!({"name": "Bob", "email": "bob@example.com"});
    let sent = json!({"to": [{"name": " Bob ", "email": "BOB@example.com"}], "subject": "Lunch", "text": "Today?"});
    let made = post.write(sent).await.expect(201);
    let draft = id(&made);
    assert_eq!(made.json["draft"]["to"], json!([bob]));
    assert_eq!((made.str("/draft/mode"), &made.json["draft"]["version"]), ("new", &json!(1)));
    assert_eq!(post.get(&format!("drafts/{draft}")).await.expect(200).json, made.json);
    assert_eq!(post.subjects("view=drafts").await, ["Lunch"]);
    let changed = post.change(&draft, json!({"version": 1, "text": "Tomorrow?", "cc": [bob]})).await.expect(200);
    assert_eq!((changed.str("/draft/text"), changed.str("/draft/subject")), ("Tomorrow?", "Lunch"));
    assert_eq!(changed.json["draft"]["cc"], json!([bob]));
    let stale = post.change(&draft, json!({"version": 1, "text": "Now?"})).await;
    stale.expect_error(409, "stale_revision", "This draft was changed meanwhile.");
    let list = post.get("drafts").await.expect(200);
    let [listed] = list.list("/drafts") else { panic!("{}", list.json) };
    assert_eq!((&listed["draftId"], &listed["version"], listed.get("text")), (&json!(draft), &json!(2), None));
    let thread = post.get(&format!("threads/{}", post.only("view=drafts").await)).await.expect(200);
    let shown = &thread.list("/messages")[0];
    assert_eq!((&shown["messageId"], &shown["box"]), (&json!(draft), &json!("drafts")));
    assert!(shown["text"].as_str().is_some_and(|text| text.contains("Tomorrow?")), "{shown}");
    post.ada.client.delete(&post.at(&format!("drafts/{draft}"))).send().await.expect(204);
    assert!(post.subjects("view=drafts").await.is_empty());
    let gone = post.ada.client.delete(&post.at(&format!("drafts/{draft}"))).send().await;
    gone.expect_error(404, "not_found", "Draft not found");
}

#[tokio::test]
async fn drafts_are_listed_by_pages() {
    let post = Post::new().await;
    for number in 0..51 {
        post.write(json!({"subject": format!("{number}")})).await.expect(201);
        post.server.clock.advance(std::time::Duration::from_secs(1));
    }
    let first = post.get("drafts").await.expect(200);
    assert_eq!((first.list("/drafts").len(), first.str("/drafts/0/subject")), (50, "50"));
    let second = post.get(&format!("drafts?cursor={}", first.str("/cursor"))).await.expect(200);
    assert_eq!((second.list("/drafts").len(), second.str("/drafts/0/subject")), (1, "0"));
    assert_eq!(second.json["cursor"], Value::Null);
    post.get("drafts?cursor=nonsense").await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn an_answer_quotes_the_message_and_stands_in_its_conversation() {
    let post = Post::new().await;
    let settings = json!({"signature": "<p>Ada L.</p>"});
    post.ada.client.patch(&post.at("settings")).json(&settings).send().await.expect(200);
    post.deliver(&message("1", "Bob B. <bob@example.com>", "Lunch", "Cc: carol@example.com\n")).await;
    let thread = post.only("").await;
    let there = post.get(&format!("threads/{thread}")).await.expect(200);
    let about = there.str("/messages/0/messageId");
    let made = post.write(json!({"mode": "reply_all", "messageId": about, "text": "Yes"})).await.expect(201);
    assert_eq!(made.str("/draft/threadId"), thread);
    assert_eq!(made.json["draft"]["to"], json!([{"name": "Bob B.", "email": "bob@example.com"}]));
    let others: Vec<_> = made.list("/draft/cc").iter().map(|it| it["email"].clone()).collect();
    assert_eq!(others, [json!("ada@example.org"), json!("carol@example.com")]);
    assert_eq!(made.str("/draft/subject"), "Re: Lunch");
    let text = made.str("/draft/text");
    assert!(text.starts_with("Yes\n\n-- \nAda L.\n\nOn ") && text.ends_with("\n> Hello from 1"), "{text}");
    assert!(made.str("/draft/html").contains("<blockquote>"), "{}", made.json);
    let forwarded = post.write(json!({"mode": "forward", "messageId": about})).await.expect(201);
    assert_eq!((forwarded.str("/draft/subject"), forwarded.list("/draft/to").len()), ("Fwd: Lunch", 0));
    for (body, status) in [
        (json!({"mode": "reply"}), 400),
        (json!({"mode": "answer", "messageId": about}), 400),
        (json!({"mode": "reply", "messageId": "msg_01jd7rt4m5e9fv2w8x3c6k0hqz"}), 404),
    ] {
        post.write(body).await.expect(status);
    }
    assert_eq!(post.subjects("view=drafts").await, ["Lunch"]);
}

#[tokio::test]
async fn what_is_written_has_limits() {
    let post = Post::new().await;
    for (field, length, fits) in [
        ("subject", 999, true),
        ("subject", 1_000, true),
        ("subject", 1_001, false),
        ("text", 512 * 1024, true),
        ("text", 512 * 1024 + 1, false),
        ("html", 512 * 1024 + 1, false),
    ] {
        let answer = post.write(json!({ field: "a".repeat(length) })).await;
        if fits {
            answer.expect(201)
        } else {
            answer.expect_problems(&[field])
        };
    }
    for field in ["to", "cc", "bcc"] {
        post.write(json!({ field: [{"email": "nobody"}] })).await.expect_problems(&[field]);
    }
    post.write(json!({"from": "bob@example.com"})).await.expect_problems(&["from"]);
    let draft =
        id(&post.write(json!({"html": "<p onclick=alert(1)>Hi<script>alert(1)</script></p>"})).await.expect(201));
    let read = post.get(&format!("drafts/{draft}")).await.expect(200);
    assert_eq!((read.str("/draft/html"), read.str("/draft/text")), ("<p>Hi</p>", "Hi"));
}

#[tokio::test]
async fn files_are_added_taken_away_sent_and_passed_on() {
    let post = Post::new().await;
    let own = format!("ada@{}", super::lent_domain(&post.ada, &post.org).await);
    let made = post.write(json!({"to": [{"email": own}], "subject": "Dots", "text": "See"})).await.expect(201);
    let (draft, bytes) = (id(&made), (0..=u8::MAX).cycle().take(200_000).collect::<Vec<u8>>());
    post.attach(&draft, "dot.png", &bytes).await.expect(201);
    let two = post.attach(&draft, "Grüße.png", b"dot").await.expect(201);
    let all = two.list("/draft/attachments");
    let named: Vec<_> = all.iter().map(|it| (it["name"].as_str(), it["size"].as_u64())).collect();
    assert_eq!(named, [(Some("dot.png"), Some(200_000)), (Some("Grüße.png"), Some(3))]);
    let third = post.attach(&draft, "gone.png", b"gone").await.expect(201);
    let path = post.at(&format!("drafts/{draft}/attachments/{}", third.str("/draft/attachments/2/attachmentId")));
    let left = post.ada.client.delete(&path).send().await.expect(200);
    assert_eq!((left.list("/draft/attachments").len(), &left.json["draft"]["version"]), (2, &json!(5)));
    post.ada.client.delete(&path).send().await.expect_error(404, "not_found", "Attachment not found");
    post.send_draft(&draft, json!({"version": 5, "undoSeconds": 0})).await.expect(202);
    let delivery = post.delivery(&draft, &["held", "queued"]).await;
    assert_eq!(delivery[0]["state"], "sent", "{}", delivery[0]);
    post.filed().await;
    let thread = post.get(&format!("threads/{}", post.only("view=inbox").await)).await.expect(200);
    let came = thread.list("/messages").iter().find(|it| it["direction"] == "in").expect("a copy");
    let files = came["attachments"].as_array().expect("files");
    let sizes: Vec<_> = files.iter().map(|it| (it["name"].as_str(), it["size"].as_u64())).collect();
    assert_eq!(sizes, named);
    let about = came["messageId"].as_str().expect("an id");
    let part = files[1]["attachmentId"].as_str().expect("a part");
    let read = post.get(&format!("messages/{about}/attachments/{part}")).await.expect(200);
    assert_eq!(read.text, "dot");
    let forwarded = post.write(json!({"mode": "forward", "messageId": about})).await.expect(201);
    let passed_on = forwarded.list("/draft/attachments").iter().map(|it| (it["name"].as_str(), it["size"].as_u64()));
    assert_eq!(passed_on.collect::<Vec<_>>(), named);
}

#[tokio::test]
async fn a_message_has_25_mb_and_a_hundred_files() {
    let post = Post::new().await;
    let draft = id(&post.write(json!({"subject": "Large"})).await.expect(201));
    let most = 25 * 1024 * 1024;
    let too_large = post.attach(&draft, "a", &vec![0; most + 1]).await;
    too_large.expect_error(413, "too_large", "A message has at most 25 MB.");
    post.attach(&draft, "a", &vec![0; most - 1]).await.expect(201);
    post.attach(&draft, "b", b"b").await.expect(201);
    post.attach(&draft, "c", b"c").await.expect_error(413, "too_large", "A message has at most 25 MB.");
    for name in ["", &"a".repeat(256)] {
        post.attach(&draft, name, b"").await.expect_problems(&["name"]);
    }
    let broken = json!({"name": "a", "content": "a"});
    let path = post.at(&format!("drafts/{draft}/attachments"));
    post.ada.client.post(&path).json(&broken).send().await.expect_problems(&["content"]);
    let other = id(&post.write(json!({"subject": "Many"})).await.expect(201));
    for number in 0..100 {
        post.attach(&other, &number.to_string(), b"x").await.expect(201);
    }
    let refused = post.attach(&other, "100", b"x").await;
    refused.expect_error(400, "limit_reached", "A message has at most 100 attachments.");
}
