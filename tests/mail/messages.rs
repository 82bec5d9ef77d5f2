//! One message: whole, as bytes, and its files.

use domain::mail::Placed;
use serde_json::{Value, json};

use super::threads::{Post, message};
use crate::{
    accounts::join,
    harness::{Answer, Dice},
};

impl Post {
    /// The id of the only message of the only conversation.
    async fn only_message(&self, query: &str) -> String {
        let thread = self.only(query).await;
        let thread = self.get(&format!("threads/{thread}?bodies=none")).await.expect(200);
        let [message] = thread.list("/messages") else { panic!("{}", thread.json) };
        message["messageId"].as_str().expect("an id").to_owned()
    }

    async fn part(&self, id: &str, part: &Value, range: Option<&str>) -> Answer {
        let path = self.at(&format!("messages/{id}/attachments/{}", part.as_str().expect("a part")));
        let request = self.ada.client.get(&path);
        match range {
            Some(range) => request.header("Range", range).send().await,
            None => request.send().await,
        }
    }
}

/// A message with files, of which each has a type, more headers, and what is written.
fn with_files(files: &[(&str, &str, &str)]) -> String {
    let parts: Vec<String> =
        files.iter().map(|(kind, more, written)| format!("--x\nContent-Type: {kind}\n{more}\n\n{written}\n")).collect();
    format!(
        "From: bob@example.com\nTo: ada@example.org\nSubject: Files\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nSee there.\n{}--x--\n",
        parts.concat()
    )
}

const SAVED: &str = "Content-Disposition: attachment; filename=\"a file.html\"";
const BASE64: &str = "Content-Disposition: attachment; filename=bytes\nContent-Transfer-Encoding: base64";

#[tokio::test]
async fn a_message_is_shown_with_all_its_headers_and_why_it_lies_there() {
    let post = Post::new().await;
    post.deliver_as(&message("1", "bob@example.com", "Lunch", "X-Own: a\n  b\n"), Placed::Spam).await;
    let id = post.only_message("view=spam").await;
    let shown = post.get(&format!("messages/{id}")).await.expect(200);
    let it = &shown.json["message"];
    assert_eq!((shown.str("/message/messageId"), shown.str("/message/text")), (id.as_str(), "Hello from 1\r\n"));
    assert_eq!((&it["box"], &it["authentication"]["spf"]), (&json!("spam"), &json!("none")));
    let headers: Vec<_> = it["headers"].as_array().expect("headers").iter().map(|it| &it["name"]).collect();
    let expected = ["Return-Path", "From", "To", "Subject", "Message-ID", "Date", "X-Own"];
    assert_eq!(headers, expected.map(|it| json!(it)).iter().collect::<Vec<_>>());
    assert_eq!(it["headers"][6], json!({"name": "X-Own", "value": "a b"}));
    let rule = it["categoryRule"].clone();
    let why = json!({
        "placed": "spam", "points": [], "categoryRule": rule, "envelopeFrom": "bob@example.com", "fromDomain": "", "helo": ""
    });
    assert_eq!(it["why"], why);
}

#[tokio::test]
async fn the_bytes_of_a_message_are_those_that_came_behind_what_was_put_before_them() {
    let post = Post::new().await;
    let small = message("1", "bob@example.com", "Small", "");
    let large = format!("{}{}", message("2", "bob@example.com", "Large", ""), "0123456789\n".repeat(60_000));
    for text in [small, large] {
        post.deliver(&text).await;
        let id = post.only_message("view=inbox").await;
        let raw = post.get(&format!("messages/{id}/raw")).await.expect(200);
        let expected = format!("Return-Path: <bob@example.com>\r\n{}", text.replace('\n', "\r\n"));
        assert!(raw.text == expected, "{} bytes of {}", raw.text.len(), expected.len());
        assert_eq!(raw.header("content-type"), Some("message/rfc822"));
        assert_eq!(raw.header("content-disposition"), Some(&*format!("attachment; filename*=UTF-8''{id}.eml")));
        assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));
        let thread = post.only("view=inbox").await;
        post.act(json!({"threadIds": [thread], "action": "archive"})).await.expect(200);
    }
}

