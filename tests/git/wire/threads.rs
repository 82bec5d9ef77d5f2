//! Threads on lines of pull requests.

use serde_json::{Value, json};

use super::Workshop;
use crate::harness::{Answer, Client, Person};

const NOT_YOURS: &str = "Somebody else wrote this comment.";

fn on(path: &str, line: i64, side: &str) -> Value {
    json!({ "path": path, "line": line, "side": side, "body": format!("{path} {line}") })
}

impl Workshop {
    /// A shop with a pull request that makes other lines of a file with ten.
    async fn with_lines() -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 0).await;
        let lines = |changed: &[usize]| -> String {
            let line =
                |at: usize| if changed.contains(&at) { format!("changed {at}\n") } else { format!("line {at}\n") };
            (1..=10).map(line).collect()
        };
        shop.commit("ada", "text", &lines(&[])).await;
        shop.commit("ada", "other", "alone").await;
        shop.git("ada", &["checkout", "--quiet", "-b", "feature"]).await;
        shop.commit("ada", "text", &lines(&[5])).await;
        shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
        shop.open("feature", "main").await.expect(201);
        shop
    }

    async fn begin_thread(&self, who: &Person, body: Value) -> Answer {
        self.tick();
        who.client.post(&self.pull_at("threads")).json(&body).send().await
    }

    async fn thread(&self, who: &Person, path: &str, line: i64, side: &str) -> String {
        self.begin_thread(who, on(path, line, side)).await.expect(201).str("/thread/threadId").to_owned()
    }

    async fn threads(&self, query: &str) -> Answer {
        let path = self.pull_at(&format!("threads{query}"));
        self.repos.ada.client.get(&path).send().await.expect(200)
    }

    /// Where the lines of all threads are now.
    async fn lines_now(&self) -> Vec<Value> {
        let answer = self.threads("").await;
        let line = |it: &Value| {
            assert_eq!(it["outdated"] == true, it["currentLine"].is_null(), "{it}");
            it["currentLine"].clone()
        };
        answer.list("/threads").iter().map(line).collect()
    }

    async fn reply(&self, client: &Client, thread: &str, body: &str) -> Answer {
        self.tick();
        let path = self.pull_at(&format!("threads/{thread}/replies"));
        client.post(&path).json(&json!({ "body": body })).send().await
    }
}

#[tokio::test]
async fn a_thread_is_on_a_line_that_is_there() {
    let shop = Workshop::with_lines().await;
    let vic = shop.repos.member("vic", "viewer").await;
    let begun = shop.begin_thread(&vic, on("text", 10, "new")).await.expect(201);
    let thread = &begun.json["thread"];
    assert_eq!((&thread["path"], &thread["line"], &thread["side"]), (&json!("text"), &json!(10), &json!("new")));
    assert_eq!((&thread["outdated"], &thread["currentLine"]), (&json!(false), &json!(10)));
    assert_eq!((&thread["resolved"], &thread["author"]), (&json!(false), &json!(vic.user_id)));
    assert_eq!(thread["commitId"], shop.oid("feature").await);
    assert_eq!(begun.str("/thread/comments/0/body"), "text 10");
    let old = shop.begin_thread(&vic, on("text", 5, "old")).await.expect(201);
    assert_eq!(old.str("/thread/commitId"), shop.oid("main").await);
    // The last line needs no end.
    shop.thread(&vic, "other", 1, "new").await;
    for (bad, field) in [
        (on("text", 11, "new"), "line"),
        (on("text", 0, "new"), "line"),
        (on("other", 2, "old"), "line"),
        (on("nothing", 1, "new"), "path"),
        (on("..", 1, "new"), "path"),
        (on("text", 1, "left"), "side"),
        (json!({ "path": "text", "line": 1, "side": "new", "body": " " }), "body"),
        (json!({ "path": "text", "line": 1, "side": "new", "body": "é".repeat(16_385) }), "body"),
        (json!({ "path": "text", "line": 1, "side": "new", "body": "x", "head": "x" }), "head"),
    ] {
        shop.begin_thread(&vic, bad).await.expect_problems(&[field]);
    }
    let fits = json!({ "path": "text", "line": 1, "side": "new", "body": "é".repeat(16_384) });
    shop.begin_thread(&vic, fits).await.expect(201);
    let elsewhere = json!({ "path": "text", "line": 1, "side": "new", "body": "x", "head": shop.oid("main").await });
    let moved = "The pull request changed since you opened it.";
    shop.begin_thread(&vic, elsewhere).await.expect_error(409, "head_moved", moved);
    std::fs::write(shop.at("ada").join("bytes"), b"a\0b\n").unwrap();
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    let binary = shop.begin_thread(&vic, on("bytes", 1, "new")).await.expect_problems(&["path"]);
    assert!(binary.text.contains("This file is too large, or has no lines."), "{}", binary.text);
    assert_eq!(shop.happened().await.iter().filter(|it| *it == "thread_opened").count(), 4);
}

