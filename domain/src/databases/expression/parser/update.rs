//! Updates.

use super::{Parser, Reading, operand::Call};
use crate::databases::{
    AttributeValue,
    expression::{
        Action, ActionKind, DocumentPath, ExpressionFaultKind, SetOperand, SetValue, Update, token::Token,
        update::Clash,
    },
};

impl<'t> Parser<'t, '_> {
    pub(super) fn update(&mut self) -> Reading<Update> {
        let (mut update, mut seen) = (Update::default(), Vec::new());
        while self.peek() != Token::End {
            let at = self.start();
            let section = self.grammar.keywords().iter().copied().find(|section| self.is_keyword(section));
            let section = section.ok_or_else(|| self.syntax())?;
            self.advance();
            if seen.contains(&section) {
                self.note(at, ExpressionFaultKind::SectionTwice(section));
            }
            seen.push(section);
            self.list(|parser| parser.action(section, &mut update))?;
        }
        Ok(update)
    }

    fn action(&mut self, section: &str, update: &mut Update) -> Reading<()> {
        let (at, path) = (self.start(), self.path()?);
        let kind = match section {
            "SET" => self.set()?,
            "ADD" => self.add()?,
            "DELETE" => self.delete()?,
            _ => ActionKind::Remove,
        };
        let action = Action { path, kind };
        let two = action.path.to_string();
        // Something that is refused already may be in the way of anything.
        if self.noted.is_none()
            && let Err(clash) = update.push(action)
        {
            let one = |number: usize| update.actions()[number].path.to_string();
            self.note(
                at,
                match clash {
                    Clash::Overlap(number) => ExpressionFaultKind::PathsOverlap { one: one(number), two },
                    Clash::Conflict(number) => ExpressionFaultKind::PathsConflict { one: one(number), two },
                },
            );
        }
        Ok(())
    }

    fn set(&mut self) -> Reading<ActionKind> {
        self.expect("=")?;
        self.set_value().map(ActionKind::Set)
    }

    fn add(&mut self) -> Reading<ActionKind> {
        let at = self.start();
        let value = self.value()?;
        if !matches!(*value, AttributeValue::Number(_)) {
            self.set_check(at, "ADD", &value);
        }
        Ok(ActionKind::Add(value))
    }

    fn delete(&mut self) -> Reading<ActionKind> {
        let at = self.start();
        let value = self.value()?;
        self.set_check(at, "DELETE", &value);
        Ok(ActionKind::Delete(value))
    }

    /// Notes a value that is no set.
    fn set_check(&mut self, at: usize, operator: &'static str, value: &AttributeValue) {
        let operand_type = match value {
            AttributeValue::StringSet(_) | AttributeValue::NumberSet(_) | AttributeValue::BinarySet(_) => return,
            AttributeValue::String(_) => "STRING",
            AttributeValue::Number(_) => "NUMBER",
            AttributeValue::Binary(_) => "BINARY",
            AttributeValue::Bool(_) => "BOOLEAN",
            AttributeValue::Null => "NULL",
            AttributeValue::Map(_) => "MAP",
            AttributeValue::List(_) => "LIST",
        };
        self.note(at, ExpressionFaultKind::SectionOperandType { operator, operand_type });
    }

    /// What stands in parentheses may be an operand of a sum, or the sum.
    fn set_value(&mut self) -> Reading<SetValue> {
        let at = self.start();
        let first = if self.take("(") {
            if self.peek() == Token::Sign("(") {
                self.note(at, ExpressionFaultKind::RedundantParentheses);
            }
            let inner = self.inside(at, Self::set_value)?;
            self.expect(")")?;
            match inner {
                SetValue::Operand(operand) => operand,
                sum => return Ok(sum),
            }
        } else {
            self.bare_set_operand()?
        };
        let at = self.start();
        if self.take("+") {
            let second = self.summand(at, "+", &first)?;
            return Ok(SetValue::Sum(first, second));
        }
        if self.take("-") {
            let second = self.summand(at, "-", &first)?;
            return Ok(SetValue::Difference(first, second));
        }
        Ok(SetValue::Operand(first))
    }

    /// Reads the second number of a sum.
    fn summand(&mut self, at: usize, operator: &'static str, first: &SetOperand) -> Reading<SetOperand> {
        self.count_operator(at)?;
        let second = self.set_operand()?;
        self.set_type_check(at, operator, "N", [first, &second]);
        Ok(second)
    }

    fn set_operand(&mut self) -> Reading<SetOperand> {
        self.in_parentheses(Self::bare_set_operand)
    }

    fn bare_set_operand(&mut self) -> Reading<SetOperand> {
        match self.peek() {
            Token::Word(_) if self.is_call() => {
                let call = self.call(Self::set_operand)?;
                Ok(self.set_function(call).unwrap_or_else(|| SetOperand::Path(DocumentPath::new("".into()))))
            }
            Token::Value(_) => self.value().map(SetOperand::Value),
            _ => self.path().map(SetOperand::Path),
        }
    }

    /// The function; none where it can't be one, which is noted.
    fn set_function(&mut self, call: Call<'t, SetOperand>) -> Option<SetOperand> {
        let at = call.at;
        match call.name {
            "if_not_exists" => {
                let [path, otherwise] = self.arguments("if_not_exists", call)?;
                let SetOperand::Path(path) = path else {
                    self.note(at, ExpressionFaultKind::PathWanted("if_not_exists"));
                    return None;
                };
                Some(SetOperand::IfNotExists { path, otherwise: Box::new(otherwise) })
            }
            "list_append" => {
                let lists: [SetOperand; 2] = self.arguments("list_append", call)?;
                self.set_type_check(at, "list_append", "L", lists.each_ref());
                Some(SetOperand::ListAppend(Box::new(lists)))
            }
            other => {
                self.refuse_function(at, other);
                None
            }
        }
    }

    /// Notes an operand that is known to be of another type.
    fn set_type_check(&mut self, at: usize, operator: &'static str, wanted: &str, operands: [&SetOperand; 2]) {
        let mut types = operands.into_iter().filter_map(SetOperand::known_type);
        if let Some(operand_type) = types.find(|known| *known != wanted) {
            self.note(at, ExpressionFaultKind::OperandType { operator, operand_type });
        }
    }
}
