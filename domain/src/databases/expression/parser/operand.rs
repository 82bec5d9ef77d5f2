//! Operands: what both grammars have in common, and what only conditions have.

use std::sync::Arc;

use super::{Parser, Reading};
use crate::databases::{
    AttributeValue,
    expression::{DocumentPath, ExpressionFaultKind, Term, fault::shown, token::Token},
};

/// A function that stands there, with its arguments.
pub(super) struct Call<'t, A> {
    pub name: &'t str,
    pub arguments: Vec<A>,
    /// The byte that it stands at.
    pub at: usize,
}

/// Functions of conditions, and those of updates: each is refused in the other.
const OF_CONDITIONS: &[&str] =
    &["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size"];
const OF_UPDATES: &[&str] = &["if_not_exists", "list_append"];

impl<'t> Parser<'t, '_> {
    /// Whether a function stands there.
    pub(super) fn is_call(&self) -> bool {
        matches!(self.peek(), Token::Word(_)) && self.placed(1).token == Token::Sign("(")
    }

    /// Reads a function with its arguments.
    pub(super) fn call<A>(&mut self, mut argument: impl FnMut(&mut Self) -> Reading<A>) -> Reading<Call<'t, A>> {
        let (at, name) = (self.start(), self.peek().text());
        self.count_operator(at)?;
        self.advance();
        self.expect("(")?;
        let arguments = self.inside(at, |parser| parser.list(&mut argument))?;
        self.expect(")")?;
        Ok(Call { name, arguments, at })
    }

    /// Notes that a function is none that can stand there.
    pub(super) fn refuse_function(&mut self, at: usize, name: &str) {
        let known = OF_CONDITIONS.iter().chain(OF_UPDATES).any(|known| *known == name);
        let kind = if known {
            ExpressionFaultKind::ForeignFunction { expression: self.grammar.noun(), function: name.to_owned() }
        } else {
            ExpressionFaultKind::UnknownFunction(shown(name))
        };
        self.note(at, kind);
    }

    /// The arguments of a function that takes so many; none where it has others, which is noted.
    pub(super) fn arguments<A, const COUNT: usize>(
        &mut self,
        operator: &'static str,
        call: Call<'t, A>,
    ) -> Option<[A; COUNT]> {
        let count = call.arguments.len();
        let arguments = <[A; COUNT]>::try_from(call.arguments).ok();
        if arguments.is_none() {
            self.note(call.at, ExpressionFaultKind::OperandCount { operator, count });
        }
        arguments
    }

    /// What a `:value` stands for.
    pub(super) fn value(&mut self) -> Reading<Arc<AttributeValue>> {
        let (at, Token::Value(placeholder)) = (self.start(), self.peek()) else { return Err(self.syntax()) };
        self.advance();
        let value = self.substitutes.value(placeholder);
        if value.is_none() {
            self.note(at, ExpressionFaultKind::UndefinedValue(shown(placeholder)));
        }
        Ok(value.unwrap_or_else(|| Arc::new(AttributeValue::Null)))
    }

    /// Reads an operand that may stand in parentheses, of which two are one too many.
    pub(super) fn in_parentheses<T>(&mut self, read: fn(&mut Self) -> Reading<T>) -> Reading<T> {
        let at = self.start();
        if !self.take("(") {
            return read(self);
        }
        if self.peek() == Token::Sign("(") {
            self.note(at, ExpressionFaultKind::RedundantParentheses);
        }
        let read = self.inside(at, |parser| parser.in_parentheses(read))?;
        self.expect(")")?;
        Ok(read)
    }

    /// A term of a condition.
    pub(super) fn term(&mut self) -> Reading<Term> {
        self.in_parentheses(Self::bare_term)
    }

    pub(super) fn bare_term(&mut self) -> Reading<Term> {
        match self.peek() {
            Token::Word(_) if self.is_call() => {
                let call = self.call(Self::term)?;
                Ok(self.size(call))
            }
            Token::Value(_) => self.value().map(Term::Value),
            _ => self.path().map(Term::Path),
        }
    }

    /// The size that a function tells, which no other function may do in its place.
    pub(super) fn size(&mut self, call: Call<'t, Term>) -> Term {
        let at = call.at;
        match OF_CONDITIONS.iter().find(|known| **known == call.name) {
            Some(&"size") => {}
            Some(name) => self.note(at, ExpressionFaultKind::MisusedFunction(name)),
            None => self.refuse_function(at, call.name),
        }
        let Some([of]) = self.arguments("size", call) else { return Term::Path(DocumentPath::new("".into())) };
        if let Some(operand_type @ ("N" | "BOOL" | "NULL")) = of.known_type() {
            self.note(at, ExpressionFaultKind::OperandType { operator: "size", operand_type });
        }
        Term::Size(Box::new(of))
    }
}
