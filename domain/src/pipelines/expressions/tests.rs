//! What the language promises, read from top to bottom. The many cases are compared with others by `.ci/pipelines/run`.

use std::sync::Arc;

use super::*;

const STEP: Vocabulary = Vocabulary {
    contexts: &ContextName::ALL,
    functions: &[
        SpecialFunction { function: Function::Success, arguments_min: 0, arguments_max: 0 },
        SpecialFunction { function: Function::HashFiles, arguments_min: 1, arguments_max: 255 },
    ],
};

struct Run(Value);

impl Surroundings for Run {
    fn context(&self, name: ContextName) -> Value {
        match &self.0 {
            Value::Object(contexts) => contexts.get(name.name()).cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    fn status(&self, function: Function, _: &[Arc<str>]) -> bool {
        function == Function::Success
    }

    fn hash_files(&self, patterns: &[Arc<str>]) -> Result<String, String> {
        patterns.first().filter(|it| &***it == "*.rs").map(|_| "ab".to_owned()).ok_or_else(|| "no files".to_owned())
    }
}

fn run() -> Run {
    Run(Value::read_json(
        r#"{"github": {"ref": "refs/heads/main", "event": {"n": 2}, "Actor": "Ada"},
            "matrix": {"os": ["linux", "mac"], "rows": [{"id": 1}, {"id": 2, "x": [5, 6]}, 3]}}"#,
    )
    .unwrap())
}

fn value(text: &str) -> String {
    let value = Expression::parse(text, &STEP).unwrap_or_else(|fault| panic!("{text}: {fault}")).evaluate(&run());
    let value = value.unwrap_or_else(|fault| panic!("{text}: {fault}"));
    if value.is_primitive() {
        value.to_text().to_string()
    } else {
        value.print_json().unwrap().replace(['\n', ' '], "")
    }
}

fn fault(text: &str) -> ExpressionFault {
    match Expression::parse(text, &STEP).and_then(|it| it.evaluate(&run())) {
        Ok(value) => panic!("{text}: {value:?}"),
        Err(fault) => fault,
    }
}

#[test]
fn operators_give_what_github_gives() {
    for (text, expected) in [
        ("1 == '1'", "true"),
        ("null == ''", "true"),
        ("true == '1'", "true"),
        ("NaN == NaN", "false"),
        ("'ABC' == 'abc'", "true"),
        ("'a' < 'B'", "true"),
        ("github == github", "true"),
        ("matrix.os == fromJSON('[\"linux\",\"mac\"]')", "false"),
        ("'' || 'otherwise'", "otherwise"),
        ("1 && 'both'", "both"),
        ("0 && fromJSON('broken')", "0"),
        ("!'' && !0 && !null", "true"),
        ("1 < 2 == true", "true"),
        ("'it''s ''quoted'''", "it's 'quoted'"),
        ("0.1", "0.1"),
        ("-0", "0"),
        ("1e21", "1e+21"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn indices_look_into_objects_and_arrays() {
    for (text, expected) in [
        ("github.REF", "refs/heads/main"),
        ("service.actor", "Ada"),
        ("github['event'].n", "2"),
        ("github.missing.too", ""),
        ("matrix.os[1]", "mac"),
        ("matrix.os[9]", ""),
        ("matrix.os.*", "[\"linux\",\"mac\"]"),
        ("matrix.rows.*.id", "[1,2]"),
        ("matrix.rows.*.x.*", "[5,6]"),
        ("matrix.rows.*.x[0]", "[5]"),
        ("env.*", "[]"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_do_what_their_names_say() {
    for (text, expected) in [
        ("contains('Hello', 'ELL')", "true"),
        ("contains(matrix.os, 'MAC')", "true"),
        ("startsWith(github.ref, 'refs/HEADS/')", "true"),
        ("endsWith('abc', 'BC')", "true"),
        ("format('{1} {{{0}}} {0}', 'a', 1)", "1 {a} a"),
        ("join(matrix.os, '-')", "linux-mac"),
        ("join('x')", "x"),
        ("fromJSON('{\"a\": [1, 2.50, \"\\u00e9\"]}').a", "[1,2.5,\"é\"]"),
        ("toJSON(github.event)", "{\n  \"n\": 2\n}"),
        ("toJSON(0.1)", "0.1"),
        ("case(1 == 2, 'a', true, 'b', 'c')", "b"),
        ("hashFiles('*.rs')", "ab"),
        ("success()", "true"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn a_fault_says_what_is_wrong_and_where() {
    for (text, expected, position) in [
        ("", "An expression was expected", 1),
        ("github.ref ==", "Unexpected end of expression: '=='", 12),
        ("nobody.ref", "Unrecognized named-value: 'nobody'", 1),
        ("true && nothing()", "Unrecognized function: 'nothing'", 9),
        ("'é' == $x", "Unexpected symbol: '$x'", 8),
        ("'open", "Unexpected symbol: ''open'", 1),
        ("contains('a')", "Too few parameters supplied: 'contains'", 1),
        ("always()", "Unrecognized function: 'always'", 1),
        ("1 || case(1, 2)", "Too few parameters supplied: 'case'", 6),
        ("case(true, 1, true, 2)", "Even number of parameters", 1),
        ("case('true', 1, 2)", "A condition of case must be a boolean", 1),
        ("format('{0}')", "references more arguments", 1),
        ("format('{')", "format string is invalid", 1),
        ("fromJSON('01')", "a number is malformed", 1),
        ("hashFiles('*.md')", "hashFiles failed: no files", 1),
    ] {
        let fault = fault(text);
        assert!(fault.kind.to_string().contains(expected), "{text}: {fault}");
        assert_eq!(fault.position, position, "{text}");
    }
}

#[test]
fn nothing_grows_without_end() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(value(&nested(EXPRESSION_DEPTH_MAX - 1)), "1");
    assert_eq!(fault(&nested(EXPRESSION_DEPTH_MAX)).kind, FaultKind::TooDeep);
    assert_eq!(fault(&nested(10_000)).kind, FaultKind::TooDeep);
    assert_eq!(fault(&"!".repeat(20_000)).kind, FaultKind::TooDeep);
    assert_eq!(value(&vec!["1"; 7_000].join("==")), "true");

    let text = |len: usize| format!("'{}'", "x".repeat(len - 2));
    assert_eq!(value(&text(EXPRESSION_LEN_MAX)).len(), EXPRESSION_LEN_MAX - 2);
    assert_eq!(fault(&text(EXPRESSION_LEN_MAX + 1)).kind, FaultKind::TooLong);

    let thousandfold = format!("'{}'", "{0}".repeat(1_000));
    assert_eq!(
        fault(&format!("format({thousandfold}, format({thousandfold}, 'twelve bytes'))")).kind,
        FaultKind::TooMuch
    );
    let json = |bytes: usize| Value::read_json(&format!("\"{}\"", "x".repeat(bytes)));
    assert!(json(VALUES_MAX - 100).is_ok());
    assert_eq!(json(VALUES_MAX).unwrap_err(), FaultKind::TooMuch);
    let brackets = |depth: usize| Value::read_json(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert!(brackets(JSON_DEPTH_MAX).is_ok());
    assert_eq!(brackets(JSON_DEPTH_MAX + 1).unwrap_err(), FaultKind::NotJson("it is nested too deep"));
}

#[test]
fn objects_keep_their_order_and_know_names_regardless_of_case() {
    let value = Value::read_json(r#"{"b": 1, "10": 2, "B": 3, "constructor": 4, "b": 5}"#).unwrap();
    assert_eq!(value.print_json().unwrap(), "{\n  \"b\": 5,\n  \"10\": 2,\n  \"constructor\": 4\n}");
    let Value::Object(object) = value else { panic!("an object") };
    assert!(matches!(object.get("CONSTRUCTOR"), Some(Value::Number(4.0))));
}

#[test]
fn json_is_strict() {
    for text in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "nul",
        "1 2",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\u00zz\"",
        "NaN",
    ] {
        assert!(matches!(Value::read_json(text), Err(FaultKind::NotJson(_))), "{text}");
    }
    let read = |text: &str| Value::read_json(text).unwrap().to_text();
    assert_eq!(&*read(r#" "\ud83c\udf89\/\b" "#), "🎉/\u{8}");
    assert_eq!(&*read("-1.5E+2"), "-150");
}

#[test]
fn a_template_is_a_text_with_expressions() {
    let read = |text: &str| Template::parse(text, &STEP);
    let value = |text: &str| read(text).unwrap().evaluate(&run()).unwrap();
    assert_eq!(&*value("on ${{ github.ref }}, ${{ 1 }}!").to_text(), "on refs/heads/main, 1!");
    assert!(matches!(value("${{ github.event.n }}"), Value::Number(2.0)));
    assert!(matches!(value(" ${{ github.event.n }}"), Value::Text(_)));
    assert_eq!(&*value("${{ '}}' }}").to_text(), "}}");
    assert_eq!(read("plain").unwrap().as_literal(), Some("plain"));
    assert_eq!(read("${{ 'plain' }}").unwrap().as_literal(), Some("plain"));
    assert_eq!(read("${{ github.ref }}").unwrap().as_literal(), None);
    assert_eq!(read("a ${{ 'b }}"), Err(TemplateFault::NotClosed));
    let Err(TemplateFault::Expressions(faults)) = read("é${{ a }} ${{ success() }} ${{ }}") else { panic!("faults") };
    assert_eq!(faults.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2, 28]);
}

#[test]
fn what_an_expression_names_is_known() {
    let usage = |text: &str| Expression::parse(text, &STEP).unwrap().usage();
    let named = |names: &[&str]| Some(Properties::Named(names.iter().map(|it| (*it).to_owned()).collect()));
    let secrets = |text: &str| usage(text).contexts.get(&ContextName::Secrets).cloned();
    assert_eq!(secrets("secrets.A || secrets['b'] || (secrets).a"), named(&["a", "b"]));
    assert_eq!(secrets("secrets[github.ref]"), Some(Properties::All));
    assert_eq!(secrets("secrets.a && toJSON(secrets)"), Some(Properties::All));
    assert_eq!(secrets("secrets.*"), Some(Properties::All));
    assert_eq!(secrets("github[format('{0}', secrets.deep)]"), named(&["deep"]));
    assert_eq!(secrets("github.ref"), None);
    assert!(usage("!(1 == success())").names_status());
    assert!(!usage("hashFiles('a')").names_status());
}
