//! Expressions of databases: what is read prints and reads as the same tree, and does to an item what it says.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::databases::{
    Action, ActionKind, AttributeValue, Condition, DocumentPath, ExpressionFault, Item, PathStep, SetOperand, SetValue,
    Substitutes, Term, Update,
};

/// Expressions, and the item that they are about.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    update: String,
    condition: String,
    names: BTreeMap<String, String>,
    values: Map<String, Value>,
    item: Value,
}

/// JSON of all that.
pub fn expressions(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    let Ok(mut substitutes) = Substitutes::read(asked.names, asked.values) else { return };
    let item = Item::read("item", asked.item).unwrap_or_default();
    match Condition::parse(&asked.condition, &mut substitutes) {
        Ok(condition) => condition_holds(&condition, &item),
        Err(fault) => fault_holds(&fault, &asked.condition),
    }
    match Update::parse(&asked.update, &mut substitutes) {
        Ok(update) => update_holds(&update, &item),
        Err(fault) => fault_holds(&fault, &asked.update),
    }
    let _used = substitutes.used_check();
}

fn fault_holds(fault: &ExpressionFault, text: &str) {
    let end = text.chars().count() + 1;
    assert!(fault.character.is_none_or(|character| (1..=end).contains(&character)), "{fault:?}");
    assert!(!fault.kind.to_string().is_empty());
}

fn condition_holds(condition: &Condition, item: &Item) {
    let printed = Printed::condition(condition);
    assert_eq!(printed.parse(Condition::parse).as_ref(), Some(condition), "{}", printed.text);
    let denied = Condition::Not(Box::new(condition.clone()));
    assert_ne!(denied.holds(item), condition.holds(item));
    for joined in [Condition::All, Condition::Any] {
        assert_eq!(joined(vec![condition.clone(); 2]).holds(item), condition.holds(item));
    }
}

fn update_holds(update: &Update, item: &Item) {
    let printed = Printed::update(update);
    assert_eq!(printed.parse(Update::parse).as_ref(), Some(update), "{}", printed.text);
    let Ok(updated) = update.apply(item) else { return };
    let again = Item::from_text(&updated.to_text()).expect("what is kept can be read");
    assert_eq!(again, updated);
    let roots: Vec<&str> = update.actions().iter().map(|action| action.path.root()).collect();
    let rest = |item: &Item| item.attributes().filter(|(name, _)| !roots.contains(name)).count();
    assert_eq!(rest(&updated), rest(item), "others stay");
    for (name, value) in item.attributes().filter(|(name, _)| !roots.contains(name)) {
        assert_eq!(updated.get(name), Some(value));
    }
    for action in update.actions().iter().filter(|action| action.path.steps().len() == 1) {
        let found = updated.get(action.path.root());
        match &action.kind {
            ActionKind::Set(_) | ActionKind::Add(_) => assert!(found.is_some()),
            ActionKind::Remove => assert!(found.is_none()),
            ActionKind::Delete(_) => assert!(found.is_none() || item.get(action.path.root()).is_some()),
        }
    }
}

/// An expression as text, with placeholders for all names and values.
#[derive(Default)]
pub(crate) struct Printed {
    pub text: String,
    names: BTreeMap<String, String>,
    values: Map<String, Value>,
}

impl Printed {
    pub fn condition(condition: &Condition) -> Self {
        let mut printed = Self::default();
        printed.text = printed.print(condition);
        printed
    }

    pub fn update(update: &Update) -> Self {
        let mut printed = Self::default();
        // Each section is there once.
        let sections: Vec<_> = update
            .actions()
            .chunk_by(|one, next| section_of(one) == section_of(next))
            .map(|actions| {
                let listed: Vec<_> = actions.iter().map(|action| printed.action(action)).collect();
                format!("{} {}", actions.first().map(section_of).unwrap_or_default(), listed.join(", "))
            })
            .collect();
        printed.text = sections.join(" ");
        printed
    }

    /// The tree that the text is read as.
    pub fn parse<T>(&self, parse: fn(&str, &mut Substitutes) -> Result<T, ExpressionFault>) -> Option<T> {
        let mut substitutes = Substitutes::read(self.names.clone(), self.values.clone()).ok()?;
        let tree = parse(&self.text, &mut substitutes).ok()?;
        substitutes.used_check().ok().map(|()| tree)
    }

