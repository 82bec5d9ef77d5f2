//! Components, versions and sprints as queries name them, of the spaces that the caller may browse.

use domain::{
    Result,
    id::{OrgId, SpaceId, UserId},
    issues::{
        boards::{Sprint, SprintState},
        jql::{
            Query,
            meaning::{Comparison, ValueId, ValueKind},
        },
        parts::{Component, Version, folded},
    },
};
use store::Store;

use super::access::Sight;

/// The fields of queries that ask for parts, in small letters.
const ASKING: [&str; 5] = ["component", "fixversion", "affectedversion", "sprint", "filter"];

/// The parts of the spaces that the caller sees.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    components: Vec<Component>,
    /// By space, and there by place.
    versions: Vec<Version>,
    sprints: Vec<Sprint>,
}

fn value(id: &impl ToString) -> ValueId {
    ValueId::from(id.to_string().as_str())
}

/// Places are small.
#[expect(clippy::cast_precision_loss, reason = "a space has some hundred versions, and places count them")]
fn number(place: i64) -> f64 {
    place as f64
}

impl Parts {
    /// Reads them where a query, or a filter that it may name, can ask for them.
    pub(crate) async fn read(store: &Store, org_id: OrgId, (sight, query): (&Sight, &Query)) -> Result<Self> {
        let is_asked = query.clauses().any(|clause| {
            let field = clause.field.to_string().to_lowercase();
            ASKING.contains(&field.as_str())
        });
        if !is_asked {
            return Ok(Self::default());
        }
        let (mut components, mut versions) =
            (store.issue_components(org_id, None).await?, store.issue_versions(org_id, None).await?);
        components.retain(|it| sight.space(it.space_id).is_some());
        versions.retain(|it| sight.space(it.space_id).is_some());
        let mut sprints = store.issue_sprints(org_id, None).await?;
        sprints.retain(|it| sight.space(it.space_id).is_some());
        Ok(Self { components, versions, sprints })
    }

    /// The values that bear a name or an id; nothing for what is of another kind.
    pub(crate) fn named(&self, kind: ValueKind, name: &str) -> Vec<ValueId> {
        let wanted = folded(name);
        match kind {
            ValueKind::Component => {
                let fits = |it: &&Component| folded(&it.name) == wanted || it.id.to_string() == wanted;
                self.components.iter().filter(fits).map(|it| value(&it.id)).collect()
            }
            ValueKind::Version => {
                let fits = |it: &&Version| folded(&it.name) == wanted || it.id.to_string() == wanted;
                self.versions.iter().filter(fits).map(|it| value(&it.id)).collect()
            }
            ValueKind::Sprint => {
                let fits = |it: &&Sprint| folded(&it.name) == wanted || it.id.to_string() == wanted;
                self.sprints.iter().filter(fits).map(|it| value(&it.id)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The versions of the same space that compare so with one, by their places.
    pub(crate) fn compared(&self, comparison: Comparison, bound: &ValueId) -> Vec<ValueId> {
        let Some(bound) = self.versions.iter().find(|it| value(&it.id) == *bound) else { return Vec::new() };
        let fits =
            |it: &&Version| it.space_id == bound.space_id && comparison.holds(number(it.place), number(bound.place));
        self.versions.iter().filter(fits).map(|it| value(&it.id)).collect()
    }

    /// What a function of queries answers; nothing where an argument names nothing, or it is none that asks for parts.
    pub(crate) fn answer(
        &self,
        (function, arguments): (&str, &[&str]),
        (sight, me, person): (&Sight, UserId, impl Fn(&str) -> Vec<ValueId>),
    ) -> Option<Vec<ValueId>> {
        let sprints = |state: SprintState| -> Option<Vec<ValueId>> {
            let found = self.sprints.iter().filter(|it| it.state == state);
            Some(found.map(|it| value(&it.id)).collect())
        };
        match function {
            "openSprints" => sprints(SprintState::Active),
            "closedSprints" => sprints(SprintState::Closed),
            "futureSprints" => sprints(SprintState::Future),
            "releasedVersions" => self.versions_of(sight, arguments, Version::is_released),
            "unreleasedVersions" => self.versions_of(sight, arguments, |it| !it.is_released()),
            "latestReleasedVersion" => {
                let mut all = self.versions_of(sight, arguments, |it| it.is_released() && !it.archived)?;
                Some(all.pop().into_iter().collect())
            }
            "earliestUnreleasedVersion" => {
                let all = self.versions_of(sight, arguments, |it| !it.is_released() && !it.archived)?;
                Some(all.into_iter().take(1).collect())
            }
            "componentsLeadByUser" => {
                let people = match arguments {
                    [] => vec![value(&me)],
                    names => names.iter().flat_map(|name| person(name)).collect(),
                };
                let leads = |it: &&Component| it.lead_id.is_some_and(|lead| people.contains(&value(&lead)));
                (!people.is_empty()).then(|| self.components.iter().filter(leads).map(|it| value(&it.id)).collect())
            }
            _ => None,
        }
    }

    /// The versions of the spaces that are named, or of all, of which something holds, by their places.
    fn versions_of(&self, sight: &Sight, spaces: &[&str], holds: impl Fn(&Version) -> bool) -> Option<Vec<ValueId>> {
        let named: Option<Vec<SpaceId>> = spaces.iter().map(|text| sight.named(text).map(|it| it.space_id)).collect();
        let named = named?;
        let is_meant = |it: &&Version| (named.is_empty() || named.contains(&it.space_id)) && holds(it);
        Some(self.versions.iter().filter(is_meant).map(|it| value(&it.id)).collect())
    }
}
