//! Random queries over random issues: what the server finds is what the evaluator of the domain says, in the same order.
//!
//! `TROUPE_ISSUE_PLANS` says how many queries, `TROUPE_ISSUE_SEED` repeats a run's choices.

use std::{collections::HashMap, time::Duration};

use domain::{
    Timestamp,
    id::IssueId,
    issues::{
        issue::{Issue, KEPT_FIELDS},
        jql::{
            Query,
            meaning::{
                Clock, Comparison, Facts, Fallback, FieldKey, HistoryEntry, KnownField, Names, Reader, SortKey,
                ValueId, ValueKind, resolve, spans, unstemmed,
            },
        },
        settings::{Catalog, Settings},
    },
    notify::Zone,
};
use store::{Store, issues::HistoryRow};

use super::*;
use crate::harness::{Dice, number};

const ISSUES: usize = 24;
const EDITS: usize = 100;
const PEOPLE: [&str; 3] = ["ada", "bob", "cem"];
const WORDS: [&str; 5] = ["fire", "ice", "coffee", "printer", "red"];
const LABELS: [&str; 4] = ["Urgent", "later", "web", "x"];
const COMPONENTS: [&str; 2] = ["Front", "Back"];
const VERSIONS: [&str; 2] = ["1.0", "2.0"];
const PRIORITIES: [&str; 3] = ["Highest", "Medium", "Low"];
const STATUSES: [&str; 3] = ["todo", "in_progress", "done"];

/// Clauses that queries are made of.
const CLAUSES: &[&str] = &[
    "status = todo",
    "status != done",
    "status in (todo, done)",
    "status not in (done)",
    "statusCategory = \"In Progress\"",
    "statusCategory != Done",
    "type = bug",
    "type in (task, epic)",
    "priority > Medium",
    "priority <= Medium",
    "priority = Low",
    "priority != Highest",
    "priority is empty",
    "assignee = bob",
    "assignee != bob",
    "assignee is empty",
    "assignee is not empty",
    "assignee in (bob, cem, EMPTY)",
    "reporter = currentUser()",
    "reporter != ada",
    "creator = ada",
    "watcher = cem",
    "watcher != cem",
    "watchers >= 2",
    "voter = bob",
    "voter != bob",
    "votes > 0",
    "labels = urgent",
    "labels != urgent",
    "labels in (later, web)",
    "labels not in (later, web)",
    "labels is empty",
    "labels = nothing",
    "labels != nothing",
    "resolution = done",
    "resolution is empty",
    "resolution != done",
    "resolved > -2d",
    "resolved <= \"2027-01-17\"",
    "created >= \"2027-01-16\"",
    "created < startOfDay(-2d)",
    "updated > -30h",
    "due < \"2027-02-03\"",
    "due = \"2027-02-02\"",
    "due != \"2027-02-02\"",
    "due is empty",
    "due in (\"2027-02-01\", \"2027-02-03\")",
    "startDate >= \"2027-02-02\"",
    "storyPoints = 3",
    "storyPoints != 3",
    "storyPoints > 2",
    "storyPoints in (1, 3)",
    "storyPoints not in (1, 3)",
    "storyPoints is empty",
    "originalEstimate >= 1h",
    "originalEstimate = 2h",
    "parent is empty",
    "parent is not empty",
    "parent = WEB-1",
    "parent != WEB-1",
    "key in (WEB-1, WEB-5, WEB-7)",
    "key != WEB-3",
    "space = WEB",
    "summary ~ fire",
    "summary !~ fire",
    "summary ~ \"fire ice\"",
    "summary ~ \"\\\"fire ice\\\"\"",
    "summary ~ \"cof*\"",
    "summary ~ \"fire OR ice\"",
    "summary ~ \"fire NOT ice\"",
    "summary ~ \"fire -ice\"",
    "description ~ coffee",
    "description !~ coffee",
    "description is empty",
    "environment is not empty",
    "environment ~ red",
    "comment ~ printer",
    "comment !~ printer",
    "comment is empty",
    "text ~ printer",
    "text ~ \"fire coffee\"",
    "text !~ red",
    "status was todo",
    "status was done",
    "status was not done",
    "status was in (in_progress, done)",
    "status was todo before \"2027-01-16\"",
    "status was done after -2d",
    "status was in_progress on \"2027-01-17\"",
    "status was done by bob",
    "status was todo during (\"2027-01-15\", \"2027-01-16\")",
    "status was not in (done) by ada",
    "assignee was bob",
    "assignee was empty",
    "assignee was not bob",
    "assignee was empty before \"2027-01-17\"",
    "assignee was not empty",
    "priority was Low",
    "resolution was empty",
    "resolution was done",
    "labels was urgent",
    "labels was not urgent",
    "labels was empty after -1d",
    "storyPoints was 3",
    "due was \"2027-02-02\"",
    "parent was WEB-1",
    "status changed",
    "not status changed",
    "status changed from todo",
    "status changed to done",
    "status changed from todo to in_progress",
    "status changed after -2d",
    "status changed before \"2027-01-17\" by ada",
    "status changed during (\"2027-01-16\", \"2027-01-18\")",
    "assignee changed from empty",
    "assignee changed to empty",
    "assignee changed to bob by ada",
    "priority changed",
    "labels changed from urgent",
    "labels changed to (later, x)",
    "labels changed to empty",
    "storyPoints changed to 3",
    "due changed",
    "resolution changed to done",
    "component = Front",
    "component != Front",
    "component in (Front, Back)",
    "component not in (Back)",
    "component is empty",
    "component was Back",
    "component changed to Front",
    "fixVersion = \"1.0\"",
    "fixVersion != \"2.0\"",
    "fixVersion > \"1.0\"",
    "fixVersion <= \"1.0\"",
    "fixVersion is not empty",
    "fixVersion was not \"2.0\"",
];

