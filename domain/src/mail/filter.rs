//! Filters of a mailbox: what is done with each message that a query finds, while it is filed, or with what is there.

use std::{collections::BTreeSet, ops::RangeInclusive};

use serde::{Deserialize, Serialize};

use super::{MailBox, MailCategory, MailQuestion, Placing};
use crate::{
    Error, Problem, Result, Timestamp,
    account::text_check,
    id::{MailFilterId, MailLabelId},
    notify::Zone,
};

/// Filters of a mailbox.
pub const FILTERS_MAX: usize = 200;
/// Characters of a filter's name.
pub const FILTER_NAME_LEN: RangeInclusive<usize> = 0..=100;
/// Characters of a filter's query.
pub const FILTER_QUERY_LEN: RangeInclusive<usize> = 1..=500;
/// Days that a filter is tried over, or applied to.
pub const FILTER_DAYS: RangeInclusive<u32> = 1..=90;
/// The message of the 404 for a filter.
pub const FILTER_NOT_FOUND: &str = "Filter not found";
/// Past [`FILTERS_MAX`].
pub const TOO_MANY_FILTERS: &str = "A mailbox has at most 200 filters.";
/// For a filter that is still being applied to what is there.
pub const FILTER_RUNS: &str = "This filter is being applied already.";
/// The message of the 404 where a filter was never applied to what was there.
pub const NEVER_APPLIED: &str = "This filter was never applied.";

/// Where a filter may put messages.
const BOXES: [MailBox; 4] = [MailBox::Inbox, MailBox::Archive, MailBox::Spam, MailBox::Trash];

/// What a filter does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FilterActions {
    /// Gives the conversation a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<MailLabelId>,
    /// Puts the message there.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub place: Option<MailBox>,
    /// Has it be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read: bool,
    /// Gives it a star.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub star: bool,
    /// Has it be of a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<MailCategory>,
    /// Keeps it out of spam.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub never_spam: bool,
    /// Passes the message on to this address, as it arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<String>,
}

/// A filter of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFilter {
    /// Its id.
    pub id: MailFilterId,
    /// What it is called; may be empty.
    pub name: String,
    /// What it finds, as search has it.
    pub query: String,
    /// Where the query's days are days.
    pub zone: String,
    /// What it does.
    pub actions: FilterActions,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a message shows of a filter that held for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterNote {
    /// The filter.
    pub filter_id: MailFilterId,
    /// What it was called then; its query where it had no name.
    pub name: String,
}

impl MailFilter {
    /// What it asks. None of a query that can't be read any more, which then finds nothing.
    pub fn question(&self, now: Timestamp) -> Option<MailQuestion> {
        MailQuestion::parse(&self.query, &Zone::find(&self.zone).unwrap_or_default(), now).ok().flatten()
    }

    /// What messages show of it.
    pub fn note(&self) -> FilterNote {
        let name = if self.name.is_empty() { &self.query } else { &self.name };
        FilterNote { filter_id: self.id, name: name.clone() }
    }
}

/// What of a message, and of its conversation, filters change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// Where it lies.
    pub place: MailBox,
    /// Its category.
    pub category: MailCategory,
    /// Whether nobody has read it.
    pub is_unread: bool,
    /// Whether it has a star.
    pub is_starred: bool,
    /// The labels of its conversation.
    pub labels: BTreeSet<MailLabelId>,
}

impl Filtered {
    /// A message that lies in a conversation with these labels.
    pub fn new(placing: &Placing, labels: &BTreeSet<MailLabelId>) -> Self {
        let Placing { place, category, is_unread, is_starred, .. } = *placing;
        Self { place, category, is_unread, is_starred, labels: labels.clone() }
    }

    /// Has a message of a conversation be so.
    pub fn write(self, placing: &mut Placing, labels: &mut BTreeSet<MailLabelId>) {
        (placing.place, placing.category) = (self.place, self.category);
        (placing.is_unread, placing.is_starred) = (self.is_unread, self.is_starred);
        *labels = self.labels;
    }

