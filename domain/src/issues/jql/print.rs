//! A query as a text: its normal form, which says the same.

use std::fmt::{self, Display, Write};

use super::{
    lexer::{is_bare, is_quotable},
    tree::{Clause, Field, FieldName, Function, NodeId, NodeKind, Operand, Operator, Query, Single, Word, WordKind},
    words::{Meaning, meaning},
};

/// What is still to be written, the next on top.
enum Piece<'a> {
    Said(&'static str),
    Part(NodeId),
    Clause(&'a Clause),
}

impl Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces: Vec<Piece<'_>> = self.root.map(Piece::Part).into_iter().collect();
        while let Some(piece) = pieces.pop() {
            match piece {
                Piece::Said(said) => f.write_str(said)?,
                Piece::Clause(clause) => clause.fmt(f)?,
                Piece::Part(id) => self.unfold(id, &mut pieces),
            }
        }
        for (at, sort) in self.order.iter().enumerate() {
            f.write_str(match at {
                0 if self.root.is_some() => " ORDER BY ",
                0 => "ORDER BY ",
                _ => ", ",
            })?;
            sort.field.fmt(f)?;
            if let Some(direction) = sort.direction {
                write!(f, " {}", direction.name().to_uppercase())?;
            }
        }
        Ok(())
    }
}

impl Query {
    fn unfold<'a>(&'a self, id: NodeId, pieces: &mut Vec<Piece<'a>>) {
        let (parts, between) = match &self.node(id).kind {
            NodeKind::Clause(clause) => return pieces.push(Piece::Clause(clause)),
            NodeKind::Not(denied) => {
                let needs_brackets = matches!(self.node(*denied).kind, NodeKind::And(_) | NodeKind::Or(_));
                bracketed(*denied, needs_brackets, pieces);
                return pieces.push(Piece::Said("NOT "));
            }
            NodeKind::And(parts) => (parts, " AND "),
            NodeKind::Or(parts) => (parts, " OR "),
        };
        let is_or = matches!(self.node(id).kind, NodeKind::Or(_));
        for (at, part) in parts.iter().enumerate().rev() {
            let needs_brackets = match self.node(*part).kind {
                NodeKind::Or(_) => true,
                NodeKind::And(_) => !is_or,
                _ => false,
            };
            bracketed(*part, needs_brackets, pieces);
            if at > 0 {
                pieces.push(Piece::Said(between));
            }
        }
    }
}

fn bracketed(id: NodeId, needs_brackets: bool, pieces: &mut Vec<Piece<'_>>) {
    if !needs_brackets {
        return pieces.push(Piece::Part(id));
    }
    pieces.extend([Piece::Said(")"), Piece::Part(id), Piece::Said("(")]);
}

impl Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.operator)?;
        if let Some(operand) = &self.operand {
            write!(f, " {operand}")?;
        }
        for predicate in &self.predicates {
            write!(f, " {} {}", predicate.kind.name().to_uppercase(), predicate.operand)?;
        }
        Ok(())
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_uppercase())
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            FieldName::Word(word) => word.fmt(f)?,
            FieldName::Custom(digits) => write!(f, "cf[{digits}]")?,
        }
        for property in &self.properties {
            write!(f, "[{}]", property.key)?;
            for word in &property.path {
                write!(f, " {word}")?;
            }
        }
        Ok(())
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(single) => single.fmt(f),
            Self::List(singles, _) => {
                f.write_char('(')?;
                separated(f, singles)?;
                f.write_char(')')
            }
        }
    }
}

impl Display for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(_) => f.write_str("EMPTY"),
            Self::Value(word) => word.fmt(f),
            Self::Function(function) => function.fmt(f),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        separated(f, &self.arguments)?;
        f.write_char(')')
    }
}

fn separated<T: Display>(f: &mut fmt::Formatter<'_>, all: &[T]) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        write!(f, "{}{one}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_text = self.kind == WordKind::Text;
        let stands_bare =
            self.text.chars().all(is_bare) && meaning(&self.text) == Meaning::Text && !self.text.is_empty();
        if !is_text || stands_bare {
            return f.write_str(&self.text);
        }
        f.write_char('"')?;
        for character in self.text.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                _ if is_quotable(character) => f.write_char(character)?,
                _ => write!(f, "\\u{:04x}", u32::from(character))?,
            }
        }
        f.write_char('"')
    }
}
