//! From a tree to a value.

use std::{cmp::Ordering, sync::Arc};

use super::{
    budget::Budget,
    compare::{equal, order},
    fault::{ExpressionFault, FaultKind},
    functions::{self, Function},
    json,
    tree::{Call, Comparator, Index, Node},
    value::{Array, Value},
    vocabulary::ContextName,
};

/// What an expression asks of the place where it is evaluated.
pub trait Surroundings {
    /// The value of a context; null where there is none.
    fn context(&self, name: ContextName) -> Value;

    /// Whether this holds of the run: `function` is one of the four for which
    /// [`is_status`](Function::is_status) holds, `of` the jobs that it is asked of, or none for all that are needed.
    fn status(&self, function: Function, of: &[Arc<str>]) -> bool;

    /// The hash of all files that the patterns match; why there is none, where that fails.
    fn hash_files(&self, patterns: &[Arc<str>]) -> Result<String, String>;
}

/// The value of a tree.
pub(super) fn evaluate(tree: &Node, surroundings: &impl Surroundings) -> Result<Value, ExpressionFault> {
    Evaluation { surroundings, budget: Budget::new() }.value(tree)
}

struct Evaluation<'a, S> {
    surroundings: &'a S,
    budget: Budget,
}

impl<S: Surroundings> Evaluation<'_, S> {
    fn value(&mut self, node: &Node) -> Result<Value, ExpressionFault> {
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Context(name) => Ok(self.surroundings.context(*name)),
            Node::Not(denied) => Ok(Value::Boolean(!self.value(denied)?.is_truthy())),
            Node::All(parts) => self.first(parts, |part| !part.is_truthy()),
            Node::Any(parts) => self.first(parts, Value::is_truthy),
            Node::Compare(first, rest) => {
                let mut left = self.value(first)?;
                for (comparator, right) in rest {
                    left = Value::Boolean(holds(*comparator, &left, &self.value(right)?));
                }
                Ok(left)
            }
            Node::Index(of, indices) => {
                let mut of = self.value(of)?;
                for index in indices {
                    of = self.indexed(&of, index)?;
                }
                Ok(of)
            }
            Node::Call(call) => self.called(call),
        }
    }

    /// The first operand that decides, or the last one; what follows it is not evaluated.
    fn first(&mut self, parts: &[Node], decides: fn(&Value) -> bool) -> Result<Value, ExpressionFault> {
        let mut value = Value::Null;
        for part in parts {
            value = self.value(part)?;
            if decides(&value) {
                break;
            }
        }
        Ok(value)
    }

    fn indexed(&mut self, of: &Value, index: &Index) -> Result<Value, ExpressionFault> {
        let index = match index {
            Index::Each => None,
            Index::At(node) => Some(self.value(node)?),
        };
        let found = match (&index, of) {
            (None, _) => Found::All(each(of)),
            (Some(index), Value::Array(array)) if array.is_filtered() => {
                Found::All(array.items().iter().filter_map(|item| inside(item, index)).collect())
            }
            (Some(index), _) => Found::One(inside(of, index)),
        };
        match found {
            Found::One(value) => Ok(value.unwrap_or(Value::Null)),
            Found::All(items) => {
                self.budget.take_bytes(items.len() * size_of::<Value>()).map_err(|kind| kind.at(1))?;
                Ok(Value::Array(Arc::new(Array::filtered(items))))
            }
        }
    }

    fn called(&mut self, call: &Call) -> Result<Value, ExpressionFault> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(self.value(argument)?);
        }
        self.result(call.function, &arguments).map_err(|kind| kind.at(call.position))
    }

    fn result(&mut self, function: Function, arguments: &[Value]) -> Result<Value, FaultKind> {
        let texts = || arguments.iter().map(Value::to_text).collect::<Vec<_>>();
        self.budget.take(0)?;
        match (function, arguments) {
            (Function::Contains, [of, sought]) => Ok(functions::contains(of, sought).into()),
            (Function::StartsWith, [of, part]) => Ok(functions::starts_with(of, part).into()),
            (Function::EndsWith, [of, part]) => Ok(functions::ends_with(of, part).into()),
            (Function::Join, [of, rest @ ..]) => functions::join(of, rest.first(), &mut self.budget),
            (Function::ToJson, [value]) => json::print(value, &mut self.budget).map(Value::from),
            (Function::FromJson, [text]) => functions::from_json(text, &mut self.budget),
            (Function::Format, _) => functions::format(arguments, &mut self.budget),
            (Function::Case, _) => functions::case(arguments),
            (Function::HashFiles, _) => {
                self.surroundings.hash_files(&texts()).map(Value::from).map_err(FaultKind::Files)
            }
            (Function::Success | Function::Failure | Function::Always | Function::Cancelled, _) => {
                Ok(self.surroundings.status(function, &texts()).into())
            }
            // The parser counts arguments.
            _ => Ok(Value::Null),
        }
    }
}

/// What an index finds.
enum Found {
    One(Option<Value>),
    All(Vec<Value>),
}

/// What `.*` finds: the values of an array or object; of each of them, where these were found by `.*` themselves.
fn each(of: &Value) -> Vec<Value> {
    let values = |of: &Value| match of {
        Value::Array(array) => array.items().to_vec(),
        Value::Object(object) => object.entries().map(|(_, value)| value.clone()).collect(),
        _ => Vec::new(),
    };
    match of {
        Value::Array(array) if array.is_filtered() => array.items().iter().flat_map(values).collect(),
        _ => values(of),
    }
}

/// The value in `of` at a place or of a name.
fn inside(of: &Value, index: &Value) -> Option<Value> {
    match of {
        Value::Array(array) => array.items().get(place(index)?).cloned(),
        Value::Object(object) if index.is_primitive() => object.get(&index.to_text()).cloned(),
        _ => None,
    }
}

/// The index as a place: whole numbers from 0.
fn place(index: &Value) -> Option<usize> {
    let number = index.to_number();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no array has so many items")]
    (number.is_finite() && number >= 0.0).then(|| number.floor() as usize)
}

fn holds(comparator: Comparator, left: &Value, right: &Value) -> bool {
    let is_ordered = |wanted: Ordering| order(left, right) == Some(wanted);
    match comparator {
        Comparator::Equal => equal(left, right),
        Comparator::NotEqual => !equal(left, right),
        Comparator::Greater => is_ordered(Ordering::Greater),
        Comparator::GreaterOrEqual => equal(left, right) || is_ordered(Ordering::Greater),
        Comparator::Less => is_ordered(Ordering::Less),
        Comparator::LessOrEqual => equal(left, right) || is_ordered(Ordering::Less),
    }
}