    /// Does what a filter does, whose label is there; whether anything changed.
    ///
    /// What is spam stays spam, or goes to the trash, unless the filter keeps it out of spam.
    pub fn act(&mut self, actions: &FilterActions, has_label: impl Fn(MailLabelId) -> bool) -> bool {
        let before = self.clone();
        if actions.never_spam && self.place == MailBox::Spam {
            self.place = MailBox::Inbox;
        }
        let may_go = |place: &MailBox| self.place != MailBox::Spam || matches!(place, MailBox::Spam | MailBox::Trash);
        self.place = actions.place.filter(may_go).unwrap_or(self.place);
        self.category = actions.category.unwrap_or(self.category);
        self.is_unread &= !actions.read;
        self.is_starred |= actions.star;
        self.labels.extend(actions.label.filter(|id| has_label(*id)));
        before != *self
    }
}

/// The name of a filter.
pub fn filter_name_check(path: &str, name: &str) -> Result<String> {
    text_check(path, name, &FILTER_NAME_LEN)
}

/// A filter's query: trimmed, one that search reads, and that may find something.
pub fn filter_query_check(path: &str, query: &str, zone: &Zone, now: Timestamp) -> Result<String> {
    let query = text_check(path, query, &FILTER_QUERY_LEN)?;
    let here = |problem: Problem| Problem { path: path.to_owned(), ..problem };
    let question = MailQuestion::parse(&query, zone, now).map_err(|error| match error {
        Error::Invalid { problems } => Error::Invalid { problems: problems.into_iter().map(here).collect() },
        other => other,
    })?;
    let finds = question.is_some_and(|question| !question.is_empty());
    if finds { Ok(query) } else { Err(Error::invalid(path, "Say what is looked for.")) }
}

/// What a filter does: something, and nothing that contradicts itself.
pub fn filter_actions_check(path: &str, actions: FilterActions) -> Result<FilterActions> {
    let refused = |field: &str, message: &str| Err(Error::invalid(format!("{path}.{field}"), message));
    if actions == FilterActions::default() {
        return Err(Error::invalid(path, "Choose what the filter does."));
    }
    if actions.place.is_some_and(|place| !BOXES.contains(&place)) {
        return refused("box", "Choose inbox, archive, spam or trash.");
    }
    if actions.never_spam && actions.place == Some(MailBox::Spam) {
        return refused("neverSpam", "A filter either puts mail into spam or keeps it out.");
    }
    Ok(actions)
}

/// Filters in another order: each id once.
pub fn filters_ordered(filters: &[MailFilter], ids: &[MailFilterId]) -> Result<()> {
    let (there, named): (BTreeSet<_>, BTreeSet<_>) =
        (filters.iter().map(|it| it.id).collect(), ids.iter().copied().collect());
    let refused = || Error::invalid("filterIds", "Name each filter of the mailbox once.");
    if there == named && ids.len() == named.len() { Ok(()) } else { Err(refused()) }
}

/// Whether a mailbox with so many filters may have one more.
pub fn filter_count_check(filters: usize) -> Result<()> {
    if filters < FILTERS_MAX { Ok(()) } else { Err(Error::bad_request("limit_reached", TOO_MANY_FILTERS)) }
}

/// 404 for a filter that the mailbox hasn't.
pub fn no_filter() -> Error {
    Error::not_found(FILTER_NOT_FOUND)
}

/// 404 for a filter that was never applied to what was there.
pub fn never_applied() -> Error {
    Error::not_found(NEVER_APPLIED)
}

