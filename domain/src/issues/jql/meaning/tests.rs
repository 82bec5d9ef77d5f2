//! Names, operators, functions, and which issues match.

use proptest::prelude::*;

use super::*;
use crate::{
    Timestamp,
    issues::jql::{JqlFault, Query},
    notify::Zone,
};

const DAY: i64 = 86_400_000;
/// Ten days before now.
const CREATED: f64 = 1_768_996_800_000.0;
/// 2026-01-31T12:00:00Z, a Saturday.
const NOW: i64 = 1_769_860_800_000;

/// A small organization: statuses, three people, versions 1 to 3, a select, and filters.
struct World;

impl Names for World {
    fn fields(&self, name: &str) -> Vec<KnownField> {
        let field = |key: &str, kind| KnownField { key: key.into(), kind, has_history: true };
        match name.to_lowercase().as_str() {
            "team" | "cf[10001]" => vec![field("fld_team", FieldKind::Values(ValueKind::Option))],
            "points" => vec![field("fld_a", FieldKind::Number), field("fld_b", FieldKind::Number)],
            "resolution time" => vec![KnownField { has_history: false, ..field("sla_1", FieldKind::Sla) }],
            _ => Vec::new(),
        }
    }

    fn values(&self, kind: ValueKind, _: &FieldKey, name: &str) -> Vec<ValueId> {
        let known: &[&str] = match kind {
            ValueKind::Status => &["todo", "doing", "done"],
            ValueKind::Person => &["ann", "bob", "cem"],
            ValueKind::Version => &["v1", "v2", "v3"],
            ValueKind::Option => &["red", "blue"],
            ValueKind::Issue => &["a-1", "a-2"],
            _ => &[],
        };
        let name = name.to_lowercase();
        known.iter().filter(|known| **known == name).map(|known| ValueId::from(*known)).collect()
    }

    fn compared(&self, _: ValueKind, comparison: Comparison, value: &ValueId) -> Vec<ValueId> {
        let all = ["v1", "v2", "v3"];
        let at = |id: &str| {
            if id.ends_with('1') {
                1.0
            } else if id.ends_with('2') {
                2.0
            } else {
                3.0
            }
        };
        all.into_iter().filter(|id| comparison.holds(at(id), at(&value.0))).map(ValueId::from).collect()
    }

    fn answer(&self, function: &str, _: &FieldKey, arguments: &[&str]) -> Option<Vec<ValueId>> {
        match (function, arguments) {
            ("membersOf", ["crew"]) => Some(vec!["ann".into(), "bob".into()]),
            ("linkedIssues", ["A-1", ..]) => Some(vec!["a-2".into()]),
            ("openSprints", []) => Some(vec!["s1".into()]),
            _ => None,
        }
    }

