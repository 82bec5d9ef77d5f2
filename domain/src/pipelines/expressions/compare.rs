//! Which values are alike, and which comes first.

use std::{cmp::Ordering, sync::Arc};

use super::value::Value;

/// A letter that stays as it is when texts are compared regardless of case.
const DOTLESS_I: char = 'ı';

/// Whether the two are alike. Values of unlike kinds go over numbers, texts are alike regardless of case, arrays and objects
/// only with themselves, and what is no number with nothing.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match alike(left, right) {
        (Value::Null, Value::Null) => true,
        #[expect(clippy::float_cmp, reason = "the language compares so")]
        (Value::Number(left), Value::Number(right)) => left == right,
        (Value::Boolean(left), Value::Boolean(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => left == right || upper(&left) == upper(&right),
        (Value::Array(left), Value::Array(right)) => Arc::ptr_eq(&left, &right),
        (Value::Object(left), Value::Object(right)) => Arc::ptr_eq(&left, &right),
        _ => false,
    }
}

/// Which of the two comes first; nothing where one can't say.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match alike(left, right) {
        (Value::Number(left), Value::Number(right)) => left.partial_cmp(&right),
        (Value::Boolean(left), Value::Boolean(right)) => Some(left.cmp(&right)),
        (Value::Text(left), Value::Text(right)) => Some(upper(&left).encode_utf16().cmp(upper(&right).encode_utf16())),
        _ => None,
    }
}

/// The two as values of one kind, as far as they can be.
fn alike(left: &Value, right: &Value) -> (Value, Value) {
    use Value::{Boolean, Null, Number, Text};
    match (left, right) {
        (Null, Null) | (Boolean(_), Boolean(_)) => (left.clone(), right.clone()),
        (Null | Boolean(_), _) => alike_number(left.to_number(), right),
        (_, Null | Boolean(_)) => {
            let (right, left) = alike_number(right.to_number(), left);
            (left, right)
        }
        (Number(_), Text(_)) | (Text(_), Number(_)) => (Number(left.to_number()), Number(right.to_number())),
        _ => (left.clone(), right.clone()),
    }
}

fn alike_number(number: f64, other: &Value) -> (Value, Value) {
    let other = if other.is_primitive() { Value::Number(other.to_number()) } else { other.clone() };
    (Value::Number(number), other)
}

/// The text in upper case, by which it is compared.
pub(super) fn upper(text: &str) -> String {
    let mut upper = String::with_capacity(text.len());
    for character in text.chars() {
        if character == DOTLESS_I {
            upper.push(character);
        } else {
            upper.extend(character.to_uppercase());
        }
    }
    upper
}