/// 409 for a filter that is being applied to what is there.
pub fn filter_runs() -> Error {
    Error::conflict("filter_runs", FILTER_RUNS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(place: MailBox) -> Filtered {
        let (category, labels) = (MailCategory::Primary, BTreeSet::new());
        Filtered { place, category, is_unread: true, is_starred: false, labels }
    }

    fn to(place: MailBox) -> FilterActions {
        FilterActions { place: Some(place), ..FilterActions::default() }
    }

    #[test]
    fn a_filter_does_all_that_it_says_and_tells_whether_anything_changed() {
        let label = MailLabelId::new(Timestamp(1));
        let mut it = filtered(MailBox::Inbox);
        let actions = FilterActions {
            label: Some(label),
            read: true,
            star: true,
            category: Some(MailCategory::Updates),
            ..to(MailBox::Archive)
        };
        assert!(it.act(&actions, |_| true));
        assert_eq!(
            (it.place, it.category, it.is_unread, it.is_starred),
            (MailBox::Archive, MailCategory::Updates, false, true)
        );
        assert_eq!(it.labels, BTreeSet::from([label]));
        assert!(!it.act(&actions, |_| true), "it is so already");
        let mut other = filtered(MailBox::Inbox);
        assert!(!other.act(&FilterActions { label: Some(label), ..FilterActions::default() }, |_| false));
    }

    #[test]
    fn spam_stays_spam_unless_a_filter_keeps_it_out() {
        let lands = |actions: FilterActions| {
            let mut it = filtered(MailBox::Spam);
            it.act(&actions, |_| true);
            it.place
        };
        assert_eq!(lands(to(MailBox::Inbox)), MailBox::Spam);
        assert_eq!(lands(to(MailBox::Archive)), MailBox::Spam);
        assert_eq!(lands(to(MailBox::Trash)), MailBox::Trash);
        assert_eq!(lands(FilterActions { never_spam: true, ..FilterActions::default() }), MailBox::Inbox);
        assert_eq!(lands(FilterActions { never_spam: true, ..to(MailBox::Archive) }), MailBox::Archive);
    }

    #[test]
    fn what_a_filter_asks_and_does_is_checked() {
        let query = |text: &str| filter_query_check("query", text, &Zone::UTC, Timestamp(1));
        assert_eq!(query("  from:bob ").expect("a query"), "from:bob");
        for refused in ["", "   ", "***", "before:never", &"a".repeat(501)] {
            let Err(Error::Invalid { problems }) = query(refused) else { panic!("{refused}") };
            assert_eq!(problems[0].path, "query", "{refused}");
        }
        assert!(query(&"a".repeat(500)).is_ok());
        assert!(filter_actions_check("actions", FilterActions::default()).is_err());
        assert!(filter_actions_check("actions", to(MailBox::Trash)).is_ok());
        assert!(filter_actions_check("actions", to(MailBox::Sent)).is_err());
        assert!(filter_actions_check("actions", FilterActions { never_spam: true, ..to(MailBox::Spam) }).is_err());
        assert!(filter_name_check("name", &"a".repeat(101)).is_err());
        assert!(filter_count_check(FILTERS_MAX - 1).is_ok());
        assert_eq!(filter_count_check(FILTERS_MAX).unwrap_err().to_string(), TOO_MANY_FILTERS);
    }

    proptest! {
        #[test]
        fn what_a_filter_did_once_it_does_not_do_again(
            place in prop::sample::select(vec![MailBox::Inbox, MailBox::Archive, MailBox::Spam]),
            to in prop::option::of(prop::sample::select(BOXES.to_vec())),
            category in prop::option::of(prop::sample::select(MailCategory::ALL.to_vec())),
            flags in any::<[bool; 5]>(),
        ) {
            let [read, star, never_spam, labels, is_unread] = flags;
            let label = labels.then(|| MailLabelId::new(Timestamp(1)));
            let actions = FilterActions { label, place: to, read, star, category, never_spam, forward: None };
            prop_assume!(filter_actions_check("actions", actions.clone()).is_ok());
            let mut it = Filtered { is_unread, ..filtered(place) };
            let before = it.clone();
            prop_assert_eq!(it.act(&actions, |_| true), it != before);
            let once = it.clone();
            prop_assert!(!it.act(&actions, |_| true));
            prop_assert_eq!(it, once);
        }
    }

    #[test]
    fn an_order_names_each_filter_once() {
        let filter = |at: i64| MailFilter {
            id: MailFilterId::new(Timestamp(at)),
            name: String::new(),
            query: "a".to_owned(),
            zone: "UTC".to_owned(),
            actions: FilterActions::default(),
            created_at: Timestamp(at),
        };
        let all = [filter(1), filter(2)];
        let (one, two) = (all[0].id, all[1].id);
        assert!(filters_ordered(&all, &[two, one]).is_ok());
        for refused in
            [vec![], vec![one], vec![one, one], vec![one, two, one], vec![MailFilterId::new(Timestamp(3)), one]]
        {
            assert!(filters_ordered(&all, &refused).is_err(), "{refused:?}");
        }
    }
}
