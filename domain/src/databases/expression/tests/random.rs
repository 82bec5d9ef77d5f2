use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{
    databases::{
        Action, ActionKind, AttributeValue, Comparator, DocumentPath, PathStep, SetOperand, SetValue, Term,
        item::tests::any_item,
        value::tests::{any_scalar, any_value},
    },
    fuzzing::expressions::Printed,
};

fn any_path() -> impl Strategy<Value = DocumentPath> + Clone {
    let step = prop_oneof![
        "[a-dé]{1,2}".prop_map(|name| PathStep::Name(name.into())),
        (0_usize..4).prop_map(PathStep::Index),
    ];
    ("[a-dé]{1,2}", proptest::collection::vec(step, 0..3)).prop_map(|(root, steps)| {
        let mut path = DocumentPath::new(root.into());
        for step in steps {
            path.push(step);
        }
        path
    })
}

/// A term that nothing is known of beforehand, so that it can stand anywhere.
fn any_term() -> impl Strategy<Value = Term> {
    let path = any_path().prop_map(Term::Path);
    prop_oneof![path.clone(), path.prop_map(|path| Term::Size(Box::new(path)))]
}

fn any_comparison() -> impl Strategy<Value = Condition> {
    let value = prop_oneof![any_value(), any_scalar()].prop_map(|value| Term::Value(Arc::new(value)));
    let text = "[ab]{0,2}".prop_map(|text| Term::Value(Arc::new(AttributeValue::String(text))));
    let equal = prop_oneof![Just(Comparator::Equal), Just(Comparator::NotEqual)];
    let any = proptest::sample::select(Comparator::ALL);
    prop_oneof![
        (any_term(), equal, value.clone()).prop_map(|(left, comparator, right)| Condition::Compare {
            left,
            comparator,
            right
        }),
        (any_term(), any, text.clone()).prop_map(|(left, comparator, right)| Condition::Compare {
            left,
            comparator,
            right
        }),
        [any_term(), any_term(), any_term()].prop_map(|terms| Condition::Between(Box::new(terms))),
        (any_term(), proptest::collection::vec(value.clone(), 1..4))
            .prop_map(|(term, among)| Condition::In { term, among }),
        any_path().prop_map(Condition::Exists),
        any_path().prop_map(Condition::NotExists),
        (any_path(), proptest::sample::select(AttributeValue::TYPE_NAMES.to_vec()))
            .prop_map(|(path, type_name)| Condition::HasType { term: Term::Path(path), type_name }),
        (any_path(), text).prop_map(|(path, prefix)| Condition::BeginsWith { term: Term::Path(path), prefix }),
        (any_path(), value).prop_map(|(path, part)| Condition::Contains { term: Term::Path(path), part }),
    ]
}

fn any_condition() -> impl Strategy<Value = Condition> {
    any_comparison().prop_recursive(4, 24, 3, |inner| {
        let some = proptest::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            some.clone().prop_map(Condition::All),
            some.prop_map(Condition::Any),
            inner.prop_map(|condition| Condition::Not(Box::new(condition))),
        ]
    })
}

fn any_operand() -> impl Strategy<Value = SetOperand> {
    let value = any_value().prop_map(|value| SetOperand::Value(Arc::new(value)));
    let one = prop_oneof![any_path().prop_map(SetOperand::Path), value];
    let path = any_path().prop_map(SetOperand::Path);
    prop_oneof![
        one.clone(),
        (any_path(), one)
            .prop_map(|(path, otherwise)| SetOperand::IfNotExists { path, otherwise: Box::new(otherwise) }),
        [path.clone(), path].prop_map(|lists| SetOperand::ListAppend(Box::new(lists))),
    ]
}

fn any_action() -> impl Strategy<Value = Action> {
    let set = prop_oneof![
        any_operand().prop_map(SetValue::Operand),
        (any_path(), any_path()).prop_map(|(one, other)| SetValue::Sum(SetOperand::Path(one), SetOperand::Path(other))),
        (any_path(), any_path())
            .prop_map(|(one, other)| SetValue::Difference(SetOperand::Path(one), SetOperand::Path(other))),
    ];
    let gathered = prop_oneof![
        (0_u32..9).prop_map(|number| AttributeValue::Number(number.into())),
        proptest::collection::btree_set("[ab]", 1..3).prop_map(AttributeValue::StringSet),
    ];
    let taken = proptest::collection::btree_set("[ab]", 1..3).prop_map(AttributeValue::StringSet);
    let kind = prop_oneof![
        set.prop_map(ActionKind::Set),
        Just(ActionKind::Remove),
        gathered.prop_map(|value| ActionKind::Add(Arc::new(value))),
        taken.prop_map(|value| ActionKind::Delete(Arc::new(value))),
    ];
    (any_path(), kind).prop_map(|(path, kind)| Action { path, kind })
}

