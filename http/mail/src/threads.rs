//! Lists of conversations, and how many there are (contract B 4.8).

use std::{collections::BTreeMap, fmt, str::FromStr};

use domain::{
    Timestamp,
    calendar::zone_named,
    id::{MailLabelId, MailThreadId, MailboxId},
    mail::{MailCategory, MailPush, MailQuestion, Mailbox, ThreadRow, View, choose_a_label, no_label},
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
use store::{Store, mail::ThreadsWanted};
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
    /// What is looked for, up to 200 characters: words, of which the last may go on, and `"several words"` together. `from:`, `to:`,
    /// `cc:`, `bcc:`, `subject:`, `list:`, `deliveredto:` and `filename:` stand before words, `label:` before a label's name,
    /// `rfc822msgid:` before a Message-ID. `is:unread`, `is:read`, `is:starred`, `is:snoozed`, `has:attachment`, `has:invitation`,
    /// `in:trash`, `category:updates`, `before:2026-11-27`, `after:2026-11-27`, `older_than:1y`, `newer_than:2d`, `larger:5m`,
    /// `smaller:500k`. `-` before any of them has it not be so, `OR` between two has one of them be enough, and parentheses hold
    /// terms together, up to 8 deep. Without a view, all but spam and trash is searched.
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
    /// What is looked for, up to 200 characters: words, of which the last may go on, and `"several words"` together. `from:`, `to:`,
    /// `cc:`, `bcc:`, `subject:`, `list:`, `deliveredto:` and `filename:` stand before words, `label:` before a label's name,
    /// `rfc822msgid:` before a Message-ID. `is:unread`, `is:read`, `is:starred`, `is:snoozed`, `has:attachment`, `has:invitation`,
    /// `in:trash`, `category:updates`, `before:2026-11-27`, `after:2026-11-27`, `older_than:1y`, `newer_than:2d`, `larger:5m`,
    /// `smaller:500k`. `-` before any of them has it not be so, `OR` between two has one of them be enough, and parentheses hold
    /// terms together, up to 8 deep. Without a view, all but spam and trash is searched.
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
    /// The view that is asked for; none where nothing is said.
    ///
    /// 400 for a label's view without one, 404 for a label that isn't there.
    async fn place(&self, store: &Store, mailbox_id: MailboxId) -> domain::Result<Option<String>> {
        if self.view.as_deref() != Some("label") {
            return Ok(self.view.clone());
        }
        let label = self.label.as_deref().filter(|it| !it.is_empty()).ok_or_else(choose_a_label)?;
        let id: MailLabelId = label.parse().map_err(|_| no_label())?;
        let found = store.mail_label(mailbox_id, id).await?.ok_or_else(no_label)?;
        Ok(Some(View::Label(found.id).place()))
    }
}

fn wanted(
    place: Option<String>,
    category: Option<&str>,
    question: Option<MailQuestion>,
    cursor: Option<&str>,
) -> domain::Result<ThreadsWanted> {
    let is_inbox = place.as_deref() == Some(View::Inbox.name());
    let category = category.filter(|_| is_inbox).and_then(MailCategory::from_name);
    let behind: Option<Behind> = cursor.map(|it| cursor::read(LIST, it)).transpose()?;
    Ok(ThreadsWanted { place, category, question, behind: behind.map(|it| (it.0, it.1)), limit: PAGE + 1 })
}

/// What is looked for, where anything is; days are those of the caller.
async fn question(state: &State, person: &MailPerson, text: Option<&str>) -> domain::Result<Option<MailQuestion>> {
    let Some(text) = text.filter(|it| !it.trim().is_empty()) else { return Ok(None) };
    let caller = state.store.person(person.user_id()).await?;
    let zone = caller.and_then(|caller| caller.time_zone).and_then(|name| zone_named(&name)).unwrap_or_default();
    MailQuestion::parse(text, &zone, state.store.now())
}

/// The view that is listed where nothing is said: the inbox, or for a search all but spam and trash.
fn usual(question: Option<&MailQuestion>) -> String {
    question.map_or(View::Inbox, |_| View::All).place()
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
    let question = question(&state, &person, query.q.as_deref()).await?;
    let place = query.view.clone().unwrap_or_else(|| usual(question.as_ref()));
    let wanted = wanted(Some(place), query.category.as_deref(), question, query.cursor.as_deref())?;
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
///
/// A search finds conversations with a message for which all terms hold, among the last 10,000 of these messages.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads", responses(
    (status = 400, description = "Choose a label.\n\nInvalid cursor"),
    (status = 404, description = "Label not found")))]
pub(crate) async fn mail_threads(
    person: MailPerson,
    query: Query<ThreadsQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailThreadsAnswer>> {
    let place = query.place(&state.store, mailbox.id).await?;
    let question = question(&state, &person, query.q.as_deref()).await?;
    let says_where = question.as_ref().is_some_and(MailQuestion::says_where);
    let place = place.or_else(|| (!says_where).then(|| usual(question.as_ref())));
    let wanted = wanted(place, query.category.as_deref(), question, query.cursor.as_deref())?;
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
