//! `GET /v1/orgs/:orgId/pages/export`, `GET …/:pageId/export`, `POST …/import`

use std::io::{Cursor, Read, Write};

use serde_json::{Value, json};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use super::{NEVER, Notes};
use crate::harness::Answer;

const MB: usize = 1024 * 1024;

/// A ZIP of these files.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The names and texts of a ZIP's files.
fn unzip(bytes: &[u8]) -> Vec<(String, String)> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let length = zip.len();
    let read = |place| {
        let mut file = zip.by_index(place).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        (file.name().unwrap().into_owned(), text)
    };
    (0..length).map(read).collect()
}

impl Notes {
    async fn export(&self, id: &str, query: &str) -> Answer {
        let path = if id == "all" { self.path.clone() } else { self.at(id) };
        self.ada.client.get(&format!("{path}/export{query}")).send().await
    }

    async fn import(&self, query: &str, zip: Vec<u8>) -> Answer {
        let path = format!("{}/import{query}", self.path);
        self.ada.client.post(&path).body("application/zip", zip).send().await
    }

    /// A page as it is without what every page has of its own: ids, times; its place among its siblings is the order.
    async fn shape(&self, id: &str, list: &[Value]) -> Value {
        let read = self.get(id).await.expect(200);
        let mut page = read.json["page"].clone();
        for own in
            ["pageId", "parentId", "position", "createdAt", "updatedAt", "createdBy", "updatedBy", "contentVersion"]
        {
            page.as_object_mut().unwrap().remove(own);
        }
        let mut below = Vec::new();
        for child in list.iter().filter(|child| child["parentId"] == id) {
            below.push(Box::pin(self.shape(child["pageId"].as_str().unwrap(), list)).await);
        }
        let content = json!([read.json["content"]["blocks"], read.json["content"]["markdown"]]);
        json!({ "page": page, "content": content, "below": below })
    }
}

#[tokio::test]
async fn a_page_and_what_is_below_it_are_files() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Plans: 2027").await;
    let below = notes.page(&top, "Müller/Söhne").await;
    notes.page(&below, "").await;
    notes.page("root", "Other").await;
    notes.write(&top, 0, "# Plans\n").await;
    let body = json!({ "blocks": [{ "type": "x" }], "markdown": "---\nnot ours\n---", "baseVersion": 0 });
    notes.try_write(&below, &body).await.expect(200);
    let exported = notes.export(&top, "").await.expect(200);
    assert_eq!(exported.header("content-type"), Some("application/zip"));
    assert_eq!(exported.header("content-disposition"), Some(format!("attachment; filename=\"{top}.zip\"").as_str()));
    let files = unzip(&exported.bytes);
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Plans- 2027.md",
            "Plans- 2027/Müller-Söhne.md",
            "Plans- 2027/Müller-Söhne.blocks.json",
            "Plans- 2027/Müller-Söhne/Untitled.md"
        ]
    );
    let expected =
        format!("---\ntroupe: 1\nid: {top}\ntitle: \"Plans: 2027\"\nkind: doc\nposition: 1\n---\n\n# Plans\n");
    assert_eq!(files[0].1, expected);
    assert!(files[1].1.ends_with("---\n\n---\nnot ours\n---"), "{}", files[1].1);
    assert_eq!(files[2].1, "[{\"type\":\"x\"}]");
    assert_eq!(unzip(&notes.export(&below, "?subpages=0").await.expect(200).bytes).len(), 2);
    assert_eq!(unzip(&notes.export("all", "").await.expect(200).bytes).len(), 5);
}

#[tokio::test]
async fn what_is_exported_is_imported_as_it_was() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Top").await;
    let mut parents = vec![top.clone()];
    for number in 0..30_usize {
        let parent = parents[number * 7 % parents.len()].clone();
        let id = if number % 6 == 0 {
            notes.database(&parent, &format!("Database {number}")).await
        } else {
            notes.page(&parent, if number % 5 == 0 { "Same title" } else { "Notes" }).await
        };
        let markdown = format!("See {top} and {}.\r\n\n🚀 {number}\n", parents[number / 2 % parents.len()]);
        let blocks = if number % 2 == 0 { json!(null) } else { json!([{ "page": parent, "n": number }]) };
        notes.try_write(&id, &json!({ "blocks": blocks, "markdown": markdown, "baseVersion": 0 })).await.expect(200);
        parents.push(id);
    }
    let exported = notes.export(&top, "").await.expect(200);
    let imported = notes.import("", exported.bytes.clone()).await.expect(201);
    assert_eq!((imported.int("/imported"), imported.list("/skipped").len()), (31, 0));
    let copy = imported.str("/pages/0/pageId").to_owned();
    let list = notes.list().await;
    let (before, after) = (notes.shape(&top, &list).await, notes.shape(&copy, &list).await);
    // The copies name each other, where the pages do.
    let new_of = |text: String| {
        ids_in_order(&list, &top, &copy).into_iter().fold(text, |text, (old, new)| text.replace(&old, &new))
    };
    assert_eq!(new_of(before.to_string()), after.to_string());
    assert_ne!(before.to_string(), after.to_string());
}

