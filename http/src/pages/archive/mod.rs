//! Pages as a ZIP of Markdown files, there and back.

mod export;
mod import;
mod pack;
mod unpack;

pub(crate) use self::{export::*, import::*};

/// A ZIP that anybody may have made, for fuzzing: what it unpacks to has its limit, and becomes pages or is refused.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing_zip(bytes: &[u8]) {
    use std::io::Cursor;

    use domain::{
        Timestamp,
        pages::archive::{IMPORT_BYTES_MAX, planned_content},
    };
    let refused = |error: domain::Error| assert!(matches!(error.status(), 400 | 413), "{error:?}");
    let mut zip = match unpack::Unpacker::open(Cursor::new(bytes)) {
        Err(error) => return refused(error),
        Ok(zip) => zip,
    };
    let plan = match zip.plan(Timestamp(0)) {
        Err(error) => return refused(error),
        Ok(plan) => plan,
    };
    assert!(plan.pages.iter().map(|page| page.source.bytes).sum::<usize>() <= IMPORT_BYTES_MAX);
    for page in &plan.pages {
        let mut file = |place: Option<usize>| place.map(|place| zip.again(place).expect("what was read is read again"));
        let (markdown, blocks) = (file(page.source.markdown), file(page.source.blocks));
        let content = planned_content(&plan.links, markdown, blocks).expect("what was planned can be said");
        assert_eq!(content.bytes(), page.source.bytes);
    }
}
