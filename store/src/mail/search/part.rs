//! Parts of a query: what the index answers of each, and what is left to ask of the messages that it finds.

use domain::mail::{Asked, Joined, WordsAsked};
use sea_orm::{DbBackend, Value};

use super::{
    Bound,
    index::{Index, before, columns},
};

/// A piece of a condition.
#[derive(Clone, Debug)]
enum Piece {
    Text(&'static str),
    Value(Value),
}

/// A condition on a message's rows, `m` and `w`, whose values have no places yet. One without a piece holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition(Vec<Piece>);

impl Condition {
    fn text(text: &'static str) -> Self {
        Self(vec![Piece::Text(text)])
    }

    /// A text, a value, and a text.
    fn around(start: &'static str, value: impl Into<Value>, end: &'static str) -> Self {
        Self(vec![Piece::Text(start), Piece::Value(value.into()), Piece::Text(end)])
    }

    fn joined(how: Joined, parts: Vec<Self>) -> Self {
        let (start, between) = match how {
            Joined::Not => ("NOT (", " AND "),
            Joined::All => ("(", " AND "),
            Joined::Any => ("(", " OR "),
        };
        let mut all = vec![Piece::Text(start)];
        for (place, part) in parts.into_iter().enumerate() {
            if place > 0 {
                all.push(Piece::Text(between));
            }
            all.extend(part.0);
        }
        all.push(Piece::Text(")"));
        Self(all)
    }

    pub(super) fn holds(&self) -> bool {
        self.0.is_empty()
    }

    /// As it is written in a statement.
    pub(super) fn written(self, bound: &mut Bound) -> String {
        let mut text = String::new();
        for piece in self.0 {
            match piece {
                Piece::Text(it) => text.push_str(it),
                Piece::Value(value) => text.push_str(&bound.put(value)),
            }
        }
        text
    }
}

/// A part of a query. It holds of a message where the index finds it, and what is left holds.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// What is asked of the index; none where that has no answer.
    pub index: Option<String>,
    /// What the index doesn't answer.
    pub left: Condition,
    /// All of it, without the index having been asked.
    row: Condition,
}

impl Part {
    fn is_exact(&self) -> bool {
        self.index.is_some() && self.left.holds()
    }

    /// What is asked of one message.
    pub(super) fn of(index: &Index, asked: &Asked) -> Self {
        let asks = index.asks(asked);
        match (&asks, asked) {
            (_, Asked::Words(words)) if words.is_phrase => {
                let row = phrase(words);
                Self { index: asks, left: row.clone(), row }
            }
            (Some(text), _) => Self { row: found_by(index, text.clone()), index: asks, left: Condition::default() },
            (None, _) => {
                let row = condition(asked);
                Self { index: None, left: row.clone(), row }
            }
        }
    }

    /// Several parts as one.
    pub(super) fn joined(index: &Index, how: Joined, parts: Vec<Self>) -> Self {
        let asks: Vec<String> = parts.iter().filter_map(|part| part.index.clone()).collect();
        let is_exact = parts.iter().all(Self::is_exact);
        let asks = match how {
            Joined::Not => is_exact.then_some(asks),
            Joined::All => (!asks.is_empty()).then_some(asks),
            Joined::Any => (asks.len() == parts.len()).then_some(asks),
        };
        let left: Vec<Condition> =
            parts.iter().map(|part| part.left.clone()).filter(|left| how == Joined::All && !left.holds()).collect();
        let row = Condition::joined(how, parts.into_iter().map(|part| part.row).collect());
        let left = match how {
            Joined::All if left.is_empty() => Condition::default(),
            Joined::All => Condition::joined(how, left),
            Joined::Not | Joined::Any if is_exact => Condition::default(),
            Joined::Not | Joined::Any => row.clone(),
        };
        Self { index: asks.map(|asks| index.joined(how, &asks)), left, row }
    }
}

/// That the index finds a message, where something else was asked to find it.
fn found_by(index: &Index, asks: String) -> Condition {
    if index.backend == DbBackend::Postgres {
        return Condition::around("w.word_index @@ CAST(CAST(", asks, " AS TEXT) AS TSQUERY)");
    }
    let start = "w.no IN (SELECT rowid FROM mail_word_index WHERE mail_word_index MATCH ";
    Condition::around(start, index.here(asks), ")")
}

/// That words stand one behind the other in a part of the message.
fn phrase(asked: &WordsAsked) -> Condition {
    let name = before(asked.field);
    let words: Vec<String> = asked.words.iter().map(|word| format!("{name}{word}")).collect();
    let end = if asked.goes_on { "%" } else { " %" };
    let pattern = format!("% {}{end}", words.join(" "));
    let one = |column: &&str| {
        let start = match *column {
            "subject" => "' ' || w.subject || ' ' LIKE ",
            "senders" => "' ' || w.senders || ' ' LIKE ",
            "receivers" => "' ' || w.receivers || ' ' LIKE ",
            "files" => "' ' || w.files || ' ' LIKE ",
            _ => "' ' || w.body || ' ' LIKE ",
        };
        Condition::around(start, pattern.as_str(), "")
    };
    Condition::joined(Joined::Any, columns(asked.field).iter().map(one).collect())
}

/// What is asked that no index answers.
fn condition(asked: &Asked) -> Condition {
    match asked {
        Asked::Words(_) | Asked::HasInvitation | Asked::MessageId(_) | Asked::Anywhere => Condition::text("1 = 1"),
        Asked::HasFile => Condition::text("m.files LIKE '%\"inline\":false%'"),
        Asked::Unread(is_unread) => Condition::around("m.is_unread = ", *is_unread, ""),
        Asked::Starred => Condition::around("m.is_starred = ", true, ""),
        Asked::Snoozed => Condition::text(
            "EXISTS (SELECT 1 FROM mail_threads AS s WHERE s.mailbox_id = m.mailbox_id \
             AND s.thread_id = m.thread_id AND s.snoozed_until IS NOT NULL)",
        ),
        Asked::Label(name) => Condition::around(
            "EXISTS (SELECT 1 FROM mail_threads AS s JOIN mail_labels AS l ON l.mailbox_id = s.mailbox_id \
             WHERE s.mailbox_id = m.mailbox_id AND s.thread_id = m.thread_id AND l.folded = ",
            name.as_str(),
            " AND s.labels LIKE '%\"' || l.label_id || '\"%')",
        ),
        Asked::In(place) => Condition::around("m.box = ", place.as_str(), ""),
        Asked::Category(category) => Condition::around("m.category = ", category.as_str(), ""),
        Asked::Before(at) => Condition::around("m.received_at < ", at.0, ""),
        Asked::Since(at) => Condition::around("m.received_at >= ", at.0, ""),
        Asked::Larger(bytes) => Condition::around("m.size > ", whole(*bytes), ""),
        Asked::Smaller(bytes) => Condition::around("m.size < ", whole(*bytes), ""),
    }
}

fn whole(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
