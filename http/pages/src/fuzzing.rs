//! What fuzzing has notes pages read. Built with the feature `fuzzing` only.

use domain::id::{OrgId, PageCommentId};
use http_shell::{
    body::parse,
    fuzzing::{Kinds, reads},
};

use crate::{archive, change, comments, content, live, rows, search, tree};

/// The kinds of bodies by name.
pub const BODIES: Kinds = &[
    ("page", |raw| parse::<tree::PageCreate>(raw)?.draft().map(drop)),
    ("page-change", |raw| parse::<change::PagePatch>(raw)?.change().map(drop)),
    ("content", |raw| parse::<content::ContentPut>(raw)?.read().map(drop)),
    ("comment", |raw| parse::<comments::CommentCreate>(raw)?.command(organization()).map(drop)),
    ("comment-change", |raw| parse::<comments::CommentPatch>(raw)?.command(organization(), comment()).map(drop)),
];

/// Reads a query as each of the area's lists does.
pub fn query(query: &str) {
    reads::<search::SearchQuery>(query);
    reads::<comments::CommentsQuery>(query);
    reads::<live::PagesLiveQuery>(query);
    reads::<archive::ImportQuery>(query);
    rows::fuzzing_rows(query);
}

fn organization() -> OrgId {
    OrgId::new(domain::Timestamp(0))
}

fn comment() -> PageCommentId {
    PageCommentId::new(domain::Timestamp(0))
}
