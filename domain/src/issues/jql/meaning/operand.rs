//! What operands say: values of fields, numbers, instants, and what functions answer.

use super::{
    fields::{FieldKey, FieldKind, KnownField, ValueKind},
    functions::{Answer, Count, Known, function},
    moments::duration,
    plan::{Ask, Change, Choice, Comparison, Times, ValueId},
    resolve::{Resolver, named},
    text::TextQuestion,
};
use crate::{
    Timestamp,
    issues::jql::{Clause, Function, Operand, Operator, PredicateKind, Single, Span, Word},
};

/// How many values may stand where an operand stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    One,
    Many,
}

/// Whether it is wrong that no value bears a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Refused,
    PassedOver,
}

/// What one operand comes to.
enum Found {
    Empty,
    Values(Vec<ValueId>),
    Number(f64),
    /// The time of a clock, in milliseconds: the part of the field that counts it, and how much.
    Clock(&'static str, f64),
}

impl Resolver<'_> {
    /// What a clause asks; nothing where it is wrong, which is then said.
    pub(super) fn ask(&mut self, clause: &Clause, fields: &[KnownField]) -> Option<Ask> {
        let choice = |resolver: &mut Self| resolver.choice(clause, fields, clause.operand.as_ref());
        match clause.operator {
            Operator::Is => Some(Ask::None),
            Operator::IsNot => Some(Ask::Some),
            Operator::Like => self.words(clause),
            Operator::NotLike => self.words(clause).map(Ask::denied),
            Operator::Equal | Operator::In => choice(self).map(Asked::one),
            Operator::NotEqual | Operator::NotIn => choice(self).map(|asked| asked.one().denied()),
            Operator::Less => self.compared(clause, fields, Comparison::Less),
            Operator::LessEqual => self.compared(clause, fields, Comparison::LessEqual),
            Operator::Greater => self.compared(clause, fields, Comparison::Greater),
            Operator::GreaterEqual => self.compared(clause, fields, Comparison::GreaterEqual),
            Operator::Was | Operator::WasIn => Some(Ask::Was(choice(self)?.kept(), self.times(clause)?)),
            Operator::WasNot | Operator::WasNotIn => Some(Ask::WasNot(choice(self)?.kept(), self.times(clause)?)),
            Operator::Changed => self.change(clause, fields).map(Ask::Changed),
        }
    }

    fn words(&mut self, clause: &Clause) -> Option<Ask> {
        match clause.operand.as_ref()?.singles() {
            [Single::Empty(_)] => Some(Ask::None),
            [Single::Value(word)] => {
                let question = TextQuestion::parse(&word.text);
                if question.is_none() {
                    self.fault(word.span, format!("The text '{}' has no words to look for.", word.text));
                }
                question.map(Ask::Words)
            }
            _ => {
                self.fault(clause.operator_span, "Texts are compared with texts.".to_owned());
                None
            }
        }
    }

    fn choice(&mut self, clause: &Clause, fields: &[KnownField], operand: Option<&Operand>) -> Option<Asked> {
        let is_one = matches!(clause.operator, Operator::Equal | Operator::NotEqual | Operator::Was | Operator::WasNot);
        let takes = if is_one { Takes::One } else { Takes::Many };
        let mut asked = Asked::default();
        for single in operand?.singles() {
            let before = asked.count();
            for (at, field) in fields.iter().enumerate() {
                // Of several fields by one name, one that knows the value is enough.
                let is_last = at + 1 == fields.len();
                let unknown = if is_last && asked.count() == before { Unknown::Refused } else { Unknown::PassedOver };
                match self.found(clause, field, single, unknown, takes)? {
                    Found::Empty => asked.values.or_empty = true,
                    Found::Values(values) => asked.values.values.extend(values),
                    Found::Number(number) => asked.numbers.push(number),
                    Found::Clock(..) => {
                        self.fault(
                            single.span(),
                            "A time of a clock is compared with '<', '<=', '>' or '>='.".to_owned(),
                        );
                        return None;
                    }
                }
            }
        }
        asked.is_number =
            matches!(fields[0].kind, FieldKind::Number | FieldKind::Duration | FieldKind::Moment | FieldKind::Day);
        asked.values.values.sort();
        asked.values.values.dedup();
        Some(asked)
    }

    fn found(
        &mut self,
        clause: &Clause,
        field: &KnownField,
        single: &Single,
        unknown: Unknown,
        takes: Takes,
    ) -> Option<Found> {
        match single {
            Single::Empty(_) => Some(Found::Empty),
            Single::Value(word) => self.value(clause, field, word, unknown),
            Single::Function(call) => self.call(field, call, takes),
        }
    }

