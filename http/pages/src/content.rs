//! Writing what a page says.

use actors::pages::session::{ContentWritten, PutContent};
use domain::{
    Error,
    id::PageId,
    pages::content::{Blocks, CONTENT_BODY_BYTES_MAX, CONTENT_TOO_LARGE, ContentBase, ContentDraft, EPOCH_LEN_MAX},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::KnowledgeWrite,
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// What a page is to say.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"blocks": null, "markdown": "# Plans\n\nNone yet.\n", "baseVersion": 4}))]
pub(crate) struct ContentPut {
    /// An editor's blocks, kept as they are; null where there is only Markdown. Up to 1 MB together with `markdown`.
    #[schema(value_type = Option<Vec<serde_json::Value>>, required = true)]
    blocks: Box<RawValue>,
    /// The same as Markdown.
    markdown: String,
    /// The version that the client opened. It counts only without `collab`.
    base_version: u64,
    /// Whether this is what a client rendered of the document that it edits together with others.
    #[serde(default)]
    collab: bool,
    /// With `collab`, the document's history: 1 to 64 characters.
    #[schema(min_length = 1, max_length = 64)]
    epoch: Option<String>,
}

impl RequestBody for ContentPut {
    const LIMIT: usize = CONTENT_BODY_BYTES_MAX;
    const TOO_LARGE: &'static str = CONTENT_TOO_LARGE;

    fn check(&self, problems: &mut Problems) {
        let fits = |epoch: &str| (1..=EPOCH_LEN_MAX).contains(&epoch.chars().count()) && !epoch.contains('\0');
        problems.require(self.epoch.as_deref().is_none_or(fits), "epoch", "Must have 1 to 64 characters.");
        problems.require(i64::try_from(self.base_version).is_ok(), "baseVersion", "Is larger than any version.");
    }
}

impl ContentPut {
    pub(crate) fn read(self) -> domain::Result<(ContentDraft, ContentBase)> {
        let blocks = Some(self.blocks).filter(|blocks| blocks.get() != "null").map(Blocks::check).transpose()?;
        let draft = ContentDraft::check(blocks, self.markdown)?;
        let version = i64::try_from(self.base_version).map_err(Error::internal)?;
        Ok((draft, if self.collab { ContentBase::Epoch(self.epoch) } else { ContentBase::Version(version) }))
    }
}

/// Where the content stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"version": 5, "updatedAt": 1_767_225_600_000_i64}))]
pub(crate) struct ContentAnswer {
    /// The content's version.
    version: i64,
    /// When it was written.
    updated_at: i64,
}

impl From<ContentWritten> for ContentAnswer {
    fn from(written: ContentWritten) -> Self {
        Self { version: written.version, updated_at: written.updated_at.as_millis() }
    }
}

/// Write what a page says
///
/// Without `collab`, it rests on the version that the client opened, and whoever edits the page together with others loads
/// it anew. With `collab`, it stores what a client rendered of the document that it edits together with others, whose
/// history goes on. Every ten minutes of editing, what the page said before is kept as a version.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/pages/{pageId}/content", responses((status = 409, description =
    "This page is in the trash. Restore it to edit.\n\nThis page was changed elsewhere and reloaded.\n\nThis page changed \
     since you opened it. (`contentVersion` says which version it has.)")))]
pub(crate) async fn page_content_put(
    org: Org<KnowledgeWrite>,
    id: Path<PageId>,
    body: Body<ContentPut>,
    state: State,
) -> Result<Json<ContentAnswer>> {
    let (draft, base) = body.into_inner().read()?;
    let command = PutContent { org_id: org.id(), draft, base };
    let written = state.actors.page_session.ask(&id, command, org.context()).await??;
    Ok(Json(written.into()))
}

#[cfg(test)]
mod tests {
    use http_shell::body::parse;

    use super::*;

    fn read(body: &str) -> domain::Result<(ContentDraft, ContentBase)> {
        parse::<ContentPut>(body.as_bytes())?.read()
    }

    fn paths(body: &str) -> Vec<String> {
        match read(body) {
            Err(Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn blocks_are_kept_to_the_letter_and_may_be_null() {
        let sent = "[ {\"b\":  1,\"a\":1.50e3}, \"\\u0000\\ud800\" ]";
        let (draft, base) = read(&format!("{{\"blocks\": {sent} , \"markdown\": \"\", \"baseVersion\": 3}}")).unwrap();
        assert_eq!(draft.blocks.as_ref().map(Blocks::as_str), Some(sent));
        assert_eq!(base, ContentBase::Version(3));
        let (draft, _) = read("{\"blocks\": null, \"markdown\": \"\", \"baseVersion\": 0}").unwrap();
        assert_eq!(draft.blocks, None);
    }

    #[test]
    fn only_collab_rests_on_an_epoch() {
        let epoch = "\"epoch\": \"e1\", \"blocks\": null, \"markdown\": \"\", \"baseVersion\": 0";
        assert_eq!(read(&format!("{{\"collab\": true, {epoch}}}")).unwrap().1, ContentBase::Epoch(Some("e1".into())));
        assert_eq!(read(&format!("{{\"collab\": false, {epoch}}}")).unwrap().1, ContentBase::Version(0));
        assert_eq!(read(&format!("{{{epoch}}}")).unwrap().1, ContentBase::Version(0));
    }

    #[test]
    fn every_field_at_fault_is_named() {
        assert_eq!(paths("{}"), ["blocks", "markdown", "baseVersion"]);
        assert_eq!(paths("{\"blocks\": {}, \"markdown\": \"\", \"baseVersion\": 0}"), ["blocks"]);
        for (length, fits) in [(0, false), (1, true), (64, true), (65, false)] {
            let epoch = "é".repeat(length);
            let body = format!("{{\"blocks\": [], \"markdown\": \"\", \"baseVersion\": 0, \"epoch\": \"{epoch}\"}}");
            assert_eq!(read(&body).is_ok(), fits, "{length}");
        }
        let negative = "{\"blocks\": [], \"markdown\": \"\", \"baseVersion\": -1}";
        assert_eq!(paths(negative), ["baseVersion"]);
    }
}
