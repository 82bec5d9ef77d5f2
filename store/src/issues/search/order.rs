//! The order in which a search answers. Issues without a value come last, whatever the direction; ties go by the order of making.

use domain::issues::jql::meaning::Fallback;

use super::{
    Bound, IssueSearch, clocks,
    fields::{Place, place},
    numbers::Numbers,
};

/// What stands behind `ORDER BY`. Nothing in it is a text of anybody's; the names of clocks are bound.
pub(super) fn of(search: &IssueSearch<'_>, numbers: &Numbers, bound: &mut Bound, is_postgres: bool) -> String {
    let mut parts = Vec::new();
    for order in &search.plan.order {
        let direction = if order.descends { "DESC" } else { "ASC" };
        if order.fields.iter().any(|field| place(&field.0) == Place::Clock) {
            let left = clocks::remaining(search, bound, &order.fields);
            parts.extend(left.iter().flat_map(|it| [format!("{it} IS NULL"), format!("{it} {direction}")]));
            continue;
        }
        for field in &order.fields {
            parts.extend(keyed(search, numbers, (&field.0, is_postgres), order.descends));
        }
    }
    if search.plan.order.is_empty() {
        let (key, descends) = match search.fallback {
            Fallback::Rank => ("rank", false),
            Fallback::Updated => ("updated", true),
            Fallback::Created => ("created", true),
            Fallback::Key => ("key", false),
        };
        parts.extend(keyed(search, numbers, (key, is_postgres), descends));
    }
    parts.push("i.seq".to_owned());
    parts.join(", ")
}

/// The parts of the order by one field; none where no issue has it.
fn keyed(search: &IssueSearch<'_>, numbers: &Numbers, (key, is_postgres): (&str, bool), descends: bool) -> Vec<String> {
    let direction = if descends { "DESC" } else { "ASC" };
    let placed = |column: &str, kind: &str, ids: &[String]| {
        let places = ids.iter().enumerate().filter_map(|(at, id)| Some((at, numbers.of(kind, id)?)));
        let whens: Vec<String> = places.map(|(at, no)| format!("WHEN {no} THEN {at}")).collect();
        if whens.is_empty() { None } else { Some(format!("(CASE {column} {} END)", whens.join(" "))) }
    };
    let spaces: Vec<String> = search.spaces.iter().map(ToString::to_string).collect();
    let orders = search.orders;
    let bytewise = if is_postgres { " COLLATE \"C\"" } else { "" };
    let expression = match key {
        "key" => {
            let by_space = placed("i.space_no", "space", &spaces);
            let by_space = by_space.map(|it| format!("{it} {direction}")).into_iter();
            return by_space.chain([format!("i.number {direction}")]).collect();
        }
        "rank" => return vec![format!("i.rank {direction}")],
        "created" => return vec![format!("i.created {direction}")],
        "updated" => return vec![format!("i.updated {direction}")],
        "space" => placed("i.space_no", "space", &spaces),
        "type" => placed("i.type_no", "type", &orders.types),
        "status" => placed("i.status_no", "status", &orders.statuses),
        "priority" => placed("i.priority_no", "priority", &orders.priorities),
        "resolution" => placed("i.resolution_no", "resolution", &orders.resolutions),
        "statusCategory" => Some("i.category".to_owned()),
        "parent" => Some("i.parent_seq".to_owned()),
        "summary" => Some(format!("(SELECT d.summary FROM issue_docs d WHERE d.id = i.id){bytewise}")),
        _ => match place(key) {
            Place::No(column, "person") => Some(format!(
                "(SELECT lower(p.name) FROM issue_values v JOIN people p ON p.id = v.value WHERE v.no = {column}){bytewise}"
            )),
            Place::Whole(column) | Place::Number(column) => Some(column.to_owned()),
            _ => None,
        },
    };
    expression.map_or_else(Vec::new, |it| vec![format!("({it}) IS NULL"), format!("{it} {direction}")])
}
