//! From tokens to a tree.

use super::{
    JQL_LEN_MAX,
    fault::JqlFault,
    lexer::{Token, TokenKind, tokens, unescaped},
    place::Span,
    tree::{
        Clause, Direction, Field, FieldName, Function, NodeId, NodeKind, Operand, Operator, Predicate, PredicateKind,
        Property, Query, Single, Sort, Word, WordKind,
    },
    words::Keyword,
};

type Read<T> = Result<T, JqlFault>;

const CONDITION: &[&str] = &["a field", "NOT", "'('"];
const FIELD: &[&str] = &["a field"];
const OPERATOR: &[&str] =
    &["'='", "'!='", "'<'", "'>'", "'<='", "'>='", "'~'", "'!~'", "IN", "NOT IN", "IS", "WAS", "CHANGED"];
const VALUE: &[&str] = &["a value", "a function"];
const VALUE_OR_EMPTY: &[&str] = &["a value", "a function", "EMPTY"];
const OPERAND: &[&str] = &["a value", "a function", "EMPTY", "'('"];
const LIST: &[&str] = &["'('", "a function"];
const EMPTY: &[&str] = &["EMPTY"];
const EMPTY_OR_NOT: &[&str] = &["EMPTY", "NOT"];
const ARGUMENT: &[&str] = &["a text", "a number"];
const ARGUMENT_OR_CLOSE: &[&str] = &["a text", "a number", "')'"];
const COMMA_OR_CLOSE: &[&str] = &["','", "')'"];
const AFTER_CLAUSE: &[&str] = &["AND", "OR", "ORDER BY"];
const AFTER_CLAUSE_IN_BRACKETS: &[&str] = &["AND", "OR", "')'"];
const AFTER_SORT: &[&str] = &["','", "ASC", "DESC"];

impl Query {
    /// Reads a query. An empty one asks for every issue.
    pub fn parse(text: &str) -> Read<Self> {
        if text.chars().count() > JQL_LEN_MAX {
            return Err(JqlFault::too_long(text));
        }
        let mut parser = Parser { text, tokens: tokens(text), next: 0, query: Self::default() };
        if !matches!(parser.kind(), TokenKind::End | TokenKind::Keyword(Keyword::Order)) {
            parser.query.root = Some(parser.condition()?);
        }
        parser.order()?;
        Ok(parser.query)
    }
}

/// A pair of brackets that is still open, or the whole query.
#[derive(Default)]
struct Group {
    /// The parts of an OR that are whole, and how far they reach.
    or: Vec<(NodeId, Span)>,
    /// The parts of the AND that is being read.
    and: Vec<(NodeId, Span)>,
    /// Where each NOT before the next part stands.
    nots: Vec<Span>,
    open: Span,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    query: Query,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        // The last token is the end, and is never passed.
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn kind_behind(&self) -> TokenKind {
        self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind
    }

    fn take(&mut self) -> Span {
        let span = self.token().span;
        self.next += 1;
        span
    }

    fn took(&mut self, kind: TokenKind) -> Option<Span> {
        (self.kind() == kind).then(|| self.take())
    }

    fn took_word(&mut self, keyword: Keyword) -> Option<Span> {
        self.took(TokenKind::Keyword(keyword))
    }

