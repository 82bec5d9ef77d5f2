//! Files over HTTP, of what git pushed (contract C 4.3).

use std::io::{Cursor, Read};

use serde_json::json;

use super::Workshop;
use crate::harness::{Answer, Client};

/// Bytes of a file that is answered as it is.
const RAW_MAX: usize = 4 * 1024 * 1024;

impl Workshop {
    /// With these files, pushed.
    async fn with_files(files: &[(&str, &[u8])]) -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 0).await;
        for (name, bytes) in files {
            let place = shop.at("ada").join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, bytes).unwrap();
        }
        shop.git("ada", &["add", "."]).await;
        shop.git("ada", &["commit", "--quiet", "-m", "Files"]).await;
        shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
        shop
    }

    async fn raw(&self, query: &str) -> Answer {
        self.repos.ada.client.get(&self.repos.at(&format!("web/contents/raw?{query}"))).send().await
    }

    /// What is behind an address, without a credential.
    async fn behind(&self, url: &str) -> reqwest::Response {
        let base = self.repos.server.client().base().to_owned();
        let path = &url[url.find("/v1/").unwrap()..];
        Client::new(base).get(path).begin().await
    }
}

#[tokio::test]
async fn a_file_is_answered_as_what_it_is_and_runs_nothing() {
    let png = b"\x89PNG\r\n\x1a\nrest";
    let shop = Workshop::with_files(&[
        ("a b/é.html", b"<script>alert(1)</script>"),
        ("logo.png", png),
        ("data", b"a\0b"),
        ("empty", b""),
    ])
    .await;
    let answer = shop.raw("ref=main&path=a%20b/%C3%A9.html").await.expect(200);
    assert_eq!(answer.text, "<script>alert(1)</script>");
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let oid = shop.git("ada", &["rev-parse", "main:a b/é.html"]).await;
    let tag = format!("\"{oid}\"");
    assert_eq!(answer.header("etag"), Some(&*tag));
    assert_eq!(answer.header("content-disposition"), None);
    let at = shop.repos.at("web/contents/raw?ref=main&path=a%20b/%C3%A9.html");
    let client = &shop.repos.ada.client;
    client.get(&at).header("If-None-Match", &tag).send().await.expect(304);
    let part = client.get(&at).header("Range", "bytes=1-6").send().await.expect(206);
    assert_eq!((part.text.as_str(), part.header("content-range")), ("script", Some("bytes 1-6/25")));
    let beyond = client.get(&at).header("Range", "bytes=25-").send().await.expect(416);
    assert_eq!(beyond.header("content-range"), Some("bytes */25"));
    let saved = client.get(&format!("{at}&download=1")).send().await.expect(200);
    assert_eq!(saved.header("content-disposition"), Some("attachment; filename*=UTF-8''%C3%A9%2Ehtml"));
    for (path, content_type) in
        [("logo.png", "image/png"), ("data", "application/octet-stream"), ("empty", "text/plain; charset=utf-8")]
    {
        let answer = shop.raw(&format!("ref=main&path={path}")).await.expect(200);
        assert_eq!(answer.header("content-type"), Some(content_type), "{path}");
    }
}

