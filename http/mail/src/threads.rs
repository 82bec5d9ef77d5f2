//! Lists of conversations, and how many there are (contract B 4.8).

use std::{collections::BTreeMap, fmt, str::FromStr};

use domain::{
    Timestamp,
    id::{MailLabelId, MailThreadId},
    mail::{MailCategory, MailPush, Mailbox, ThreadRow, View, choose_a_label, mail_words, no_label},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    cursor,
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::mail::ThreadsWanted;
use utoipa::{IntoParams, ToSchema};

use crate::{
    mailboxes::LISTED_MAX,
    thread_row::{CategoryCountsBody, CountsByMailbox, MailThreadBody},
};

/// Conversations of a page.
const PAGE: u32 = 50;
/// Mailboxes whose conversations are listed together.
const MERGED_MAX: u64 = 200;
/// Characters of what is looked for (contract B 4.8).
const QUESTION_LEN_MAX: usize = 200;
/// Characters of a cursor over all mailboxes (contract B 4.8).
const CURSOR_LEN_MAX: usize = 20_000;
/// Characters of a mailbox's cursor (contract B 4.8).
const MAILBOX_CURSOR_LEN_MAX: usize = 2_000;
/// The name of the lists in their cursors.
const LIST: &str = "mail_threads";

/// Where a page starts.
#[derive(Clone, Copy)]
struct Behind(Timestamp, MailThreadId);

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.0, self.1)
    }
}

impl FromStr for Behind {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (at, id) = text.split_once(' ').ok_or(())?;
        Ok(Self(Timestamp(at.parse().map_err(|_| ())?), id.parse().map_err(|_| ())?))
    }
}

/// Which conversations of all mailboxes.
#[derive(Deserialize, IntoParams)]
pub(crate) struct AllThreadsQuery {
    /// `inbox` (usual), `starred`, `sent` or `drafts`.
    view: Option<String>,
    /// Of the inbox, only those of this category.
    category: Option<String>,
    /// Words that a message has, up to 200 characters. Without a view, all but spam and trash is searched.
    q: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
}

impl RequestQuery for AllThreadsQuery {
    fn check(&self, problems: &mut Problems) {
        let views = [View::Inbox, View::Starred, View::Sent, View::Drafts];
        let is_view = |name: &str| views.iter().any(|view| view.name() == name);
        problems.require(self.view.as_deref().is_none_or(is_view), "view", "Choose inbox, starred, sent or drafts.");
        check(problems, self.category.as_deref(), self.q.as_deref());
        let fits = self.cursor.as_deref().is_none_or(|it| it.chars().count() <= CURSOR_LEN_MAX);
        problems.require(fits, "cursor", "Use at most 20,000 characters.");
    }
}

fn check(problems: &mut Problems, category: Option<&str>, question: Option<&str>) {
    let is_category = |name: &str| MailCategory::from_name(name).is_some();
    let choose = "Choose primary, transactions, updates or promotions.";
    problems.require(category.is_none_or(is_category), "category", choose);
    let fits = question.is_none_or(|it| it.chars().count() <= QUESTION_LEN_MAX);
    problems.require(fits, "q", "Use at most 200 characters.");
}

/// Which conversations of a mailbox.
#[derive(Deserialize, IntoParams)]
pub(crate) struct ThreadsQuery {
    /// `inbox` (usual), `starred`, `snoozed`, `sent`, `drafts`, `scheduled`, `archive`, `all`, `spam`, `trash` or `label`.
    view: Option<String>,
    /// The id of a label, for `label`.
    label: Option<String>,
    /// Words that a message has, up to 200 characters. Without a view, all but spam and trash is searched.
    q: Option<String>,
    /// Of the inbox, only those of this category.
    category: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
}

/// The views that need no more than their name.
const VIEWS: [View; 10] = [
    View::Inbox,
    View::Starred,
    View::Snoozed,
    View::Sent,
    View::Drafts,
    View::Scheduled,
    View::Archive,
    View::All,
    View::Spam,
    View::Trash,
];

impl RequestQuery for ThreadsQuery {
    fn check(&self, problems: &mut Problems) {
        let is_view = |name: &str| name == "label" || VIEWS.iter().any(|view| view.name() == name);
        problems.require(self.view.as_deref().is_none_or(is_view), "view", "Choose a view of the mailbox.");
        check(problems, self.category.as_deref(), self.q.as_deref());
        let fits = self.cursor.as_deref().is_none_or(|it| it.chars().count() <= MAILBOX_CURSOR_LEN_MAX);
        problems.require(fits, "cursor", "Use at most 2,000 characters.");
    }
}

impl ThreadsQuery {
    /// 400 for a label's view without one, 404 for a label that isn't there.
    fn label_check(&self) -> domain::Result<()> {
        if self.view.as_deref() != Some("label") {
            return Ok(());
        }
        let label = self.label.as_deref().filter(|it| !it.is_empty()).ok_or_else(choose_a_label)?;
        // Mailboxes have no labels yet.
        label.parse::<MailLabelId>().map_err(|_| no_label()).and_then(|_| Err(no_label()))
    }
}