    fn name(&mut self, name: &str) -> String {
        let placeholder = format!("#{}", self.names.len());
        self.names.insert(placeholder.clone(), name.to_owned());
        placeholder
    }

    fn value(&mut self, value: &AttributeValue) -> String {
        let placeholder = format!(":{}", self.values.len());
        self.values.insert(placeholder.clone(), serde_json::to_value(value).expect("JSON"));
        placeholder
    }

    fn path(&mut self, path: &DocumentPath) -> String {
        let step = |(place, step): (usize, &PathStep)| match step {
            PathStep::Name(name) if place == 0 => self.name(name),
            PathStep::Name(name) => format!(".{}", self.name(name)),
            PathStep::Index(place) => format!("[{place}]"),
        };
        path.steps().iter().enumerate().map(step).collect()
    }

    fn term(&mut self, term: &Term) -> String {
        match term {
            Term::Path(path) => self.path(path),
            Term::Value(value) => self.value(value),
            Term::Size(of) => format!("size({})", self.term(of)),
        }
    }

    fn print(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::All(all) => all.iter().map(|one| self.inner(one)).collect::<Vec<_>>().join(" AND "),
            Condition::Any(any) => any
                .iter()
                .map(|one| if matches!(one, Condition::All(_)) { self.print(one) } else { self.inner(one) })
                .collect::<Vec<_>>()
                .join(" OR "),
            Condition::Not(condition) => format!("NOT {}", self.inner(condition)),
            Condition::Compare { left, comparator, right } => {
                format!("{} {comparator} {}", self.term(left), self.term(right))
            }
            Condition::Between(terms) => {
                let [term, lower, upper] = terms.each_ref().map(|term| self.term(term));
                format!("{term} BETWEEN {lower} AND {upper}")
            }
            Condition::In { term, among } => {
                let among: Vec<_> = among.iter().map(|term| self.term(term)).collect();
                format!("{} IN ({})", self.term(term), among.join(","))
            }
            Condition::Exists(path) => format!("attribute_exists({})", self.path(path)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.path(path)),
            Condition::HasType { term, type_name } => {
                let type_name = self.value(&AttributeValue::String((*type_name).to_owned()));
                format!("attribute_type({}, {type_name})", self.term(term))
            }
            Condition::BeginsWith { term, prefix } => {
                format!("begins_with({}, {})", self.term(term), self.term(prefix))
            }
            Condition::Contains { term, part } => format!("contains({}, {})", self.term(term), self.term(part)),
        }
    }

    fn inner(&mut self, condition: &Condition) -> String {
        let printed = self.print(condition);
        if matches!(condition, Condition::All(_) | Condition::Any(_)) { format!("({printed})") } else { printed }
    }

    fn action(&mut self, action: &Action) -> String {
        let path = self.path(&action.path);
        match &action.kind {
            ActionKind::Set(SetValue::Operand(operand)) => format!("{path} = {}", self.operand(operand)),
            ActionKind::Set(SetValue::Sum(one, other)) => {
                format!("{path} = {} + {}", self.operand(one), self.operand(other))
            }
            ActionKind::Set(SetValue::Difference(one, other)) => {
                format!("{path} = {} - {}", self.operand(one), self.operand(other))
            }
            ActionKind::Remove => path,
            ActionKind::Add(value) | ActionKind::Delete(value) => format!("{path} {}", self.value(value)),
        }
    }

    fn operand(&mut self, operand: &SetOperand) -> String {
        match operand {
            SetOperand::Path(path) => self.path(path),
            SetOperand::Value(value) => self.value(value),
            SetOperand::IfNotExists { path, otherwise } => {
                format!("if_not_exists({}, {})", self.path(path), self.operand(otherwise))
            }
            SetOperand::ListAppend(lists) => {
                let [first, second] = lists.each_ref().map(|list| self.operand(list));
                format!("list_append({first}, {second})")
            }
        }
    }
}

fn section_of(action: &Action) -> &'static str {
    match action.kind {
        ActionKind::Set(_) => "SET",
        ActionKind::Remove => "REMOVE",
        ActionKind::Add(_) => "ADD",
        ActionKind::Delete(_) => "DELETE",
    }
}
