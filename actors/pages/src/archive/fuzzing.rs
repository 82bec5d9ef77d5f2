//! A ZIP that anybody may have made: what it unpacks to has its limit, and becomes pages or is refused.

use std::io::Cursor;

use domain::{
    Timestamp,
    id::PageImportId,
    pages::archive::{IMPORT_BYTES_MAX, planned_content},
};

use super::unpack::Unpacker;

/// Has `bytes` read as an archive.
///
/// Panics where that breaks a promise.
pub fn zip(bytes: &[u8]) {
    let refused = |error: domain::Error| assert!(matches!(error.status(), 400 | 413), "{error:?}");
    let mut zip = match Unpacker::open(Cursor::new(bytes)) {
        Err(error) => return refused(error),
        Ok(zip) => zip,
    };
    let import_id = PageImportId::new(Timestamp(0));
    let plan = match zip.plan(import_id) {
        Err(error) => return refused(error),
        Ok(plan) => plan,
    };
    assert!(plan.pages.iter().map(|page| page.source.bytes).sum::<usize>() <= IMPORT_BYTES_MAX);
    assert_eq!(zip.plan(import_id).expect("what was planned is planned again"), plan);
    for page in &plan.pages {
        let mut file = |place: Option<usize>| place.map(|place| zip.again(place).expect("what was read is read again"));
        let (markdown, blocks) = (file(page.source.markdown), file(page.source.blocks));
        let content = planned_content(&plan.links, markdown, blocks).expect("what was planned can be said");
        assert_eq!(content.bytes(), page.source.bytes);
    }
}