const ORDERS: &[&str] = &[
    "",
    "",
    "",
    "order by key",
    "order by key desc",
    "order by created",
    "order by created asc",
    "order by updated",
    "order by due",
    "order by due desc, key",
    "order by storyPoints desc",
    "order by priority",
    "order by priority asc, key desc",
    "order by status, key",
    "order by summary",
    "order by resolved",
    "order by type desc, storyPoints",
];

/// What the test knows.
struct Model {
    settings: Settings,
    people: HashMap<String, String>,
    issues: HashMap<String, String>,
    /// Ids by name.
    components: HashMap<String, String>,
    /// Names and ids, in their order.
    versions: Vec<(String, String)>,
    space: String,
    facts: Vec<(String, Facts)>,
}

fn ids(all: &[String]) -> Vec<ValueId> {
    all.iter().map(|id| ValueId::from(id.as_str())).collect()
}

impl Names for Model {
    fn fields(&self, _: &str) -> Vec<KnownField> {
        Vec::new()
    }

    fn values(&self, kind: ValueKind, _: &FieldKey, name: &str) -> Vec<ValueId> {
        let folded = name.to_lowercase();
        let one = |found: Option<&String>| found.map(|id| ValueId::from(id.as_str())).into_iter().collect();
        match kind {
            ValueKind::Issue => one(self.issues.get(&folded)),
            ValueKind::Person => one(self.people.get(&folded)),
            ValueKind::Space => one(Some(&self.space).filter(|_| folded == "web")),
            ValueKind::Component => one(self.components.get(&folded)),
            ValueKind::Version => one(self.versions.iter().find(|(name, _)| *name == folded).map(|(_, id)| id)),
            ValueKind::Category => vec![ValueId::from(folded.replace(' ', "").as_str())],
            ValueKind::Type => ids(&self.settings.ids_named(Catalog::Type, name)),
            ValueKind::Status => ids(&self.settings.ids_named(Catalog::Status, name)),
            ValueKind::Resolution => ids(&self.settings.ids_named(Catalog::Resolution, name)),
            ValueKind::Priority => ids(&self.settings.ids_named(Catalog::Priority, name)),
            _ => Vec::new(),
        }
    }

