use serde_json::json;

use super::*;
use crate::databases::{
    EXPRESSION_BYTES_MAX, EXPRESSION_LEVELS_MAX, IN_OPERANDS_MAX, OPERATORS_MAX, PLACEHOLDER_BYTES_MAX,
};

fn said(refused: &ExpressionFault) -> String {
    let character = refused.character.map_or_else(String::new, |character| format!("{character}: "));
    format!("{character}{}", refused.kind)
}

fn of_condition(text: &str) -> String {
    said(&condition(text).expect_err(text))
}

fn of_update(text: &str) -> String {
    said(&update(text).expect_err(text))
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (text, expected) in [
        ("", "The expression can not be empty;"),
        (" \n", "The expression can not be empty;"),
        ("a", "2: Syntax error; token: \"<EOF>\", near: \"a\""),
        ("a =", "4: Syntax error; token: \"<EOF>\", near: \"=\""),
        ("a = = b", "5: Syntax error; token: \"=\", near: \"= = b\""),
        ("a = b c", "7: Syntax error; token: \"c\", near: \"b c\""),
        ("a AND b = c", "3: Syntax error; token: \"AND\", near: \"a AND b\""),
        ("(a = :n", "8: Syntax error; token: \"<EOF>\", near: \":n\""),
        ("a = :n)", "7: Syntax error; token: \")\", near: \":n)\""),
        ("é = :n", "1: Syntax error; token: \"é\", near: \"é =\""),
        ("#é = :n", "1: Syntax error; token: \"#\", near: \"#é\""),
        ("a[x] = :n", "3: Syntax error; token: \"x\", near: \"[x]\""),
        ("a[-1] = :n", "3: Syntax error; token: \"-\", near: \"[-1\""),
        ("a. = :n", "4: Syntax error; token: \"=\", near: \". = :n\""),
        ("a BETWEEN :n", "13: Syntax error; token: \"<EOF>\", near: \":n\""),
        ("a IN ()", "7: Syntax error; token: \")\", near: \"()\""),
        ("a IN :n", "6: Syntax error; token: \":n\", near: \"IN :n\""),
        ("NOT a", "6: Syntax error; token: \"<EOF>\", near: \"a\""),
        ("NOT", "4: Syntax error; token: \"<EOF>\", near: \"NOT\""),
        ("attribute_exists()", "18: Syntax error; token: \")\", near: \"()\""),
        ("(a = :n) = :t", "10: Syntax error; token: \"=\", near: \") = :t\""),
        ("1a = :n", "1: Syntax error; token: \"1\", near: \"1a\""),
        ("and = :n", "1: Syntax error; token: \"and\", near: \"and =\""),
    ] {
        assert_eq!(of_condition(text), expected, "{text}");
    }
    for (text, expected) in [
        ("", "The expression can not be empty;"),
        ("a = :n", "1: Syntax error; token: \"a\", near: \"a =\""),
        ("SET", "4: Syntax error; token: \"<EOF>\", near: \"SET\""),
        ("SET a", "6: Syntax error; token: \"<EOF>\", near: \"a\""),
        ("SET a = :n,", "12: Syntax error; token: \"<EOF>\", near: \",\""),
        ("SET a = :n + :n + :n", "17: Syntax error; token: \"+\", near: \":n + :n\""),
        ("SET a = :n REMOVE", "18: Syntax error; token: \"<EOF>\", near: \"REMOVE\""),
        ("ADD a b", "7: Syntax error; token: \"b\", near: \"a b\""),
        ("ADD a = :n", "7: Syntax error; token: \"=\", near: \"a = :n\""),
        ("DELETE a", "9: Syntax error; token: \"<EOF>\", near: \"a\""),
        ("REMOVE a = :n", "10: Syntax error; token: \"=\", near: \"a = :n\""),
        ("SET set = :n", "5: Syntax error; token: \"set\", near: \"SET set =\""),
    ] {
        assert_eq!(of_update(text), expected, "{text}");
    }
}

