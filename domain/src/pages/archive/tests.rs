use proptest::{prelude::*, sample::Index};

use super::*;
use crate::{
    Timestamp,
    error::{Error, Result},
    id::PageImportId,
    pages::content::{Blocks, CONTENT_BYTES_MAX},
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn file(name: &str, text: &str) -> ArchiveFile {
    ArchiveFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn read(files: &[(&str, &str)]) -> Result<ArchivePlan> {
    plan(files.iter().map(|(name, text)| file(name, text)).collect(), PageImportId::new(NOW))
}

/// Each page's depth, title and Markdown.
fn pages(files: &[(&str, &str)]) -> Vec<(u32, String, String)> {
    let planned = read(files).unwrap().pages.into_iter();
    planned.map(|planned| (planned.depth, planned.page.title, planned.page.content.markdown)).collect()
}

fn refusal(files: &[(&str, &str)]) -> String {
    let error = read(files).unwrap_err();
    assert_eq!(error.status(), 400);
    match error {
        Error::Invalid { problems } => format!("{}: {}", problems[0].path, problems[0].message),
        other => other.to_string(),
    }
}

#[test]
fn plain_files_become_pages_and_folders_pages_above_them() {
    let text = "# Plan\n\nText.\n";
    assert_eq!(
        pages(&[("Notes/b.md", "B"), ("Notes/A.MD", text), ("Top.markdown", ""), ("Notes.md", "about")]),
        [
            (1, "Notes".into(), "about".into()),
            (1, "Top".into(), String::new()),
            (2, "A".into(), text.into()),
            (2, "b".into(), "B".into())
        ]
    );
    let made_for_folder = pages(&[("Vault 0123456789abcdef0123456789abcdef/x.md", "X")]);
    assert_eq!(made_for_folder, [(1, "Vault".into(), String::new()), (2, "x".into(), "X".into())]);
}

#[test]
fn front_matter_of_others_stays_in_the_text_and_may_say_the_title() {
    for (line, title) in [
        ("title: My plan", "My plan"),
        ("title: \"A \\\"b\\\"\"", "A \"b\""),
        ("title: 'It'", "It"),
        ("tags: [a]", "x"),
    ] {
        let text = format!("---\n{line}\naliases:\n- y\n---\nBody");
        assert_eq!(pages(&[("x.md", &text)]), [(1, title.to_owned(), text)]);
    }
    for text in ["---\nno end", "--- \ntitle: a\n---\n", "a\n---\n---\n", "---"] {
        assert_eq!(pages(&[("x.md", text)]), [(1, "x".to_owned(), text.to_owned())]);
    }
}

#[test]
fn our_front_matter_may_have_gone_through_an_editor_of_another_system() {
    let text = "\u{feff}---\r\ntroupe: 1\r\ntitle: \"Über\"\r\n\r\nlater: whatever\r\n---\r\n\r\nBody\r\n";
    assert_eq!(pages(&[("x.md", text)]), [(1, "Über".into(), "Body\r\n".into())]);
    assert_eq!(pages(&[("x.md", "---\ntroupe: 1\n---")]), [(1, "x".into(), String::new())]);
    assert_eq!(pages(&[("x.md", "---\ntroupe: 1\n---\nBody")]), [(1, "x".into(), "Body".into())]);
}

#[test]
fn front_matter_of_ours_that_cannot_be_read_is_named() {
    let long = format!("title: \"{}\"", "a".repeat(201));
    for line in [
        "title: bare",
        "title: 7",
        "kind: folder",
        "id: doc_1",
        "position: -1",
        "position: NaN",
        "position: \"1\"",
        "fullWidth: yes",
        "schema: [",
        "no colon",
        long.as_str(),
        "icon: \"12345678901234567\"",
        "title: \"a\\u0000\"",
    ] {
        let said = refusal(&[("a/x.md", &format!("---\ntroupe: 1\n{line}\n---\n"))]);
        assert!(said.starts_with("a/x.md: "), "{line}: {said}");
    }
    assert_eq!(refusal(&[("x.md", "---\ntroupe: 2\n---\n")]), "x.md: Was exported by a newer version of the program.");
}

#[test]
fn a_name_that_leads_out_of_the_archive_is_refused() {
    for name in [
        "../x.md",
        "/x.md",
        "a/../../x.md",
        "a\\..\\x.md",
        "C:/x.md",
        "C:\\x.md",
        "a//x.md",
        "./x.md",
        "a\0.md",
        "\n.md",
    ] {
        let said = refusal(&[(name, "")]);
        assert!(said.ends_with("Is no name of a file within an archive."), "{name:?}: {said}");
    }
}

#[test]
fn what_is_no_page_is_left_out() {
    let plan = read(&[
        ("x.md", ""),
        ("b.png", ""),
        ("a.csv", ""),
        ("no.blocks.json", "[]"),
        (".md", ""),
        ("__MACOSX/x.md", ""),
        (".obsidian/x.md", ""),
        ("a/.DS_Store", ""),
    ])
    .unwrap();
    assert_eq!(plan.pages.len(), 1);
    assert_eq!(plan.skipped, ["a.csv", "b.png", "no.blocks.json"]);
    assert_eq!(refusal(&[("a.png", "")]), "There is no Markdown file in it.");
}

#[test]
fn a_name_may_be_longer_in_lower_case() {
    let plan = read(&[("İ.md", ""), ("İ/below.MD", "")]).unwrap();
    let titles: Vec<_> = plan.pages.iter().map(|planned| &*planned.page.title).collect();
    assert_eq!(titles, ["İ", "below"]);
    assert_eq!(plan.pages[1].parent_id, Some(plan.pages[0].id));
}

#[test]
fn a_file_that_no_page_can_be_is_named() {
    assert_eq!(refusal(&[("x.md", ""), ("x.md", "")]), "x.md: Stands twice in the archive.");
    assert_eq!(refusal(&[("x.md", ""), ("x.markdown", "")]), "x.markdown: Stands twice in the archive.");
    assert_eq!(refusal(&[("x.md", ""), ("x.blocks.json", "{}")]), "x.blocks.json: Is no JSON array.");
    assert_eq!(refusal(&[("x.md", ""), ("x.blocks.json", "[")]), "x.blocks.json: Is no JSON array.");
    assert_eq!(refusal(&[("x.md", "a\0b")]), "x.md: Must not have a NUL in it.");
    let binary = plan(vec![ArchiveFile { name: "x.md".into(), bytes: vec![0xff] }], PageImportId::new(NOW));
    assert!(matches!(binary, Err(Error::Invalid { problems }) if problems[0].message == "Is no text in UTF-8."));
    for over in [-1_isize, 0, 1] {
        let text = "a".repeat(CONTENT_BYTES_MAX.saturating_add_signed(over) - 2);
        let read = read(&[("x.md", &text), ("x.blocks.json", "[]")]);
        assert_eq!(read.is_ok(), over <= 0, "{over}");
    }
    assert_eq!(refusal(&[("x.md", &"a".repeat(CONTENT_BYTES_MAX + 1))]), "x.md: Pages can be up to 1 MB.");
}

#[test]
fn an_archive_has_as_many_pages_and_is_as_deep_as_a_tree_may_be() {
    for (count, fits) in [(ARCHIVE_PAGES_MAX, true), (ARCHIVE_PAGES_MAX + 1, false)] {
        let files = (0..count).map(|at| file(&format!("{at}.md"), "")).collect();
        assert_eq!(plan(files, PageImportId::new(NOW)).is_ok(), fits, "{count}");
    }
    for (depth, fits) in [(20, true), (21, false)] {
        let name = format!("{}x.md", "f/".repeat(depth - 1));
        let read = read(&[(&name, "")]);
        assert_eq!(read.map(|plan| plan.pages.len()).ok(), fits.then_some(depth), "{depth}");
    }
}

/// A page whose parent is an earlier one, or none.
fn any_page() -> impl Strategy<Value = (Option<Index>, ArchivedPage)> {
    let title = prop_oneof![Just(String::new()), "[a-zA-Z./ :\\\\é漢🚀\"-]{0,20}", "\\PC{0,200}"];
    let json = |empty: &'static str| {
        proptest::option::of(prop_oneof![Just(empty.to_owned()), Just("[{\"a\": \"\\n\"}]".to_owned())])
    };
    let markdown = prop_oneof![
        Just(String::new()),
        "(\\PC|\n|\r\n){0,60}",
        Just("---\ntroupe: 1\ntitle: 7\n---\n\n---".to_owned()),
        Just("\u{feff}\n\nA".to_owned()),
    ];
    let text = (markdown, proptest::option::of(prop_oneof![Just("[]"), Just("[1, {\"x\": [\"\\ud800\"]}]")]));
    let looks = (proptest::option::of("[🚀a]{1,16}"), proptest::option::of(any::<bool>()), 0.0..1e300_f64);
    let rest = (json("[]"), json("[]"), json("{}"), any::<bool>());
    (proptest::option::of(any::<Index>()), title, looks, rest, text).prop_map(|(parent, title, looks, rest, text)| {
        let page = ArchivedPage {
            id: Some(PageId::new(NOW)),
            kind: if rest.3 { PageKind::Doc } else { PageKind::Database },
            title: title.trim().to_owned(),
            icon: looks.0,
            full_width: looks.1,
            position: Some(looks.2),
            schema: rest.0,
            views: rest.1,
            properties: rest.2,
            content: ContentDraft { blocks: text.1.map(Blocks::from_json_text), markdown: text.0 },
        };
        (parent, page)
    })
}

proptest! {
    #[test]
    fn what_is_exported_is_imported_as_it_was(drawn in proptest::collection::vec(any_page(), 1..40)) {
        let mut exported: Vec<(Option<PageId>, u32, ArchivedPage)> = Vec::new();
        for (parent, mut page) in drawn {
            let above = parent.filter(|_| !exported.is_empty()).map(|parent| parent.get(&exported));
            let above = above.filter(|(_, depth, _)| *depth < 20).map(|(_, depth, page)| (page.id, depth + 1));
            let (parent_id, depth) = above.unwrap_or((None, 1));
            if let Some(first) = exported.first() {
                page.content.markdown.extend(["see ", &first.2.id.unwrap().to_string()]);
                page.content.markdown.truncate(page.content.markdown.len() - usize::from(depth % 3 == 0));
            }
            exported.push((parent_id, depth, page));
        }
        let laid_out: Vec<_> = exported.iter().map(|(parent_id, _, page)| {
            LaidOut { id: page.id.unwrap(), parent_id: *parent_id, title: page.title.clone() }
        }).collect();
        let files = layout(&laid_out).iter().flat_map(|at| {
            let page = &exported.iter().find(|(_, _, page)| page.id == Some(at.id)).unwrap().2;
            page_files(at, page)
        }).collect();

        let imported = plan(files, PageImportId::new(NOW)).unwrap();
        prop_assert!(imported.skipped.is_empty());
        prop_assert_eq!(imported.pages.len(), exported.len());
        let mut links = Links::default();
        for planned in &imported.pages {
            links.add(planned.page.id.unwrap(), planned.id);
        }
        for planned in imported.pages {
            let (parent_id, depth, page) = exported.iter().find(|(_, _, page)| page.id == planned.page.id).unwrap();
            prop_assert_eq!(planned.parent_id, parent_id.map(|id| links.of(id).unwrap()));
            prop_assert_eq!(planned.depth, *depth);
            let mut expected = page.clone();
            expected.content.markdown = links.renew(&expected.content.markdown);
            prop_assert_eq!(planned.page, expected);
        }
    }
}

#[test]
fn an_archive_is_planned_the_same_each_time() {
    let import_id = PageImportId::new(NOW);
    let planned = || plan(["b.md", "a/b.md", "a.md"].map(|name| file(name, "text")).to_vec(), import_id).unwrap();
    assert_eq!(planned(), planned());
}
