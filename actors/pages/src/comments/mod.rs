//! Comments on a page.
//!
//! Nothing is kept in memory: a command reads the comments that it decides on. Each has a version that a change of it
//! checks. Whatever is done to an answer also counts up the version of the comment that begins its thread, so that a thread
//! never goes away under an answer, nor an answer under the last look at its thread. Whoever is newly mentioned is told in
//! the same commit.

mod add;
mod change;
mod delete;

use actors_base::{Services, event::Event};
use domain::{
    Authority, Error, Problem, Result,
    id::{OrgId, PageCommentId, PageId, UserId},
    notify::ResourceType,
    pages::{
        Page, author,
        comment::{Comment, comment_not_found, excerpt},
        in_the_trash, not_found,
    },
};
use kernel::{Resource, Turn};
use serde_json::json;
use store::{
    Change, Store,
    accounts::Member,
    audit::{AuditEntry, AuditTarget},
};

pub use self::{add::AddComment, change::ChangeComment, delete::DeleteComment};

/// The comments of one page.
#[derive(Debug)]
pub struct PageComments;

impl Resource for PageComments {
    type Key = PageId;
    type Services = Services;

    const KIND: &'static str = "page_comments";

    async fn load(_: &PageId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// What every command on comments begins with.
struct WriteContext {
    page: Page,
    by: Member,
    authority: Authority,
}

impl WriteContext {
    /// Who asks, and the page: 404 for one that the organization doesn't have, 409 for one in the trash.
    async fn open(turn: &Turn<'_, PageComments>, org_id: OrgId) -> Result<Self> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        let by = store.member(org_id, author(&authority)?).await?.ok_or(Error::Stale)?;
        let page = store.page(org_id, *turn.key()).await?.ok_or_else(not_found)?;
        if page.is_archived() { Err(in_the_trash()) } else { Ok(Self { page, by, authority }) }
    }

    /// The page's comment with this id.
    async fn comment(&self, store: &Store, id: PageCommentId) -> Result<Comment> {
        store.page_comment(self.page.id, id).await?.ok_or_else(comment_not_found)
    }

    /// A change with its entry in the audit trail, which is stale when the page is in the trash by then.
    fn write(&self, turn: &Turn<'_, PageComments>, action: &str, id: PageCommentId) -> Change {
        let target = AuditTarget::new("page", self.page.id).labelled(&self.page.title);
        let entry = AuditEntry::new(turn.context(), action, target).in_org(self.page.org_id);
        let mut change = Change::new();
        change.page_confirm_active(self.page.id);
        change.audit_add(turn.now(), AuditEntry { metadata: Some(json!({ "commentId": id })), ..entry });
        change
    }

    /// Tells those whom the comment mentions and who don't know yet.
    fn tell(&self, change: &mut Change, turn: &Turn<'_, PageComments>, comment: &Comment, people: Vec<UserId>) {
        if people.is_empty() {
            return;
        }
        let Page { id, org_id, title, .. } = &self.page;
        let title = if title.is_empty() { "a page without a title".to_owned() } else { format!("“{title}”") };
        let data = [("pageId", json!(id)), ("commentId", json!(comment.id)), ("blockId", json!(comment.block_id))];
        Event {
            org_id: Some(*org_id),
            user_ids: people,
            body: comment.body.as_deref().map(excerpt).unwrap_or_default(),
            url: Some(format!("/orgs/{org_id}/pages/{id}?comment={}", comment.id)),
            within: vec![(ResourceType::Org, org_id.to_string())],
            data: data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            ..Event::new(
                "page.mentioned",
                ("page", id.to_string()),
                format!("{} mentioned you on {title}", self.by.name),
            )
        }
        .emit(change, turn.now());
    }
}

/// 400 for people who are mentioned and don't belong to the organization.
async fn members_check(store: &Store, org_id: OrgId, mentions: &[UserId], people: &[UserId]) -> Result<()> {
    if people.is_empty() {
        return Ok(());
    }
    let members = store.members_among(org_id, people, &[]).await?;
    let is_stranger =
        |user_id: &UserId| people.contains(user_id) && members.iter().all(|(member, _)| member != user_id);
    let strangers = mentions.iter().enumerate().filter(|(_, user_id)| is_stranger(user_id));
    let problems: Vec<Problem> = strangers
        .map(|(place, user_id)| Problem {
            path: format!("mentions[{place}]"),
            message: format!("{user_id} is no member of the organization."),
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems }) }
}
