//! The numbers of the values that a query names.

use std::collections::{BTreeSet, HashMap};

use domain::issues::jql::meaning::{Ask, Change, Test, Times};

use super::IssueSearch;
use crate::{
    StoreError,
    issues::rows::places,
    reader::{Reader, row},
    sql::Sql,
};

/// Values that one statement asks for.
const AT_ONCE: usize = 500;

row! {
    struct ValueRow {
        kind: String,
        value: String,
        no: i64,
    }
}

/// The numbers of values, by kind and value.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<(String, String), i64>);

impl Numbers {
    /// Reads the numbers of all that a search names.
    pub(super) async fn read(reader: &Reader, search: &IssueSearch<'_>) -> Result<Self, StoreError> {
        let mut wanted: BTreeSet<String> = search.spaces.iter().map(ToString::to_string).collect();
        wanted.insert(search.org_id.to_string());
        let orders = search.orders;
        for ids in [&orders.statuses, &orders.types, &orders.priorities, &orders.resolutions] {
            wanted.extend(ids.iter().cloned());
        }
        for test in &search.plan.tests {
            if let Test::Ask(_, ask) = test {
                named(ask, &mut wanted);
            }
        }
        let wanted: Vec<String> = wanted.into_iter().collect();
        let mut numbers = HashMap::new();
        for some in wanted.chunks(AT_ONCE) {
            let statement = format!(
                "SELECT kind, value, no FROM issue_values WHERE org_id = $1 AND kind IN ('org', 'space', 'type', 'status', \
                 'priority', 'resolution', 'person', 'label', 'component', 'version', 'sprint', 'issue', 'number', 'approval', 'requestType', 'channel') AND value IN ({})",
                places(2, some.len())
            );
            let values =
                std::iter::once(search.org_id.to_string().into()).chain(some.iter().map(|it| it.clone().into()));
            let rows: Vec<ValueRow> = reader.rows(&Sql::new(statement, values)).await?;
            numbers.extend(rows.into_iter().map(|row| ((row.kind, row.value), row.no)));
        }
        Ok(Self(numbers))
    }

    /// The number of a value; none where no issue ever had it.
    pub(super) fn of(&self, kind: &str, value: &str) -> Option<i64> {
        self.0.get(&(kind.to_owned(), value.to_owned())).copied()
    }
}

fn named(ask: &Ask, wanted: &mut BTreeSet<String>) {
    let mut add = |text: &str| {
        wanted.insert(text.to_owned());
    };
    let people = |times: &Times, add: &mut dyn FnMut(&str)| {
        times.by.iter().flatten().for_each(|person| add(&person.0));
    };
    match ask {
        Ask::OneOf(choice) | Ask::NoneOf(choice) => choice.values.iter().for_each(|value| add(&value.0)),
        Ask::Was(choice, times) | Ask::WasNot(choice, times) => {
            choice.values.iter().for_each(|value| add(&value.0));
            people(times, &mut add);
        }
        Ask::Changed(change) | Ask::Unchanged(change) => {
            let Change { from, to, times } = change;
            for choice in [from, to].into_iter().flatten() {
                choice.values.iter().for_each(|value| add(&value.0));
            }
            people(times, &mut add);
        }
        _ => {}
    }
}
