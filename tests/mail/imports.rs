//! Importing mail: what was in the file is in the mailbox, once, as it was there.

use std::io::{Cursor, Write};

use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{make_mailbox, threads::Post};
use crate::harness::Answer;

/// The path of an address that the server signed.
pub fn path_of(url: &str) -> &str {
    &url[url.find("/v1/").expect("a path")..]
}

/// A ZIP of files.
pub fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a file");
        zip.write_all(bytes).expect("bytes");
    }
    zip.finish().expect("a ZIP").into_inner()
}

/// A tar of files.
fn tarred(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, bytes) in files {
        let mut head = [0; 512];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        head[156] = b'0';
        head[257..265].copy_from_slice(b"ustar\x0000");
        tar.extend_from_slice(&head);
        tar.extend_from_slice(bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    tar
}

/// A message as an mbox has it.
fn entry(id: &str, subject: &str, more: &str) -> String {
    format!(
        "From bob@example.com Fri Jan 15 12:00:00 2016\nFrom: Bob <bob@example.com>\nTo: Ada <ada@example.org>\n\
         Subject: {subject}\nMessage-ID: <{id}@example.com>\n{more}\nHello from {id}\n\n"
    )
}

impl Post {
    /// Makes an import of so many bytes; its path, and the one that takes the file.
    pub async fn begin_import(&self, kind: &str, size: usize) -> (String, String) {
        let body = json!({ "kind": kind, "size": size });
        let made = self.ada.client.post(&self.at("imports")).json(&body).send().await.expect(201);
        let path = self.at(&format!("imports/{}", made.str("/import/importId")));
        (path, path_of(made.str("/uploadUrl")).to_owned())
    }

    /// Imports a file; the import once it is over.
    pub async fn import(&self, kind: &str, file: impl Into<Vec<u8>>) -> Value {
        let file = file.into();
        let (path, upload) = self.begin_import(kind, file.len()).await;
        self.server.client().put(&upload).body("application/octet-stream", file).send().await.expect(204);
        self.ada.client.post(&format!("{path}/start")).send().await.expect(200);
        self.ended(&path).await
    }

    /// An import once it is over.
    pub async fn ended(&self, path: &str) -> Value {
        let over = async || {
            let import = self.ada.client.get(path).send().await.expect(200).json["import"].clone();
            (!import["endedAt"].is_null()).then_some(import)
        };
        self.server.eventually("the import is over", over).await
    }

    /// All messages of the only conversation of a list.
    async fn listed_messages(&self, query: &str) -> Vec<Value> {
        let id = self.only(query).await;
        self.get(&format!("threads/{id}")).await.expect(200).list("/messages").to_vec()
    }
}

/// State, and how many messages were read, filed, there already, and failed.
fn came_to(import: &Value) -> (&str, [i64; 4]) {
    let counts = ["read", "filed", "duplicates", "failed"].map(|name| import[name].as_i64().expect("a number"));
    (import["state"].as_str().expect("a state"), counts)
}

#[tokio::test]
async fn an_mbox_is_imported_with_its_dates_flags_and_labels() {
    let post = Post::new().await;
    let received = "Received: from a by b; Thu, 14 Jan 2016 10:00:00 +0000\n";
    let mbox = [
        entry("1", "Read", &format!("{received}Status: RO\nX-Status: F\nX-Keywords: later\n")),
        entry("2", "Unread", "Date: Wed, 13 Jan 2016 12:00:00 +0000\nStatus: O\n"),
        entry("3", "Gmail", "X-Gmail-Labels: Archived,Starred,\"Work/Bills, paid\"\n"),
        entry("4", "Thrown", "X-Gmail-Labels: Trash,Unread\n"),
        "From ada Fri Jan 15 12:00:00 2016\nFrom: ada@example.org\nSubject: Mine\nStatus: O\nX-Gmail-Labels: Sent\n\n\
         >From here on\n"
            .to_owned(),
    ];
    let import = post.import("mbox", mbox.concat()).await;
    assert_eq!(came_to(&import), ("done", [5, 5, 0, 0]), "{import}");
    assert_eq!(post.subjects("view=inbox").await, ["Read", "Unread"]);
    assert_eq!(post.subjects("view=archive").await, ["Gmail"]);
    assert_eq!(post.subjects("view=trash").await, ["Thrown"]);
    assert_eq!(post.subjects("view=sent").await, ["Mine"]);
    assert_eq!(post.subjects("view=starred").await, ["Gmail", "Read"]);
    let labels = post.get("labels").await.expect(200);
    let names: Vec<_> = labels.list("/labels").iter().map(|it| it["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["later", "Work/Bills, paid"]);
    let read = &post.listed_messages("q=subject:read%20-subject:unread").await[0];
    assert_eq!((read["receivedAt"].clone(), read["unread"].clone()), (json!(1_452_765_600_000_i64), json!(false)));
    let unread = &post.listed_messages("q=subject:unread").await[0];
    assert_eq!((unread["receivedAt"].clone(), unread["unread"].clone()), (json!(1_452_686_400_000_i64), json!(true)));
    let gmail = &post.listed_messages("view=archive").await[0];
    assert_eq!((gmail["receivedAt"].clone(), gmail["unread"].clone()), (json!(1_452_859_200_000_i64), json!(false)));
    let mine = &post.listed_messages("view=sent").await[0];
    assert_eq!((mine["text"].clone(), mine["unread"].clone()), (json!("From here on\r\n"), json!(false)));
    // What the mbox says beside a message is no part of it.
    let raw = post.get(&format!("messages/{}/raw", read["messageId"].as_str().expect("an id"))).await.expect(200);
    assert!(raw.text.contains("Received: from a by b") && !raw.text.contains("Status:"), "{}", raw.text);
}

#[tokio::test]
async fn what_the_mailbox_has_is_folded_and_gets_its_labels() {
    let post = Post::new().await;
    let mbox = entry("1", "One", "") + &entry("2", "Two", "");
    assert_eq!(came_to(&post.import("mbox", mbox.clone()).await), ("done", [2, 2, 0, 0]));
    let more = mbox + &entry("1", "One", "X-Keywords: again\n") + &entry("3", "Three", "") + &entry("3", "Three", "");
    assert_eq!(came_to(&post.import("mbox", more).await), ("done", [5, 1, 4, 0]));
    assert_eq!(post.subjects("view=all").await.len(), 3);
    let label = post.get("labels").await.expect(200);
    assert_eq!(label.list("/labels")[0]["threadCount"], 1, "{}", label.json);
}

#[tokio::test]
async fn conversations_are_put_together_across_an_import_and_what_was_there() {
    let post = Post::new().await;
    post.deliver(&super::threads::message("9", "bob@example.com", "Re: Plans", "In-Reply-To: <1@example.com>\n")).await;
    post.import("mbox", entry("1", "Plans", "") + &entry("2", "Re: Plans", "References: <1@example.com>\n")).await;
    let ids = post.listed_messages("view=all").await;
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[tokio::test]
async fn a_maildir_is_imported_from_a_tar_and_from_a_zip() {
    for pack in [tarred as fn(&[(&str, &[u8])]) -> Vec<u8>, zipped] {
        let post = Post::new().await;
        let mail = |subject: &str| format!("From: bob@example.com\nSubject: {subject}\n\nHello\n").into_bytes();
        let (inbox, new, sent, bills) = (mail("Inbox"), mail("New"), mail("Sent"), mail("Bill"));
        let files: [(&str, &[u8]); 6] = [
            ("Maildir/cur/1452859200.M1.host:2,FS", &inbox),
            ("Maildir/new/1452859201.M2.host", &new),
            ("Maildir/.Sent/cur/1452859202.M3.host:2,S", &sent),
            ("Maildir/.Work.Bills/cur/1452859203.M4.host:2,", &bills),
            ("Maildir/dovecot-uidlist", b"3 V1"),
            ("Maildir/tmp/1452859204.M5.host", b"half"),
        ];
        let import = post.import("maildir", pack(&files)).await;
        assert_eq!(came_to(&import), ("done", [4, 4, 0, 0]), "{import}");
        assert_eq!(post.subjects("view=inbox").await, ["New", "Inbox"]);
        assert_eq!(post.subjects("view=starred").await, ["Inbox"]);
        assert_eq!(post.subjects("view=sent").await, ["Sent"]);
        let labels = post.get("labels").await.expect(200);
        let label = &labels.list("/labels")[0];
        assert_eq!((label["name"].clone(), label["unreadCount"].clone()), (json!("Work/Bills"), json!(1)));
        let message = &post.listed_messages("view=starred").await[0];
        assert_eq!(message["receivedAt"], 1_452_859_200_000_i64);
    }
}

#[tokio::test]
async fn messages_that_were_saved_are_imported_one_or_many() {
    let post = Post::new().await;
    let mail = |subject: &str| {
        format!("From: bob@example.com\nSubject: {subject}\nDate: Wed, 13 Jan 2016 12:00:00 +0000\n\nHello\n")
    };
    assert_eq!(came_to(&post.import("eml", mail("One")).await), ("done", [1, 1, 0, 0]));
    let (two, three) = (mail("Two"), mail("Three"));
    let files =
        [("a/two.eml", two.as_bytes()), ("Sent/three.EML", three.as_bytes()), ("notes.txt", b"no mail".as_slice())];
    assert_eq!(came_to(&post.import("eml", zipped(&files)).await), ("done", [2, 2, 0, 0]));
    assert_eq!(post.subjects("view=inbox").await.len(), 2);
    assert_eq!(post.subjects("view=sent").await, ["Three"]);
    let one = &post.listed_messages("q=subject:one").await[0];
    assert_eq!((one["receivedAt"].clone(), one["unread"].clone()), (json!(1_452_686_400_000_i64), json!(false)));
}

#[tokio::test]
async fn more_messages_than_one_commit_files_are_all_there() {
    let post = Post::new().await;
    let large = format!("X-Large: 1\n\n{}", ("x".repeat(70) + "\n").repeat(3_000));
    let mut mbox: String = (0..450).map(|number| entry(&number.to_string(), &format!("N {number}"), "")).collect();
    mbox += &entry("large", "Large", &large);
    assert_eq!(came_to(&post.import("mbox", mbox).await), ("done", [451, 451, 0, 0]));
    let counts = post.get("counts").await.expect(200);
    assert_eq!(counts.int("/counts/primary"), 451, "{}", counts.json);
    let message = &post.listed_messages("q=subject:large").await[0];
    assert!(message["size"].as_i64().expect("a size") > 210_000, "{message}");
}

#[tokio::test]
async fn nothing_follows_from_imported_mail() {
    let post = Post::new().await;
    post.deliver(&super::threads::message("1", "bob@example.com", "Plans", "")).await;
    let id = post.only("view=inbox").await;
    let until = post.server.clock.now().0 + 3_600_000;
    post.act(json!({ "threadIds": [id], "action": "snooze", "until": until })).await.expect(200);
    post.import("mbox", entry("2", "Re: Plans", "References: <1@example.com>\n")).await;
    // The older message is the first of the conversation now, which stays where it was.
    assert_eq!(post.subjects("view=snoozed").await, ["Re: Plans"]);
    let notices = post.ada.client.get("/v1/me/notifications").send().await.expect(200);
    let of_mail = |it: &&Value| it["event"].as_str().is_some_and(|event| event.starts_with("mail."));
    assert_eq!(notices.list("/notices").iter().filter(of_mail).count(), 0, "{}", notices.json);
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_keeps_nothing_else_away() {
    let post = Post::new().await;
    let import = post.import("mbox", "Subject: no mbox\n\nHello\n").await;
    assert_eq!(came_to(&import), ("failed", [0, 0, 0, 0]));
    assert_eq!(import["error"], "This file is no mbox.");
    let long = format!("From a@b\nSubject: Long\n\n{}\n\n", "x".repeat(36_700_160));
    let import = post.import("mbox", entry("1", "One", "") + &long + &entry("2", "Two", "")).await;
    assert_eq!(came_to(&import), ("done", [3, 2, 0, 1]));
    assert_eq!(import["errors"], json!([{"message": 2, "file": "", "reason": "A message has at most 35 MB."}]));
    let mut zip = zipped(&[("one.eml", b"Subject: Unharmed\n\nHello\n".as_slice())]);
    zip.truncate(zip.len() - 10);
    let import = post.import("eml", zip).await;
    assert_eq!((import["state"].clone(), import["error"].clone()), (json!("failed"), json!("The ZIP is damaged.")));
    let mut tar = tarred(&[
        ("cur/1:2,S", b"Subject: Before\n\nHello\n".as_slice()),
        ("cur/2:2,S", b"Subject: Behind\n\n".as_slice()),
    ]);
    tar[1024 + 257] = b'x';
    let import = post.import("maildir", tar).await;
    assert_eq!(came_to(&import), ("failed", [1, 1, 0, 0]));
    assert_eq!(import["error"], "The tar is damaged.");
    assert_eq!(came_to(&post.import("mbox", "\n").await), ("done", [0, 0, 0, 0]));
}

#[tokio::test]
async fn an_import_is_begun_sent_started_and_called_off_in_order() {
    let post = Post::new().await;
    let make = async |body: Value| post.ada.client.post(&post.at("imports")).json(&body).send().await;
    make(json!({"kind": "pst", "size": 1})).await.expect_problems(&["kind"]);
    make(json!({"kind": "mbox", "size": 0})).await.expect_problems(&["size"]);
    make(json!({"kind": "mbox"})).await.expect(400);
    let later = "Importing over IMAP isn't possible yet; send an mbox, a maildir or messages.";
    make(json!({"kind": "imap", "size": 1})).await.expect_error(400, "imap_later", later);
    let most = 10_u64 * 1024 * 1024 * 1024;
    let large = make(json!({"kind": "mbox", "size": most + 1})).await;
    large.expect_error(413, "too_large", "A file that is imported has at most 10 GB.");
    make(json!({"kind": "mbox", "size": most})).await.expect(201);
    let mbox = entry("1", "One", "");
    let (path, upload) = post.begin_import("mbox", mbox.len()).await;
    let start = async || post.ada.client.post(&format!("{path}/start")).send().await;
    let send =
        async |bytes: String| post.server.client().put(&upload).body("application/octet-stream", bytes).send().await;
    start().await.expect_error(409, "upload_missing", "The upload isn't there yet.");
    send(mbox[1..].to_owned()).await.expect(400);
    send(mbox.clone() + "x").await.expect(413);
    send("x".repeat(mbox.len())).await.expect(204);
    send(mbox.clone()).await.expect(204);
    assert_eq!(post.ada.client.get(&path).send().await.expect(200).str("/import/state"), "uploaded");
    start().await.expect(200);
    assert_eq!(came_to(&post.ended(&path).await), ("done", [1, 1, 0, 0]));
    start().await.expect_error(409, "import_over", "This import is over.");
    send(mbox).await.expect_error(409, "import_begun", "This import has begun.");
    let cancel = async |path: &str| post.ada.client.post(&format!("{path}/cancel")).send().await;
    cancel(&path).await.expect_error(409, "import_over", "This import is over.");
    let (other, _) = post.begin_import("eml", 3).await;
    assert_eq!(cancel(&other).await.expect(200).str("/import/state"), "cancelled");
    let listed = post.get("imports").await.expect(200);
    assert_eq!(listed.list("/imports").len(), 3);
}

#[tokio::test]
async fn imports_are_the_members_and_ten_of_a_mailbox() {
    let post = Post::new().await;
    let (path, _) = post.begin_import("mbox", 3).await;
    let bob = post.server.person("bob").await;
    crate::accounts::join(&post.ada, &post.org, &bob, "admin").await;
    bob.client.get(&path).send().await.expect_error(404, "not_found", "Mailbox not found");
    let made = make_mailbox(&post.ada, &post.org, "other", &[&post.ada.user_id]).await;
    let elsewhere = path.replace(&post.mailbox, made.str("/mailbox/mailboxId"));
    post.ada.client.get(&elsewhere).send().await.expect_error(404, "not_found", "Import not found");
    post.ada.client.post(&format!("{elsewhere}/start")).send().await.expect_error(404, "not_found", "Import not found");
    for _ in 1..10 {
        post.begin_import("mbox", 3).await;
    }
    let one_more: Answer =
        post.ada.client.post(&post.at("imports")).json(&json!({"kind": "eml", "size": 1})).send().await;
    one_more.expect_error(400, "limit_reached", "A mailbox has at most 10 imports under way.");
    // What nobody starts is given up after a week.
    post.server.clock.advance(std::time::Duration::from_hours(7 * 24 + 1));
    assert_eq!(post.ended(&path).await["state"], "cancelled");
}
