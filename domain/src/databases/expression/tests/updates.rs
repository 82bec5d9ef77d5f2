use serde_json::json;

use super::*;
use crate::databases::{ITEM_BYTES_MAX, UpdateFaultKind};

fn becomes(text: &str, old: Value, new: Value) {
    let updated = apply(text, old).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    assert_eq!(updated, item(new), "{text}");
}

fn refused(text: &str, old: Value) -> (UpdateFaultKind, String) {
    let fault = apply(text, old).unwrap_err();
    (fault.kind, fault.path.to_string())
}

#[test]
fn set_puts_values_and_sums() {
    becomes("SET a = :n, b = :s", json!({"a": {"S": "x"}}), json!({"a": {"N": "1"}, "b": {"S": "a"}}));
    becomes("SET a = a + :two", json!({"a": {"N": "0.5"}}), json!({"a": {"N": "2.5"}}));
    becomes("SET a = :n - a", json!({"a": {"N": "0.5"}}), json!({"a": {"N": "0.5"}}));
    becomes("set #a=(:n)+(:two)", json!({}), json!({"a": {"N": "3"}}));
    becomes("SET a = (:n + :two)", json!({}), json!({"a": {"N": "3"}}));
    becomes("SET a = (b)", json!({"b": {"S": "a"}}), json!({"a": {"S": "a"}, "b": {"S": "a"}}));
    becomes("SET a = if_not_exists(a, :n) + :two", json!({}), json!({"a": {"N": "3"}}));
    becomes("SET a = if_not_exists(a, :n) + :two", json!({"a": {"N": "5"}}), json!({"a": {"N": "7"}}));
    becomes(
        "SET a = if_not_exists(x, if_not_exists(y, :s))",
        json!({"y": {"N": "5"}}),
        json!({"a": {"N": "5"}, "y": {"N": "5"}}),
    );
    becomes("SET a = list_append(if_not_exists(a, :empty), :l)", json!({}), json!({"a": {"L": [{"N": "1"}]}}));
    becomes(
        "SET a = list_append(:l, a)",
        json!({"a": {"L": [{"S": "x"}]}}),
        json!({"a": {"L": [{"N": "1"}, {"S": "x"}]}}),
    );
}