#[tokio::test]
async fn what_is_no_file_is_said() {
    let shop = Workshop::with_files(&[("folder/file", b"text"), ("*", b"a star"), ("other", b"text")]).await;
    let oid = shop.git("ada", &["rev-parse", "main"]).await;
    let sub = format!("160000,{oid},sub");
    shop.git("ada", &["update-index", "--add", "--cacheinfo", &sub]).await;
    shop.git("ada", &["commit", "--quiet", "-m", "A submodule"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    shop.raw("ref=main&path=folder").await.expect_error(400, "folder", "That's a folder.");
    shop.raw("ref=main&path=sub").await.expect_error(400, "submodule", "That's a submodule.");
    shop.raw("ref=none&path=other").await.expect_error(404, "not_found", "Branch or tag not found");
    for missing in ["nothing", "other/file", "folder/*", ":(top)other", "Other"] {
        shop.raw(&format!("ref=main&path={missing}")).await.expect_error(404, "not_found", "File not found");
    }
    assert_eq!(shop.raw("ref=main&path=*").await.expect(200).text, "a star");
    for (query, problem) in [
        ("ref=main", "path"),
        ("path=other", "ref"),
        ("ref=&path=other", "ref"),
        ("ref=main&path=a/../other", "path"),
        ("ref=main&path=/", "path"),
        ("ref=main&path=other&download=2", "download"),
    ] {
        shop.raw(query).await.expect_problems(&[problem]);
    }
}

#[tokio::test]
async fn a_large_file_is_behind_an_address() {
    let (most, more) = (vec![b'a'; RAW_MAX], vec![b'b'; RAW_MAX + 1]);
    let shop = Workshop::with_files(&[("most", &most), ("more", &more)]).await;
    let answer = shop.raw("ref=main&path=most").await.expect(200);
    assert_eq!((answer.text.len(), answer.header("x-service-raw")), (RAW_MAX, None));
    let answer = shop.raw("ref=main&path=more").await.expect(200);
    assert_eq!(answer.header("x-service-raw"), Some("large"));
    assert_eq!((answer.str("/status"), &answer.json["size"]), ("ready", &json!(RAW_MAX + 1)));
    let url = answer.str("/url").to_owned();
    let response = shop.behind(&url).await;
    assert_eq!(response.headers()["content-length"], (RAW_MAX + 1).to_string().as_str());
    assert_eq!(response.headers()["content-disposition"], "attachment; filename*=UTF-8''more");
    assert_eq!(response.bytes().await.unwrap(), more);
    let forged = url.replace("name=more", "name=less");
    assert_eq!(shop.behind(&forged).await.status(), 403);
    shop.repos.server.clock.advance(std::time::Duration::from_secs(15 * 60 - 1));
    assert_eq!(shop.behind(&url).await.status(), 200);
    shop.repos.server.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(shop.behind(&url).await.status(), 403);
}

#[tokio::test]
async fn an_archive_has_what_git_puts_into_one() {
    let shop = Workshop::with_files(&[
        ("folder/file", b"text"),
        ("secret/x", b"not for others"),
        (".gitattributes", b"secret export-ignore\n"),
    ])
    .await;
    let at = shop.repos.at("web/contents/archive");
    let client = &shop.repos.ada.client;
    let asked = async |text: &str| client.post(&at).json(&json!({ "ref": text })).send().await;
    let answer = asked(" main ").await.expect(200);
    assert_eq!(answer.str("/status"), "ready");
    let response = shop.behind(answer.str("/url")).await;
    assert_eq!(response.headers()["content-type"], "application/zip");
    let short = shop.git("ada", &["rev-parse", "--short=7", "main"]).await;
    let disposition = format!("attachment; filename*=UTF-8''web%2D{short}%2Ezip");
    assert_eq!(response.headers()["content-disposition"], disposition.as_str());
    let mut archive = zip::ZipArchive::new(Cursor::new(response.bytes().await.unwrap())).unwrap();
    let names: Vec<_> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let names: Vec<_> = names.into_iter().filter(|name| !name.ends_with('/')).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let mut text = String::new();
    archive.by_name(&format!("web-{short}/folder/file")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    asked("none").await.expect_error(404, "not_found", "Branch or tag not found");
    asked("").await.expect_problems(&["ref"]);
    asked(&"x".repeat(257)).await.expect_problems(&["ref"]);
    asked(&"x".repeat(256)).await.expect(404);
}

#[tokio::test]
async fn a_folder_is_listed() {
    let shop = Workshop::with_files(&[("folder/file", b"text"), ("folder/sub/x", b""), ("top", b"12345")]).await;
    let at = |query: &str| shop.repos.at(&format!("web/tree{query}"));
    let client = &shop.repos.ada.client;
    let listed = async |query: &str| {
        let answer = client.get(&at(query)).send().await.expect(200);
        let entries = answer.list("/entries").iter();
        entries.map(|it| (it["name"].clone(), it["type"].clone(), it["size"].clone())).collect::<Vec<_>>()
    };
    let entry = |name: &str, kind: &str, size: Option<u64>| (json!(name), json!(kind), json!(size));
    assert_eq!(listed("").await, [entry("folder", "folder", None), entry("top", "file", Some(5))]);
    let inside = [entry("file", "file", Some(4)), entry("sub", "folder", None)];
    assert_eq!(listed("?path=folder").await, inside);
    assert_eq!(listed("?ref=main&path=/folder/").await, inside);
    client.get(&at("?path=top")).send().await.expect_error(400, "file", "That's a file.");
    client.get(&at("?path=none")).send().await.expect_error(404, "not_found", "File not found");
    client.get(&at("?ref=none")).send().await.expect_error(404, "not_found", "Branch or tag not found");
}

#[tokio::test]
async fn entries_say_which_commit_they_are_from_if_they_are_asked() {
    let shop = Workshop::new().await;
    shop.begin("ada", 0).await;
    for (file, text) in
        [("folder/old", "1"), ("folder/sub/x", "1"), ("top", "1"), ("folder/old", "2"), ("folder/sub/x", "2")]
    {
        shop.commit("ada", file, text).await;
    }
    // What the merge leaves behind is younger than what it keeps.
    shop.git("ada", &["checkout", "--quiet", "-b", "side", "HEAD~1"]).await;
    shop.commit("ada", "folder/old", "left").await;
    shop.git("ada", &["checkout", "--quiet", "main"]).await;
    shop.git("ada", &["merge", "--quiet", "-s", "ours", "-m", "Keep ours", "side"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let found = async |query: &str| {
        let answer = shop.ask(&format!("tree?lastCommit=true{query}")).await.expect(200);
        let entries = answer.list("/entries").iter();
        entries.map(|it| (it["name"].clone(), it["lastCommit"]["id"].clone())).collect::<Vec<_>>()
    };
    let from = async |name: &str, revision: &str| (json!(name), json!(shop.tip(revision).await));
    assert_eq!(found("").await, [from("folder", "main^1").await, from("top", "main~3").await]);
    let inside = [from("old", "main~2").await, from("sub", "main~1").await];
    assert_eq!(found("&path=folder").await, inside);
    let before = [from("old", "main~5").await, from("sub", "main~4").await];
    assert_eq!(found(&format!("&path=folder&ref={}", shop.tip("main~3").await)).await, before);
    let answer = shop.ask("tree?lastCommit=true").await.expect(200);
    assert_eq!(answer.json["entries"][1]["lastCommit"]["message"], "Add top");
    assert_eq!(answer.json["entries"][1]["lastCommit"]["author"]["name"], "Ada");
    for query in ["", "?lastCommit=false"] {
        let answer = shop.ask(&format!("tree{query}")).await.expect(200);
        assert!(answer.list("/entries").iter().all(|it| it.get("lastCommit").is_none()), "{query}");
    }
    shop.ask("tree?lastCommit=maybe").await.expect_problems(&["lastCommit"]);
}
