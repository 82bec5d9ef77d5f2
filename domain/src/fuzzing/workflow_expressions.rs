//! Expressions of workflow files: faults point into the text, what is evaluated was named, and JSON reads as it was printed.

use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use crate::pipelines::expressions::{
    ContextName, Expression, ExpressionFault, Function, SpecialFunction, Surroundings, Template, TemplateFault, Usage,
    Value, Vocabulary,
};

const EVERYTHING: Vocabulary = Vocabulary {
    contexts: &ContextName::ALL,
    functions: &[
        SpecialFunction { function: Function::Success, arguments_min: 0, arguments_max: 0 },
        SpecialFunction { function: Function::Always, arguments_min: 0, arguments_max: 0 },
        SpecialFunction { function: Function::HashFiles, arguments_min: 1, arguments_max: 255 },
    ],
};

/// A text with expressions in it, one expression, and JSON.
pub fn workflow_expressions(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Expression::parse(&text, &EVERYTHING) {
        Ok(expression) => expression_holds(&expression),
        Err(fault) => fault_holds(&fault, &text),
    }
    match Template::parse(&text, &EVERYTHING) {
        Ok(template) => {
            let asked = Asked::default();
            let _value = template.evaluate(&asked);
            asked.was_named(&template.usage());
        }
        Err(TemplateFault::NotClosed) => assert!(text.contains("${{")),
        Err(TemplateFault::Expressions(faults)) => {
            assert!(faults.iter().all(|(at, _)| text[*at..].starts_with("${{")));
        }
    }
    if let Ok(value) = Value::read_json(&text) {
        value_holds(&value);
    }
}

fn expression_holds(expression: &Expression) {
    let asked = Asked::default();
    match expression.evaluate(&asked) {
        Ok(value) => value_holds(&value),
        Err(fault) => fault_holds(&fault, expression.text()),
    }
    asked.was_named(&expression.usage());
}

fn fault_holds(fault: &ExpressionFault, text: &str) {
    assert!((1..=text.chars().count().max(1)).contains(&fault.position), "{fault:?}");
    assert!(!fault.to_string().is_empty());
}

/// What is printed reads as the same again, but for numbers that JSON doesn't have.
fn value_holds(value: &Value) {
    let Ok(printed) = value.print_json() else { return };
    let Ok(again) = Value::read_json(&printed) else {
        // Wrapping adds a level to what was as deep as may be.
        return;
    };
    assert_eq!(again.print_json().as_ref(), Ok(&printed));
}

/// Contexts that are objects with whatever is asked of them, and remember which of them were.
#[derive(Default)]
struct Asked(RefCell<(BTreeSet<ContextName>, BTreeSet<Function>)>);

impl Asked {
    fn was_named(&self, usage: &Usage) {
        let asked = self.0.borrow();
        assert!(asked.0.iter().all(|context| usage.contexts.contains_key(context)), "{usage:?}");
        assert!(asked.1.is_subset(&usage.functions), "{usage:?}");
    }
}

impl Surroundings for Asked {
    fn context(&self, name: ContextName) -> Value {
        self.0.borrow_mut().0.insert(name);
        let list =
            Value::array([Value::object([("name", Value::from("it's")), ("n", Value::Number(0.1))]), Value::Null]);
        Value::object([("ref", Value::from("refs/heads/main")), ("os", list), ("a-b", Value::Boolean(true))])
    }

    fn status(&self, function: Function, _: &[Arc<str>]) -> bool {
        self.0.borrow_mut().1.insert(function);
        true
    }

    fn hash_files(&self, patterns: &[Arc<str>]) -> Result<String, String> {
        self.0.borrow_mut().1.insert(Function::HashFiles);
        patterns.first().map(ToString::to_string).ok_or_else(String::new)
    }
}
