//! The inputs of a workflow that is started by hand.

use std::collections::BTreeMap;

use crate::{
    error::Result,
    pipelines::{
        expressions::Value,
        workflow::{DispatchInput, InputDefault, InputKind},
    },
    problems::Problems,
};

/// Inputs of a workflow that is started by hand, at most.
pub const DISPATCH_INPUTS_MAX: usize = 25;

/// A value that was given for an input (contract C 4.2).
#[derive(Clone, Debug, PartialEq)]
pub enum DispatchValue {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

/// The values of a workflow's inputs, each of its kind, or what is wrong with what was given, at `inputs.<name>`. `is_environment`
/// says whether the repository has an environment of a name.
pub fn dispatch_inputs(
    inputs: &[DispatchInput],
    given: &BTreeMap<String, DispatchValue>,
    is_environment: impl Fn(&str) -> bool,
) -> Result<Value> {
    let mut problems = Problems::new();
    if given.len() > DISPATCH_INPUTS_MAX {
        problems.add("inputs", format!("A workflow takes at most {DISPATCH_INPUTS_MAX} inputs."));
        return Err(problems.into_error());
    }
    for name in given.keys().filter(|name| !inputs.iter().any(|input| input.name == **name)) {
        problems.add(path(name), "The workflow has no such input.");
    }
    let mut values = Vec::with_capacity(inputs.len());
    for input in inputs {
        match value(input, given.get(&input.name), &is_environment) {
            Ok(value) => values.push((input.name.as_str(), value)),
            Err(message) => problems.add(path(&input.name), message),
        }
    }
    problems.into_result().map(|()| Value::object(values))
}

fn path(name: &str) -> String {
    format!("inputs.{name}")
}

/// The value of an input: what was given, else its default, else nothing of its kind.
fn value(
    input: &DispatchInput,
    given: Option<&DispatchValue>,
    is_environment: &impl Fn(&str) -> bool,
) -> std::result::Result<Value, String> {
    let is_blank = |given: &DispatchValue| matches!(given, DispatchValue::Text(text) if text.is_empty());
    let Some(given) = given.filter(|given| !is_blank(given)) else {
        return match &input.default {
            Some(default) => Ok(default_value(default)),
            None if input.required => Err("This input is required.".to_owned()),
            None => Ok(nothing(input.kind)),
        };
    };
    match input.kind {
        InputKind::Boolean => boolean(given).ok_or_else(|| "This input is true or false.".to_owned()),
        InputKind::Number => number(given).ok_or_else(|| "This input is a number.".to_owned()),
        InputKind::Choice => {
            let text = text(given);
            let is_option = input.options.iter().any(|option| **option == *text.to_text());
            is_option.then_some(text).ok_or_else(|| format!("This input is one of: {}.", input.options.join(", ")))
        }
        InputKind::Environment => {
            let text = text(given);
            let is_known = is_environment(&text.to_text());
            is_known.then_some(text).ok_or_else(|| "There is no such environment.".to_owned())
        }
        InputKind::String => Ok(text(given)),
    }
}

fn default_value(default: &InputDefault) -> Value {
    match default {
        InputDefault::Text(text) => Value::text(text.as_str()),
        InputDefault::Number(number) => Value::Number(*number),
        InputDefault::Boolean(value) => Value::Boolean(*value),
    }
}

fn nothing(kind: InputKind) -> Value {
    match kind {
        InputKind::Boolean => Value::Boolean(false),
        InputKind::Number => Value::Number(0.0),
        InputKind::String | InputKind::Environment | InputKind::Choice => Value::text(""),
    }
}

fn boolean(given: &DispatchValue) -> Option<Value> {
    match given {
        DispatchValue::Boolean(value) => Some(Value::Boolean(*value)),
        DispatchValue::Text(text) if text == "true" => Some(Value::Boolean(true)),
        DispatchValue::Text(text) if text == "false" => Some(Value::Boolean(false)),
        DispatchValue::Text(_) | DispatchValue::Number(_) => None,
    }
}

fn number(given: &DispatchValue) -> Option<Value> {
    let number = match given {
        DispatchValue::Number(number) => *number,
        DispatchValue::Text(text) => Value::text(text.as_str()).to_number(),
        DispatchValue::Boolean(_) => return None,
    };
    number.is_finite().then_some(Value::Number(number))
}

fn text(given: &DispatchValue) -> Value {
    match given {
        DispatchValue::Text(text) => Value::text(text.as_str()),
        DispatchValue::Number(number) => Value::Text(Value::Number(*number).to_text()),
        DispatchValue::Boolean(value) => Value::Text(Value::Boolean(*value).to_text()),
    }
}