    fn value(&mut self, clause: &Clause, field: &KnownField, word: &Word, unknown: Unknown) -> Option<Found> {
        let text = word.text.as_str();
        let name = named(&clause.field, field);
        let number = match field.kind {
            FieldKind::Values(ValueKind::Label) => return Some(Found::Values(vec![label(text)])),
            FieldKind::Values(kind) => {
                let values = self.names.values(kind, &field.key, text);
                if values.is_empty() && unknown == Unknown::Refused {
                    self.fault(word.span, format!("The value '{text}' does not exist for the field '{name}'."));
                    return None;
                }
                return Some(Found::Values(values));
            }
            FieldKind::Moment | FieldKind::Day => return self.date(field, word, &name).map(Found::Number),
            FieldKind::Duration => duration(text).map(whole),
            FieldKind::Number => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()),
            _ => None,
        };
        if number.is_none() {
            self.fault(word.span, format!("The value '{text}' can't be compared with the field '{name}'."));
        }
        number.map(Found::Number)
    }

    fn date(&mut self, field: &KnownField, word: &Word, name: &str) -> Option<f64> {
        let Some(at) = self.reader.clock.moment(&word.text) else {
            let text = &word.text;
            self.fault(
                word.span,
                format!("'{text}' is no date for the field '{name}'. Write 2026-01-31, 2026-01-31 14:30 or -5d."),
            );
            return None;
        };
        Some(self.instant(field.kind, at))
    }

    /// An instant as a field holds it: as its milliseconds, or as the day that it falls on.
    fn instant(&self, kind: FieldKind, at: Timestamp) -> f64 {
        whole(if kind == FieldKind::Day { self.reader.clock.day_number(at) } else { at.0 })
    }

    fn call(&mut self, field: &KnownField, call: &Function, takes: Takes) -> Option<Found> {
        let known = self.known(call)?;
        if !known.fits(field.kind) {
            self.fault(call.span, format!("The function '{}' does not fit the field '{}'.", known.name, field.key.0));
            return None;
        }
        if takes == Takes::One && known.answer == Answer::Values(Count::Many) {
            self.fault(call.span, format!("The function '{}' answers a list. Ask with IN.", known.name));
            return None;
        }
        let arguments: Vec<&str> = call.arguments.iter().map(|word| word.text.as_str()).collect();
        let found = self.answered(field, known, &arguments);
        if found.is_none() {
            self.fault(
                call.span,
                format!("The function '{}' was asked for something that does not exist.", known.name),
            );
        }
        found
    }

    fn known(&mut self, call: &Function) -> Option<Known> {
        let Some(known) = function(&call.name.text) else {
            self.fault(call.name.span, format!("Unknown function '{}'.", call.name.text));
            return None;
        };
        let (min, max) = known.arguments;
        if !(min..=max).contains(&call.arguments.len()) {
            self.fault(call.span, known.wrong_count());
            return None;
        }
        Some(known)
    }

    fn answered(&self, field: &KnownField, known: Known, arguments: &[&str]) -> Option<Found> {
        let clock = &self.reader.clock;
        let marked = |mark: &str, person: &ValueId| ValueId(format!("{mark}:{}", person.0).into());
        Some(match known.answer {
            Answer::Me => Found::Values(vec![self.reader.person.clone()]),
            Answer::Now => Found::Number(self.instant(field.kind, clock.now)),
            Answer::Edge(unit, edge) => {
                let at = clock.edge(unit, arguments.first().copied(), edge)?;
                Found::Number(self.instant(field.kind, at))
            }
            Answer::Values(_) => Found::Values(self.names.answer(known.name, &field.key, arguments)?),
            Answer::Mark(mark) => Found::Values(vec![mark.into()]),
            Answer::MarkOf(mark) if arguments.is_empty() => Found::Values(vec![marked(mark, &self.reader.person)]),
            Answer::MarkOf(mark) => {
                let mut values = Vec::new();
                for name in arguments {
                    let people = self.names.values(ValueKind::Person, &field.key, name);
                    if people.is_empty() {
                        return None;
                    }
                    values.extend(people.iter().map(|person| marked(mark, person)));
                }
                Found::Values(values)
            }
            Answer::Elapsed => Found::Clock("elapsed", clock_time(arguments[0])?),
            Answer::Remaining => Found::Clock("remaining", clock_time(arguments[0])?),
        })
    }

    fn compared(&mut self, clause: &Clause, fields: &[KnownField], comparison: Comparison) -> Option<Ask> {
        let single = clause.operand.as_ref()?.singles().first()?;
        self.warn_of_midnight(clause, single);
        let mut all = Choice::default();
        for field in fields {
            match self.found(clause, field, single, Unknown::Refused, Takes::One)? {
                Found::Number(bound) => return Some(Ask::Compare(comparison, bound)),
                Found::Clock(part, bound) => return Some(Ask::Clock(part, comparison, bound)),
                Found::Values(values) => {
                    let FieldKind::Values(kind) = field.kind else {
                        self.fault(single.span(), "A clock is compared with elapsed(…) or remaining(…).".to_owned());
                        return None;
                    };
                    all.values.extend(values.iter().flat_map(|value| self.names.compared(kind, comparison, value)));
                }
                Found::Empty => return None,
            }
        }
        all.values.sort();
        all.values.dedup();
        Some(Ask::OneOf(all))
    }

    fn warn_of_midnight(&mut self, clause: &Clause, single: &Single) {
        let Single::Value(word) = single else { return };
        let is_day = word.text.len() >= 8
            && !word.text.contains(' ')
            && word.text.starts_with(|first: char| first.is_ascii_digit());
        let is_moment =
            super::fields::system_field(&clause.field.to_string()).is_some_and(|it| it.kind == FieldKind::Moment);
        if clause.operator == Operator::LessEqual && is_day && is_moment {
            self.warn(word.span, "A day without a time means that day's beginning.");
        }
    }

    fn change(&mut self, clause: &Clause, fields: &[KnownField]) -> Option<Change> {
        let mut change = Change { times: self.times(clause)?, ..Change::default() };
        for predicate in &clause.predicates {
            let side = match predicate.kind {
                PredicateKind::From => &mut change.from,
                PredicateKind::To => &mut change.to,
                _ => continue,
            };
            *side = Some(self.choice(clause, fields, Some(&predicate.operand))?.kept());
        }
        Some(change)
    }

    fn times(&mut self, clause: &Clause) -> Option<Times> {
        let mut times = Times::default();
        for predicate in &clause.predicates {
            let singles = predicate.operand.singles();
            match predicate.kind {
                PredicateKind::From | PredicateKind::To => {}
                PredicateKind::By => times.by.push(self.people(clause, singles)?),
                kind => {
                    let at = singles.iter().map(|it| self.moment(it)).collect::<Option<Vec<_>>>()?;
                    match (kind, at[..].first(), at.len()) {
                        (PredicateKind::Before, Some(at), 1) => times.before.push(*at),
                        (PredicateKind::After, Some(at), 1) => times.after.push(*at),
                        (PredicateKind::On, Some(on), 1) => {
                            let (start, next) = self.reader.clock.day_around(*on);
                            times.during.push((start, Timestamp(next.0 - 1)));
                        }
                        (PredicateKind::During, Some(from), 2) => times.during.push((*from, at[1])),
                        _ => {
                            self.wrong_dates(kind, predicate.span);
                            return None;
                        }
                    }
                }
            }
        }
        Some(times)
    }

    fn wrong_dates(&mut self, kind: PredicateKind, span: Span) {
        let many = if kind == PredicateKind::During { "two dates in brackets" } else { "one date" };
        self.fault(span, format!("{} takes {many}.", kind.name().to_uppercase()));
    }

    fn moment(&mut self, single: &Single) -> Option<Timestamp> {
        let kind = FieldKind::Moment;
        let field = KnownField { key: FieldKey::from("date"), kind, has_history: false };
        let number = match single {
            Single::Value(word) => self.date(&field, word, "date"),
            Single::Function(call) => match self.call(&field, call, Takes::One)? {
                Found::Number(number) => Some(number),
                _ => None,
            },
            Single::Empty(span) => {
                self.fault(*span, "A date was expected.".to_owned());
                None
            }
        }?;
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds are made as whole numbers")]
        let millis = number as i64;
        Some(Timestamp(millis))
    }

    fn people(&mut self, clause: &Clause, singles: &[Single]) -> Option<Vec<ValueId>> {
        let kind = FieldKind::Values(ValueKind::Person);
        let person = KnownField { key: FieldKey::from("by"), kind, has_history: false };
        let mut people = Vec::new();
        for single in singles {
            if let Single::Value(word) = single {
                let found = self.names.values(ValueKind::Person, &person.key, &word.text);
                if found.is_empty() {
                    self.fault(word.span, format!("The value '{}' does not exist for the field 'by'.", word.text));
                    return None;
                }
                people.extend(found);
            } else {
                let found = self.found(clause, &person, single, Unknown::Refused, Takes::Many)?;
                let Found::Values(values) = found else {
                    self.fault(single.span(), "A person was expected.".to_owned());
                    return None;
                };
                people.extend(values);
            }
        }
        Some(people)
    }
}

