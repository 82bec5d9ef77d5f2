use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    databases::{
        item::tests::{any_item, item},
        value::tests::{any_scalar, any_value, value},
    },
    error::Error,
};

pub(in crate::databases) fn filter(attribute: &str, op: FilterOp, given: Option<Value>) -> Filter {
    Filter { attribute: attribute.to_owned(), op, value: given.map(value), value2: None }
}

fn holds(op: FilterOp, attribute: &Value, given: &Value) -> bool {
    let item = item(json!({"a": attribute}));
    filter("a", op, Some(given.clone())).holds(&item)
}

#[test]
fn each_operator_holds_where_the_table_says() {
    use FilterOp::{BeginsWith, Contains, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    for (op, attribute, given, expected) in [
        (Equal, json!({"N": "1.0"}), json!({"N": "1"}), true),
        (Equal, json!({"SS": ["a", "b"]}), json!({"SS": ["b", "a"]}), true),
        (Equal, json!({"L": [{"N": "1"}]}), json!({"L": [{"N": "1.0"}]}), true),
        (Equal, json!({"N": "1"}), json!({"S": "1"}), false),
        (NotEqual, json!({"N": "1"}), json!({"S": "1"}), true),
        (NotEqual, json!({"N": "1"}), json!({"N": "1"}), false),
        (Less, json!({"N": "9"}), json!({"N": "10"}), true),
        (Less, json!({"S": "9"}), json!({"S": "10"}), false),
        (Less, json!({"S": "9"}), json!({"N": "10"}), false),
        (LessOrEqual, json!({"B": "AQ=="}), json!({"B": "AQ=="}), true),
        (Greater, json!({"B": "gA=="}), json!({"B": "fw=="}), true),
        (GreaterOrEqual, json!({"BOOL": true}), json!({"BOOL": true}), false),
        (BeginsWith, json!({"S": "abc"}), json!({"S": "ab"}), true),
        (BeginsWith, json!({"N": "12"}), json!({"N": "1"}), false),
        (Contains, json!({"NS": ["1", "2"]}), json!({"N": "2.0"}), true),
        (Contains, json!({"S": "abc"}), json!({"S": "d"}), false),
    ] {
        assert_eq!(holds(op, &attribute, &given), expected, "{attribute} {op} {given}");
    }
}

#[test]
fn an_attribute_that_is_not_there_is_unequal_and_nothing_else() {
    let empty = item(json!({}));
    let found: Vec<_> = FilterOp::ALL
        .iter()
        .filter(|op| {
            let one = Some(value(json!({"S": "a"})));
            Filter { attribute: "a".to_owned(), op: **op, value: one.clone(), value2: one }.holds(&empty)
        })
        .collect();
    assert_eq!(found, [&FilterOp::NotEqual, &FilterOp::NotExists]);
    assert!(filter("a", FilterOp::Exists, None).holds(&item(json!({"a": {"NULL": true}}))));
}

#[test]
fn between_has_both_its_ends_in_it() {
    let between = |low: &str, high: &str| {
        let value2 = Some(value(json!({"N": high})));
        let filter = Filter { value2, ..filter("a", FilterOp::Between, Some(json!({"N": low}))) };
        filter.holds(&item(json!({"a": {"N": "5"}})))
    };
    assert_eq!(
        [("5", "5"), ("4", "5"), ("5", "6"), ("6", "7"), ("6", "4")].map(|(low, high)| between(low, high)),
        [true, true, true, false, false]
    );
}

#[test]
fn filters_have_their_values_and_their_limit() {
    let refused = |filters: Vec<Filter>| Filters::check(filters, FilterMatch::All).unwrap_err();
    for op in [FilterOp::Equal, FilterOp::Contains, FilterOp::Between] {
        assert_eq!(refused(vec![filter("a", op, None)]).to_string(), "A condition is missing its value.");
    }
    let half = filter("a", FilterOp::Between, Some(json!({"N": "1"})));
    assert_eq!(refused(vec![half]).code(), "condition_value_missing");
    let exists = filter("a", FilterOp::Exists, None);
    assert!(Filters::check(vec![exists.clone(); FILTERS_MAX], FilterMatch::Any).is_ok());
    assert!(matches!(refused(vec![exists; FILTERS_MAX + 1]), Error::Invalid { .. }));
    for (name, passes) in [("", false), ("a\u{7}", false), (&*"é".repeat(255), true), (&*"é".repeat(256), false)] {
        let filters = Filters::check(vec![filter(name, FilterOp::Exists, None)], FilterMatch::All);
        assert_eq!(filters.is_ok(), passes, "{name}");
        assert_eq!(projection_check(vec![name.to_owned()]).is_ok(), passes);
    }
    assert!(projection_check(vec!["a".to_owned(); PROJECTION_MAX]).is_ok());
    assert!(projection_check(vec!["a".to_owned(); PROJECTION_MAX + 1]).is_err());
}

#[test]
fn filters_are_joined_as_asked() {
    let both = || vec![filter("a", FilterOp::Exists, None), filter("b", FilterOp::Exists, None)];
    let one = item(json!({"a": {"S": ""}}));
    assert!(!Filters::check(both(), FilterMatch::All).unwrap().hold(&one));
    assert!(Filters::check(both(), FilterMatch::Any).unwrap().hold(&one));
    assert!(!Filters::check(both(), FilterMatch::Any).unwrap().hold(&item(json!({}))));
    for matching in [FilterMatch::All, FilterMatch::Any] {
        assert!(Filters::check(Vec::new(), matching).unwrap().hold(&one));
    }
    assert!(Filters::none().hold(&one));
}

proptest! {
    #[test]
    fn operators_agree_with_one_another(item in any_item(), given in prop_oneof![any_value(), any_scalar()]) {
        let holds = |op: FilterOp| {
            let filter = Filter { attribute: "a".to_owned(), op, value: Some(given.clone()), value2: Some(given.clone()) };
            filter.holds(&item)
        };
        prop_assert!(holds(FilterOp::Equal) != holds(FilterOp::NotEqual));
        prop_assert!(holds(FilterOp::Exists) != holds(FilterOp::NotExists));
        let (less, greater) = (holds(FilterOp::Less), holds(FilterOp::Greater));
        let (up_to, from) = (holds(FilterOp::LessOrEqual), holds(FilterOp::GreaterOrEqual));
        prop_assert!(!(less && greater));
        prop_assert_eq!(up_to || from, less || greater || (up_to && from));
        prop_assert_eq!(up_to && from, holds(FilterOp::Between));
        // Where two values have an order, they are equal or one of them is the greater.
        prop_assert!(!(up_to && from) || holds(FilterOp::Equal));
    }

    #[test]
    fn filters_are_joined_as_and_and_or(item in any_item(), names in proptest::collection::vec("[a-d]", 1..4)) {
        let filters: Vec<_> = names.iter().map(|name| filter(name, FilterOp::Exists, None)).collect();
        let joined = |matching| Filters::check(filters.clone(), matching).unwrap().hold(&item);
        prop_assert_eq!(joined(FilterMatch::All), filters.iter().all(|filter| filter.holds(&item)));
        prop_assert_eq!(joined(FilterMatch::Any), filters.iter().any(|filter| filter.holds(&item)));
    }
}
