//! Which issues match, and in which order: what a search must answer too.

use std::cmp::Ordering;

use super::{
    facts::{Facts, HistoryEntry, SortKey, ValueSpan},
    fields::FieldKey,
    plan::{Ask, Change, Choice, Plan, Test, Times, ValueId},
    text::Stem,
};

/// The order of a search whose query asks for none (contract B 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// The first in rank first.
    Rank,
    /// What changed last first.
    #[default]
    Updated,
    /// What was made last first.
    Created,
    /// Spaces by their keys, and within them the lowest number first.
    Key,
}

impl Fallback {
    fn field(self) -> (FieldKey, bool) {
        let (name, descends) = match self {
            Self::Rank => ("rank", false),
            Self::Updated => ("updated", true),
            Self::Created => ("created", true),
            Self::Key => ("key", false),
        };
        (name.into(), descends)
    }
}

impl Plan {
    /// Whether an issue matches.
    pub fn matches(&self, facts: &Facts, stem: Stem) -> bool {
        let mut holds: Vec<bool> = Vec::with_capacity(self.tests.len());
        for test in &self.tests {
            holds.push(match test {
                Test::All(parts) => parts.iter().all(|part| holds[*part]),
                Test::Any(parts) => parts.iter().any(|part| holds[*part]),
                Test::Ask(fields, ask) => Asked { facts, fields, stem }.holds(ask),
            });
        }
        self.root.is_none_or(|root| holds[root])
    }

    /// Which of two issues comes first. Those without a value come last, whatever the direction.
    pub fn order(&self, one: &Facts, other: &Facts, fallback: Fallback) -> Ordering {
        let by_fields = self.order.iter().map(|order| ordered(one, other, &order.fields, order.descends));
        let by_plan = by_fields.fold(Ordering::Equal, Ordering::then);
        let by_default = if self.order.is_empty() {
            let (field, descends) = fallback.field();
            ordered(one, other, &[field], descends)
        } else {
            Ordering::Equal
        };
        by_plan.then(by_default).then(one.seq.cmp(&other.seq))
    }
}

fn ordered(one: &Facts, other: &Facts, fields: &[FieldKey], descends: bool) -> Ordering {
    let key = |facts: &'_ Facts| fields.iter().find_map(|field| facts.sort.get(field).cloned());
    match (key(one), key(other)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(one), Some(other)) => {
            let order = match (&one, &other) {
                (SortKey::Number(one), SortKey::Number(other)) => one.total_cmp(other),
                (SortKey::Text(one), SortKey::Text(other)) => one.cmp(other),
                (SortKey::Number(_), SortKey::Text(_)) => Ordering::Less,
                (SortKey::Text(_), SortKey::Number(_)) => Ordering::Greater,
            };
            if descends { order.reverse() } else { order }
        }
    }
}

/// Fields of an issue that something is asked of.
struct Asked<'a> {
    facts: &'a Facts,
    fields: &'a [FieldKey],
    stem: Stem,
}

impl<'a> Asked<'a> {
    fn holds(&self, ask: &Ask) -> bool {
        match ask {
            Ask::Some => self.has_some(),
            Ask::None => !self.has_some(),
            Ask::OneOf(choice) => self.has_value(choice) || choice.or_empty && !self.has_some(),
            Ask::NoneOf(choice) => self.has_some() && !self.has_value(choice),
            Ask::OneNumber(choice) => self.has_number(choice) || choice.or_empty && !self.has_some(),
            Ask::NoNumber(choice) => self.has_some() && !self.has_number(choice),
            Ask::Compare(comparison, bound) => self.numbers().any(|number| comparison.holds(number, *bound)),
            Ask::Clock(part, comparison, bound) => self.fields.iter().any(|field| {
                let key = FieldKey(format!("{}#{part}", field.0).into());
                self.facts
                    .numbers
                    .get(&key)
                    .is_some_and(|numbers| numbers.iter().any(|it| comparison.holds(*it, *bound)))
            }),
            Ask::Words(question) => self.documents().any(|document| question.holds(document, self.stem)),
            Ask::NoWords(question) => {
                self.has_some() && !self.documents().any(|document| question.holds(document, self.stem))
            }
            Ask::Was(choice, times) => self.spans().any(|span| was(span, choice, times)),
            Ask::WasNot(choice, times) => {
                let had_some = self.spans().any(|span| span.value.is_some() && within(span, times));
                had_some && !self.spans().any(|span| was(span, choice, times))
            }
            Ask::Changed(change) => self.changes().any(|entry| changed(entry, change)),
            Ask::Unchanged(change) => !self.changes().any(|entry| changed(entry, change)),
        }
    }

    fn values(&self) -> impl Iterator<Item = &'a ValueId> {
        self.fields.iter().filter_map(|field| self.facts.values.get(field)).flatten()
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.fields.iter().filter_map(|field| self.facts.numbers.get(field)).flatten().copied()
    }

    fn documents(&self) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter_map(|field| self.facts.texts.get(field)).flatten().map(String::as_str)
    }

    fn spans(&self) -> impl Iterator<Item = &'a ValueSpan> {
        self.facts.spans.iter().filter(|span| self.fields.contains(&span.field))
    }

    fn changes(&self) -> impl Iterator<Item = &'a HistoryEntry> {
        self.facts.changes.iter().filter(|entry| self.fields.contains(&entry.field))
    }

    fn has_some(&self) -> bool {
        self.values().next().is_some() || self.numbers().next().is_some() || self.documents().any(|it| !it.is_empty())
    }

    fn has_value(&self, choice: &Choice<ValueId>) -> bool {
        self.values().any(|value| choice.values.contains(value))
    }

    fn has_number(&self, choice: &Choice<f64>) -> bool {
        self.numbers().any(|number| choice.values.contains(&number))
    }
}

/// Whether a span is of one of these values, at that time, by those people.
fn was(span: &ValueSpan, choice: &Choice<ValueId>, times: &Times) -> bool {
    let is_chosen = span.value.as_ref().map_or(choice.or_empty, |value| choice.values.contains(value));
    is_chosen && within(span, times) && times.by.iter().all(|people| people.contains(&span.by))
}

fn within(span: &ValueSpan, times: &Times) -> bool {
    let lasts_beyond = |at| span.to.is_none_or(|to| to > at);
    times.before.iter().all(|at| span.from < *at)
        && times.after.iter().all(|at| lasts_beyond(*at))
        && times.during.iter().all(|(from, to)| from <= to && span.from <= *to && lasts_beyond(*from))
}

fn changed(entry: &HistoryEntry, change: &Change) -> bool {
    let left = |choice: &Choice<ValueId>, here: &[ValueId], there: &[ValueId]| {
        let is_one = here.iter().any(|value| choice.values.contains(value) && !there.contains(value));
        is_one || choice.or_empty && here.is_empty()
    };
    let Change { from, to, times } = change;
    from.as_ref().is_none_or(|choice| left(choice, &entry.from, &entry.to))
        && to.as_ref().is_none_or(|choice| left(choice, &entry.to, &entry.from))
        && times.before.iter().all(|at| entry.at < *at)
        && times.after.iter().all(|at| entry.at > *at)
        && times.during.iter().all(|(from, to)| (*from..=*to).contains(&entry.at))
        && times.by.iter().all(|people| people.contains(&entry.by))
}
