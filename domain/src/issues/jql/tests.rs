//! The grammar, its errors and its normal form.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Query {
    Query::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn fault(text: &str) -> String {
    Query::parse(text).expect_err(text).to_string()
}

#[test]
fn the_normal_form_keeps_the_tree_and_resolves_escapes() {
    for (text, normal) in [
        ("", ""),
        ("a=1", "a = 1"),
        ("a = '1'", "a = \"1\""),
        ("NOT a=1&b=1|c=1||d=1", "NOT a = 1 AND b = 1 OR c = 1 OR d = 1"),
        ("a=b and not(c=d or e is not null)", "a = b AND NOT (c = d OR e IS NOT EMPTY)"),
        ("(a=1 and b=2) and c=3", "(a = 1 AND b = 2) AND c = 3"),
        ("a=1 or b=2 and c=3", "a = 1 OR b = 2 AND c = 3"),
        ("((a = 1))", "a = 1"),
        ("!!a=1", "NOT NOT a = 1"),
        ("a in ((1,(2)),f(), empty)", "a IN (1, 2, f(), EMPTY)"),
        ("status was not in (x,y) during (a,b) by me()", "status WAS NOT IN (x, y) DURING (a, b) BY me()"),
        (
            "status changed from a to b after -1w order by cf[10001] desc,x",
            "status CHANGED FROM a TO b AFTER -1w ORDER BY cf[10001] DESC, x",
        ),
        ("order by rank asc", "ORDER BY rank ASC"),
        ("p[k] a.b c = 1", "p[k] a.b c = 1"),
        (r"a = x\ y", "a = \"x y\""),
        (r#"a ~ "\"q\" \\ \u0041\n\ud83d\ude00\ud83d""#, "a ~ \"\\\"q\\\" \\\\ A\\n😀\u{fffd}\""),
        (r"a = \u0000", "a = \u{fffd}"),
        ("\"select\" = 'cf'", "\"select\" = \"cf\""),
    ] {
        assert_eq!(parsed(text).to_string(), normal, "{text}");
        assert_eq!(parsed(normal).to_string(), normal, "{text}");
    }
}

#[test]
fn a_fault_says_where_it_is_and_what_was_expected() {
    for (text, message) in [
        (
            "status",
            "The query ends where '=', '!=', '<', '>', '<=', '>=', '~', '!~', IN, NOT IN, IS, WAS or CHANGED was expected. (line 1, character 7)",
        ),
        ("a = 1 b", "Expected AND, OR or ORDER BY, but got 'b'. (line 1, character 7)"),
        ("a = 1 and\nselect = 2", "'select' is a reserved word. Put it in quotes. (line 2, character 1)"),
        ("a = b#c", "The character '#' is reserved. Put it in quotes. (line 1, character 6)"),
        ("a = 'b", "The quote is never closed. (line 1, character 5)"),
        (
            "a = 'b\tc'",
            "The character U+0009 can't stand in a query. Write '\\u0009' in its place. (line 1, character 5)",
        ),
        ("a is 1", "Expected EMPTY or NOT, but got '1'. (line 1, character 6)"),
        ("a > null", "Expected a value or a function, but got 'null'. (line 1, character 5)"),
        ("a in x", "Expected '(' or a function, but got 'x'. (line 1, character 6)"),
        ("a in (1,)", "Expected a value, a function, EMPTY or '(', but got ')'. (line 1, character 9)"),
        ("(a = 1", "The query ends where AND, OR or ')' was expected. (line 1, character 7)"),
        ("cf[-1] = 2", "Expected the number of a field, but got '-1'. (line 1, character 4)"),
        ("a = f(empty)", "Expected a text, a number or ')', but got 'empty'. (line 1, character 7)"),
        ("order by", "The query ends where a field was expected. (line 1, character 9)"),
        (
            r"a = \q",
            "A backslash may stand before n, r, t, a quote, a space, another backslash, and u with four hexadecimal digits. (line 1, character 5)",
        ),
    ] {
        assert_eq!(fault(text), message, "{text}");
    }
    let found = Query::parse("é🎉 = 1 x").expect_err("a word too many");
    assert_eq!((found.start.offset, found.end.offset, found.expected), (8, 9, ["AND", "OR", "ORDER BY"].as_slice()));
}

#[test]
fn length_is_limited_and_depth_is_not() {
    let long = |n: usize| format!("a = {}", "x".repeat(n - 4));
    assert!(Query::parse(&long(JQL_LEN_MAX - 1)).is_ok());
    assert!(Query::parse(&long(JQL_LEN_MAX)).is_ok());
    assert_eq!(fault(&long(JQL_LEN_MAX + 1)), "A query has at most 10000 characters. (line 1, character 1)");

    let deep = [
        format!("{}a=1{}", "(".repeat(4_998), ")".repeat(4_998)),
        format!("{}a=1", "!".repeat(9_997)),
        format!("a in {}1{}", "(".repeat(4_997), ")".repeat(4_997)),
        format!("{}a=1{}", "a=1&(b=2|(".repeat(700), ")".repeat(1_400)),
        "(".repeat(10_000),
    ];
    for text in deep {
        let began = Instant::now();
        if let Ok(query) = Query::parse(&text) {
            let normal = query.to_string();
            if normal.chars().count() <= JQL_LEN_MAX {
                assert_eq!(parsed(&normal).to_string(), normal);
            }
        }
        assert!(began.elapsed() < Duration::from_secs(2), "the time is linear to the length");
    }
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "-?[0-9]{1,3}",
        "\"[ -!#-\\[\\]-~é\n]{0,5}\"",
        "'[ -&(-\\[\\]-~]{0,5}'",
        Just("\\u0041x".to_owned()),
        Just("a\\ b".to_owned()),
    ]
}

