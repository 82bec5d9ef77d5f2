//! What a query asks, as a condition on an issue's row `i`. Every value is bound.

use domain::{
    Result,
    issues::jql::meaning::{
        Ask, Change, Choice, Comparison, FieldKey, Plan, Sought, Test, TextQuestion, Times, ValueId,
    },
};

use super::{
    Bound, IssueSearch,
    fields::{Place, kept_kind, place},
    numbers::Numbers,
    too_expensive,
};
use crate::pages::search::org_letters;

pub(super) const TRUE: &str = "1 = 1";
pub(super) const FALSE: &str = "1 = 0";
/// Conditions within conditions: databases refuse what is nested deeper than a thousand.
const DEPTH_MAX: usize = 100;

/// A condition, and how deep it is nested.
type Nested = (String, usize);

/// Writes conditions.
pub(super) struct Conditions<'a> {
    pub(super) bound: &'a mut Bound,
    pub(super) numbers: &'a Numbers,
    pub(super) search: &'a IssueSearch<'a>,
    pub(super) is_postgres: bool,
}

/// Conditions with one word between them, as a tree that is as flat as can be.
fn joined(parts: &[String], between: &str, nothing: &str) -> String {
    match parts {
        [] => nothing.to_owned(),
        [one] => one.clone(),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            format!("({}{between}{})", joined(left, between, nothing), joined(right, between, nothing))
        }
    }
}

pub(super) fn any(parts: &[String]) -> String {
    joined(parts, " OR ", FALSE)
}

fn all(parts: &[String]) -> String {
    joined(parts, " AND ", TRUE)
}

const fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterEqual => ">=",
    }
}

const fn category(id: &str) -> Option<i64> {
    match id.as_bytes() {
        b"todo" => Some(0),
        b"inprogress" => Some(1),
        b"done" => Some(2),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "days and milliseconds are whole numbers")]
fn whole(number: f64) -> i64 {
    number as i64
}

