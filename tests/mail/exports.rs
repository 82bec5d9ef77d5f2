//! Exporting a mailbox, and what an import makes of the file.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
    time::Duration,
};

use domain::mail::Placed;
use serde_json::{Value, json};
use zip::ZipArchive;

use super::{
    imports::path_of,
    make_mailbox,
    threads::{Post, message},
};

impl Post {
    /// Exports the mailbox; the export once it is over, and its path.
    async fn export(&self) -> (Value, String) {
        let made = self.ada.client.post(&self.at("exports")).send().await.expect(201);
        let path = self.at(&format!("exports/{}", made.str("/export/exportId")));
        let over = async || {
            let export = self.ada.client.get(&path).send().await.expect(200).json["export"].clone();
            (!export["endedAt"].is_null()).then_some(export)
        };
        (self.server.eventually("the export is over", over).await, path)
    }

    /// What there is of each message, by its Message-ID: where it lies, when it came, its marks, its labels and its bytes.
    async fn everything(&self) -> BTreeMap<String, Value> {
        let labels = self.get("labels").await.expect(200);
        let name = |id: &Value| {
            let label = labels.list("/labels").iter().find(|it| it["labelId"] == *id).expect("a label");
            label["name"].clone()
        };
        let mut all = BTreeMap::new();
        for id in self.ids("view=all").await.into_iter().chain(self.ids("view=trash").await) {
            let thread = self.get(&format!("threads/{id}")).await.expect(200);
            let labels: Vec<Value> = thread.list("/thread/labels").iter().map(name).collect();
            for message in thread.list("/messages") {
                let path = format!("messages/{}/raw", message["messageId"].as_str().expect("an id"));
                let raw = self.get(&path).await.expect(200).text;
                let bytes = raw.strip_prefix("Return-Path: <bob@example.com>\r\n").unwrap_or(&raw).to_owned();
                let subject = message["subject"].as_str().expect("a subject").to_owned();
                let it = json!({
                    "box": message["box"], "at": message["receivedAt"], "unread": message["unread"],
                    "starred": message["starred"], "labels": labels, "bytes": bytes,
                });
                all.insert(subject, it);
            }
        }
        all
    }
}

#[tokio::test]
async fn what_is_exported_is_imported_elsewhere_as_it_was() {
    let mut post = Post::new().await;
    for (id, subject, more) in [
        ("1", "Plans", ""),
        ("2", "Re: Plans", "References: <1@example.com>\n"),
        ("3", "Bill", "X-Note: 1\n\n>From here\nFrom there\n"),
        ("4", "Gone", ""),
        ("5", "Old", ""),
    ] {
        post.server.clock.advance(Duration::from_millis(1_234));
        post.deliver_as(&message(id, "bob@example.com", subject, more), Placed::Inbox).await;
    }
    let label = post.label("Work, and \"more\"/Ä").await;
    let ids = post.ids("view=inbox").await;
    let [old, gone, bill, plans] = ids.as_slice() else { panic!("{ids:?}") };
    post.labels(&[plans.clone(), bill.clone()], "label", &label).await;
    for (id, action) in [(plans, "read"), (bill, "star"), (gone, "trash"), (old, "archive")] {
        post.act(json!({ "threadIds": [id], "action": action })).await.expect(200);
    }
    let before = post.everything().await;
    assert_eq!(before.len(), 5);
    let (export, path) = post.export().await;
    assert_eq!((export["state"].clone(), export["messages"].clone()), (json!("done"), json!(5)));
    let url = export["url"].as_str().expect("an address").to_owned();
    let file = post.server.client().get(path_of(&url)).send().await.expect(200);
    assert_eq!(file.header("content-type"), Some("application/zip"));
    let mut zip = ZipArchive::new(Cursor::new(file.bytes.clone())).expect("a ZIP");
    let names: Vec<String> = zip.file_names().map(|name| name.expect("a name").into_owned()).collect();
    assert_eq!(names, ["Inbox.mbox", "Archive.mbox", "Trash.mbox"]);
    let mut inbox = String::new();
    zip.by_name("Inbox.mbox").expect("a file").read_to_string(&mut inbox).expect("text");
    assert!(inbox.contains("\n>>From here\n>From there\n"), "{inbox}");
    let source = post.mailbox.clone();
    let made = make_mailbox(&post.ada, &post.org, "other", &[&post.ada.user_id]).await;
    post.mailbox = made.str("/mailbox/mailboxId").to_owned();
    let import = post.import("mbox", file.bytes.clone()).await;
    assert_eq!((import["state"].clone(), import["filed"].clone()), (json!("done"), json!(5)), "{import}");
    assert_eq!(post.everything().await, before);
    // Where it came from, all of it is there.
    post.mailbox = source;
    assert_eq!(post.import("mbox", file.bytes).await["duplicates"], 5);
    // The address works for ten minutes, the export is kept for a week.
    post.server.clock.advance(Duration::from_mins(10));
    let over = post.server.client().get(path_of(&url)).send().await;
    over.expect_error(403, "file_address", "This address has expired.");
    post.server.clock.advance(Duration::from_hours(7 * 24));
    let gone = async || (post.ada.client.get(&path).send().await.status == 404).then_some(());
    post.server.in_time("the export is thrown away", gone).await;
}

#[tokio::test]
async fn exports_are_the_members_alone_and_one_at_a_time() {
    let post = Post::new().await;
    let (export, path) = post.export().await;
    assert_eq!((export["state"].clone(), export["messages"].clone()), (json!("done"), json!(0)));
    let listed = post.get("exports").await.expect(200);
    assert_eq!(listed.list("/exports").len(), 1);
    let made = make_mailbox(&post.ada, &post.org, "other", &[]).await;
    let hidden = path.replace(&post.mailbox, made.str("/mailbox/mailboxId"));
    post.ada.client.get(&hidden).send().await.expect_error(404, "not_found", "Mailbox not found");
    post.server.faults.set("commit:mail.export=fail").expect("a rule");
    post.ada.client.post(&post.at("exports")).send().await.expect(201);
    let second = post.ada.client.post(&post.at("exports")).send().await;
    second.expect_error(409, "export_under_way", "An export of this mailbox is under way.");
}