fn wanted(
    view: Option<&str>,
    category: Option<&str>,
    question: Option<&str>,
    cursor: Option<&str>,
) -> domain::Result<ThreadsWanted> {
    let words = mail_words(question.unwrap_or_default());
    let usual = if words.is_empty() { View::Inbox } else { View::All };
    let place = view.unwrap_or(usual.name()).to_owned();
    let category = category.filter(|_| place == View::Inbox.name()).and_then(MailCategory::from_name);
    let behind: Option<Behind> = cursor.map(|it| cursor::read(LIST, it)).transpose()?;
    Ok(ThreadsWanted { place, category, words, behind: behind.map(|it| (it.0, it.1)), limit: PAGE + 1 })
}

/// Conversations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailThreadsAnswer {
    /// The newest first.
    threads: Vec<MailThreadBody>,
    /// Where the next page starts; null where there is none.
    cursor: Option<String>,
}

impl MailThreadsAnswer {
    fn new(mut rows: Vec<(&Mailbox, ThreadRow)>) -> Self {
        let most = PAGE as usize;
        let has_more = rows.len() > most;
        rows.truncate(most);
        let last = rows.last().filter(|_| has_more).map(|(_, row)| Behind(row.sort_at, row.id));
        let threads = rows.into_iter().map(|(mailbox, row)| MailThreadBody::new(mailbox, row)).collect();
        Self { threads, cursor: last.map(|last| cursor::write(LIST, last)) }
    }
}

/// The conversations of my mailboxes
///
/// Of all mailboxes that the caller is a member of, at most 200. A search leaves spam and trash out.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/threads",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn mail_threads_all(
    person: MailPerson,
    query: Query<AllThreadsQuery>,
    state: State,
) -> Result<Json<MailThreadsAnswer>> {
    let (view, category) = (query.view.as_deref(), query.category.as_deref());
    let wanted = wanted(view, category, query.q.as_deref(), query.cursor.as_deref())?;
    let mailboxes = state.store.mailboxes_of_person(person.id(), person.user_id(), MERGED_MAX).await?;
    let mut rows: Vec<(&Mailbox, ThreadRow)> = Vec::new();
    for mailbox in &mailboxes {
        let found = state.store.mail_threads(mailbox.id, &wanted).await?;
        rows.extend(found.into_iter().map(|row| (mailbox, row)));
    }
    rows.sort_by_key(|(_, row)| std::cmp::Reverse((row.sort_at, row.id)));
    Ok(Json(MailThreadsAnswer::new(rows)))
}

/// The conversations of a mailbox
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads", responses(
    (status = 400, description = "Choose a label.\n\nInvalid cursor"),
    (status = 404, description = "Label not found")))]
pub(crate) async fn mail_threads(
    _person: MailPerson,
    query: Query<ThreadsQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailThreadsAnswer>> {
    query.label_check()?;
    let (view, category) = (query.view.as_deref(), query.category.as_deref());
    let wanted = wanted(view, category, query.q.as_deref(), query.cursor.as_deref())?;
    let rows = state.store.mail_threads(mailbox.id, &wanted).await?;
    Ok(Json(MailThreadsAnswer::new(rows.into_iter().map(|row| (&*mailbox, row)).collect())))
}

/// Counts of all mailboxes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailCountsAllAnswer {
    /// All mailboxes together.
    counts: CategoryCountsBody,
    /// Counts by mailbox.
    mailboxes: BTreeMap<String, CategoryCountsBody>,
    /// The number for an app's icon: what the caller wants to be told of.
    badge: i64,
    /// Always true: counts are kept in step.
    complete: bool,
}

/// What is unread in my mailboxes
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/counts")]
pub(crate) async fn mail_counts_all(person: MailPerson, state: State) -> Result<Json<MailCountsAllAnswer>> {
    let mailboxes = state.store.mailboxes_of_person(person.id(), person.user_id(), LISTED_MAX).await?;
    let ids: Vec<_> = mailboxes.iter().map(|mailbox| mailbox.id).collect();
    let found: CountsByMailbox = state.store.mail_counts(&ids, View::Inbox.name()).await?;
    let chosen = state.store.mail_preferences(person.id(), person.user_id()).await?;
    let (mut counts, mut badge, mut by_mailbox) = (CategoryCountsBody::default(), 0, BTreeMap::new());
    for id in ids {
        let its = CategoryCountsBody::new(found.get(&id));
        badge += match chosen.push_of(id) {
            MailPush::Off => 0,
            MailPush::Primary if chosen.categories => its.primary(),
            MailPush::Primary | MailPush::All => its.sum(),
        };
        counts.add(&its);
        by_mailbox.insert(id.to_string(), its);
    }
    Ok(Json(MailCountsAllAnswer { counts, mailboxes: by_mailbox, badge, complete: true }))
}

/// Counts of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailCountsAnswer {
    /// Conversations in the inbox that have something unread.
    counts: CategoryCountsBody,
    /// Always true: counts are kept in step.
    complete: bool,
}

/// What is unread in a mailbox
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/counts")]
pub(crate) async fn mail_counts(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailCountsAnswer>> {
    let found = state.store.mail_counts(&[mailbox.id], View::Inbox.name()).await?;
    Ok(Json(MailCountsAnswer { counts: CategoryCountsBody::new(found.get(&mailbox.id)), complete: true }))
}
