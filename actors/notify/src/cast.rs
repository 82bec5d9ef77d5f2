//! Who and what a protocol's rules may mean, as it is now.

use std::collections::BTreeSet;

use domain::{
    Role,
    id::{OrgId, RotaId, UserId},
    notify::{Rota, Rule, preview::Cast},
};
use store::{Store, StoreError};

/// The people whom `rules` may tell when something concerns `concerned`, and the rotas of their steps; one query per table.
pub async fn cast(
    store: &Store,
    calls_available: bool,
    org_id: OrgId,
    rules: &[Rule],
    concerned: &[UserId],
) -> Result<Cast, StoreError> {
    let rota_ids: BTreeSet<RotaId> = rules.iter().flat_map(Rule::rotas).collect();
    let rotas = store.rotas_by_id(org_id, &rota_ids.into_iter().collect::<Vec<_>>()).await?;
    let mut people: BTreeSet<UserId> = rotas.iter().flat_map(Rota::everybody).collect();
    people.extend(rules.iter().flat_map(|rule| &rule.user_ids).chain(concerned));
    let meant: BTreeSet<Role> = rules.iter().flat_map(|rule| rule.roles.iter().copied()).collect();
    let named: Vec<_> = people.iter().copied().collect();
    let members = store.members_among(org_id, &named, &meant.into_iter().collect::<Vec<_>>()).await?;
    people.extend(members.iter().map(|(user_id, _)| *user_id));
    let recipients = store.recipients(&people.into_iter().collect::<Vec<_>>()).await?;
    Ok(Cast {
        members: members.into_iter().collect(),
        recipients: recipients.into_iter().map(|recipient| (recipient.user_id, recipient)).collect(),
        rotas,
        calls_available,
    })
}
