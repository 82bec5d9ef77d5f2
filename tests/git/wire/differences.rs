//! How commits differ, and who wrote which line, of what git pushed.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Workshop;
use crate::harness::Answer;

impl Workshop {
    /// A history with a file changed, one renamed, one retyped, one gone, one new and one that has no lines; `main` and `feature`.
    async fn two_branches() -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 0).await;
        let write = |name: &str, bytes: &[u8]| std::fs::write(shop.at("ada").join(name), bytes).unwrap();
        let numbered = (1..=40).fold(String::new(), |mut text, line| {
            writeln!(text, "line {line}").unwrap();
            text
        });
        write("text", numbered.as_bytes());
        write("old name", format!("{numbered}once more\n").as_bytes());
        write("kind", b"a file\n");
        write("gone", b"bye");
        write("picture", b"\0\x01\x02");
        shop.commit("ada", "é", "one\n").await;
        shop.git("ada", &["checkout", "--quiet", "-b", "feature"]).await;
        write("text", numbered.replace("line 3\n", "line three\n").replace("line 38\n", "").as_bytes());
        shop.git("ada", &["mv", "old name", "new name"]).await;
        shop.git("ada", &["rm", "--quiet", "gone", "kind"]).await;
        std::os::unix::fs::symlink("text", shop.at("ada").join("kind")).unwrap();
        write("picture", b"\0\x03");
        shop.commit("ada", "dir/new", "first\nsecond").await;
        shop.git("ada", &["checkout", "--quiet", "main"]).await;
        shop.commit("ada", "other", "main goes on\n").await;
        shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
        shop
    }
}

/// The files of an answer, by their paths.
fn file<'a>(answer: &'a Answer, path: &str) -> &'a Value {
    answer.list("/files").iter().find(|it| it["path"] == path).unwrap_or_else(|| panic!("{path}: {}", answer.text))
}

#[tokio::test]
async fn a_comparison_says_what_a_branch_would_bring() {
    let shop = Workshop::two_branches().await;
    let answer = shop.ask("compare?head=feature").await.expect(200);
    let (main, feature) = (shop.tip("main").await, shop.tip("feature").await);
    assert_eq!((answer.str("/base"), answer.str("/head")), (main.as_str(), feature.as_str()));
    assert_eq!(answer.str("/mergeBase"), shop.git("ada", &["merge-base", "main", "feature"]).await);
    assert_eq!((answer.int("/ahead"), answer.int("/behind"), answer.json["exact"].as_bool()), (1, 1, Some(true)));
    assert_eq!(answer.list("/commits").len(), 1);
    assert_eq!(answer.str("/commits/0/id"), feature);
    assert_eq!(answer.json["complete"], json!(true));
    let told: Vec<_> = answer.list("/files").iter().map(|it| [&it["path"], &it["status"], &it["additions"]]).collect();
    assert_eq!(
        json!(told),
        json!([
            ["dir/new", "added", 2],
            ["gone", "deleted", 0],
            ["kind", "retyped", 1],
            ["new name", "renamed", 0],
            ["picture", "modified", null],
            ["text", "modified", 1]
        ])
    );
    assert_eq!(file(&answer, "new name")["oldPath"], "old name");
    assert_eq!(file(&answer, "text")["deletions"], 2);
    let kind = file(&answer, "kind");
    assert_eq!((&kind["oldType"], &kind["type"]), (&json!("file"), &json!("link")));
    let gone = file(&answer, "gone");
    assert_eq!((gone.get("oid"), gone["oldOid"].as_str().unwrap().len()), (None, 40));
    // The other way round, and with itself.
    let back = shop.ask("compare?base=feature&head=main").await.expect(200);
    assert_eq!((back.int("/ahead"), back.list("/files").len()), (1, 1));
    let same = shop.ask("compare?base=main&head=main").await.expect(200);
    assert_eq!((same.int("/ahead"), same.list("/files").len(), same.list("/commits").len()), (0, 0, 0));
    shop.ask("compare?head=nothing").await.expect_error(404, "not_found", "Branch or tag not found");
    shop.ask("compare?base=nothing&head=main").await.expect_error(404, "not_found", "Branch or tag not found");
    shop.ask("compare").await.expect_problems(&["head"]);
    shop.ask(&format!("compare?head={}", "x".repeat(257))).await.expect_problems(&["head"]);
    shop.ask(&format!("compare?head={}", "x".repeat(256))).await.expect(404);
}