#[test]
fn all_operands_are_read_before_anything_is_written() {
    becomes(
        "SET a = b, b = a REMOVE c",
        json!({"a": {"N": "1"}, "b": {"N": "2"}, "c": {"N": "3"}}),
        json!({"a": {"N": "2"}, "b": {"N": "1"}}),
    );
    becomes(
        "REMOVE c SET a = c ADD n :n DELETE s :ss",
        json!({"c": {"S": "x"}, "s": {"SS": ["a", "b"]}}),
        json!({"a": {"S": "x"}, "n": {"N": "1"}, "s": {"SS": ["b"]}}),
    );
    becomes(
        "SET l[0] = l[1], l[1] = l[0], m.x = m.y REMOVE m.y",
        json!({"l": {"L": [{"S": "a"}, {"S": "b"}]}, "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}}}),
        json!({"l": {"L": [{"S": "b"}, {"S": "a"}]}, "m": {"M": {"x": {"N": "2"}}}}),
    );
}

#[test]
fn positions_of_lists_are_those_before_the_update() {
    let list = |entries: &[&str]| json!({"l": {"L": entries.iter().map(|it| json!({"S": it})).collect::<Vec<_>>()}});
    let four = || list(&["w", "x", "y", "z"]);
    becomes("REMOVE l[0], l[2]", four(), list(&["x", "z"]));
    becomes("REMOVE l[3], l[9]", four(), list(&["w", "x", "y"]));
    becomes("REMOVE l[0], l[1], l[2], l[3]", four(), list(&[]));
    becomes("SET l[1] = :s REMOVE l[0]", four(), list(&["a", "y", "z"]));
    // What is behind the end is added in the order of positions, whichever was named first.
    becomes("SET l[20] = l[0], l[9] = :s", four(), list(&["w", "x", "y", "z", "a", "w"]));
    // What wasn't there before the update isn't removed by it.
    becomes("SET l[7] = :s REMOVE l[4], l[1]", four(), list(&["w", "y", "z", "a"]));
    becomes("SET l[4] = :s", four(), list(&["w", "x", "y", "z", "a"]));
    becomes("ADD l[4] :n", four(), json!({"l": {"L": [{"S": "w"}, {"S": "x"}, {"S": "y"}, {"S": "z"}, {"N": "1"}]}}));
}

#[test]
fn nested_places_have_to_be_there() {
    let old = || json!({"m": {"M": {"l": {"L": [{"M": {"x": {"N": "1"}}}]}}}, "s": {"S": "x"}});
    becomes(
        "SET m.l[0].x = m.l[0].x + :n, m.#long = :s",
        old(),
        json!({"m": {"M": {"l": {"L": [{"M": {"x": {"N": "2"}}}]}, "long": {"S": "a"}}}, "s": {"S": "x"}}),
    );
    becomes("REMOVE m.gone, m.l[9]", old(), old());
    becomes("DELETE m.gone :ss", old(), old());
    for text in ["SET gone.x = :n", "SET m.l.x = :n", "SET m[0] = :n", "SET s.x = :n", "SET m.l[1].x = :n"] {
        assert_eq!(refused(text, old()).0, UpdateFaultKind::NoSuchPlace, "{text}");
    }
    assert_eq!(refused("REMOVE gone.x", old()), (UpdateFaultKind::NoSuchPlace, "[gone, x]".to_owned()));
    assert_eq!(refused("SET a = m.l[3]", old()), (UpdateFaultKind::Missing, "[m, l, [3]]".to_owned()));
    assert_eq!(refused("ADD gone.x :n", old()).0, UpdateFaultKind::NoSuchPlace);
}

#[test]
fn add_counts_and_gathers() {
    becomes("ADD a :two", json!({}), json!({"a": {"N": "2"}}));
    becomes("ADD a :two", json!({"a": {"N": "-2"}}), json!({"a": {"N": "0"}}));
    becomes(
        "ADD a :ss, b :ns",
        json!({"b": {"NS": ["1", "2"]}}),
        json!({"a": {"SS": ["a", "c"]}, "b": {"NS": ["1", "2", "3"]}}),
    );
    becomes("ADD a :bs", json!({"a": {"BS": ["Yg=="]}}), json!({"a": {"BS": ["YQ==", "Yg=="]}}));
    becomes("ADD m.x :n", json!({"m": {"M": {}}}), json!({"m": {"M": {"x": {"N": "1"}}}}));
    for (text, old) in [
        ("ADD a :n", json!({"a": {"S": "x"}})),
        ("ADD a :ss", json!({"a": {"NS": ["1"]}})),
        ("ADD a :n", json!({"a": {"NS": ["1"]}})),
        ("DELETE a :ss", json!({"a": {"NS": ["1"]}})),
        ("DELETE a :ss", json!({"a": {"S": "a"}})),
        ("SET a = a + :n", json!({"a": {"S": "a"}})),
        ("SET a = list_append(a, :l)", json!({"a": {"S": "a"}})),
    ] {
        assert_eq!(refused(text, old).0, UpdateFaultKind::WrongType, "{text}");
    }
}

#[test]
fn a_set_without_an_entry_goes() {
    becomes("DELETE a :ss", json!({"a": {"SS": ["a", "b"]}}), json!({"a": {"SS": ["b"]}}));
    becomes("DELETE a :ss", json!({"a": {"SS": ["a", "c"]}, "b": {"N": "1"}}), json!({"b": {"N": "1"}}));
    becomes("DELETE a :ss", json!({"b": {"N": "1"}}), json!({"b": {"N": "1"}}));
    becomes("DELETE l[0] :ns", json!({"l": {"L": [{"NS": ["1"]}, {"S": "x"}]}}), json!({"l": {"L": [{"S": "x"}]}}));
    becomes("DELETE a :bs", json!({"a": {"BS": ["YQ=="]}}), json!({}));
}

#[test]
fn sums_are_exact_or_refused() {
    becomes(
        "SET a = a + :n",
        json!({"a": {"N": "12345678901234567890123456789012345677"}}),
        json!({"a": {"N": "12345678901234567890123456789012345678"}}),
    );
    for text in ["SET a = :max + :max", "SET a = :long + :tiny", "SET a = :max - :n"] {
        let fault = apply(text, json!({})).unwrap_err();
        assert!(matches!(fault.kind, UpdateFaultKind::Number(_)), "{text}: {fault:?}");
    }
    let said = apply("ADD a :big", json!({"a": {"N": "9E125"}})).unwrap_err().into_error("update");
    let crate::Error::Invalid { problems } = said else { panic!("{said}") };
    assert_eq!(problems[0].message, "Numbers go up to 9.9999999999999999999999999999999999999E+125: [a].");
}

#[test]
fn a_value_lies_at_most_32_levels_deep_wherever_it_is_put() {
    let nested = |levels: usize| (1..levels).fold(json!({"N": "1"}), |value, _| json!({"L": [value]}));
    let put = |levels: usize| {
        let values = json!({":v": nested(levels)}).as_object().unwrap().clone();
        let mut substitutes = Substitutes::read(BTreeMap::new(), values).unwrap();
        let update = Update::parse("SET m.x = :v", &mut substitutes).unwrap();
        update.apply(&item(json!({"m": {"M": {}}})))
    };
    assert!(put(31).is_ok());
    assert_eq!(put(32).unwrap_err().kind, UpdateFaultKind::TooDeep);
}

#[test]
fn many_copies_of_much_are_refused_before_they_are_made() {
    let old = json!({"a": {"L": [{"S": "x".repeat(ITEM_BYTES_MAX / 2)}]}});
    assert_eq!(refused("SET b = list_append(list_append(a, a), a)", old.clone()).0, UpdateFaultKind::TooLarge);
    let many: Vec<_> = (0..200).map(|at| format!("b{at} = a")).collect();
    assert_eq!(refused(&format!("SET {}", many.join(", ")), old).0, UpdateFaultKind::TooLarge);
    let said = apply("SET b = list_append(a, a)", json!({"a": {"L": [{"S": "x".repeat(300_000)}]}}));
    assert_eq!(said.unwrap_err().into_error("update").status(), 413);
}