    fn unexpected(&self, expected: &'static [&'static str]) -> JqlFault {
        JqlFault::unexpected(self.text, self.token(), expected)
    }

    fn expect(&mut self, kind: TokenKind, expected: &'static [&'static str]) -> Read<Span> {
        self.took(kind).ok_or_else(|| self.unexpected(expected))
    }

    /// Where the token before the next one ends.
    fn end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |at| self.tokens[at].span.end)
    }

    /// Clauses, and AND, OR, NOT and brackets around them, with a stack of the brackets that are open.
    fn condition(&mut self) -> Read<NodeId> {
        let mut groups: Vec<Group> = Vec::new();
        let mut group = Group::default();
        loop {
            while matches!(self.kind(), TokenKind::Bang | TokenKind::Keyword(Keyword::Not)) {
                group.nots.push(self.take());
            }
            if let Some(open) = self.took(TokenKind::Open) {
                groups.push(std::mem::replace(&mut group, Group { open, ..Group::default() }));
                continue;
            }
            let mut part = self.clause()?;
            loop {
                self.negate(&mut group, &mut part);
                group.and.push(part);
                if self.took_word(Keyword::And).is_some() {
                    break;
                }
                if self.took_word(Keyword::Or).is_some() {
                    self.end_and(&mut group);
                    break;
                }
                let Some(outer) = groups.pop() else { return Ok(self.end_group(group).0) };
                let close = self.expect(TokenKind::Close, AFTER_CLAUSE_IN_BRACKETS)?;
                let inner = std::mem::replace(&mut group, outer);
                let whole = inner.open.to(close);
                part = (self.end_group(inner).0, whole);
            }
        }
    }

    fn negate(&mut self, group: &mut Group, part: &mut (NodeId, Span)) {
        for not in group.nots.drain(..).rev() {
            let span = not.to(part.1);
            *part = (self.query.add(NodeKind::Not(part.0), span), span);
        }
    }

    fn end_and(&mut self, group: &mut Group) {
        let parts = std::mem::take(&mut group.and);
        group.or.push(self.joined(parts, NodeKind::And));
    }

    fn end_group(&mut self, mut group: Group) -> (NodeId, Span) {
        self.end_and(&mut group);
        self.joined(group.or, NodeKind::Or)
    }

    /// One part as it is, several as one node.
    fn joined(&mut self, parts: Vec<(NodeId, Span)>, kind: fn(Vec<NodeId>) -> NodeKind) -> (NodeId, Span) {
        let span = parts[0].1.to(parts[parts.len() - 1].1);
        if let [one] = parts[..] {
            return one;
        }
        (self.query.add(kind(parts.into_iter().map(|(id, _)| id).collect()), span), span)
    }

    fn clause(&mut self) -> Read<(NodeId, Span)> {
        let field = self.field(CONDITION)?;
        let start = self.token().span.start;
        let operator = self.operator()?;
        let operator_span = Span::new(start, self.end());
        let operand = self.operand_of(operator)?;
        let mut predicates = Vec::new();
        while let Some(kind) = self.predicate_kind(operator) {
            let start = self.take().start;
            let operand = self.operand()?;
            predicates.push(Predicate { kind, operand, span: Span::new(start, self.end()) });
        }
        let span = Span::new(field.span.start, self.end());
        let clause = Clause { field, operator, operator_span, operand, predicates };
        Ok((self.query.add(NodeKind::Clause(clause), span), span))
    }

    fn field(&mut self, expected: &'static [&'static str]) -> Read<Field> {
        let start = self.token().span.start;
        if self.kind() == TokenKind::Number {
            let word = self.word(FIELD)?;
            let span = word.span;
            return Ok(Field { name: FieldName::Word(word), properties: Vec::new(), span });
        }
        let name = if self.took(TokenKind::CustomField).is_some() {
            self.custom_field()?
        } else {
            FieldName::Word(self.word(expected)?)
        };
        let mut properties = Vec::new();
        while let Some(open) = self.took(TokenKind::OpenBracket) {
            let key = self.word(ARGUMENT)?;
            self.expect(TokenKind::CloseBracket, &["']'"])?;
            let mut path = Vec::new();
            while self.is_word() {
                path.push(self.word(ARGUMENT)?);
            }
            properties.push(Property { key, path, span: Span::new(open.start, self.end()) });
        }
        Ok(Field { name, properties, span: Span::new(start, self.end()) })
    }

    fn custom_field(&mut self) -> Read<FieldName> {
        const NUMBER: &[&str] = &["the number of a field"];
        self.expect(TokenKind::OpenBracket, &["'['"])?;
        if self.token().span.of(self.text).starts_with('-') {
            return Err(self.unexpected(NUMBER));
        }
        let digits = self.expect(TokenKind::Number, NUMBER)?.of(self.text).to_owned();
        self.expect(TokenKind::CloseBracket, &["']'"])?;
        Ok(FieldName::Custom(digits))
    }

    fn is_word(&self) -> bool {
        matches!(self.kind(), TokenKind::Number | TokenKind::Bare | TokenKind::Quoted)
    }

    fn word(&mut self, expected: &'static [&'static str]) -> Read<Word> {
        let Token { kind, span } = self.token();
        if !self.is_word() {
            return Err(self.unexpected(expected));
        }
        self.next += 1;
        let written = if kind == TokenKind::Number { WordKind::Number } else { WordKind::Text };
        Ok(Word { text: unescaped(span.of(self.text), kind), kind: written, span })
    }

    fn operator(&mut self) -> Read<Operator> {
        let operator = match self.kind() {
            TokenKind::Equal => Operator::Equal,
            TokenKind::NotEqual => Operator::NotEqual,
            TokenKind::Like => Operator::Like,
            TokenKind::NotLike => Operator::NotLike,
            TokenKind::Less => Operator::Less,
            TokenKind::LessEqual => Operator::LessEqual,
            TokenKind::Greater => Operator::Greater,
            TokenKind::GreaterEqual => Operator::GreaterEqual,
            TokenKind::Keyword(Keyword::In) => Operator::In,
            TokenKind::Keyword(Keyword::Changed) => Operator::Changed,
            TokenKind::Keyword(Keyword::Not) => {
                self.take();
                self.expect(TokenKind::Keyword(Keyword::In), &["IN"])?;
                return Ok(Operator::NotIn);
            }
            TokenKind::Keyword(Keyword::Is) => {
                self.take();
                let not = self.took_word(Keyword::Not);
                return Ok(not.map_or(Operator::Is, |_| Operator::IsNot));
            }
            TokenKind::Keyword(Keyword::Was) => {
                self.take();
                return Ok(match (self.took_word(Keyword::Not).is_some(), self.took_word(Keyword::In).is_some()) {
                    (false, false) => Operator::Was,
                    (true, false) => Operator::WasNot,
                    (false, true) => Operator::WasIn,
                    (true, true) => Operator::WasNotIn,
                });
            }
            _ => return Err(self.unexpected(OPERATOR)),
        };
        self.take();
        Ok(operator)
    }

    fn operand_of(&mut self, operator: Operator) -> Read<Option<Operand>> {
        let is_empty = self.kind() == TokenKind::Keyword(Keyword::Empty);
        let operand = match operator {
            Operator::Changed => return Ok(None),
            Operator::Is if !is_empty => return Err(self.unexpected(EMPTY_OR_NOT)),
            Operator::IsNot if !is_empty => return Err(self.unexpected(EMPTY)),
            Operator::In | Operator::NotIn | Operator::WasIn | Operator::WasNotIn => {
                let is_function = self.is_word() && self.kind_behind() == TokenKind::Open;
                if self.kind() != TokenKind::Open && !is_function {
                    return Err(self.unexpected(LIST));
                }
                self.operand()?
            }
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                if is_empty {
                    return Err(self.unexpected(VALUE));
                }
                Operand::One(self.single(VALUE)?)
            }
            _ => Operand::One(self.single(VALUE_OR_EMPTY)?),
        };
        Ok(Some(operand))
    }

    fn predicate_kind(&self, operator: Operator) -> Option<PredicateKind> {
        let is_change = operator == Operator::Changed;
        let is_was = matches!(operator, Operator::Was | Operator::WasNot | Operator::WasIn | Operator::WasNotIn);
        let TokenKind::Keyword(keyword) = self.kind() else { return None };
        match keyword {
            Keyword::Before => Some(PredicateKind::Before),
            Keyword::After => Some(PredicateKind::After),
            Keyword::On => Some(PredicateKind::On),
            Keyword::During => Some(PredicateKind::During),
            Keyword::By => Some(PredicateKind::By),
            Keyword::From if is_change => Some(PredicateKind::From),
            Keyword::To if is_change => Some(PredicateKind::To),
            _ => None,
        }
        .filter(|_| is_change || is_was)
    }

    /// A value, a function, EMPTY or a list; lists in lists by counting the brackets.
    fn operand(&mut self) -> Read<Operand> {
        let Some(open) = self.took(TokenKind::Open) else { return self.single(OPERAND).map(Operand::One) };
        let mut singles = Vec::new();
        let mut depth = 1;
        loop {
            while self.took(TokenKind::Open).is_some() {
                depth += 1;
            }
            singles.push(self.single(OPERAND)?);
            while self.took(TokenKind::Comma).is_none() {
                let close = self.expect(TokenKind::Close, COMMA_OR_CLOSE)?;
                depth -= 1;
                if depth == 0 {
                    return Ok(Operand::List(singles, open.to(close)));
                }
            }
        }
    }

    fn single(&mut self, expected: &'static [&'static str]) -> Read<Single> {
        if let Some(span) = self.took_word(Keyword::Empty) {
            return Ok(Single::Empty(span));
        }
        let name = self.word(expected)?;
        if self.took(TokenKind::Open).is_none() {
            return Ok(Single::Value(name));
        }
        let mut arguments = Vec::new();
        if self.took(TokenKind::Close).is_none() {
            arguments.push(self.word(ARGUMENT_OR_CLOSE)?);
            while self.took(TokenKind::Comma).is_some() {
                arguments.push(self.word(ARGUMENT)?);
            }
            self.expect(TokenKind::Close, COMMA_OR_CLOSE)?;
        }
        let span = Span::new(name.span.start, self.end());
        Ok(Single::Function(Function { name, arguments, span }))
    }

    fn order(&mut self) -> Read<()> {
        if self.took_word(Keyword::Order).is_none() {
            return self.ended(AFTER_CLAUSE);
        }
        self.expect(TokenKind::Keyword(Keyword::By), &["BY"])?;
        loop {
            let field = self.field(FIELD)?;
            let direction = match self.kind() {
                TokenKind::Keyword(Keyword::Asc) => Some(Direction::Ascending),
                TokenKind::Keyword(Keyword::Desc) => Some(Direction::Descending),
                _ => None,
            };
            self.next += usize::from(direction.is_some());
            let span = Span::new(field.span.start, self.end());
            self.query.order.push(Sort { field, direction, span });
            if self.took(TokenKind::Comma).is_none() {
                return self.ended(AFTER_SORT);
            }
        }
    }

    fn ended(&self, expected: &'static [&'static str]) -> Read<()> {
        if self.kind() == TokenKind::End { Ok(()) } else { Err(self.unexpected(expected)) }
    }
}