    fn compared(&self, kind: ValueKind, comparison: Comparison, value: &ValueId) -> Vec<ValueId> {
        if kind == ValueKind::Version {
            let all: Vec<&str> = self.versions.iter().map(|(_, id)| id.as_str()).collect();
            let fits = all.iter().filter(|id| comparison.holds(place(&all, id), place(&all, &value.0)));
            return fits.map(|id| ValueId::from(*id)).collect();
        }
        let place =
            |id: &str| place(&self.settings.priorities.iter().rev().map(|it| it.id.as_str()).collect::<Vec<_>>(), id);
        let fits = self.settings.priorities.iter().filter(|it| comparison.holds(place(&it.id), place(&value.0)));
        fits.map(|it| ValueId::from(it.id.as_str())).collect()
    }

    fn answer(&self, _: &str, _: &FieldKey, _: &[&str]) -> Option<Vec<ValueId>> {
        None
    }

    fn filter(&self, _: &str) -> Option<String> {
        None
    }

    fn custom_texts(&self) -> Vec<FieldKey> {
        Vec::new()
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn place(all: &[&str], id: &str) -> f64 {
    all.iter().position(|it| *it == id).expect("a known id") as f64
}

impl Model {
    /// What is known of an issue. `seq` is the order of making.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
    fn facts_of(&self, seq: i64, shown: &Value, comments: Vec<String>, history: &[HistoryRow]) -> Facts {
        let issue: Issue = serde_json::from_value(shown["issue"].clone()).expect("an issue");
        let mut facts = Facts { seq, ..Facts::default() };
        let numbers = ["due", "startDate", "storyPoints", "originalEstimate", "remainingEstimate"];
        for (field, _) in KEPT_FIELDS {
            let held = issue.kept(field);
            if numbers.contains(&field) {
                facts.numbers.insert(field.into(), held.iter().map(|it| it.parse().unwrap()).collect());
            } else {
                facts.values.insert(field.into(), ids(&held));
            }
            let entry = |row: &HistoryRow| HistoryEntry {
                field: field.into(),
                at: row.at,
                by: ValueId::from(row.by.unwrap().to_string().as_str()),
                from: ids(&row.from),
                to: ids(&row.to),
            };
            let changes: Vec<_> = history.iter().filter(|row| row.field == field).map(entry).collect();
            let creator = ValueId::from(issue.creator_id.unwrap().to_string().as_str());
            facts.spans.extend(spans(&field.into(), (issue.created_at, &creator), &ids(&held), &changes));
            facts.changes.extend(changes);
        }
        let category = shown["issue"]["statusCategory"].as_str().unwrap();
        facts.values.insert("statusCategory".into(), vec![ValueId::from(category)]);
        facts.values.insert("key".into(), vec![ValueId::from(issue.issue_id.to_string().as_str())]);
        let moment = |at: Timestamp| vec![at.0 as f64];
        facts.numbers.insert("created".into(), moment(issue.created_at));
        facts.numbers.insert("updated".into(), moment(issue.updated_at));
        facts.numbers.insert("resolved".into(), issue.resolved_at.map(moment).unwrap_or_default());
        facts.numbers.insert("watchers".into(), vec![issue.watchers.len() as f64]);
        facts.numbers.insert("votes".into(), vec![issue.voters.len() as f64]);
        let texts = [
            ("summary", vec![issue.summary.clone()]),
            ("description", vec![shown["description"].as_str().unwrap().to_owned()]),
            ("environment", issue.environment.iter().cloned().collect()),
            ("comment", comments),
        ];
        facts.texts.extend(texts.map(|(field, texts)| (FieldKey::from(field), texts)));
        self.sorted(&mut facts, &issue);
        facts
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn sorted(&self, facts: &mut Facts, issue: &Issue) {
        for field in ["created", "updated", "resolved", "due", "storyPoints"] {
            let number = facts.numbers.get(&FieldKey::from(field)).and_then(|all| all.first().copied());
            facts.sort.extend(number.map(|number| (field.into(), SortKey::Number(number))));
        }
        let settings = &self.settings;
        let of = |all: Vec<&str>, id: &str| SortKey::Number(place(&all, id));
        facts.sort.insert("key".into(), SortKey::Number(issue.number as f64));
        facts.sort.insert("summary".into(), SortKey::Text(issue.summary.clone()));
        let statuses = settings.statuses.iter().map(|it| it.id.as_str()).collect();
        facts.sort.insert("status".into(), of(statuses, &issue.status_id));
        let types = settings.issue_types.iter().map(|it| it.id.as_str()).collect();
        facts.sort.insert("type".into(), of(types, &issue.type_id));
        if let Some(priority) = &issue.priority_id {
            let priorities = settings.priorities.iter().rev().map(|it| it.id.as_str()).collect();
            facts.sort.insert("priority".into(), of(priorities, priority));
        }
    }
}

fn text(dice: &mut Dice) -> String {
    let count = usize::try_from(1 + dice.below(3)).unwrap();
    dice.pick_some(&WORDS, count).join(" ")
}

/// Fields as somebody may set them.
fn fields(dice: &mut Dice, people: &[Person]) -> Value {
    let mut body = json!({});
    let day = |dice: &mut Dice| json!(format!("2027-02-0{}", 1 + dice.below(4)));
    for _ in 0..=dice.below(3) {
        let is_cleared = dice.percent(30);
        let (name, value) = match dice.below(9) {
            0 => ("assignee", json!(dice.pick(people).user_id)),
            1 => ("priority", json!(dice.pick(&PRIORITIES))),
            2 => ("dueDate", day(dice)),
            3 => ("startDate", day(dice)),
            4 => ("storyPoints", json!(1 + dice.below(4))),
            5 => ("originalEstimate", json!(3600 * (1 + dice.below(3)))),
            6 => ("description", json!(text(dice))),
            7 => ("environment", json!(text(dice))),
            _ => ("parent", json!("WEB-1")),
        };
        body[name] = if is_cleared { Value::Null } else { value };
    }
    for (name, all) in [("components", &COMPONENTS[..]), ("fixVersions", &VERSIONS[..])] {
        if dice.percent(30) {
            let count = usize::try_from(dice.below(3)).unwrap();
            body[name] = json!(dice.pick_some(all, count));
        }
    }
    if dice.percent(40) {
        let count = usize::try_from(dice.below(3)).unwrap();
        body["labels"] = json!(dice.pick_some(&LABELS, count));
    }
    body
}

async fn edit(desk: &Desk, people: &[Person], dice: &mut Dice) {
    let (number, person) = (1 + dice.below(ISSUES as u64), dice.pick(people));
    let path = format!("{}/WEB-{number}", desk.path);
    let answer = match dice.below(7) {
        0 | 1 => {
            let body = json!({ "to": dice.pick(&STATUSES) });
            person.client.post(&format!("{path}/transitions")).json(&body).send().await
        }
        5 | 6 => {
            let path = format!("{path}/{}", dice.pick(&["vote", "watchers"]));
            if dice.percent(75) { person.client.post(&path) } else { person.client.delete(&path) }.send().await
        }
        2 => person.client.post(&format!("{path}/comments")).json(&json!({ "body": text(dice) })).send().await,
        _ => {
            let mut body = fields(dice, people);
            if number == 1 {
                // Who stands above others has nobody above.
                body.as_object_mut().unwrap().remove("parent");
            }
            person.client.patch(&path).json(&body).send().await
        }
    };
    assert!(answer.status < 300 || answer.status == 409, "{} {}", answer.status, answer.text);
}

/// Makes what issues have of the space: ids of components by name, names and ids of versions in their order.
async fn parts(desk: &Desk) -> (HashMap<String, String>, Vec<(String, String)>) {
    let (mut components, mut versions) = (HashMap::new(), Vec::new());
    let path = format!("{}/spaces/WEB", desk.path);
    for name in COMPONENTS {
        let made = desk.ada.client.post(&format!("{path}/components")).json(&json!({ "name": name })).send().await;
        components.insert(name.to_lowercase(), made.expect(201).str("/component/componentId").to_owned());
    }
    for name in VERSIONS {
        let made = desk.ada.client.post(&format!("{path}/versions")).json(&json!({ "name": name })).send().await;
        versions.push((name.to_owned(), made.expect(201).str("/version/versionId").to_owned()));
    }
    (components, versions)
}

async fn world(desk: &Desk, dice: &mut Dice) -> Model {
    let (components, versions) = parts(desk).await;
    let people = [desk.ada.clone(), desk.member("bob", "developer").await, desk.member("cem", "developer").await];
    for at in 0..ISSUES {
        desk.server.clock.advance(Duration::from_mins(17));
        let mut body = fields(dice, &people);
        body["summary"] = json!(text(dice));
        body["type"] = json!(if at == 0 { "epic" } else { "task" });
        if at == 0 {
            body.as_object_mut().unwrap().remove("parent");
        }
        desk.issue(body).await;
    }
    for _ in 0..EDITS {
        desk.server.clock.advance(Duration::from_mins(43));
        edit(desk, &people, dice).await;
    }
    let store = desk.server.store().await;
    let called = PEOPLE.iter().zip(&people).map(|(name, person)| ((*name).to_owned(), person.user_id.clone()));
    let mut model = Model {
        settings: Settings::default(),
        people: called.collect(),
        issues: HashMap::new(),
        components,
        versions,
        space: String::new(),
        facts: Vec::new(),
    };
    for at in 1..=ISSUES {
        let (key, facts) = known(desk, &store, &mut model, at).await;
        model.facts.push((key, facts));
    }
    model
}

async fn known(desk: &Desk, store: &Store, model: &mut Model, at: usize) -> (String, Facts) {
    let key = format!("WEB-{at}");
    let shown = desk.ada.client.get(&format!("{}/{key}", desk.path)).send().await.expect(200);
    let comments = desk.ada.client.get(&format!("{}/{key}/comments", desk.path)).send().await.expect(200);
    let comments = comments.list("/comments").iter().map(|it| it["body"].as_str().unwrap().to_owned()).collect();
    let id: IssueId = shown.str("/issue/issueId").parse().unwrap();
    let history = store.issue_histories(&[id]).await.unwrap().remove(&id).unwrap_or_default();
    model.issues.insert(key.to_lowercase(), id.to_string());
    shown.str("/issue/spaceId").clone_into(&mut model.space);
    (key, model.facts_of(i64::try_from(at).unwrap(), &shown.json, comments, &history))
}

fn query(dice: &mut Dice, depth: u64) -> String {
    match dice.below(if depth == 0 { 1 } else { 5 }) {
        3 => format!("not ({})", query(dice, depth - 1)),
        4 => {
            let word = *dice.pick(&[" and ", " or "]);
            let parts: Vec<_> = (0..2 + dice.below(2)).map(|_| query(dice, depth - 1)).collect();
            format!("({})", parts.join(word))
        }
        _ => (*dice.pick(CLAUSES)).to_owned(),
    }
}

/// What the evaluator says.
fn expected(model: &Model, reader: &Reader, jql: &str) -> Vec<String> {
    let parsed = Query::parse(jql).expect(jql);
    let plan = resolve(jql, &parsed, model, reader).unwrap_or_else(|faults| panic!("{jql}: {}", faults[0]));
    let mut found: Vec<_> = model.facts.iter().filter(|(_, facts)| plan.matches(facts, unstemmed)).collect();
    found.sort_by(|(_, one), (_, other)| plan.order(one, other, Fallback::Updated));
    found.into_iter().map(|(key, _)| key.clone()).collect()
}

#[tokio::test]
async fn the_search_finds_what_the_evaluator_says() {
    let mut dice = Dice::from_environment("TROUPE_ISSUE_SEED");
    let count: usize = number("TROUPE_ISSUE_PLANS", 200);
    let desk = Desk::new().await;
    let model = world(&desk, &mut dice).await;
    let clock = Clock { now: desk.server.clock.now(), zone: Zone::UTC };
    let reader = Reader { person: ValueId::from(desk.ada.user_id.as_str()), clock };
    // Each clause alone, then denied, then whatever falls.
    let singles = CLAUSES.iter().flat_map(|clause| [(*clause).to_owned(), format!("not ({clause})")]);
    let random = (0..count).map(|_| format!("{} {}", query(&mut dice, 3), dice.pick(ORDERS)));
    let (mut some, mut queries) = (0, 0);
    for jql in singles.chain(random.collect::<Vec<_>>()) {
        let expected = expected(&model, &reader, &jql);
        assert_eq!(desk.found(&desk.ada, &jql).await, expected, "{jql}");
        some += usize::from(!expected.is_empty() && expected.len() < ISSUES);
        queries += 1;
    }
    assert!(some * 2 > queries, "{some} of {queries} queries tell issues apart");
}