/// The pages below two pages, in pairs.
fn ids_in_order(list: &[Value], one: &str, two: &str) -> Vec<(String, String)> {
    let below = |id: &str| {
        list.iter()
            .filter(|page| page["parentId"] == id)
            .map(|page| page["pageId"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    let pairs = below(one).into_iter().zip(below(two)).flat_map(|(one, two)| ids_in_order(list, one, two));
    std::iter::once((one.to_owned(), two.to_owned())).chain(pairs).collect()
}

#[tokio::test]
async fn files_of_others_become_pages() {
    let notes = Notes::new().await;
    let parent = notes.page("root", "Imports").await;
    let files: [(&str, &[u8]); 5] = [
        ("Vault/b.md", b"B"),
        ("Vault/A.md", b"---\ntitle: The first\ntags: [x]\n---\nText"),
        ("Vault/picture.png", b"\x89PNG"),
        ("__MACOSX/Vault/._A.md", b"x"),
        ("Vault/.obsidian/app.json", b"{}"),
    ];
    let imported = notes.import(&format!("?parentId={parent}"), zip(&files)).await.expect(201);
    assert_eq!(imported.int("/imported"), 3);
    assert_eq!(imported.json["skipped"], json!(["Vault/picture.png"]));
    let list = notes.list().await;
    let vault = imported.str("/pages/0/pageId");
    let shape = notes.shape(vault, &list).await;
    assert_eq!(shape["page"]["title"], "Vault");
    assert_eq!(shape["below"][0]["page"]["title"], "The first");
    assert_eq!(shape["below"][0]["content"][1], "---\ntitle: The first\ntags: [x]\n---\nText");
    assert_eq!(shape["below"][1]["page"]["title"], "b");
    assert_eq!(imported.str("/pages/0/parentId"), parent);
}

#[tokio::test]
async fn a_single_markdown_file_becomes_a_page_behind_the_others() {
    let notes = Notes::new().await;
    notes.page("root", "First").await;
    let path = format!("{}/import?title=Minutes", notes.path);
    let call = |text: &'static str| notes.ada.client.post(&path).body("text/markdown; charset=utf-8", text).send();
    let imported = call("# Minutes\n").await.expect(201);
    assert_eq!((imported.str("/pages/0/title"), imported.int("/imported")), ("Minutes", 1));
    assert_eq!(imported.json["pages"][0]["position"], 2.0);
    let id = imported.str("/pages/0/pageId");
    assert_eq!(notes.content(id).await, json!({ "version": 1, "blocks": null, "markdown": "# Minutes\n" }));
    let empty = call("").await.expect(201);
    assert_eq!(empty.int("/pages/0/contentVersion"), 0);
    let other = notes.ada.client.post(&path).body("text/plain", "x").send().await.expect(415);
    assert_eq!(other.json["code"], "unsupported_media_type");
    let long = format!("{}/import?title={}", notes.path, "a".repeat(201));
    notes.ada.client.post(&long).body("text/markdown", "x").send().await.expect_problems(&["title"]);
}

#[tokio::test]
async fn hostile_archives_are_refused_and_leave_nothing() {
    let notes = Notes::new().await;
    notes.import("", b"PK nonsense".to_vec()).await.expect_error(400, "no_zip", "This is no ZIP, or a damaged one.");
    notes.import("", Vec::new()).await.expect_error(400, "no_zip", "This is no ZIP, or a damaged one.");
    notes.import("", zip(&[("../x.md", b"x")])).await.expect_problems(&["../x.md"]);
    notes.import("", zip(&[("/etc/x.md", b"x")])).await.expect_problems(&["/etc/x.md"]);
    notes.import("", zip(&[("a\\..\\..\\x.md", b"x")])).await.expect_problems(&["a\\\\..\\\\..\\\\x.md"]);
    notes.import("", zip(&[("x.png", b"x")])).await.expect_error(
        400,
        "nothing_to_import",
        "There is no Markdown file in it.",
    );
    notes.import("", zip(&[("ok.md", b"x"), ("x.md", b"\xff")])).await.expect_problems(&["x.md"]);
    let deep = format!("{}x.md", "f/".repeat(20));
    notes.import("", zip(&[(&deep, b"x")])).await.expect_error(400, "too_deep", "Pages are nested too deeply.");
    let bomb: Vec<_> = (0..49).map(|at| (format!("{at}.md"), vec![b'a'; MB])).collect();
    let bomb: Vec<_> = bomb.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let bomb = zip(&bomb);
    assert!(bomb.len() < MB, "{}", bomb.len());
    notes.import("", bomb).await.expect_error(413, "too_large", "A ZIP may unpack to 48 MB.");
    let many: Vec<_> = (0..15_001).map(|at| format!("{at}.txt")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
    notes.import("", zip(&many)).await.expect(400);
    notes.import("", vec![0; 48 * MB + 1]).await.expect_error(413, "too_large", "An import has up to 48 MB.");
    assert_eq!(notes.list().await, [] as [Value; 0]);
}

#[tokio::test]
async fn an_import_lands_where_pages_may_be() {
    let notes = Notes::new().await;
    let file = || zip(&[("a/b.md", b"x")]);
    for parent in [NEVER, "nowhere"] {
        let answer = notes.import(&format!("?parentId={parent}"), file()).await;
        answer.expect_error(400, "parent_not_found", "Parent page not found.");
    }
    let chain = notes.chain("root", 19).await;
    let at = |depth: usize| format!("?parentId={}", chain[depth - 1]);
    notes.import(&at(18), file()).await.expect(201);
    notes.import(&at(19), file()).await.expect_error(400, "too_deep", "Pages are nested too deeply.");
    notes.archive(&chain[0]).await;
    let answer = notes.import(&at(1), file()).await;
    answer.expect_error(400, "parent_in_trash", "The parent page is in the trash.");
}

#[tokio::test]
async fn what_is_in_the_trash_is_left_out_unless_it_is_what_is_exported() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Top").await;
    let kept = notes.page(&top, "Kept").await;
    let gone = notes.page(&top, "Gone").await;
    notes.page(&gone, "Below").await;
    notes.archive(&gone).await;
    let names = async |id: &str| {
        let files = unzip(&notes.export(id, "").await.expect(200).bytes);
        files.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&top).await, ["Top.md", "Top/Kept.md"]);
    assert_eq!(names(&gone).await, ["Gone.md", "Gone/Below.md"]);
    assert_eq!(names("all").await, ["Top.md", "Top/Kept.md"]);
    assert_eq!(names(&kept).await, ["Kept.md"]);
    notes.export(NEVER, "").await.expect_error(404, "not_found", "Page not found");
    notes.export(&top, "?subpages=2").await.expect_problems(&["subpages"]);
}

#[tokio::test]
async fn an_export_has_up_to_32_megabytes() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Top").await;
    let text = "a".repeat(MB - 10);
    for number in 0..32 {
        let id = notes.page(&top, &number.to_string()).await;
        notes.write(&id, 0, &text).await;
    }
    let exported = notes.export(&top, "").await.expect(200);
    assert_eq!(unzip(&exported.bytes).len(), 33);
    notes.import("", exported.bytes).await.expect(201);
    let last = notes.page(&top, "Last").await;
    let at_limit = notes.write(&last, 0, &"a".repeat(32 * 10)).await;
    assert_eq!(unzip(&notes.export(&top, "").await.expect(200).bytes).len(), 34);
    notes.write(&last, at_limit, &"a".repeat(32 * 10 + 1)).await;
    let answer = notes.export(&top, "").await;
    answer.expect_error(400, "archive_too_large", "An archive has at most 32 MB. Export a part.");
    assert_eq!(unzip(&notes.export(&last, "").await.expect(200).bytes).len(), 1);
}

#[tokio::test]
async fn an_archive_has_up_to_five_thousand_pages_in_and_out() {
    let notes = Notes::new().await;
    let top = notes.page("root", "Top").await;
    let names: Vec<_> = (0..5_000).map(|number| format!("{number}.md")).collect();
    let files =
        |names: &[String]| zip(&names.iter().map(|name| (name.as_str(), b"text".as_slice())).collect::<Vec<_>>());
    let too_many = "An archive has at most 5000 pages.";
    let with_one_more = [&names[..], &["more.md".to_owned()]].concat();
    let refused = notes.import(&format!("?parentId={top}"), files(&with_one_more)).await;
    refused.expect_error(400, "too_many_pages", too_many);
    let imported = notes.import(&format!("?parentId={top}"), files(&names[1..])).await.expect(201);
    assert_eq!(imported.int("/imported"), 4_999);
    assert_eq!(unzip(&notes.export(&top, "").await.expect(200).bytes).len(), 5_000);
    let last = notes.page(&top, "One too many").await;
    notes.export(&top, "").await.expect_error(400, "too_many_pages", too_many);
    notes.archive(&last).await;
    notes.export(&top, "").await.expect(200);
}