#[tokio::test]
async fn a_thread_follows_its_line_until_that_changes() {
    let shop = Workshop::with_lines().await;
    let ada = &shop.repos.ada;
    for (path, line, side) in [("text", 2, "new"), ("text", 5, "new"), ("text", 5, "old"), ("other", 1, "new")] {
        shop.thread(ada, path, line, side).await;
    }
    assert_eq!(shop.lines_now().await, [json!(2), json!(5), json!(5), json!(1)]);
    // Three lines come before, and one of the lines with a thread becomes another.
    let text: String = (1..=10).map(|at| if at == 2 { "two\n".to_owned() } else { format!("line {at}\n") }).collect();
    let text = format!("a\nb\nc\n{}", text.replace("line 5", "changed 5"));
    shop.commit("ada", "text", &text).await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    assert_eq!(shop.lines_now().await, [Value::Null, json!(8), json!(5), json!(1)]);
    // The base goes on, and the head gets it.
    shop.git("ada", &["checkout", "--quiet", "main"]).await;
    let text = std::fs::read_to_string(shop.at("ada").join("text")).unwrap();
    shop.commit("ada", "text", &format!("{text}end\n")).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    shop.act(1, "update", json!({})).await.expect(200);
    assert_eq!(shop.lines_now().await, [Value::Null, json!(8), json!(5), json!(1)]);
    // What is gone, or elsewhere, is outdated; it is as it was once it is back.
    shop.git("ada", &["fetch", "--quiet", "origin", "feature:feature"]).await;
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.git("ada", &["rm", "--quiet", "other"]).await;
    shop.git("ada", &["mv", "text", "elsewhere"]).await;
    shop.commit("ada", "last", "last\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    assert_eq!(shop.lines_now().await, [Value::Null, Value::Null, json!(5), Value::Null]);
    shop.git("ada", &["push", "--quiet", "--force", "origin", "feature~1:feature"]).await;
    assert_eq!(shop.lines_now().await, [Value::Null, json!(8), json!(5), json!(1)]);
}

#[tokio::test]
async fn people_answer_and_change_what_they_said() {
    let shop = Workshop::with_lines().await;
    let (dev, vic) = (shop.repos.member("dev", "developer").await, shop.repos.member("vic", "viewer").await);
    let thread = shop.thread(&vic, "text", 5, "new").await;
    let said = shop.reply(&dev.client, &thread, " Because. ").await.expect(201);
    assert_eq!((said.str("/comment/body"), said.str("/comment/author")), ("Because.", &*dev.user_id));
    let at = |id: &str| shop.pull_at(&format!("threads/{thread}/comments/{id}"));
    let said = said.str("/comment/commentId").to_owned();
    let new = json!({ "body": "Since." });
    vic.client.patch(&at(&said)).json(&new).send().await.expect_error(403, "comment_of_another", NOT_YOURS);
    vic.client.delete(&at(&said)).send().await.expect_error(403, "comment_of_another", NOT_YOURS);
    shop.repos.ada.client.patch(&at(&said)).json(&new).send().await.expect(403);
    shop.tick();
    let edited = dev.client.patch(&at(&said)).json(&new).send().await.expect(200);
    assert!(edited.int("/comment/editedAt") > edited.int("/comment/createdAt"));
    let listed = shop.threads("").await;
    assert_eq!(listed.str("/threads/0/comments/1/body"), "Since.");
    for bad in ["", " ", "\0", &*"é".repeat(16_385)] {
        dev.client.patch(&at(&said)).json(&json!({ "body": bad })).send().await.expect_problems(&["body"]);
        shop.reply(&dev.client, &thread, bad).await.expect_problems(&["body"]);
    }
    for unknown in ["pcm_01jd7rt4m5e9fv2w8x3c6k0hqz", "nothing"] {
        dev.client.delete(&at(unknown)).send().await.expect_error(404, "not_found", "Comment not found");
    }
    let nowhere = "pth_01jd7rt4m5e9fv2w8x3c6k0hqz";
    shop.reply(&dev.client, nowhere, "x").await.expect_error(404, "not_found", "Thread not found");
    for _ in 0..97 {
        shop.reply(&vic.client, &thread, "x").await.expect(201);
    }
    shop.reply(&vic.client, &thread, "The hundredth").await.expect(201);
    let message = "A thread has at most 100 comments.";
    shop.reply(&vic.client, &thread, "x").await.expect_error(400, "limit_reached", message);
    assert_eq!(shop.threads("").await.list("/threads/0/comments").len(), 100);
    // Whoever administers the repository takes away what others said; with the last comment goes the thread.
    shop.repos.ada.client.delete(&at(&said)).send().await.expect(204);
    let lone = shop.begin_thread(&vic, on("text", 1, "new")).await.expect(201);
    let path =
        format!("threads/{}/comments/{}", lone.str("/thread/threadId"), lone.str("/thread/comments/0/commentId"));
    vic.client.delete(&shop.pull_at(&path)).send().await.expect(204);
    assert_eq!(shop.threads("").await.list("/threads").len(), 1);
}

#[tokio::test]
async fn open_threads_block_the_merge_where_a_rule_says_so() {
    let shop = Workshop::with_lines().await;
    shop.rule(json!({ "name": "Done", "patterns": ["main"], "requirePull": { "resolveThreads": true } })).await;
    let (dev, vic) = (shop.repos.member("dev", "developer").await, shop.repos.member("vic", "viewer").await);
    let eva = shop.repos.member("eva", "viewer").await;
    let first = shop.thread(&vic, "text", 5, "new").await;
    shop.thread(&dev, "text", 6, "new").await;
    assert_eq!(shop.reasons().await, json!(["2 threads of this pull request aren't resolved."]));
    let settle = |thread: &str| shop.pull_at(&format!("threads/{thread}/resolve"));
    let others = "Threads are resolved by who began them, who opened the pull request, and who has write access.";
    eva.client.post(&settle(&first)).send().await.expect_error(403, "thread_of_another", others);
    let done = vic.client.post(&settle(&first)).send().await.expect(200);
    assert_eq!((&done.json["thread"]["resolved"], done.str("/thread/resolvedBy")), (&json!(true), &*vic.user_id));
    assert_eq!(vic.client.post(&settle(&first)).send().await.expect(200).json, done.json);
    let one = "A thread of this pull request isn't resolved.";
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", one);
    let second = shop.threads("?state=open").await;
    assert_eq!((second.list("/threads").len(), second.int("/threads/0/line")), (1, 6));
    let second = second.str("/threads/0/threadId").to_owned();
    shop.repos.ada.client.post(&settle(&second)).send().await.expect(200);
    let open = dev.client.delete(&settle(&first)).send().await.expect(200);
    assert_eq!(open.json["thread"]["resolved"], false);
    assert_eq!(shop.reasons().await, json!([one]));
    dev.client.post(&settle(&first)).send().await.expect(200);
    assert_eq!(shop.threads("?state=resolved").await.list("/threads").len(), 2);
    shop.merge(1, "merge").await.expect(200);
    // What is merged is talked about, too.
    shop.reply(&vic.client, &first, "Thanks.").await.expect(201);
    assert_eq!(shop.lines_now().await, [json!(5), json!(6)]);
}

#[tokio::test]
async fn a_review_brings_its_threads_or_nothing() {
    let shop = Workshop::with_lines().await;
    let dev = shop.repos.member("dev", "developer").await;
    let bad = json!({ "verdict": "comment", "comments": [on("text", 1, "new"), on("text", 11, "new"), on("gone", 1, "old")] });
    shop.review(&dev, bad).await.expect_problems(&["comments[1].line", "comments[2].path"]);
    let bad = json!({ "verdict": "comment", "comments": [on("text", 1, "new"), on("", 0, "x")] });
    shop.review(&dev, bad).await.expect_problems(&["comments[1].path", "comments[1].line", "comments[1].side"]);
    assert!(shop.threads("").await.list("/threads").is_empty());
    let comments = |count: usize| -> Vec<Value> { (0..count).map(|_| on("text", 5, "new")).collect() };
    let most = json!({ "verdict": "comment", "comments": comments(101) });
    shop.review(&dev, most).await.expect_problems(&["comments"]);
    let given = shop.review(&dev, json!({ "verdict": "changes", "comments": comments(100) })).await.expect(201);
    let page = shop.threads("?limit=100").await;
    assert_eq!(page.list("/threads").len(), 100);
    assert_eq!(page.str("/threads/0/reviewId"), given.str("/review/reviewId"));
    let timeline = shop.repos.ada.client.get(&shop.pull_at("timeline")).send().await.expect(200);
    assert_eq!((timeline.list("/entries").len(), timeline.int("/entries/1/threads")), (2, 100));
    for _ in 0..8 {
        shop.review(&dev, json!({ "verdict": "comment", "comments": comments(100) })).await.expect(201);
    }
    shop.review(&dev, json!({ "verdict": "comment", "comments": comments(99) })).await.expect(201);
    let full = "A pull request has at most 1000 threads.";
    let over = shop.review(&dev, json!({ "verdict": "comment", "comments": comments(2) })).await;
    over.expect_error(400, "limit_reached", full);
    shop.thread(&dev, "text", 1, "new").await;
    shop.begin_thread(&dev, on("text", 1, "new")).await.expect_error(400, "limit_reached", full);
    let (mut seen, mut query) = (0, "?limit=100".to_owned());
    loop {
        let page = shop.threads(&query).await;
        seen += page.list("/threads").len();
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        query = format!("?limit=100&cursor={cursor}");
    }
    assert_eq!(seen, 1_000);
    assert_eq!(shop.threads("?path=other").await.list("/threads").len(), 0);
    for query in ["?state=x", "?path=..", "?limit=0", "?cursor=x"] {
        shop.repos.ada.client.get(&shop.pull_at(&format!("threads{query}"))).send().await.expect(400);
    }
}

#[tokio::test]
async fn a_page_of_threads_ends_with_a_million_characters() {
    let shop = Workshop::with_lines().await;
    let body = "é".repeat(16_384);
    let comment = json!({ "path": "text", "line": 1, "side": "new", "body": body });
    let comments = vec![comment; 20];
    for _ in 0..4 {
        shop.review(&shop.repos.ada, json!({ "verdict": "comment", "comments": comments })).await.expect(201);
    }
    let page = shop.threads("?limit=100").await;
    assert_eq!(page.list("/threads").len(), 1_000_000 / 16_384);
    let rest = shop.threads(&format!("?limit=100&cursor={}", page.str("/cursor"))).await;
    assert_eq!((rest.list("/threads").len(), &rest.json["cursor"]), (80 - 1_000_000 / 16_384, &Value::Null));
}