fn queries() -> impl Strategy<Value = String> {
    let list = prop::collection::vec(words(), 1..4).prop_map(|words| format!("({})", words.join(",")));
    let clause = prop_oneof![
        (words(), "(=|!=|~|!~|<|<=|>|>=)", words()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
        (words(), "(in|not in|was in|was not in)", list).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
        (words(), words(), words()).prop_map(|(a, b, c)| format!("{a} was {b} before {c}")),
        (words(), words(), words()).prop_map(|(a, b, c)| format!("{a} changed from {b} by f({c},{b})")),
        words().prop_map(|a| format!("{a} is not empty")),
    ];
    clause.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| format!("not ({one})")),
            inner.clone().prop_map(|one| format!("!{one}")),
            (prop::collection::vec(inner, 2..4), "( and | or )", any::<bool>()).prop_map(|(parts, by, brackets)| {
                let parts: Vec<String> =
                    parts.into_iter().map(|it| if brackets { format!("({it})") } else { it }).collect();
                parts.join(&by)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_as_the_same(text in queries()) {
        if let Ok(query) = Query::parse(&text) {
            let normal = query.to_string();
            prop_assert_eq!(without_places(&parsed(&normal)), without_places(&query));
            prop_assert_eq!(parsed(&normal).to_string(), normal);
        }
    }

    #[test]
    fn no_text_is_too_much(text in "\\PC*") {
        let _ = Query::parse(&text);
    }

    #[test]
    fn no_tokens_are_too_many(parts in prop::collection::vec(prop::sample::select(vec![
        "(", ")", ",", "[", "]", "!", "=", "!=", "~", "<", "in", "is", "not", "and", "or", "was", "changed", "by", "on", "order",
        "empty", "cf", "a", "1", "'x'", "f(", "select", "#", "\\", "\"",
    ]), 0..30)) {
        if let Ok(query) = Query::parse(&parts.join(" ")) {
            let normal = query.to_string();
            prop_assert_eq!(parsed(&normal).to_string(), normal);
        }
    }
}

/// What a query says, wherever it stands.
fn without_places(query: &Query) -> String {
    let mut text = format!("{query:?}");
    while let Some(at) = text.find("Span { start: ") {
        let end = at + text[at..].find('}').expect("a span ends");
        text.replace_range(at..=end, "");
    }
    text
}
