//! Conditions.
//!
//! What stands in parentheses may be a condition or an operand, which only what follows tells; so both are read by the same
//! functions.

use super::{Parser, Reading, operand::Call};
use crate::databases::{
    AttributeValue,
    expression::{
        Comparator, Condition, DocumentPath, ExpressionFaultKind, IN_OPERANDS_MAX, Term, fault::shown, token::Token,
    },
};

/// What was read of a condition.
enum Part {
    Term(Term),
    Condition(Condition),
    /// The same, in parentheses.
    InParentheses(Box<Part>),
}

/// A condition in the place of one that is refused.
const REFUSED: Condition = Condition::All(Vec::new());

impl<'t> Parser<'t, '_> {
    pub(super) fn whole_condition(&mut self) -> Reading<Condition> {
        let part = self.any_of()?;
        self.condition_of(part)
    }

    fn any_of(&mut self) -> Reading<Part> {
        self.joined("OR", Self::all_of, Condition::Any)
    }

    fn all_of(&mut self) -> Reading<Part> {
        self.joined("AND", Self::negated, Condition::All)
    }

    /// Reads conditions that are joined by a keyword; one alone is itself.
    fn joined(
        &mut self,
        keyword: &str,
        one: fn(&mut Self) -> Reading<Part>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Reading<Part> {
        let first = one(self)?;
        if !self.is_keyword(keyword) {
            return Ok(first);
        }
        let mut joined = vec![self.condition_of(first)?];
        while self.is_keyword(keyword) {
            self.count_operator(self.start())?;
            self.advance();
            let next = one(self)?;
            joined.push(self.condition_of(next)?);
        }
        Ok(Part::Condition(join(joined)))
    }

    fn negated(&mut self) -> Reading<Part> {
        let at = self.start();
        if !self.take_keyword("NOT") {
            return self.compared();
        }
        self.count_operator(at)?;
        let part = self.inside(at, Self::negated)?;
        Ok(Part::Condition(Condition::Not(Box::new(self.condition_of(part)?))))
    }

    /// The condition that a part has to be.
    fn condition_of(&mut self, part: Part) -> Reading<Condition> {
        match part {
            Part::Condition(condition) => Ok(condition),
            Part::InParentheses(part) => self.condition_of(*part),
            Part::Term(Term::Size(_)) => {
                let at = self.start();
                self.note(at, ExpressionFaultKind::MisusedFunction("size"));
                Ok(REFUSED)
            }
            Part::Term(_) => Err(self.syntax()),
        }
    }

    /// A condition, or a term where nothing follows that it is compared by.
    fn compared(&mut self) -> Reading<Part> {
        let (part, at) = (self.part()?, self.start());
        let compared = if let Some(comparator) = self.comparator() {
            self.comparison(at, part, comparator)
        } else if self.take_keyword("BETWEEN") {
            self.between(at, part)
        } else if self.take_keyword("IN") {
            self.among(at, part)
        } else {
            return Ok(part);
        };
        self.count_operator(at)?;
        compared.map(Part::Condition)
    }

    /// The term that a part has to be, behind which a comparison was read.
    fn term_of(&mut self, part: Part) -> Reading<Term> {
        match part {
            Part::Term(term) => Ok(term),
            Part::InParentheses(part) => self.term_of(*part),
            Part::Condition(_) => {
                self.at -= 1;
                Err(self.syntax())
            }
        }
    }

    fn part(&mut self) -> Reading<Part> {
        let at = self.start();
        if self.take("(") {
            let part = self.inside(at, Self::any_of)?;
            self.expect(")")?;
            if matches!(part, Part::InParentheses(_)) {
                self.note(at, ExpressionFaultKind::RedundantParentheses);
            }
            return Ok(Part::InParentheses(Box::new(part)));
        }
        if self.is_call() {
            let call = self.call(Self::term)?;
            return Ok(self.function(call));
        }
        self.bare_term().map(Part::Term)
    }

    fn comparator(&mut self) -> Option<Comparator> {
        let Token::Sign(sign) = self.peek() else { return None };
        let comparator = Comparator::ALL.iter().find(|comparator| comparator.as_str() == sign)?;
        self.advance();
        Some(*comparator)
    }

    fn comparison(&mut self, at: usize, left: Part, comparator: Comparator) -> Reading<Condition> {
        let left = self.term_of(left)?;
        let right = self.term()?;
        self.distinct_check(at, comparator.as_str(), &left, &right);
        if !matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
            self.ordered_check(at, comparator.as_str(), [&left, &right]);
        }
        Ok(Condition::Compare { left, comparator, right })
    }

    fn between(&mut self, at: usize, part: Part) -> Reading<Condition> {
        let term = self.term_of(part)?;
        let lower = self.term()?;
        if !self.take_keyword("AND") {
            return Err(self.syntax());
        }
        let upper = self.term()?;
        self.ordered_check(at, "BETWEEN", [&term, &lower, &upper]);
        if let (Term::Value(low), Term::Value(high)) = (&lower, &upper) {
            self.bounds_check(at, low, high);
        }
        Ok(Condition::Between(Box::new([term, lower, upper])))
    }

    fn among(&mut self, at: usize, part: Part) -> Reading<Condition> {
        let term = self.term_of(part)?;
        self.expect("(")?;
        let among = self.inside(at, |parser| parser.list(Self::term))?;
        self.expect(")")?;
        if among.len() > IN_OPERANDS_MAX {
            self.note(at, ExpressionFaultKind::OperandCount { operator: "IN", count: among.len() });
        }
        if let [only] = among.as_slice() {
            self.distinct_check(at, "IN", &term, only);
        }
        Ok(Condition::In { term, among })
    }

    fn function(&mut self, call: Call<'t, Term>) -> Part {
        let at = call.at;
        let condition = match call.name {
            "size" => return Part::Term(self.size(call)),
            "attribute_exists" => self.path_of("attribute_exists", call).map(Condition::Exists),
            "attribute_not_exists" => self.path_of("attribute_not_exists", call).map(Condition::NotExists),
            "attribute_type" => self.type_of(call),
            "begins_with" => self.pair_of("begins_with", call).map(|[term, prefix]| {
                self.type_check(at, "begins_with", &["S", "B"], &[&term, &prefix]);
                Condition::BeginsWith { term, prefix }
            }),
            "contains" => self.pair_of("contains", call).map(|[term, part]| Condition::Contains { term, part }),
            other => {
                self.refuse_function(at, other);
                None
            }
        };
        Part::Condition(condition.unwrap_or(REFUSED))
    }

    fn path_of(&mut self, operator: &'static str, call: Call<'t, Term>) -> Option<DocumentPath> {
        let at = call.at;
        let [term] = self.arguments(operator, call)?;
        let Term::Path(path) = term else {
            self.note(at, ExpressionFaultKind::PathWanted(operator));
            return None;
        };
        Some(path)
    }

    fn pair_of(&mut self, operator: &'static str, call: Call<'t, Term>) -> Option<[Term; 2]> {
        let at = call.at;
        let pair: [Term; 2] = self.arguments(operator, call)?;
        self.distinct_check(at, operator, &pair[0], &pair[1]);
        Some(pair)
    }

    fn type_of(&mut self, call: Call<'t, Term>) -> Option<Condition> {
        const OPERATOR: &str = "attribute_type";
        let at = call.at;
        let [term, wanted] = self.pair_of(OPERATOR, call)?;
        let Term::Value(wanted) = wanted else {
            let operand_type = wanted.known_type().unwrap_or("{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
            self.note(at, ExpressionFaultKind::OperandType { operator: OPERATOR, operand_type });
            return None;
        };
        let AttributeValue::String(name) = &*wanted else {
            let operand_type = wanted.type_name();
            self.note(at, ExpressionFaultKind::OperandType { operator: OPERATOR, operand_type });
            return None;
        };
        let type_name = AttributeValue::TYPE_NAMES.iter().find(|known| *known == name);
        if type_name.is_none() {
            self.note(at, ExpressionFaultKind::UnknownType(shown(name)));
        }
        Some(Condition::HasType { term, type_name: type_name? })
    }

    fn distinct_check(&mut self, at: usize, operator: &'static str, first: &Term, second: &Term) {
        if let (Term::Path(path), Term::Path(other)) = (first, second)
            && path == other
        {
            self.note(at, ExpressionFaultKind::NotDistinct { operator, path: path.to_string() });
        }
    }

    /// Notes an operand that has no order.
    fn ordered_check<const COUNT: usize>(&mut self, at: usize, operator: &'static str, terms: [&Term; COUNT]) {
        self.type_check(at, operator, &["S", "N", "B"], &terms);
    }

    /// Notes an operand that is known to be of another type than these.
    fn type_check(&mut self, at: usize, operator: &'static str, types: &[&str], terms: &[&Term]) {
        let mut known = terms.iter().filter_map(|term| term.known_type());
        if let Some(operand_type) = known.find(|known| !types.contains(known)) {
            self.note(at, ExpressionFaultKind::OperandType { operator, operand_type });
        }
    }

    fn bounds_check(&mut self, at: usize, low: &AttributeValue, high: &AttributeValue) {
        let bounds = || format!("lower bound operand: {}, upper bound operand: {}", bound(low), bound(high));
        match low.order(high) {
            None if low.type_name() != high.type_name() => self.note(at, ExpressionFaultKind::BoundTypes(bounds())),
            Some(order) if order.is_gt() => self.note(at, ExpressionFaultKind::BoundOrder(bounds())),
            _ => {}
        }
    }
}

/// A bound in DynamoDB's way of writing it.
fn bound(value: &AttributeValue) -> String {
    let text = match value {
        AttributeValue::String(text) => shown(text),
        AttributeValue::Number(number) => number.to_string(),
        _ => "…".to_owned(),
    };
    format!("AttributeValue: {{{}:{text}}}", value.type_name())
}
