use serde_json::json;

use super::*;

#[test]
fn operators_hold_where_dynamodb_has_them_hold() {
    let of = json!({
        "n": {"N": "1.0"}, "s": {"S": "abc"}, "b": {"B": "YWJj"}, "l": {"L": [{"N": "1"}, {"M": {"x": {"S": "a"}}}]},
        "m": {"M": {"x": {"N": "2"}, "y.z": {"S": "a"}}}, "t": {"BOOL": true}, "nothing": {"NULL": true},
        "ss": {"SS": ["c", "a"]}, "é": {"S": "é"}
    });
    for (text, expected) in [
        ("n = :n", true),
        ("n <> :n", false),
        ("n = :s", false),
        ("n <> :s", true),
        ("gone = :n", false),
        ("gone <> :n", true),
        ("gone = more", false),
        ("n < :two AND n <= :n AND :two > n AND n >= :n", true),
        ("n < :s", false),
        ("n > :s", false),
        ("gone < :n", false),
        ("gone >= :n", false),
        ("s > :ab", true),
        ("b > :b", true),
        ("ss = :ss", true),
        ("ss < n", false),
        ("n BETWEEN :n AND :two", true),
        ("m.x BETWEEN :n AND :two", true),
        ("s BETWEEN :n AND :two", false),
        (":two BETWEEN n AND m.x", true),
        ("n IN (:s, :two, :n)", true),
        ("gone IN (:s, more)", false),
        ("attribute_exists(nothing) AND attribute_exists(l[1].x) AND attribute_exists(m.x)", true),
        ("attribute_exists(l[2])", false),
        ("attribute_exists(l.x)", false),
        ("attribute_exists(m[0])", false),
        ("attribute_exists(s.x)", false),
        ("attribute_not_exists(gone) AND attribute_not_exists(l[9])", true),
        ("attribute_type(s, :S)", true),
        ("attribute_type(ss, :S)", false),
        ("attribute_type(ss, :SS)", true),
        ("attribute_type(gone, :SS)", false),
        ("begins_with(s, :ab) AND begins_with(b, :b)", true),
        ("begins_with(b, :ab)", false),
        ("begins_with(gone, :ab)", false),
        ("begins_with(n, :ab)", false),
        ("contains(s, :ab) AND contains(ss, :s) AND contains(l, :n) AND contains(b, :b)", true),
        ("contains(n, :n)", false),
        ("contains(gone, :n)", false),
        ("contains(:ss, m.x)", false),
        ("size(l) = :two AND size(ss) = :two AND size(m) = :two", true),
        ("size(n) = :n", false),
        ("size(t) >= :n", false),
        ("size(gone) = :n", false),
        ("size(gone) <> :n", true),
        ("size(#long) > :n", false),
    ] {
        assert_eq!(holds(text, of.clone()), expected, "{text}");
    }
    assert!(holds("size(#a) = :two", json!({"a": {"S": "é"}})), "bytes, not characters");
}

#[test]
fn not_goes_before_and_and_that_before_or() {
    let exists =
        |name: &str| Condition::parse(&format!("attribute_exists({name})"), &mut Substitutes::default()).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(exists);
    let parse = |text: &str| {
        let whole = ["a", "b", "c"].into_iter().fold(text.to_owned(), |text, name| {
            text.replace(&format!("<{name}>"), &format!("attribute_exists({name})"))
        });
        condition(&whole).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
    };
    let all = |conditions: &[&Condition]| Condition::All(conditions.iter().copied().cloned().collect());
    let any = |conditions: &[&Condition]| Condition::Any(conditions.iter().copied().cloned().collect());
    let not = |condition: &Condition| Condition::Not(Box::new(condition.clone()));
    assert_eq!(parse("<a> OR <b> AND <c>"), any(&[&a, &all(&[&b, &c])]));
    assert_eq!(parse("<a> AND <b> OR <c>"), any(&[&all(&[&a, &b]), &c]));
    assert_eq!(parse("(<a> OR <b>) AND <c>"), all(&[&any(&[&a, &b]), &c]));
    assert_eq!(parse("NOT <a> AND <b>"), all(&[&not(&a), &b]));
    assert_eq!(parse("NOT (<a> AND <b>)"), not(&all(&[&a, &b])));
    assert_eq!(parse("not NoT <a>"), not(&not(&a)));
    assert_eq!(parse("<a> and <b> aNd <c>"), all(&[&a, &b, &c]));
    assert_eq!(parse("((<a> OR <b>) AND <c>)"), all(&[&any(&[&a, &b]), &c]));
    // The AND of BETWEEN is its own.
    let between = condition("x BETWEEN :n AND :two AND attribute_exists(c)").unwrap();
    assert!(matches!(between, Condition::All(all) if matches!(all[..], [Condition::Between(_), Condition::Exists(_)])));
}

#[test]
fn an_operand_may_stand_in_parentheses() {
    let plain = condition("a = :n AND b BETWEEN :n AND :two AND c IN (:n, d) AND size(e) < :n").unwrap();
    let text = "(a) = (:n) AND ( b ) BETWEEN (:n) AND (:two) AND (c) IN ((:n), (d)) AND (size((e))) < :n";
    assert_eq!(condition(text), Ok(plain));
}

#[test]
fn an_item_that_is_not_there_has_no_attributes() {
    assert!(holds("attribute_not_exists(id)", json!({})));
    assert!(!holds("attribute_exists(id) OR id = :n", json!({})));
    assert!(holds("id <> :n", json!({})));
}