/// The values and numbers of an operand.
#[derive(Default)]
struct Asked {
    values: Choice<ValueId>,
    numbers: Vec<f64>,
    is_number: bool,
}

impl Asked {
    fn count(&self) -> usize {
        self.values.values.len() + self.numbers.len()
    }

    fn one(self) -> Ask {
        let Self { values, numbers, is_number } = self;
        match (values.values.is_empty() && numbers.is_empty(), values.or_empty) {
            (true, true) => Ask::None,
            _ if is_number => Ask::OneNumber(Choice { values: numbers, or_empty: values.or_empty }),
            _ => Ask::OneOf(values),
        }
    }

    /// The values as the history keeps them, where numbers are texts.
    fn kept(self) -> Choice<ValueId> {
        let Self { mut values, numbers, .. } = self;
        values.values.extend(numbers.into_iter().map(|number| ValueId(number.to_string().into())));
        values
    }
}

/// A label as labels are compared: without case.
pub(super) fn label(text: &str) -> ValueId {
    ValueId(text.to_lowercase().into())
}

/// The milliseconds of a clock's time; 1d is 8 h here too.
fn clock_time(text: &str) -> Option<f64> {
    duration(text).map(|seconds| whole(seconds * 1_000))
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of any year are exact in a double")]
fn whole(number: i64) -> f64 {
    number as f64
}
