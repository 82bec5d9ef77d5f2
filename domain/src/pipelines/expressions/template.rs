//! Texts with expressions in them.

use std::fmt;

use super::{
    evaluator::Surroundings,
    fault::{ExpressionFault, FaultKind},
    number::is_space,
    tree::Expression,
    usage::Usage,
    value::Value,
    vocabulary::Vocabulary,
};

const OPEN: &str = "${{";
const CLOSE: &str = "}}";

/// A text with expressions in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
}

/// A part of such a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// What stands for itself.
    Text(String),
    /// What is evaluated.
    Expression(Expression),
}

/// What is wrong with such a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateFault {
    /// `${{` is not followed by `}}`.
    #[error(
        "The expression is not closed. An unescaped ${{{{ sequence was found, but the closing }}}} sequence was not found."
    )]
    NotClosed,
    /// These expressions can't be read.
    #[error("{}", .0.first().map(|(_, fault)| fault.to_string()).unwrap_or_default())]
    Expressions(
        /// For each, the byte of the text at which its `${{` stands.
        Vec<(usize, ExpressionFault)>,
    ),
}

impl Template {
    /// Reads a text. Each expression is read, also behind one that is wrong.
    pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Self, TemplateFault> {
        let (mut parts, mut faults) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(open) = text.get(at..).and_then(|rest| rest.find(OPEN)).map(|found| at + found) {
            if open > at {
                parts.push(Part::Text(text[at..open].to_owned()));
            }
            let inner = &text[open + OPEN.len()..];
            let Some(len) = closed(inner) else {
                return Err(if faults.is_empty() {
                    TemplateFault::NotClosed
                } else {
                    TemplateFault::Expressions(faults)
                });
            };
            let expression = inner[..len].trim_matches(is_space);
            match Expression::parse(expression, vocabulary) {
                Ok(expression) => parts.push(Part::Expression(expression)),
                Err(fault) => faults.push((open, fault)),
            }
            at = open + OPEN.len() + len + CLOSE.len();
        }
        if at < text.len() {
            parts.push(Part::Text(text[at..].to_owned()));
        }
        if faults.is_empty() { Ok(Self { parts }) } else { Err(TemplateFault::Expressions(faults)) }
    }

    /// A text that has no expressions in it, whatever it says.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] } }
    }

    /// A text that is one expression and nothing else.
    pub fn of(expression: Expression) -> Self {
        Self { parts: vec![Part::Expression(expression)] }
    }

    /// The parts, in their order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text, where nothing has to be evaluated for it.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            [Part::Expression(expression)] => expression.as_text().map(|text| &**text),
            _ => None,
        }
    }

    /// The text's value: that of its expression where it is nothing else, or a text.
    pub fn evaluate(&self, surroundings: &impl Surroundings) -> Result<Value, ExpressionFault> {
        if let [Part::Expression(expression)] = self.parts.as_slice() {
            return expression.evaluate(surroundings);
        }
        let mut made = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => made.push_str(text),
                Part::Expression(expression) => made.push_str(&expression.evaluate(surroundings)?.to_text()),
            }
            if made.len() > super::budget::VALUES_MAX {
                return Err(FaultKind::TooMuch.at(1));
            }
        }
        Ok(made.into())
    }

    /// What its expressions name.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for part in &self.parts {
            if let Part::Expression(expression) = part {
                usage.merge(expression.usage());
            }
        }
        usage
    }
}

/// The text as it travels to a runner: reading it again gives the same parts.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Expression(expression) => write!(f, "{OPEN} {expression} {CLOSE}"),
        })
    }
}

/// Bytes of the expression that begins here, up to a `}}` outside of quotes.
fn closed(inner: &str) -> Option<usize> {
    let mut is_quoted = false;
    let bytes = inner.as_bytes();
    (0..bytes.len()).find(|at| {
        is_quoted ^= bytes[*at] == b'\'';
        !is_quoted && bytes[*at..].starts_with(CLOSE.as_bytes())
    })
}