#[test]
fn names_values_and_functions_that_a_condition_has_no_use_for_are_refused() {
    for (text, expected) in [
        ("name = :n", "1: Attribute name is a reserved keyword; reserved keyword: name"),
        ("a.Status = :n", "3: Attribute name is a reserved keyword; reserved keyword: Status"),
        ("#x = :n", "1: An expression attribute name used in the document path is not defined; attribute name: #x"),
        ("a = :x", "5: An expression attribute value used in expression is not defined; attribute value: :x"),
        ("exists(a)", "1: Invalid function name; function: exists"),
        ("Attribute_exists(a)", "1: Invalid function name; function: Attribute_exists"),
        ("a = list_append(a, b)", "5: The function is not allowed in a condition expression; function: list_append"),
        ("if_not_exists(a, b)", "1: The function is not allowed in a condition expression; function: if_not_exists"),
        (
            "a = contains(b, c)",
            "5: The function is not allowed to be used this way in an expression; function: contains",
        ),
        (
            "contains(contains(b, c), a)",
            "10: The function is not allowed to be used this way in an expression; function: contains",
        ),
        ("size(a)", "8: The function is not allowed to be used this way in an expression; function: size"),
        ("size(a) OR b = c", "9: The function is not allowed to be used this way in an expression; function: size"),
        (
            "attribute_exists(a, b)",
            "1: Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2",
        ),
        (
            "begins_with(a)",
            "1: Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1",
        ),
        (
            "size(a, b) = c",
            "1: Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
        ),
        (
            "attribute_exists(:n)",
            "1: Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "attribute_not_exists(size(a))",
            "1: Operator or function requires a document path; operator or function: attribute_not_exists",
        ),
    ] {
        assert_eq!(of_condition(text), expected, "{text}");
    }
}

