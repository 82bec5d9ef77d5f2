mod conditions;
mod random;
mod refused;
mod updates;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Condition, ExpressionFault, Substitutes, Update, UpdateFault};
use crate::databases::{Item, item::tests::item};

/// What the placeholders of the tests stand for.
fn substitutes() -> Substitutes {
    let names = ["#a", "#b", "#name", "#long"].map(|name| (name.to_owned(), name[1..].to_owned()));
    let values = json!({
        ":n": {"N": "1"}, ":two": {"N": "2"}, ":s": {"S": "a"}, ":b": {"B": "YWI="}, ":t": {"BOOL": true},
        ":null": {"NULL": true}, ":l": {"L": [{"N": "1"}]}, ":empty": {"L": []}, ":m": {"M": {}}, ":ss": {"SS": ["a", "c"]},
        ":ns": {"NS": ["1", "3"]}, ":bs": {"BS": ["YQ=="]}, ":S": {"S": "S"}, ":SS": {"S": "SS"}, ":none": {"S": "X"},
        ":ab": {"S": "ab"}, ":max": {"N": "9.9999999999999999999999999999999999999E125"},
        ":big": {"N": "9E125"}, ":long": {"N": "12345678901234567890123456789012345678"}, ":tiny": {"N": "1E-130"}
    });
    let Value::Object(values) = values else { unreachable!("an object") };
    Substitutes::read(BTreeMap::from(names), values).unwrap()
}

fn condition(text: &str) -> Result<Condition, ExpressionFault> {
    Condition::parse(text, &mut substitutes())
}

fn update(text: &str) -> Result<Update, ExpressionFault> {
    Update::parse(text, &mut substitutes())
}

fn apply(text: &str, old: Value) -> Result<Item, UpdateFault> {
    update(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}")).apply(&item(old))
}

fn holds(text: &str, of: Value) -> bool {
    condition(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}")).holds(&item(of))
}
