//! Notices: what a person was told.

use std::collections::BTreeMap;

use actors::notify::inbox::{DeleteNotice, ReadAllNotices, ReadNotices};
use domain::{App, Error, id::NoticeId, problems::Problems};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    cursor,
    error::Result,
    owned::Owned,
    paging::{LIMIT_DEFAULT, LIMIT_MAX},
    path::Path,
    query::{Query, RequestQuery},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::{Notice, notify::NoticesQuery};
use utoipa::{IntoParams, ToSchema};

use super::NotifyPerson;

/// The name of the list in its cursors.
const LIST: &str = "notices";
/// Characters of a cursor (contract A 4.3).
const CURSOR_LEN_MAX: usize = 2_000;
/// Notices marked as read by one request (contract A 8).
const READ_AT_ONCE: std::ops::RangeInclusive<usize> = 1..=100;
/// Characters of a notice's id in such a request (contract A 4.3).
const NOTICE_ID_LEN_MAX: usize = 64;

/// A message that a person was told.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "noticeId": "nte_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "event": "ops.alarm",
    "app": "admin", "title": "The disk of db-1 is full", "body": "96 % of 200 GB are in use.",
    "url": "https://troupe.example.com/alarms/1", "read": false, "requireAck": true,
    "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct NoticeBody {
    /// The notice's id.
    notice_id: String,
    /// The organization that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    org_id: Option<String>,
    /// The type of what happened.
    event: String,
    /// The app that it is about.
    app: &'static str,
    /// The headline.
    title: String,
    /// What happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Where more about it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Whether it was read. What the person doesn't want in the app comes as read.
    read: bool,
    /// Whether somebody is to acknowledge it.
    require_ack: bool,
    /// When somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    acked_at: Option<i64>,
    /// When it came.
    created_at: i64,
}

impl From<Notice> for NoticeBody {
    fn from(notice: Notice) -> Self {
        Self {
            notice_id: notice.id.to_string(),
            org_id: notice.org_id.map(|id| id.to_string()),
            event: notice.event,
            app: notice.app.as_str(),
            title: notice.title,
            body: notice.body,
            url: notice.url,
            read: notice.is_read,
            require_ack: notice.require_ack,
            acked_at: notice.acked_at.map(domain::Timestamp::as_millis),
            created_at: notice.created_at.as_millis(),
        }
    }
}

/// Which notices.
#[derive(Deserialize, IntoParams)]
pub(crate) struct NoticesPageQuery {
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
    /// Only notices of this app; `home`, and none, mean every app.
    #[param(value_type = Option<String>)]
    app: Option<App>,
}

impl RequestQuery for NoticesPageQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.limit.is_none_or(|limit| (1..=LIMIT_MAX).contains(&limit));
        problems.require(fits, "limit", "Must be from 1 to 100.");
        let fits = self.cursor.as_ref().is_none_or(|cursor| cursor.chars().count() <= CURSOR_LEN_MAX);
        problems.require(fits, "cursor", "Use at most 2000 characters.");
    }
}

/// A page of the notices.
#[derive(Serialize, ToSchema)]
pub(crate) struct NoticesAnswer {
    /// The newest first.
    notices: Vec<NoticeBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The app that is meant, where it isn't every one.
fn one_app(app: Option<App>) -> Option<App> {
    app.filter(|app| *app != App::Home)
}

/// Your notices
#[utoipa::path(get, path = "/v1/me/notifications", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn notices_list(
    person: NotifyPerson,
    Query(query): Query<NoticesPageQuery>,
    state: State,
) -> Result<Json<NoticesAnswer>> {
    let page = NoticesQuery {
        user_id: person.user_id(),
        app: one_app(query.app),
        before: query.cursor.as_deref().map(|cursor| cursor::read(LIST, cursor)).transpose()?,
        limit: query.limit.unwrap_or(LIMIT_DEFAULT),
    };
    let found = state.store.notices_page(page).await?;
    Ok(Json(NoticesAnswer {
        notices: found.notices.into_iter().map(NoticeBody::from).collect(),
        cursor: found.next_before.map(|before| cursor::write(LIST, before)),
    }))
}