impl Conditions<'_> {
    /// The whole condition of a plan; 400 where it is nested too deep.
    pub(super) fn of(&mut self, plan: &Plan) -> Result<String> {
        let Some(root) = plan.root else { return Ok(TRUE.to_owned()) };
        let mut made: Vec<Nested> = Vec::with_capacity(plan.tests.len());
        for test in &plan.tests {
            let of_parts = |parts: &[usize]| {
                let depth = parts.iter().map(|part| made[*part].1).max().unwrap_or(0) + 1;
                (parts.iter().map(|part| made[*part].0.clone()).collect::<Vec<_>>(), depth)
            };
            let nested = match test {
                Test::All(parts) => {
                    let (texts, depth) = of_parts(parts);
                    (all(&texts), depth)
                }
                Test::Any(parts) => {
                    let (texts, depth) = of_parts(parts);
                    (any(&texts), depth)
                }
                Test::Ask(fields, ask) => (self.ask(fields, ask), 0),
            };
            if nested.1 > DEPTH_MAX {
                return Err(too_expensive());
            }
            made.push(nested);
        }
        Ok(made.get(root).map_or_else(|| TRUE.to_owned(), |(text, _)| text.clone()))
    }

    fn ask(&mut self, fields: &[FieldKey], ask: &Ask) -> String {
        match ask {
            Ask::Some => self.some(fields),
            Ask::None => format!("NOT ({})", self.some(fields)),
            Ask::OneOf(choice) => self.or_empty(fields, choice.or_empty, |it, key| it.has(key, &choice.values)),
            Ask::NoneOf(choice) => {
                let has = self.each(fields, |it, key| it.has(key, &choice.values));
                format!("({} AND NOT COALESCE({has}, {FALSE}))", self.some(fields))
            }
            Ask::OneNumber(choice) => {
                self.or_empty(fields, choice.or_empty, |it, key| it.has_number(key, &choice.values))
            }
            Ask::NoNumber(choice) => {
                let has = self.each(fields, |it, key| it.has_number(key, &choice.values));
                format!("({} AND NOT COALESCE({has}, {FALSE}))", self.some(fields))
            }
            Ask::Compare(comparison, bound) => self.each(fields, |it, key| it.compare(key, *comparison, *bound)),
            Ask::Clock(part, comparison, bound) => {
                self.each(fields, |it, key| it.clock_time(key, part, (sign(*comparison), whole(*bound))))
            }
            Ask::Words(question) => self.words(fields, question),
            Ask::NoWords(question) => format!("({} AND NOT {})", self.some(fields), self.words(fields, question)),
            Ask::Was(choice, times) => self.each(fields, |it, key| it.was(key, choice, times)),
            Ask::WasNot(choice, times) => {
                let had = self.each(fields, |it, key| it.had_some(key, times));
                let was = self.each(fields, |it, key| it.was(key, choice, times));
                format!("({had} AND NOT {was})")
            }
            Ask::Changed(change) => self.each(fields, |it, key| it.changed(key, change)),
            Ask::Unchanged(change) => {
                let changed = self.each(fields, |it, key| it.changed(key, change));
                format!("NOT {changed}")
            }
        }
    }

    /// That one of these fields has a value.
    fn some(&mut self, fields: &[FieldKey]) -> String {
        self.each(fields, Self::some_of)
    }

    fn some_of(&mut self, key: &str) -> String {
        match place(key) {
            Place::No(column, _) | Place::Whole(column) | Place::Number(column) => format!("{column} IS NOT NULL"),
            Place::Category | Place::Itself => TRUE.to_owned(),
            Place::Parent => "i.parent_seq IS NOT NULL".to_owned(),
            Place::Term(field, _) => {
                format!("EXISTS (SELECT 1 FROM issue_terms t WHERE t.seq = i.seq AND t.field = '{field}')")
            }
            Place::Text(field) => {
                format!("EXISTS (SELECT 1 FROM issue_texts t WHERE t.seq = i.seq AND t.field = '{field}')")
            }
            Place::Clock => self.clock(key, TRUE),
            Place::Nowhere => FALSE.to_owned(),
        }
    }

    fn each(&mut self, fields: &[FieldKey], mut of: impl FnMut(&mut Self, &str) -> String) -> String {
        let parts: Vec<String> = fields.iter().map(|field| of(self, &field.0)).collect();
        format!("({})", any(&parts))
    }

    fn or_empty(&mut self, fields: &[FieldKey], or_empty: bool, of: impl FnMut(&mut Self, &str) -> String) -> String {
        let has = self.each(fields, of);
        if or_empty { format!("({has} OR NOT ({}))", self.some(fields)) } else { has }
    }

    /// The numbers of values, as a list; nothing where none has a number.
    fn listed(&mut self, kind: &str, values: &[ValueId]) -> Option<String> {
        let found: Vec<i64> = values.iter().filter_map(|value| self.numbers.of(kind, &value.0)).collect();
        if found.is_empty() { None } else { Some(self.bound.list(&found)) }
    }

    fn texts(&mut self, values: &[ValueId]) -> String {
        values.iter().map(|value| self.bound.add(value.0.to_string())).collect::<Vec<_>>().join(", ")
    }

    /// That one of these is among the values of a field.
    fn has(&mut self, key: &str, values: &[ValueId]) -> String {
        if values.is_empty() {
            return FALSE.to_owned();
        }
        let text = match place(key) {
            Place::No(column, kind) => self.listed(kind, values).map(|list| format!("{column} IN ({list})")),
            Place::Category => {
                let found: Vec<i64> = values.iter().filter_map(|value| category(&value.0)).collect();
                (!found.is_empty()).then(|| format!("i.category IN ({})", self.bound.list(&found)))
            }
            Place::Itself => Some(format!("i.id IN ({})", self.texts(values))),
            Place::Parent => {
                let list = self.texts(values);
                Some(format!("i.parent_seq IN (SELECT p.seq FROM issues p WHERE p.id IN ({list}))"))
            }
            Place::Term(field, kind) => self.listed(kind, values).map(|list| {
                format!(
                    "EXISTS (SELECT 1 FROM issue_terms t WHERE t.seq = i.seq AND t.field = '{field}' AND t.value_no IN ({list}))"
                )
            }),
            Place::Clock => Some(self.clock_marks(key, values)),
            Place::Whole(_) | Place::Number(_) | Place::Text(_) | Place::Nowhere => None,
        };
        text.unwrap_or_else(|| FALSE.to_owned())
    }

    fn has_number(&mut self, key: &str, numbers: &[f64]) -> String {
        if numbers.is_empty() {
            return FALSE.to_owned();
        }
        match place(key) {
            Place::Whole(column) => {
                let found: Vec<i64> = numbers.iter().filter(|it| it.fract() == 0.0).map(|it| whole(*it)).collect();
                if found.is_empty() { FALSE.to_owned() } else { format!("{column} IN ({})", self.bound.list(&found)) }
            }
            Place::Number(column) => {
                let list = numbers.iter().map(|number| self.bound.add(*number)).collect::<Vec<_>>().join(", ");
                format!("{column} IN ({list})")
            }
            _ => FALSE.to_owned(),
        }
    }

    fn compare(&mut self, key: &str, comparison: Comparison, number: f64) -> String {
        let (column, place) = match place(key) {
            Place::Whole(column) if number.fract() == 0.0 => (column, self.bound.add(whole(number))),
            Place::Whole(column) | Place::Number(column) => (column, self.bound.add(number)),
            _ => return FALSE.to_owned(),
        };
        format!("{column} {} {place}", sign(comparison))
    }

    /// That one document of these fields has the words.
    fn words(&mut self, fields: &[FieldKey], question: &TextQuestion) -> String {
        let known = fields.iter().filter_map(|field| match place(&field.0) {
            Place::Text(name) => Some(format!("'{name}'")),
            _ => None,
        });
        let known: Vec<String> = known.collect();
        if known.is_empty() {
            return FALSE.to_owned();
        }
        let fields = known.join(", ");
        let letters = org_letters(self.search.org_id);
        if self.is_postgres {
            let asked = self.bound.add(for_postgres(&letters, question));
            return format!(
                "i.seq IN (SELECT t.seq FROM issue_texts t WHERE t.word_index @@ to_tsquery('page_search', {asked}) \
                 AND t.field IN ({fields}))"
            );
        }
        let asked = self.bound.add(for_sqlite(&letters, question));
        format!(
            "i.seq IN (SELECT t.seq FROM issue_words CROSS JOIN issue_texts t ON t.no = issue_words.rowid \
             WHERE issue_words MATCH {asked} AND t.field IN ({fields}))"
        )
    }

    /// That a span's time, or that of a field that never held anything, is within these times.
    fn within(&mut self, times: &Times, (from, to): (&str, Option<&str>)) -> Vec<String> {
        let mut parts = Vec::new();
        for at in &times.before {
            parts.push(format!("{from} < {}", self.bound.add(at.0)));
        }
        for at in &times.after {
            parts.extend(to.map(|to| format!("({to} IS NULL OR {to} > {})", self.bound.add(at.0))));
        }
        for (start, end) in &times.during {
            if start > end {
                return vec![FALSE.to_owned()];
            }
            parts.push(format!("{from} <= {}", self.bound.add(end.0)));
            parts.extend(to.map(|to| format!("({to} IS NULL OR {to} > {})", self.bound.add(start.0))));
        }
        parts
    }

    /// That one of each of these people did it.
    fn by(&mut self, times: &Times, column: &str) -> Vec<String> {
        let mut parts = Vec::new();
        for people in &times.by {
            let list = self.listed("person", people);
            parts.push(list.map_or_else(|| FALSE.to_owned(), |list| format!("{column} IN ({list})")));
        }
        parts
    }

    fn was(&mut self, key: &str, choice: &Choice<ValueId>, times: &Times) -> String {
        let mut ways = Vec::new();
        if let Some(list) = self.listed(kept_kind(key), &choice.values) {
            ways.push(format!("s.value_no IN ({list})"));
        }
        if choice.or_empty {
            ways.push("s.value_no IS NULL".to_owned());
        }
        let mut parts = vec![any(&ways)];
        parts.extend(self.within(times, ("s.from_at", Some("s.to_at"))));
        parts.extend(self.by(times, "s.by_no"));
        let field = self.bound.add(key.to_owned());
        let spans = format!(
            "EXISTS (SELECT 1 FROM issue_spans s WHERE s.seq = i.seq AND s.field = {field} AND {})",
            all(&parts)
        );
        if !choice.or_empty {
            return spans;
        }
        let mut parts =
            vec![format!("NOT EXISTS (SELECT 1 FROM issue_spans s WHERE s.seq = i.seq AND s.field = {field})")];
        parts.extend(self.within(times, ("i.created", None)));
        parts.extend(self.by(times, "i.creator_no"));
        format!("({spans} OR {})", all(&parts))
    }

    fn had_some(&mut self, key: &str, times: &Times) -> String {
        let mut parts = vec!["s.value_no IS NOT NULL".to_owned()];
        parts.extend(self.within(times, ("s.from_at", Some("s.to_at"))));
        let field = self.bound.add(key.to_owned());
        format!("EXISTS (SELECT 1 FROM issue_spans s WHERE s.seq = i.seq AND s.field = {field} AND {})", all(&parts))
    }

    fn changed(&mut self, key: &str, change: &Change) -> String {
        let Change { from, to, times } = change;
        let field = self.bound.add(key.to_owned());
        let mut parts = Vec::new();
        for (side, empty, choice) in [(0, "c.from_empty", from), (1, "c.to_empty", to)] {
            let Some(choice) = choice else { continue };
            let mut ways = Vec::new();
            if let Some(list) = self.listed(kept_kind(key), &choice.values) {
                ways.push(format!(
                    "EXISTS (SELECT 1 FROM issue_change_values v WHERE v.seq = c.seq AND v.n = c.n AND v.side = {side} \
                     AND v.value_no IN ({list}))"
                ));
            }
            if choice.or_empty {
                ways.push(format!("{empty} = 1"));
            }
            parts.push(any(&ways));
        }
        for at in &times.before {
            parts.push(format!("c.at < {}", self.bound.add(at.0)));
        }
        for at in &times.after {
            parts.push(format!("c.at > {}", self.bound.add(at.0)));
        }
        for (start, end) in &times.during {
            let (start, end) = (self.bound.add(start.0), self.bound.add(end.0));
            parts.push(format!("c.at >= {start} AND c.at <= {end}"));
        }
        parts.extend(self.by(times, "c.by_no"));
        format!("EXISTS (SELECT 1 FROM issue_changes c WHERE c.seq = i.seq AND c.field = {field} AND {})", all(&parts))
    }
}