/// Those of some actions that are not in each other's way, section by section as a text has them.
fn any_update() -> impl Strategy<Value = Update> {
    proptest::collection::vec(any_action(), 1..6).prop_map(|mut actions| {
        actions.sort_by_key(|action| match action.kind {
            ActionKind::Set(_) => 0,
            ActionKind::Remove => 1,
            ActionKind::Add(_) => 2,
            ActionKind::Delete(_) => 3,
        });
        let mut update = Update::default();
        for action in actions {
            let _clash = update.push(action);
        }
        update
    })
}

proptest! {
    #[test]
    fn a_condition_prints_and_reads_as_itself(condition in any_condition()) {
        let printed = Printed::condition(&condition);
        // Whoever compares a path with itself is refused.
        if let Some(read) = printed.parse(Condition::parse) {
            prop_assert_eq!(read, condition, "{}", printed.text);
        } else {
            let mut unknown = Substitutes::default();
            prop_assert!(Condition::parse(&printed.text, &mut unknown).is_err());
        }
    }

    #[test]
    fn conditions_are_joined_as_logic_has_it(one in any_condition(), other in any_condition(), item in any_item()) {
        let not = |condition: &Condition| Condition::Not(Box::new(condition.clone()));
        let (both, any) = (vec![one.clone(), other.clone()], vec![one.clone(), other.clone()]);
        prop_assert_eq!(Condition::All(both.clone()).holds(&item), one.holds(&item) && other.holds(&item));
        prop_assert_eq!(Condition::Any(any).holds(&item), one.holds(&item) || other.holds(&item));
        let denied = Condition::Any(vec![not(&one), not(&other)]);
        prop_assert_eq!(not(&Condition::All(both)).holds(&item), denied.holds(&item));
    }

    #[test]
    fn an_update_prints_and_reads_as_itself(update in any_update()) {
        let printed = Printed::update(&update);
        if let Some(read) = printed.parse(Update::parse) {
            prop_assert_eq!(read, update, "{}", printed.text);
        }
    }

    #[test]
    fn an_update_changes_what_it_names_and_nothing_else(update in any_update(), item in any_item()) {
        let Ok(updated) = update.apply(&item) else { return Ok(()) };
        let names = |name: &str| update.actions().iter().any(|action| action.path.root() == name);
        let rest = |item: &Item| {
            item.attributes().filter(|(name, _)| !names(name)).map(|(name, value)| (name.to_owned(), value.clone())).collect::<Item>()
        };
        prop_assert_eq!(rest(&updated), rest(&item));
        for action in update.actions() {
            let in_a_list = action.path.steps().iter().any(|step| matches!(step, PathStep::Index(_)));
            let (was, is) = (action.path.find(&item), action.path.find(&updated));
            match &action.kind {
                _ if in_a_list => {}
                ActionKind::Remove => prop_assert_eq!(is, None),
                ActionKind::Set(SetValue::Operand(SetOperand::Value(value))) => prop_assert_eq!(is, Some(&**value)),
                ActionKind::Set(SetValue::Operand(SetOperand::Path(from))) => prop_assert_eq!(is, from.find(&item)),
                ActionKind::Set(_) => prop_assert!(is.is_some()),
                ActionKind::Add(value) if was.is_none() => prop_assert_eq!(is, Some(&**value)),
                ActionKind::Add(_) => prop_assert!(is.is_some()),
                ActionKind::Delete(_) => prop_assert!(is.is_none() || was.is_some()),
            }
        }
        // Done once more, what removes and what sets to values changes nothing.
        let is_settled = |action: &Action| {
            use ActionKind::{Delete, Remove, Set};
            matches!(action.kind, Set(SetValue::Operand(SetOperand::Value(_))) | Remove | Delete(_))
        };
        let has_lists = update.actions().iter().any(|it| it.path.steps().iter().any(|step| matches!(step, PathStep::Index(_))));
        if !has_lists && update.actions().iter().all(is_settled) {
            prop_assert_eq!(update.apply(&updated), Ok(updated));
        }
    }
}