#[tokio::test]
async fn files_are_decoded_and_never_shown() {
    let post = Post::new().await;
    let files = [
        ("text/html; charset=utf-8", SAVED, "<script>x()</script>"),
        ("image/svg+xml", BASE64, "PHN2\nZy8+\n"),
        ("application/pdf", BASE64, "AAEC"),
        (
            "text/plain; charset=iso-8859-1",
            "Content-Disposition: attachment\nContent-Transfer-Encoding: quoted-printable",
            "=FC",
        ),
        ("message/rfc822", "Content-Disposition: attachment", "Subject: Inner\n\nbody"),
    ];
    post.deliver(&with_files(&files)).await;
    let id = post.only_message("view=inbox").await;
    let shown = post.get(&format!("messages/{id}")).await.expect(200);
    let listed = shown.list("/message/attachments");
    let expected: [(&[u8], &str); 5] = [
        (b"<script>x()</script>", "application/octet-stream"),
        (b"<svg/>", "application/octet-stream"),
        (&[0, 1, 2], "application/pdf"),
        ("ü".as_bytes(), "text/plain"),
        (b"Subject: Inner\r\n\r\nbody", "message/rfc822"),
    ];
    assert_eq!(listed.len(), expected.len(), "{}", shown.json);
    for (file, (bytes, content_type)) in listed.iter().zip(expected) {
        let got = post.part(&id, &file["attachmentId"], None).await.expect(200);
        assert_eq!((got.bytes.as_slice(), got.header("content-type")), (bytes, Some(content_type)), "{file}");
        assert_eq!(file["size"], json!(bytes.len()));
        let disposition = got.header("content-disposition").expect("a header");
        assert!(disposition.starts_with("attachment; "), "{disposition}");
        assert_eq!(got.header("content-security-policy"), Some("sandbox; default-src 'none'"));
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
    }
    let named = post.part(&id, &listed[0]["attachmentId"], None).await;
    assert_eq!(named.header("content-disposition"), Some("attachment; filename*=UTF-8''a%20file.html"));
    for part in ["0", "1", "99", "x", "-1"] {
        post.part(&id, &json!(part), None).await.expect_error(404, "not_found", "Attachment not found");
    }
}

#[tokio::test]
async fn a_range_of_a_file_is_that_of_its_decoded_bytes() {
    use base64::{Engine, engine::general_purpose::STANDARD};

    let post = Post::new().await;
    // More than a row holds, and less.
    for size in [1_000_usize, 400_000] {
        let bytes: Vec<u8> = (0..size).map(|at| u8::try_from(at * 7 % 251).expect("a byte")).collect();
        let letters = STANDARD.encode(&bytes);
        let lines: Vec<&str> =
            letters.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).expect("text")).collect();
        post.deliver(&with_files(&[("application/octet-stream", BASE64, &lines.join("\n"))])).await;
        let id = post.only_message("view=inbox").await;
        let part = json!("2");
        assert_eq!(post.part(&id, &part, None).await.expect(200).bytes, bytes);
        let mut dice = Dice::new(size as u64);
        for _ in 0..20 {
            let from = dice.below(size as u64);
            let to = from + dice.below(size as u64 - from);
            let got = post.part(&id, &part, Some(&format!("bytes={from}-{to}"))).await.expect(206);
            assert_eq!(got.header("content-range"), Some(&*format!("bytes {from}-{to}/{size}")));
            let place = |at: u64| usize::try_from(at).expect("a place");
            assert!(got.bytes == bytes[place(from)..=place(to)], "{from}-{to} of {size}");
        }
        let behind = post.part(&id, &part, Some(&format!("bytes={size}-"))).await.expect(416);
        assert_eq!(behind.header("content-range"), Some(&*format!("bytes */{size}")));
        let thread = post.only("view=inbox").await;
        post.act(json!({"threadIds": [thread], "action": "archive"})).await.expect(200);
    }
}

#[tokio::test]
async fn a_message_is_its_mailboxes_and_nobody_elses() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Secret", "")).await;
    let id = post.only_message("view=inbox").await;
    let bob = post.server.person("bob").await;
    join(&post.ada, &post.org, &bob, "admin").await;
    let unknown = domain::id::MailMessageId::new(domain::Timestamp(1));
    for path in ["", "/raw", "/attachments/1"] {
        let answer = bob.client.get(&post.at(&format!("messages/{id}{path}"))).send().await;
        answer.expect_error(404, "not_found", "Mailbox not found");
        for id in ["nothing".to_owned(), unknown.to_string()] {
            let answer = post.get(&format!("messages/{id}{path}")).await;
            answer.expect_error(404, "not_found", "Message not found");
        }
    }
    let other = super::make_mailbox(&post.ada, &post.org, "other", &[&post.ada.user_id]).await;
    let path = format!("{}/mail/mailboxes/{}/messages/{id}", post.org, other.str("/mailbox/mailboxId"));
    post.ada.client.get(&path).send().await.expect_error(404, "not_found", "Message not found");
}
