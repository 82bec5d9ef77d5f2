//! What functions of queries answer that ask for issues by what they have to do with others.

use std::collections::HashMap;

use domain::{
    Authority, Result,
    id::IssueId,
    issues::{
        jql::{Function, Operand, Query, Single, meaning::ValueId},
        settings::Settings,
    },
};
use store::Store;

/// The answers, by the function's name in small letters and its arguments.
#[derive(Debug, Default)]
pub(crate) struct Related(HashMap<(String, Vec<String>), Vec<ValueId>>);

fn asked(function: &Function) -> (String, Vec<String>) {
    let arguments = function.arguments.iter().map(|word| word.text.clone()).collect();
    (function.name.text.to_lowercase(), arguments)
}

/// The functions that a query calls.
fn calls(query: &Query) -> impl Iterator<Item = &Function> {
    let singles = query.clauses().flat_map(|clause| clause.operand.iter().flat_map(Operand::singles));
    singles.filter_map(|single| match single {
        Single::Function(function) => Some(function),
        _ => None,
    })
}

/// The issues at the other ends of an issue's links of these kinds, or of all: a kind's own name means both directions, what it is
/// called from an end means that one.
async fn linked(
    store: &Store,
    (authority, settings): (&Authority, &Settings),
    (id, kinds): (IssueId, &[String]),
) -> Result<Option<Vec<IssueId>>> {
    let mut wanted = Vec::new();
    for text in kinds {
        let Some((kind, _)) = settings.link_named(text) else { return Ok(None) };
        let is_called = |name: &str| name.to_lowercase() == text.trim().to_lowercase();
        let way = match (is_called(&kind.outward), is_called(&kind.inward)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        };
        wanted.push((kind.id.clone(), way));
    }
    let links = store.issue_links(authority.org_id(), id).await?;
    let fits = |kind: &str, inward: bool| {
        let is_meant = |(id, way): &(String, Option<bool>)| id == kind && way.is_none_or(|way| way == inward);
        wanted.is_empty() || wanted.iter().any(is_meant)
    };
    let others = links.iter().filter(|link| fits(&link.type_id, link.to == id));
    Ok(Some(others.map(|link| if link.to == id { link.from } else { link.to }).collect()))
}

impl Related {
    /// Reads what the query asks for; `issue` is the issue that a text names, as far as the caller sees it.
    pub(crate) async fn read(
        store: &Store,
        (authority, settings): (&Authority, &Settings),
        (queries, issue): (&[&Query], impl Fn(&str) -> Option<IssueId>),
    ) -> Result<Self> {
        let mut answers = HashMap::new();
        for (name, arguments) in queries.iter().flat_map(|query| calls(query)).map(asked) {
            let first = arguments.first().and_then(|text| issue(text));
            let found = match (name.as_str(), first) {
                ("watchedissues", _) => {
                    Some(store.issues_watched(authority.org_id(), authority.on_behalf_of()?).await?)
                }
                ("votedissues", _) => Some(store.issues_voted(authority.org_id(), authority.on_behalf_of()?).await?),
                ("childissuesof", Some(id)) => Some(store.issue_descendants(id).await?),
                ("linkedissues", Some(id)) => linked(store, (authority, settings), (id, &arguments[1..])).await?,
                _ => None,
            };
            if let Some(found) = found {
                let ids = found.iter().map(|id| ValueId::from(id.to_string().as_str())).collect();
                answers.insert((name, arguments), ids);
            }
        }
        Ok(Self(answers))
    }

    /// What a function answers; nothing where it asks for what isn't there.
    pub(crate) fn answer(&self, function: &str, arguments: &[&str]) -> Option<Vec<ValueId>> {
        let arguments = arguments.iter().map(|text| (*text).to_owned()).collect();
        self.0.get(&(function.to_lowercase(), arguments)).cloned()
    }
}