    fn filter(&self, name: &str) -> Option<String> {
        let text = match name {
            "open" => "status != done",
            "mine" => "filter = open and assignee = currentUser() order by created",
            "circle" => "filter = circle2",
            "circle2" => "filter = circle",
            "all" => "",
            "broken" => "status =",
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn custom_texts(&self) -> Vec<FieldKey> {
        vec!["fld_note".into()]
    }
}

fn reader() -> Reader {
    let clock = Clock { now: Timestamp(NOW), zone: Zone::find("Europe/Vienna").expect("a zone") };
    Reader { person: "ann".into(), clock }
}

fn resolved(text: &str) -> Result<Plan, Vec<JqlFault>> {
    resolve(text, &Query::parse(text).expect(text), &World, &reader())
}

fn plan(text: &str) -> Plan {
    resolved(text).unwrap_or_else(|faults| panic!("{text}: {}", faults[0]))
}

fn fault(text: &str) -> String {
    resolved(text).expect_err(text)[0].to_string()
}

fn facts() -> Facts {
    let mut facts = Facts { seq: 1, ..Facts::default() };
    let values = [
        ("status", vec!["doing"]),
        ("labels", vec!["x", "y"]),
        ("fld_team", vec!["red"]),
        ("fixVersion", vec!["v1", "v3"]),
    ];
    facts
        .values
        .extend(values.into_iter().map(|(field, ids)| (field.into(), ids.into_iter().map(ValueId::from).collect())));
    facts.values.insert("approvals".into(), vec!["pending".into(), "pending:ann".into(), "approver:ann".into()]);
    facts.values.insert("sla_1".into(), vec!["running".into()]);
    let created = NOW - 10 * DAY;
    facts.numbers.insert("created".into(), vec![CREATED]);
    facts.numbers.insert("due".into(), vec![20_484.0]);
    facts.numbers.insert("fld_b".into(), vec![5.0]);
    facts.numbers.insert("timeSpent".into(), vec![8.0 * 3_600.0]);
    facts.numbers.insert("sla_1#remaining".into(), vec![1_800_000.0]);
    facts.texts.insert("summary".into(), vec!["Printer on fire".into()]);
    facts.texts.insert("comment".into(), vec!["It is hot".into(), "Water helps".into()]);
    let entry = |at: i64, by: &str, from: &str, to: &str| HistoryEntry {
        field: "status".into(),
        at: Timestamp(at),
        by: by.into(),
        from: vec![from.into()],
        to: vec![to.into()],
    };
    facts.changes = vec![entry(NOW - 5 * DAY, "bob", "todo", "done"), entry(NOW - DAY, "ann", "done", "doing")];
    let current = facts.values[&FieldKey::from("status")].clone();
    facts.spans = spans(&"status".into(), (Timestamp(created), &"cem".into()), &current, &facts.changes);
    facts
}

fn holds(text: &str) -> bool {
    plan(text).matches(&facts(), unstemmed)
}

#[test]
fn values_and_what_is_missing() {
    for (text, expected) in [
        ("", true),
        ("STATUS = Doing", true),
        ("status in (todo, DONE)", false),
        ("status not in (todo, done)", true),
        ("not (status = doing or labels = z)", false),
        ("assignee = ann", false),
        ("assignee != ann", false),
        ("not assignee = ann", false),
        ("assignee is empty", true),
        ("assignee in (ann, empty)", true),
        ("assignee not in (ann, empty)", false),
        ("not (assignee in (ann, empty))", false),
        ("labels = X and labels = y", true),
        ("labels != x", false),
        ("labels != z", true),
        ("cf[10001] = red", true),
        ("Team = Blue", false),
        ("fixVersion < v2", true),
        ("fixVersion > v3", false),
        ("not fixVersion < v2", false),
        ("assignee in membersOf(crew)", false),
        ("issue in linkedIssues('A-1', blocks)", false),
        ("approvals = myPending()", true),
        ("approvals = pendingBy(bob)", false),
        ("approvals = approved()", false),
        ("'resolution time' = running()", true),
        ("'resolution time' < remaining('1h')", true),
        ("'resolution time' > remaining('1h')", false),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn numbers_dates_and_durations() {
    for (text, expected) in [
        ("points = 5", true),
        ("points > 5", false),
        ("points >= 5", true),
        ("points != 5", false),
        ("points in (4, 5.0)", true),
        ("storyPoints != 1", false),
        ("storyPoints is empty", true),
        ("timeSpent = 1d", true),
        ("timeSpent < '8h 1m'", true),
        ("timeSpent = 480", true),
        ("created < -9d", true),
        ("created < '-10d 1m'", false),
        ("created >= startOfMonth()", true),
        ("created > now()", false),
        ("due = '2026-01-31'", true),
        ("due = startOfDay()", true),
        ("due < '2026-02-01'", true),
        ("due > endOfWeek('-1')", true),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn texts_are_asked_document_by_document() {
    for (text, expected) in [
        ("summary ~ 'fire printer'", true),
        ("text ~ water", true),
        ("text ~ 'water fire'", false),
        ("comment ~ 'hot water'", false),
        ("summary !~ ice", true),
        ("description !~ ice", false),
        ("description ~ empty", true),
        ("summary ~ 'prin*'", true),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn history() {
    for (text, expected) in [
        ("status was done", true),
        ("status was todo before -5d", true),
        ("status was done before -5d", false),
        ("status was done after -2d", true),
        ("status was todo after -2d", false),
        ("status was done on '2026-01-28'", true),
        ("status was todo on '2026-01-28'", false),
        ("status was in (done, todo) by bob", true),
        ("status was doing by bob", false),
        ("status was not done", false),
        ("status was not done during (-10d, -6d)", true),
        ("status was not in (todo) after -2d", true),
        ("assignee was empty", false),
        ("status changed", true),
        ("not status changed", false),
        ("status changed from todo to done by bob on '2026-01-26'", true),
        ("status changed from done to todo", false),
        ("status changed to doing after -2d", true),
        ("status changed before -6d", false),
        ("status changed during (-2d, now()) by currentUser()", true),
        ("assignee changed", false),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn filters_stand_for_their_queries() {
    assert!(holds("filter = open") && !holds("filter != open") && !holds("filter = mine"));
    assert!(holds("filter = all") && !holds("not filter = all"));
    assert_eq!(
        fault("filter = circle"),
        "The filter 'circle' asks for itself, or for too many other filters. (line 1, character 10)"
    );
    let many = |count: usize| format!("filter in ({})", vec!["open"; count].join(","));
    assert!(resolved(&many(FILTERS_MAX)).is_ok() && resolved(&many(FILTERS_MAX + 1)).is_err());
    assert!(fault("status = todo or filter = broken").starts_with("The filter 'broken' can't be read: "));
    assert_eq!(
        fault("filter = none"),
        "The value 'none' does not exist for the field 'filter'. (line 1, character 10)"
    );
}

#[test]
fn errors_name_what_is_wrong_and_where() {
    for (text, message) in [
        ("x = 1", "Field 'x' does not exist or you do not have permission to view it. (line 1, character 1)"),
        ("cf[7] = 1", "Field 'cf[7]' does not exist or you do not have permission to view it. (line 1, character 1)"),
        (
            "status[a] = 1",
            "Field 'status[a]' does not exist or you do not have permission to view it. (line 1, character 1)",
        ),
        ("status = x", "The value 'x' does not exist for the field 'status'. (line 1, character 10)"),
        ("status in (todo, x)", "The value 'x' does not exist for the field 'status'. (line 1, character 18)"),
        ("summary = x", "The operator '=' is not supported by the 'summary' field. (line 1, character 9)"),
        ("status > todo", "The operator '>' is not supported by the 'status' field. (line 1, character 8)"),
        ("status ~ todo", "The operator '~' is not supported by the 'status' field. (line 1, character 8)"),
        ("watcher was ann", "The operator 'was' is not supported by the 'watcher' field. (line 1, character 9)"),
        ("rank = 1", "The operator '=' is not supported by the 'rank' field. (line 1, character 6)"),
        ("status = f()", "Unknown function 'f'. (line 1, character 10)"),
        ("created > now(1)", "The function 'now' takes no arguments. (line 1, character 11)"),
        ("status = now()", "The function 'now' does not fit the field 'status'. (line 1, character 10)"),
        ("sprint = openSprints()", "The function 'openSprints' answers a list. Ask with IN. (line 1, character 10)"),
        (
            "assignee in membersOf(nobody)",
            "The function 'membersOf' was asked for something that does not exist. (line 1, character 13)",
        ),
        (
            "created > soon",
            "'soon' is no date for the field 'created'. Write 2026-01-31, 2026-01-31 14:30 or -5d. (line 1, character 11)",
        ),
        ("points = big", "The value 'big' can't be compared with the field 'points'. (line 1, character 10)"),
        ("summary ~ '***'", "The text '***' has no words to look for. (line 1, character 11)"),
        ("status was done during -1d", "DURING takes two dates in brackets. (line 1, character 17)"),
        ("status changed on (-1d, -2d)", "ON takes one date. (line 1, character 16)"),
        ("status changed by zoe", "The value 'zoe' does not exist for the field 'by'. (line 1, character 19)"),
        ("order by filter", "Issues can't be sorted by the field 'filter'. (line 1, character 10)"),
    ] {
        assert_eq!(fault(text), message, "{text}");
    }
    assert_eq!(resolved("x = 1 or y = 2 order by z").expect_err("three").len(), 3);
    assert_eq!(resolved("x=1|".repeat(101).trim_end_matches('|')).expect_err("many").len(), PROBLEMS_MAX);
}

#[test]
fn what_may_not_be_meant_is_warned_of() {
    let warned = |text: &str| plan(text).warnings.iter().map(|warning| warning.start.character).collect::<Vec<_>>();
    assert_eq!(warned("status != done"), [8]);
    assert_eq!(warned("status != done or status is empty"), [] as [usize; 0]);
    assert_eq!(warned("not status = done"), [12]);
    assert_eq!(warned("created <= '2026-01-31'"), [12]);
    assert_eq!(warned("created <= '2026-01-31 10:00'"), [] as [usize; 0]);
    assert_eq!(warned("status = done or status = todo and labels = x"), [18]);
    assert_eq!(warned("status = done or (status = todo and labels = x)"), [] as [usize; 0]);
}

#[test]
fn many_clauses_are_resolved_in_time() {
    let text = "labels!=a|".repeat(999);
    let began = std::time::Instant::now();
    assert_eq!(plan(text.trim_end_matches('|')).tests.len(), 1_000);
    assert!(began.elapsed() < std::time::Duration::from_secs(2));
}

fn issue(seq: i64, sort: &[(&str, f64)]) -> Facts {
    let sort = sort.iter().map(|(field, number)| ((*field).into(), SortKey::Number(*number))).collect();
    Facts { seq, sort, ..Facts::default() }
}

#[test]
fn issues_without_a_value_come_last_either_way() {
    let issues = [
        issue(1, &[("due", 2.0), ("updated", 1.0)]),
        issue(2, &[("updated", 3.0)]),
        issue(3, &[("due", 1.0)]),
        issue(4, &[("due", 2.0)]),
    ];
    let order = |text: &str, fallback| {
        let plan = plan(text);
        let mut sorted: Vec<&Facts> = issues.iter().collect();
        sorted.sort_by(|one, other| plan.order(one, other, fallback));
        sorted.iter().map(|facts| facts.seq).collect::<Vec<_>>()
    };
    assert_eq!(order("order by due", Fallback::Updated), [3, 1, 4, 2]);
    assert_eq!(order("order by due desc", Fallback::Updated), [1, 4, 3, 2]);
    assert_eq!(order("order by due desc, updated", Fallback::Updated), [1, 4, 3, 2]);
    assert_eq!(order("", Fallback::Updated), [2, 1, 3, 4]);
    assert_eq!(order("", Fallback::Rank), [1, 2, 3, 4]);
}

fn clauses() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "status = todo",
        "status != doing",
        "status in (todo, doing)",
        "status not in (done)",
        "labels = x",
        "labels != y",
        "points = 5",
        "points < 5",
        "points >= 5",
        "points != 4",
        "assignee is empty",
        "assignee is not empty",
        "assignee = bob",
        "summary ~ fire",
        "summary !~ fire",
        "status was done",
        "status was not done",
        "status changed by bob",
        "filter = open",
    ])
    .prop_map(str::to_owned)
}

fn conditions() -> impl Strategy<Value = String> {
    clauses().prop_recursive(4, 20, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| format!("not ({one})")),
            prop::collection::vec(inner, 2..4).prop_flat_map(|parts| {
                prop::sample::select(vec![" and ", " or "]).prop_map(move |by| format!("({})", parts.join(by)))
            }),
        ]
    })
}

/// An issue that has a value in every field that [`clauses`] ask.
fn whole_issues() -> impl Strategy<Value = Facts> {
    let status = prop::sample::select(vec!["todo", "doing", "done"]);
    let label = prop::sample::select(vec!["x", "y", "z"]);
    let size = prop::sample::select(vec![4.0, 5.0, 6.0]);
    let text = prop::sample::select(vec!["on fire", "ice"]);
    (status, label, size, text).prop_map(|(status, label, size, text)| {
        let mut facts = facts();
        facts.values.insert("status".into(), vec![status.into()]);
        facts.values.insert("labels".into(), vec![label.into()]);
        facts.values.insert("assignee".into(), vec!["bob".into()]);
        facts.numbers.insert("fld_b".into(), vec![size]);
        facts.texts.insert("summary".into(), vec![text.into()]);
        facts
    })
}

proptest! {
    #[test]
    fn where_nothing_is_missing_not_is_the_opposite(text in conditions(), facts in whole_issues()) {
        let denied = format!("not ({text})");
        prop_assert_ne!(plan(&text).matches(&facts, unstemmed), plan(&denied).matches(&facts, unstemmed), "{}", text);
    }

    #[test]
    fn twice_not_is_nothing(text in conditions(), facts in whole_issues(), is_bare in any::<bool>()) {
        let facts = if is_bare { Facts::default() } else { facts };
        let twice = format!("not not ({text})");
        prop_assert_eq!(plan(&text).matches(&facts, unstemmed), plan(&twice).matches(&facts, unstemmed));
    }

    #[test]
    fn the_normal_form_means_the_same(text in conditions(), facts in whole_issues()) {
        let normal = Query::parse(&text).expect("a query").to_string();
        prop_assert_eq!(plan(&text).matches(&facts, unstemmed), plan(&normal).matches(&facts, unstemmed));
    }

    #[test]
    fn an_issue_without_anything_matches_only_what_asks_for_that(clause in clauses()) {
        let expected = clause == "assignee is empty";
        prop_assert_eq!(plan(&clause).matches(&Facts::default(), unstemmed), expected, "{}", clause);
    }

    #[test]
    fn spans_cover_all_of_the_time_once(held in prop::collection::vec(prop::collection::btree_set(0_u8..4, 0..3), 1..8)) {
        let ids = |set: &std::collections::BTreeSet<u8>| set.iter().map(|id| ValueId(id.to_string().into())).collect::<Vec<_>>();
        let changes: Vec<HistoryEntry> = held.windows(2).zip(1..).map(|(pair, at)| HistoryEntry {
            field: "labels".into(), at: Timestamp(at), by: "ann".into(), from: ids(&pair[0]), to: ids(&pair[1]),
        }).collect();
        let current = ids(held.last().expect("one at least"));
        let all = spans(&"labels".into(), (Timestamp(0), &"bob".into()), &current, &changes);
        for (set, at) in held.iter().zip(0..) {
            let at = Timestamp(at);
            let there = all.iter().filter(|span| span.from <= at && span.to.is_none_or(|to| to > at));
            let mut there: Vec<_> = there.map(|span| span.value.clone()).collect();
            there.sort();
            let wanted = if set.is_empty() { vec![None] } else { ids(set).into_iter().map(Some).collect() };
            prop_assert_eq!(there, wanted);
        }
    }
}
