//! From words to a tree.

use super::{
    fault::{ExpressionFault, FaultKind},
    functions::Function,
    lexer::{Token, TokenKind, tokens},
    tree::{Call, Comparator, Index, Node},
    value::Value,
    vocabulary::{ContextName, Vocabulary},
};

/// How deep operators, calls, indices and parentheses may stand in each other.
pub const EXPRESSION_DEPTH_MAX: usize = 50;

type Parsed = Result<Node, ExpressionFault>;

/// Reads an expression.
pub(super) fn parse(text: &str, vocabulary: &Vocabulary) -> Parsed {
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err(FaultKind::Empty.at(1));
    }
    let mut parser = Parser { tokens: &tokens, vocabulary, next: 0, depth: 0 };
    let tree = parser.expression()?;
    match parser.peek() {
        Some(token) => Err(unexpected(token)),
        None => Ok(tree),
    }
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    vocabulary: &'a Vocabulary,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.next)
    }

    /// The next word, if it is of that kind.
    fn take(&mut self, kind: &TokenKind) -> bool {
        let is_next = self.peek().is_some_and(|token| token.kind == *kind);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, kind: &TokenKind) -> Result<(), ExpressionFault> {
        if self.take(kind) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> ExpressionFault {
        self.peek().map_or_else(|| self.ended(), unexpected)
    }

    fn ended(&self) -> ExpressionFault {
        let last = self.tokens.last();
        let (text, position) = last.map_or(("", 1), |last| (last.text, last.position));
        FaultKind::UnexpectedEnd(text.to_owned()).at(position)
    }

    fn deeper(&mut self) -> Result<(), ExpressionFault> {
        self.depth += 1;
        if self.depth > EXPRESSION_DEPTH_MAX {
            let position = self.peek().or(self.tokens.last()).map_or(1, |token| token.position);
            return Err(FaultKind::TooDeep.at(position));
        }
        Ok(())
    }

    fn expression(&mut self) -> Parsed {
        self.deeper()?;
        let node = self.any()?;
        self.depth -= 1;
        Ok(node)
    }

    fn any(&mut self) -> Parsed {
        self.joined(&TokenKind::Or, Node::Any, Self::all)
    }

    fn all(&mut self) -> Parsed {
        self.joined(&TokenKind::And, Node::All, Self::equality)
    }

    fn joined(&mut self, by: &TokenKind, node: fn(Vec<Node>) -> Node, part: fn(&mut Self) -> Parsed) -> Parsed {
        let first = part(self)?;
        if self.peek().is_none_or(|token| token.kind != *by) {
            return Ok(first);
        }
        self.deeper()?;
        let mut parts = vec![first];
        while self.take(by) {
            parts.push(part(self)?);
        }
        self.depth -= 1;
        Ok(node(parts))
    }

    fn equality(&mut self) -> Parsed {
        self.compared(|it| matches!(it, Comparator::Equal | Comparator::NotEqual), Self::comparison)
    }

    fn comparison(&mut self) -> Parsed {
        self.compared(|it| !matches!(it, Comparator::Equal | Comparator::NotEqual), Self::unary)
    }

    fn compared(&mut self, belongs: fn(Comparator) -> bool, part: fn(&mut Self) -> Parsed) -> Parsed {
        let first = part(self)?;
        let mut rest = Vec::new();
        while let Some(TokenKind::Comparator(comparator)) = self.peek().map(|token| &token.kind)
            && belongs(*comparator)
        {
            self.next += 1;
            rest.push((*comparator, part(self)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Compare(Box::new(first), rest) })
    }

    fn unary(&mut self) -> Parsed {
        if !self.take(&TokenKind::Not) {
            return self.index();
        }
        self.deeper()?;
        let denied = self.unary()?;
        self.depth -= 1;
        Ok(Node::Not(Box::new(denied)))
    }

    /// What may have an index behind it, and its indices.
    fn index(&mut self) -> Parsed {
        let Some(token) = self.peek() else { return Err(self.ended()) };
        let value = match &token.kind {
            TokenKind::Name => self.named(token)?,
            TokenKind::OpenParenthesis => self.grouped()?,
            _ => return self.literal(token),
        };
        let mut indices = Vec::new();
        while let Some(index) = self.next_index()? {
            indices.push(index);
        }
        self.depth -= indices.len();
        Ok(if indices.is_empty() { value } else { Node::Index(Box::new(value), indices) })
    }

    fn next_index(&mut self) -> Result<Option<Index>, ExpressionFault> {
        if self.take(&TokenKind::Dot) {
            self.deeper()?;
            return self.property().map(Some);
        }
        if !self.take(&TokenKind::OpenBracket) {
            return Ok(None);
        }
        let index = if self.take(&TokenKind::Star) { Index::Each } else { Index::At(self.expression()?) };
        self.expect(&TokenKind::CloseBracket)?;
        self.deeper()?;
        Ok(Some(index))
    }

    fn property(&mut self) -> Result<Index, ExpressionFault> {
        let Some(token) = self.peek() else { return Err(self.ended()) };
        self.next += 1;
        match token.kind {
            TokenKind::Name => Ok(Index::At(Node::Literal(Value::text(token.text)))),
            TokenKind::Star => Ok(Index::Each),
            _ => Err(unexpected(token)),
        }
    }

    fn grouped(&mut self) -> Parsed {
        self.next += 1;
        let node = self.expression()?;
        self.expect(&TokenKind::CloseParenthesis)?;
        Ok(node)
    }

    fn literal(&mut self, token: &Token<'_>) -> Parsed {
        let value = match &token.kind {
            TokenKind::True => Value::Boolean(true),
            TokenKind::False => Value::Boolean(false),
            TokenKind::Null => Value::Null,
            TokenKind::Number(number) => Value::Number(*number),
            TokenKind::Text(text) => Value::text(text.as_str()),
            _ => return Err(unexpected(token)),
        };
        self.next += 1;
        Ok(Node::Literal(value))
    }

    /// A context, or a call.
    fn named(&mut self, name: &Token<'_>) -> Parsed {
        self.next += 1;
        if self.take(&TokenKind::OpenParenthesis) {
            return self.call(name);
        }
        let context = ContextName::read(name.text).filter(|context| self.vocabulary.contexts.contains(context));
        let unknown = || FaultKind::UnknownContext(name.text.to_owned()).at(name.position);
        context.map(Node::Context).ok_or_else(unknown)
    }

    fn call(&mut self, name: &Token<'_>) -> Parsed {
        let mut arguments = Vec::new();
        while !self.take(&TokenKind::CloseParenthesis) {
            arguments.push(self.expression()?);
            if self.peek().is_none_or(|token| token.kind != TokenKind::CloseParenthesis) {
                self.expect(&TokenKind::Comma)?;
            }
        }
        let function = self.function(name.text, arguments.len()).map_err(|kind| kind.at(name.position))?;
        Ok(Node::Call(Call { function, arguments, position: name.position }))
    }

    /// The function of this name, which takes so many arguments here.
    fn function(&self, name: &str, arguments: usize) -> Result<Function, FaultKind> {
        let unknown = || FaultKind::UnknownFunction(name.to_owned());
        let function = Function::read(name).ok_or_else(unknown)?;
        let special = self.vocabulary.functions.iter().find(|special| special.function == function);
        let (min, max) = match special {
            Some(special) => (special.arguments_min, special.arguments_max),
            None => function.arguments().ok_or_else(unknown)?,
        };
        if arguments < min {
            return Err(FaultKind::TooFewArguments(name.to_owned()));
        }
        if arguments > max {
            return Err(FaultKind::TooManyArguments(name.to_owned()));
        }
        if function == Function::Case && arguments.is_multiple_of(2) {
            return Err(FaultKind::EvenArguments(name.to_owned()));
        }
        Ok(function)
    }
}

fn unexpected(token: &Token<'_>) -> ExpressionFault {
    FaultKind::UnexpectedSymbol(token.text.to_owned()).at(token.position)
}