/// How many notices are unread.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"unread": 3, "byApp": {"admin": 1, "tasks": 2}}))]
pub(crate) struct NoticesCount {
    /// Of all apps.
    unread: u64,
    /// By app; apps without one are left out.
    by_app: BTreeMap<&'static str, u64>,
}

/// How many of your notices are unread
#[utoipa::path(get, path = "/v1/me/notifications/count")]
pub(crate) async fn notices_count(person: NotifyPerson, state: State) -> Result<Json<NoticesCount>> {
    let unread = state.store.notices_unread_by_app(person.user_id()).await?;
    let by_app: BTreeMap<_, _> = unread.into_iter().map(|(app, count)| (app.as_str(), count)).collect();
    Ok(Json(NoticesCount { unread: by_app.values().sum(), by_app }))
}

/// Notices that were read.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"noticeIds": ["nte_01jd7rt4m5e9fv2w8x3c6k0hqz"]}))]
pub(crate) struct NoticesRead {
    /// The notices' ids: 1 to 100. One that the person doesn't have is passed over.
    notice_ids: Vec<String>,
}

impl RequestBody for NoticesRead {
    fn check(&self, problems: &mut Problems) {
        problems.require(READ_AT_ONCE.contains(&self.notice_ids.len()), "noticeIds", "Name 1 to 100 notices.");
        for (at, id) in self.notice_ids.iter().enumerate() {
            let fits = id.chars().count() <= NOTICE_ID_LEN_MAX;
            problems.require(fits, format!("noticeIds[{at}]"), "Use at most 64 characters.");
        }
    }
}

/// Mark notices as read
#[utoipa::path(post, path = "/v1/me/notifications/read")]
pub(crate) async fn notices_read(person: NotifyPerson, body: Body<NoticesRead>, state: State) -> Result<Json<Done>> {
    let ids = body.notice_ids.iter().filter_map(|id| id.parse().ok()).collect();
    state.actors.inbox.ask(&person.user_id(), ReadNotices(ids), person.context()).await?;
    Ok(Json(Done::new()))
}

/// The app whose notices were all read.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"app": "tasks"}))]
pub(crate) struct NoticesReadAll {
    /// Only notices of this app; `home`, and none, mean every app.
    #[schema(value_type = Option<String>)]
    app: Option<App>,
}

impl RequestBody for NoticesReadAll {}

/// Mark all notices as read
#[utoipa::path(post, path = "/v1/me/notifications/read-all")]
pub(crate) async fn notices_read_all(
    person: NotifyPerson,
    body: Body<NoticesReadAll>,
    state: State,
) -> Result<Json<Done>> {
    let command = ReadAllNotices(one_app(body.app));
    state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(Done::new()))
}

/// Whether the notice was acknowledged by this request.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"acked": true}))]
pub(crate) struct NoticeAcked {
    /// False when it was acknowledged already, or asks for nothing.
    acked: bool,
}

/// Acknowledge a notice
///
/// Ends what stands behind it for everybody: nobody is texted or called about it any more.
#[utoipa::path(post, path = "/v1/me/notifications/{noticeId}/ack")]
pub(crate) async fn notice_ack(person: NotifyPerson, notice: Owned<Notice>, state: State) -> Result<Json<NoticeAcked>> {
    let acked = state.actors.acknowledgements.by_notice(&notice, person.context()).await?;
    Ok(Json(NoticeAcked { acked }))
}

/// Delete a notice
///
/// What it tells of goes on; a notice that asks to be acknowledged isn't by this.
#[utoipa::path(delete, path = "/v1/me/notifications/{noticeId}")]
pub(crate) async fn notice_delete(
    person: NotifyPerson,
    Path(id): Path<NoticeId>,
    state: State,
) -> Result<NoContent, Error> {
    state.actors.inbox.ask(&person.user_id(), DeleteNotice(id), person.context()).await?;
    Ok(NoContent)
}