/// Words and phrases are runs of letters and digits; nothing of them is a sign of the databases' languages.
fn for_sqlite(letters: &str, question: &TextQuestion) -> String {
    let term = |sought: &Sought| match sought {
        Sought::Phrase(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("{letters}{word}")).collect();
            format!("\"{}\"", words.join(" "))
        }
        Sought::Beginning(start) => format!("\"{letters}{start}\" *"),
    };
    let groups = question.any.iter().map(|group| {
        let wanted: Vec<_> = group.iter().filter(|it| !it.is_excluded).map(|it| term(&it.sought)).collect();
        let excluded = group.iter().filter(|it| it.is_excluded).map(|it| format!(" NOT {}", term(&it.sought)));
        format!("(({}){})", wanted.join(" AND "), excluded.collect::<String>())
    });
    groups.collect::<Vec<_>>().join(" OR ")
}

fn for_postgres(letters: &str, question: &TextQuestion) -> String {
    let term = |sought: &Sought| match sought {
        Sought::Phrase(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("'{letters}{word}'")).collect();
            format!("({})", words.join(" <-> "))
        }
        Sought::Beginning(start) => format!("'{letters}{start}':*"),
    };
    let groups = question.any.iter().map(|group| {
        let terms =
            group.iter().map(|it| if it.is_excluded { format!("!{}", term(&it.sought)) } else { term(&it.sought) });
        format!("({})", terms.collect::<Vec<_>>().join(" & "))
    });
    groups.collect::<Vec<_>>().join(" | ")
}
