//! Markdown with front matter: one file, or the files of an archive.

use std::collections::HashMap;

use crate::{
    Timestamp,
    id::PageImportId,
    pages::{
        DEPTH_MAX, TITLE_LEN,
        archive::{
            ARCHIVE_PAGES_MAX, ArchiveFile, ArchivePlan, ArchivedPage, LaidOut, Links, layout, page_files, plan,
            plan_file,
        },
    },
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// Begins the line with a file's name, where an input has several.
const FILE: char = '\u{1}';

/// A Markdown file; or files, each behind a line of its name with a mark before it. What is imported is exported and
/// imported again as it was.
pub fn archive(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(plan_file("Title", bytes, PageImportId::new(NOW)).is_err(), "a page's text is UTF-8");
        return;
    };
    let read = if let Some(files) = text.strip_prefix(FILE) {
        plan(files.split(FILE).map(file).collect(), PageImportId::new(NOW))
    } else {
        let single = ArchiveFile { name: "file".to_owned(), bytes: bytes.to_vec() };
        plan_file("Title", bytes, PageImportId::new(NOW)).and_then(|plan| plan.with_contents(&[single]))
    };
    match read {
        Ok(read) => check(read),
        Err(error) => assert_eq!(error.status(), 400, "{error}"),
    }
}

fn file(text: &str) -> ArchiveFile {
    let (name, text) = text.split_once('\n').unwrap_or((text, ""));
    ArchiveFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn check(read: ArchivePlan) {
    assert!((1..=ARCHIVE_PAGES_MAX).contains(&read.pages.len()));
    let mut depths = HashMap::new();
    for planned in &read.pages {
        let above = planned.parent_id.map_or(0, |parent| depths[&parent]);
        assert_eq!(planned.depth, above + 1, "a page comes after the one that it is under");
        assert!(planned.depth <= DEPTH_MAX && TITLE_LEN.contains(&planned.page.title.chars().count()));
        depths.insert(planned.id, planned.depth);
    }
    let exported: Vec<_> = read
        .pages
        .into_iter()
        .map(|planned| (planned.parent_id, ArchivedPage { id: Some(planned.id), ..planned.page }))
        .collect();
    let pages: Vec<_> = exported
        .iter()
        .filter_map(|(parent_id, page)| {
            Some(LaidOut { id: page.id?, parent_id: *parent_id, title: page.title.clone() })
        })
        .collect();
    let by_id: HashMap<_, _> = exported.iter().map(|(parent_id, page)| (page.id, (parent_id, page))).collect();
    let files = layout(&pages).iter().flat_map(|at| page_files(at, by_id[&Some(at.id)].1)).collect();
    let again = plan(files, PageImportId::new(NOW)).expect("what was exported is imported");
    assert!(again.skipped.is_empty() && again.pages.len() == exported.len());
    let mut links = Links::default();
    for planned in &again.pages {
        links.add(planned.page.id.expect("ours have ids"), planned.id);
    }
    for planned in again.pages {
        let (parent_id, page) = by_id[&planned.page.id];
        assert_eq!(planned.parent_id, parent_id.and_then(|id| links.of(id)));
        assert_eq!(planned.page, renewed(page.clone(), &links));
    }
}

/// The page, naming the new pages wherever it named the old ones.
fn renewed(mut page: ArchivedPage, links: &Links) -> ArchivedPage {
    page.content.markdown = links.renew(&page.content.markdown);
    let blocks = page.content.blocks.take();
    page.content.blocks =
        blocks.map(|blocks| crate::pages::content::Blocks::from_json_text(links.renew(blocks.as_str())));
    for json in [&mut page.schema, &mut page.views, &mut page.properties] {
        // Between its tokens JSON may have line ends, which front matter has no room for.
        *json = json.take().map(|json| links.renew(&json).replace(['\n', '\r'], " "));
    }
    page
}
