//! A file against the table of what it may say.

use std::collections::HashSet;

use super::{
    problem::Problems,
    schema::{Kind, Property, Type},
    yaml::{Node, NodeKind},
};
use crate::pipelines::expressions::{Part, Template, Value, Vocabulary};

/// An expression stands where none may.
const NO_EXPRESSION: &str = "A template expression is not allowed in this context";

/// Keys of GitHub's for what there isn't here.
const FOREIGN_KEYS: &[&str] = &["container", "services"];

/// Finds what the table doesn't allow.
pub(super) fn check(root: &Node, of: &'static Type, problems: &mut Problems<'_>) {
    Check { problems }.value(root, of, &Vocabulary::NONE);
}

struct Check<'a, 'b> {
    problems: &'a mut Problems<'b>,
}

impl Check<'_, '_> {
    fn value(&mut self, node: &Node, of: &'static Type, inherited: &'static Vocabulary) {
        let vocabulary = of.vocabulary.unwrap_or(inherited);
        match &node.kind {
            NodeKind::Scalar(value) => self.scalar(node, value, of.kinds, vocabulary),
            NodeKind::Sequence(items) => self.sequence(node, items, of.kinds, vocabulary),
            NodeKind::Mapping(entries) => self.mapping(node, entries, of.kinds, vocabulary),
        }
    }

    fn scalar(&mut self, node: &Node, value: &Value, kinds: &[Kind], vocabulary: &Vocabulary) {
        let read = match value {
            Value::Text(text) => self.template(node, text, vocabulary),
            _ => None,
        };
        let is_expected = match &read {
            Some(Literal::Expression) => {
                if vocabulary.contexts.is_empty() {
                    self.problems.error(node.place, NO_EXPRESSION);
                }
                true
            }
            Some(Literal::Text(text)) => is_expected(&Value::text(text.as_str()), kinds),
            None => is_expected(value, kinds) || is_expected(&Value::Text(value.to_text()), kinds),
        };
        if !is_expected {
            self.problems.error(node.place, format!("Unexpected value '{}'", value.to_text()));
        }
    }

    /// What a text with expressions is, where it has some that can be read.
    fn template(&mut self, node: &Node, text: &str, vocabulary: &Vocabulary) -> Option<Literal> {
        if !text.contains("${{") {
            return None;
        }
        match Template::parse(text, vocabulary) {
            Ok(template) => Some(match (template.as_literal(), template.parts()) {
                (Some(text), [Part::Expression(_)]) => Literal::Text(text.to_owned()),
                _ => Literal::Expression,
            }),
            Err(fault) => {
                self.problems.template(node, text, &fault);
                None
            }
        }
    }

    fn sequence(&mut self, node: &Node, items: &[Node], kinds: &[Kind], vocabulary: &'static Vocabulary) {
        let item = kinds.iter().find_map(|kind| match kind {
            Kind::Sequence(item) => Some(*item),
            Kind::Any => Some(&ANYTHING),
            _ => None,
        });
        match item {
            Some(item) => items.iter().for_each(|node| self.value(node, item, vocabulary)),
            None => self.problems.error(node.place, "A sequence was not expected"),
        }
    }

    fn mapping(&mut self, node: &Node, entries: &[(Node, Node)], kinds: &[Kind], vocabulary: &'static Vocabulary) {
        let (mut known, mut loose) = (Vec::new(), None);
        for kind in kinds {
            match kind {
                Kind::Mapping(properties) => known.push(*properties),
                Kind::Mixed(properties, value) => {
                    known.push(*properties);
                    loose = Some(*value);
                }
                Kind::Named(value) => loose = Some(*value),
                Kind::Any => loose = Some(&ANYTHING),
                _ => {}
            }
        }
        if known.is_empty() && loose.is_none() {
            self.problems.error(node.place, "A mapping was not expected");
            return;
        }
        let mut seen = HashSet::new();
        for (key, value) in entries {
            self.entry(key, value, &mut Keys { known: &mut known, loose, seen: &mut seen }, vocabulary);
        }
        self.required(node, &known, &seen);
    }

    fn entry(&mut self, key: &Node, value: &Node, keys: &mut Keys<'_>, vocabulary: &'static Vocabulary) {
        let name = key.text().unwrap_or_default();
        if name.contains("${{") {
            self.problems.error(key.place, NO_EXPRESSION);
            return;
        }
        if !name.is_empty() && !keys.seen.insert(name.to_uppercase()) {
            self.problems.error(key.place, format!("'{name}' is already defined"));
            return;
        }
        let property = keys.matched(&name);
        match property.map(|property| property.of).or(keys.loose) {
            Some(of) if property.is_some() || !name.is_empty() => self.value(value, of, vocabulary),
            _ if FOREIGN_KEYS.contains(&&*name) => {
                self.problems.error(key.place, format!("'{name}' is not supported: steps run on the runner itself"));
            }
            _ => self.problems.error(key.place, format!("Unexpected value '{name}'")),
        }
    }

    /// What has to be there, once it is clear which of several kinds of mapping this is.
    fn required(&mut self, node: &Node, known: &[&'static [Property]], seen: &HashSet<String>) {
        let is_missing = |property: &&Property| property.is_required && !seen.contains(&property.name.to_uppercase());
        match known {
            [] => {}
            [properties] => {
                for property in properties.iter().filter(is_missing) {
                    self.problems.error(node.place, format!("Required property is missing: {}", property.name));
                }
            }
            several => {
                let telling = several.iter().flat_map(|it| it.iter().filter(|it| it.is_required)).map(|it| it.name);
                let telling = telling.collect::<Vec<_>>().join(", ");
                let message = format!(
                    "There's not enough info to determine what you meant. Add one of these properties: {telling}"
                );
                self.problems.error(node.place, message);
            }
        }
    }
}

static ANYTHING: Type = Type { vocabulary: None, kinds: &[Kind::Any] };

/// What a text with expressions in it is.
enum Literal {
    /// A text, because its one expression is.
    Text(String),
    /// Something that only evaluating tells.
    Expression,
}

/// The keys that a mapping may have, and those that it has.
struct Keys<'a> {
    /// The kinds of mapping that it may still be.
    known: &'a mut Vec<&'static [Property]>,
    loose: Option<&'static Type>,
    seen: &'a mut HashSet<String>,
}

impl Keys<'_> {
    /// The property of this name. Kinds of mapping that don't have it are out.
    fn matched(&mut self, name: &str) -> Option<&'static Property> {
        let find = |properties: &&'static [Property]| properties.iter().find(|property| property.name == name);
        let found = self.known.iter().filter_map(find).next_back()?;
        self.known.retain(|properties| find(properties).is_some());
        Some(found)
    }
}

fn is_expected(value: &Value, kinds: &[Kind]) -> bool {
    kinds.iter().any(|kind| match (kind, value) {
        (Kind::Any, _)
        | (Kind::Null, Value::Null)
        | (Kind::Boolean, Value::Boolean(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::Text, Value::Text(_)) => true,
        (Kind::Filled, Value::Text(text)) => !text.is_empty(),
        (Kind::OneOf(texts), Value::Text(text)) => texts.contains(&&**text),
        _ => false,
    })
}