#[tokio::test]
async fn histories_that_never_met_are_compared_from_nothing() {
    let shop = Workshop::pushed(1).await;
    shop.git("ada", &["checkout", "--quiet", "--orphan", "alone"]).await;
    shop.commit("ada", "own", "mine\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "alone"]).await;
    let answer = shop.ask("compare?head=alone").await.expect(200);
    assert_eq!((&answer.json["mergeBase"], answer.int("/ahead"), answer.int("/behind")), (&Value::Null, 1, 1));
    assert_eq!(answer.list("/files").len(), 2);
}

#[tokio::test]
async fn differences_are_shown_line_by_line() {
    let shop = Workshop::two_branches().await;
    let base = shop.git("ada", &["merge-base", "main", "feature"]).await;
    let answer = shop.ask(&format!("diff?base={base}&head=feature")).await.expect(200);
    assert_eq!((answer.str("/base"), &answer.json["cursor"]), (base.as_str(), &Value::Null));
    let text = file(&answer, "text");
    assert_eq!(text["hunks"].as_array().unwrap().len(), 2);
    assert_eq!(
        text["hunks"][0],
        json!({
            "oldStart": 1, "oldLines": 6, "newStart": 1, "newLines": 6, "heading": "",
            "lines": [" line 1", " line 2", "-line 3", "+line three", " line 4", " line 5", " line 6"]
        })
    );
    assert_eq!(text["hunks"][1]["lines"][3], "-line 38");
    assert_eq!(
        file(&answer, "dir/new")["hunks"][0]["lines"],
        json!(["+first", "+second", "\\ No newline at end of file"])
    );
    let picture = file(&answer, "picture");
    assert_eq!((&picture["binary"], &picture["hunks"]), (&json!(true), &json!([])));
    let renamed = file(&answer, "new name");
    assert_eq!(
        (&renamed["status"], &renamed["hunks"], &renamed["complete"]),
        (&json!("renamed"), &json!([]), &json!(true))
    );
    let lines = file(&answer, "kind")["hunks"].as_array().unwrap().iter().map(|hunk| hunk["lines"][0].clone());
    assert_eq!(lines.collect::<Vec<_>>(), ["-a file", "+text"]);
    // Of one commit, of the first one, and of one folder.
    let own = shop.ask("diff?head=main").await.expect(200);
    assert_eq!((own.list("/files").len(), own.str("/files/0/path")), (1, "other"));
    let first = shop.ask(&format!("diff?head={base}")).await.expect(200);
    assert_eq!((&first.json["base"], first.list("/files").len()), (&Value::Null, 6));
    let folder = shop.ask(&format!("diff?base={base}&head=feature&path=dir")).await.expect(200);
    assert_eq!(folder.list("/files").len(), 1);
    let none = shop.ask(&format!("diff?base={base}&head=feature&path=*")).await.expect(200);
    assert_eq!(none.list("/files").len(), 0);
    shop.ask("diff?head=main&cursor=x").await.expect_error(400, "invalid_cursor", "Invalid cursor");
    shop.ask("diff?head=gone").await.expect_error(404, "not_found", "Branch or tag not found");
}

#[tokio::test]
async fn a_patch_makes_what_it_was_made_of() {
    let shop = Workshop::two_branches().await;
    let path = shop.repos.at("web/diff?base=main&head=feature");
    let answer = shop.repos.ada.client.get(&path).header("accept", "text/x-diff, */*;q=0.1").send().await.expect(200);
    assert_eq!(answer.header("content-type"), Some("text/x-diff; charset=utf-8"));
    std::fs::write(shop.at("patch"), &answer.text).unwrap();
    shop.git("ada", &["apply", "--index", "../patch"]).await;
    let made = shop.git("ada", &["write-tree"]).await;
    assert_eq!(made, shop.git("ada", &["rev-parse", "feature^{tree}"]).await);
}

#[tokio::test]
async fn a_long_difference_comes_in_pages() {
    let shop = Workshop::pushed(1).await;
    let folder = shop.at("ada");
    for at in 0..205 {
        std::fs::write(folder.join(format!("many-{at:03}")), format!("{at}\n")).unwrap();
    }
    // Three of which two don't fit onto a page, and one that fits onto none.
    let long = |lines: usize| format!("{}\n", "x".repeat(99)).repeat(lines);
    for (name, lines) in [("z1", 6_000), ("z2", 6_000), ("z3", 12_000)] {
        std::fs::write(folder.join(name), long(lines)).unwrap();
    }
    std::fs::write(folder.join("z4"), "y".repeat(300_000)).unwrap();
    shop.commit("ada", "zz", "the last\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = shop.ask(&format!("diff?head=main{cursor}")).await.expect(200);
        assert!(answer.text.len() < 2 * 1024 * 1024, "{}", answer.text.len());
        let told =
            answer.list("/files").iter().map(|it| (it["path"].as_str().unwrap().to_owned(), it["complete"] == true));
        pages.push(told.collect::<Vec<_>>());
        match answer.json["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 6, 1, 1, 1, 1]);
    let all: Vec<_> = pages.concat();
    assert_eq!(all.len(), 210);
    assert!(
        all.is_sorted() && all.iter().filter(|(_, is_whole)| !is_whole).map(|(path, _)| path).eq(["z3", "z4"]),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_file_is_shown_with_the_commit_that_changed_it_last() {
    let shop = Workshop::two_branches().await;
    let answer = shop.ask("file?path=%C3%A9").await.expect(200);
    assert_eq!((answer.str("/text"), answer.int("/size"), answer.str("/type")), ("one\n", 4, "file"));
    let last = shop.git("ada", &["log", "--format=%H", "-1", "main", "--", "é"]).await;
    assert_eq!((answer.str("/lastCommit/id"), answer.str("/commit")), (last.as_str(), shop.tip("main").await.as_str()));
    assert_eq!(shop.ask("file?path=picture").await.expect(200).json["text"], Value::Null);
    let link = shop.ask("file?path=kind&ref=feature").await.expect(200);
    assert_eq!((link.str("/type"), link.str("/text")), ("link", "text"));
    shop.ask("file?path=dir&ref=feature").await.expect_error(400, "folder", "That's a folder.");
    shop.ask("file?path=nothing").await.expect_error(404, "not_found", "File not found");
    shop.ask("file?path=text&ref=no").await.expect_error(404, "not_found", "Branch or tag not found");
    shop.ask("file").await.expect_problems(&["path"]);
}

#[tokio::test]
async fn a_text_is_shown_up_to_a_megabyte() {
    let shop = Workshop::pushed(0).await;
    let most = 1024 * 1024;
    for (name, len) in [("most", most), ("more", most + 1)] {
        shop.commit("ada", name, &"x".repeat(len)).await;
    }
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    assert_eq!(shop.ask("file?path=most").await.expect(200).str("/text").len(), most);
    assert_eq!(shop.ask("file?path=more").await.expect(200).json["text"], Value::Null);
    shop.ask("blame?path=most").await.expect(200);
    let refusal = "Lines are traced back in files of up to 1 MB.";
    shop.ask("blame?path=more").await.expect_error(413, "too_large", refusal);
}

#[tokio::test]
async fn lines_are_traced_back_as_git_does() {
    let shop = Workshop::two_branches().await;
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.git("ada", &["mv", "text", "moved"]).await;
    shop.commit(
        "ada",
        "moved",
        &std::fs::read_to_string(shop.at("ada").join("moved")).unwrap().replace("line 9\n", "nine\n"),
    )
    .await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    let answer = shop.ask("blame?path=moved&ref=feature").await.expect(200);
    let mut ours = Vec::new();
    for range in answer.list("/ranges") {
        let of = |name: &str| range[name].as_u64().unwrap();
        let commit = range["commit"].as_str().unwrap();
        ours.extend((0..of("lines")).map(|at| format!("{commit} {} {}", of("originalFrom") + at, of("from") + at)));
    }
    let porcelain = shop.git("ada", &["blame", "--porcelain", "feature", "--", "moved"]).await;
    let is_head = |line: &&str| {
        line.len() >= 44 && line[..40].bytes().all(|it| it.is_ascii_hexdigit()) && line.as_bytes()[40] == b' '
    };
    let theirs: Vec<String> =
        porcelain.lines().filter(is_head).map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(ours, theirs);
    assert_eq!(answer.str("/ranges/0/originalPath"), "text");
    let known: Vec<_> = answer.list("/commits").iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert!(answer.list("/ranges").iter().all(|it| known.contains(&it["commit"].as_str().unwrap())));
    shop.ask("blame?path=dir&ref=feature").await.expect_error(400, "folder", "That's a folder.");
}

#[tokio::test]
async fn a_tag_is_deleted_and_the_deletion_noted() {
    let shop = Workshop::pushed(1).await;
    shop.git("ada", &["tag", "-a", "v1", "-m", "One"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "v1"]).await;
    let object = shop.git("ada", &["rev-parse", "v1"]).await;
    let delete =
        async |name: &str| shop.repos.ada.client.delete(&shop.repos.at(&format!("web/tags?name={name}"))).send().await;
    assert_eq!(delete("v1").await.expect(200).json, json!({ "deleted": true, "object": object }));
    delete("v1").await.expect_error(404, "not_found", "Tag not found.");
    delete("v..1").await.expect_error(404, "not_found", "Tag not found.");
    delete("").await.expect_problems(&["name"]);
    delete(&"x".repeat(257)).await.expect_problems(&["name"]);
    assert_eq!(shop.repos.audited("tag.").await, ["tag.deleted"]);
    assert_eq!(shop.mirrored("mirror").await, format!("refs/heads/main {}", shop.tip("main").await));
}