#[test]
fn operands_that_mean_nothing_to_an_operator_are_refused() {
    for (text, expected) in [
        (
            "begins_with(a, :n)",
            "1: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
        ),
        (
            "begins_with(:ss, a)",
            "1: Incorrect operand type for operator or function; operator or function: begins_with, operand type: SS",
        ),
        (
            "attribute_type(a, :n)",
            "1: Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N",
        ),
        (
            "attribute_type(a, b)",
            "1: Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
        ),
        (
            "attribute_type(a, :none)",
            "1: Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        ),
        (
            "size(:n) = a",
            "1: Incorrect operand type for operator or function; operator or function: size, operand type: N",
        ),
        ("a < :t", "3: Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"),
        (":l >= a", "4: Incorrect operand type for operator or function; operator or function: >=, operand type: L"),
        (
            "a BETWEEN :ss AND :ss",
            "3: Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: SS",
        ),
        (
            "a BETWEEN :s AND :n",
            "3: The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}",
        ),
        (
            "a BETWEEN :two AND :n",
            "3: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
        ),
        (
            "a = #a",
            "3: The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]",
        ),
        (
            "contains(a[1].b, a[1].#b)",
            "1: The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a, [1], b]",
        ),
        (
            "a IN (a)",
            "3: The first operand must be distinct from the remaining operands for this operator or function; operator: IN, first operand: [a]",
        ),
        ("((a = :n))", "1: The expression has redundant parentheses;"),
        ("((a)) = :n", "1: The expression has redundant parentheses;"),
        ("a = ((:n))", "5: The expression has redundant parentheses;"),
        ("a[2147483648] = :n", "3: List index is not within the allowable range; index: [2147483648]"),
        // A fault of the syntax goes first, wherever it is.
        ("name = :x = ", "11: Syntax error; token: \"=\", near: \":x = \""),
    ] {
        assert_eq!(of_condition(text), expected, "{text}");
    }
    for text in
        ["a = :t", "a <> :l", "a IN (:t, :l)", "contains(a, :m)", "a[2147483647] = :n", "size(:s) = a", "a IN (a, b)"]
    {
        assert!(condition(text).is_ok(), "{text}");
    }
}

#[test]
fn what_means_nothing_in_an_update_is_refused() {
    for (text, expected) in [
        ("SET a = name", "9: Attribute name is a reserved keyword; reserved keyword: name"),
        ("REMOVE #x", "8: An expression attribute name used in the document path is not defined; attribute name: #x"),
        ("ADD a :x", "7: An expression attribute value used in expression is not defined; attribute value: :x"),
        ("SET a = f(b)", "9: Invalid function name; function: f"),
        ("SET a = size(b)", "9: The function is not allowed in an update expression; function: size"),
        (
            "SET a = if_not_exists(b)",
            "9: Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1",
        ),
        (
            "SET a = if_not_exists(:n, b)",
            "9: Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET a = list_append(a, :n)",
            "9: Incorrect operand type for operator or function; operator or function: list_append, operand type: N",
        ),
        (
            "SET a = a + :s",
            "11: Incorrect operand type for operator or function; operator or function: +, operand type: S",
        ),
        (
            "SET a = :l - b",
            "12: Incorrect operand type for operator or function; operator or function: -, operand type: L",
        ),
        ("ADD a :s", "7: Incorrect operand type for operator or function; operator: ADD, operand type: STRING"),
        ("ADD a :l", "7: Incorrect operand type for operator or function; operator: ADD, operand type: LIST"),
        ("DELETE a :n", "10: Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER"),
        ("SET a = :n SET b = :n", "12: The \"SET\" section can only be used once in an update expression;"),
        ("remove a Remove b", "10: The \"REMOVE\" section can only be used once in an update expression;"),
        ("SET a = ((:n))", "9: The expression has redundant parentheses;"),
    ] {
        assert_eq!(of_update(text), expected, "{text}");
    }
}

#[test]
fn two_actions_in_each_others_way_are_refused() {
    let overlap = "Two document paths overlap with each other; must remove or rewrite one of these paths; path one:";
    let conflict = "Two document paths conflict with each other; must remove or rewrite one of these paths; path one:";
    for (text, expected) in [
        ("SET a = :n, a = :two", format!("13: {overlap} [a], path two: [a]")),
        ("SET a = :n REMOVE #a", format!("19: {overlap} [a], path two: [a]")),
        ("SET a.b = :n, a = :two", format!("15: {overlap} [a, b], path two: [a]")),
        ("SET a = :n ADD a.b[1] :n", format!("16: {overlap} [a], path two: [a, b, [1]]")),
        ("REMOVE a[1], a[1].x", format!("14: {overlap} [a, [1]], path two: [a, [1], x]")),
        ("SET a.b = :n, a[1] = :n", format!("15: {conflict} [a, b], path two: [a, [1]]")),
        ("SET a[1].x = :n, a[1][0] = :n", format!("18: {conflict} [a, [1], x], path two: [a, [1], [0]]")),
    ] {
        assert_eq!(of_update(text), expected, "{text}");
    }
    for text in ["SET a.b = :n, a.c = :n REMOVE a.d", "SET a[0] = :n, a[1] = :n", "SET a = b, b = a"] {
        assert!(update(text).is_ok(), "{text}");
    }
}

#[test]
fn an_expression_has_4_kib() {
    let text = |bytes: usize| format!("attribute_exists({})", "a".repeat(bytes - "attribute_exists()".len()));
    assert!(condition(&text(EXPRESSION_BYTES_MAX)).is_ok());
    let expected = "Expression size has exceeded the maximum allowed size; expression size: 4097";
    assert_eq!(of_condition(&text(EXPRESSION_BYTES_MAX + 1)), expected);
    assert_eq!(of_update(&format!("REMOVE {}", "é".repeat(2_045))), expected);
}

#[test]
fn an_expression_has_300_operators() {
    let ands = |operators: usize| vec!["a=:n"; operators.div_ceil(2)].join(" OR ");
    // An odd number of them: each comparison but the first one has an OR before it.
    assert!(condition(&ands(OPERATORS_MAX - 1)).is_ok());
    assert!(of_condition(&ands(OPERATORS_MAX + 1)).ends_with("too many operators or functions; maximum: 300"));
    assert!(condition(&format!("NOT {}", ands(OPERATORS_MAX - 1))).is_ok());
    let sums = |count: usize| {
        let sums: Vec<_> = (0..count).map(|at| format!("a{at}=b+:n")).collect();
        format!("SET {}", sums.join(","))
    };
    assert!(update(&sums(OPERATORS_MAX)).is_ok());
    assert!(of_update(&sums(OPERATORS_MAX + 1)).ends_with("too many operators or functions; maximum: 300"));
}

#[test]
fn an_in_has_100_operands() {
    let among = |count: usize| format!("a IN ({})", vec![":n"; count].join(","));
    assert!(condition(&among(IN_OPERANDS_MAX)).is_ok());
    let expected =
        "3: Incorrect number of operands for operator or function; operator or function: IN, number of operands: 101";
    assert_eq!(of_condition(&among(IN_OPERANDS_MAX + 1)), expected);
}

#[test]
fn levels_are_counted_before_they_are_gone_down() {
    let not = |levels: usize| format!("{}a = :n", "NOT ".repeat(levels));
    assert!(condition(&not(EXPRESSION_LEVELS_MAX)).is_ok());
    assert!(of_condition(&not(EXPRESSION_LEVELS_MAX + 1)).ends_with("nested too deeply; maximum levels: 64"));
    for open in ["(", "size(", "NOT (", "a = :n AND (", "contains("] {
        let text = open.repeat(4_000 / open.len());
        assert!(of_condition(&text).ends_with("nested too deeply; maximum levels: 64"), "{open}");
    }
    for open in ["SET a = (", "SET a = list_append("] {
        let (section, inner) = open.split_at("SET a = ".len());
        let text = format!("{section}{}", inner.repeat(4_000 / inner.len()));
        assert!(of_update(&text).ends_with("nested too deeply; maximum levels: 64"), "{open}");
    }
}

#[test]
fn a_path_has_32_elements() {
    let path = |elements: usize| format!("attribute_exists(a{})", ".b".repeat(elements - 1));
    assert!(condition(&path(32)).is_ok());
    assert_eq!(of_condition(&path(33)), "18: The document path has too many nesting elements; nesting elements: 33");
}

fn read(names: Value, values: Value) -> Result<Substitutes, crate::Error> {
    let (Value::Object(names), Value::Object(values)) = (names, values) else { unreachable!("objects") };
    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
    Substitutes::read(names.into_iter().map(|(placeholder, name)| (placeholder, text(name))).collect(), values)
}

#[test]
fn placeholders_are_what_they_can_be_and_all_of_them_are_used() {
    let path = |refused: Result<_, crate::Error>| match refused {
        Err(crate::Error::Invalid { problems }) => problems.into_iter().map(|it| it.path).collect::<Vec<_>>(),
        Err(other) => panic!("{other}"),
        Ok(()) => Vec::new(),
    };
    let longest = |sign: &str, bytes: usize| format!("{sign}{}", "a".repeat(bytes - 1));
    assert_eq!(path(read(json!({"a": "x"}), json!({"b": {"S": ""}})).map(drop)), ["names.a", "values.b"]);
    assert_eq!(path(read(json!({"#": "x"}), json!({":é": {"S": ""}})).map(drop)), ["names.#", "values.:é"]);
    assert_eq!(path(read(json!({"#a": ""}), json!({":a": {"N": "x"}})).map(drop)), ["names.#a", "values.:a.N"]);
    let at = read(
        json!({longest("#", PLACEHOLDER_BYTES_MAX): "x"}),
        json!({longest(":", PLACEHOLDER_BYTES_MAX): {"S": ""}}),
    );
    assert!(at.is_ok());
    assert!(read(json!({longest("#", PLACEHOLDER_BYTES_MAX + 1): "x"}), json!({})).is_err());
    assert!(read(json!({}), json!({longest(":", PLACEHOLDER_BYTES_MAX + 1): {"S": ""}})).is_err());
    assert!(read(json!({"#a": "x".repeat(65_535)}), json!({})).is_ok());
    assert!(read(json!({"#a": "x".repeat(65_536)}), json!({})).is_err());
    let mut some = read(json!({"#a": "x", "#b": "y"}), json!({":a": {"S": ""}, ":b": {"S": "x"}})).unwrap();
    Update::parse("SET #a = :a", &mut some).unwrap();
    assert_eq!(path(some.used_check()), ["names.#b", "values.:b"]);
    Condition::parse("#b = :b", &mut some).unwrap();
    assert!(some.used_check().is_ok());
}
