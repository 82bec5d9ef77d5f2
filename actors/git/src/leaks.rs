//! Tokens of this program's in what a change brings: whoever can revoke one is told that it was found, and nothing revokes it by
//! itself.
//!
//! People hear of a token once for each repository that it is brought to, in the commit that notes it there. Where the repository
//! is, and what it is called, is told to those only who can read it.

use actors_base::event::Event;
use domain::{
    Result, Timestamp,
    git::{Fingerprint, FoundToken, SecretFinding, SecretRuling},
    id::OrgId,
};
use serde_json::{Map, Value, json};
use store::{
    Change, Store,
    accounts::{OwnedCredential, OwnedToken},
    git::StoredRepository,
};

use crate::resource::level_of_member;

/// A token that was found, and that opens something.
#[derive(Clone, Debug)]
pub struct LeakedToken {
    /// What it is known by in the repository.
    pub fingerprint: Fingerprint,
    /// Whose it is.
    pub token: OwnedToken,
}

impl LeakedToken {
    /// Those of the tokens that open something.
    pub(crate) async fn among(store: &Store, found: &[FoundToken]) -> Result<Vec<Self>> {
        let hashes: Vec<_> = found.iter().map(|it| it.hash).collect();
        let owned = store.owned_tokens(&hashes).await?;
        let leaked = |it: &FoundToken| {
            let token = owned.iter().find(|token| token.hash == it.hash)?.clone();
            Some(Self { fingerprint: it.fingerprint, token })
        };
        Ok(found.iter().filter_map(leaked).collect())
    }
}

/// What people are to be told of tokens that a change brings.
#[derive(Debug, Default)]
pub(crate) struct Leaks(Vec<(Fingerprint, Event)>);

impl Leaks {
    /// For those tokens that the repository doesn't know of yet.
    pub(crate) async fn of(
        store: &Store,
        repository: &StoredRepository,
        ruling: &SecretRuling,
        tokens: &[LeakedToken],
    ) -> Result<Self> {
        let mut leaks = Self::default();
        for LeakedToken { fingerprint, token } in tokens {
            let mut noted = ruling.open.iter().chain(&ruling.allowed);
            let Some(finding) = noted.find(|finding| finding.secret.fingerprint == *fingerprint) else { continue };
            if store.secret_finding(repository.no, *fingerprint).await?.is_some() {
                continue;
            }
            let level = level_of_member(store, repository, token.owner).await?;
            let place = level.map(|_| (repository, finding));
            leaks.0.push((*fingerprint, event(token, *fingerprint, place, repository.resource.org_id)));
        }
        Ok(leaks)
    }

    /// Tells of those that are among these.
    pub(crate) fn tell(&self, change: &mut Change, now: Timestamp, noted: &[SecretFinding]) {
        for (fingerprint, event) in &self.0 {
            if noted.iter().any(|finding| finding.secret.fingerprint == *fingerprint) {
                event.clone().emit(change, now);
            }
        }
    }
}

/// What the token's owner is told: where it is, only if they can read that. Of another organization's repository no organization is
/// told, since those who watch over a key's organization have no part in it.
fn event(
    token: &OwnedToken,
    fingerprint: Fingerprint,
    place: Option<(&StoredRepository, &SecretFinding)>,
    found_in: OrgId,
) -> Event {
    let (what, about, org_id, mut data) = match &token.credential {
        OwnedCredential::Key { id, name, org_id } => (
            format!("Your key {name}"),
            ("key", id.to_string()),
            Some(*org_id),
            json!({ "keyId": id, "keyName": name }),
        ),
        OwnedCredential::SignIn(id) => (
            "The token of one of your sign-ins".to_owned(),
            ("sign_in", id.to_string()),
            None,
            json!({ "signInId": id }),
        ),
    };
    data["fingerprint"] = json!(fingerprint.to_string());
    let place = if let Some((repository, finding)) = place {
        let resource = &repository.resource;
        data["repository"] = json!({ "resourceId": resource.id, "name": resource.name });
        data["path"] = json!(finding.path);
        data["line"] = json!(finding.secret.line);
        format!("the repository {}, at {}", resource.name, finding.place())
    } else {
        "a repository in which you have no part".to_owned()
    };
    let data = if let Value::Object(data) = data { data } else { Map::new() };
    Event {
        org_id: org_id.filter(|org_id| *org_id == found_in),
        user_ids: vec![token.owner],
        body: format!("{what} stands in what was sent to {place}. Revoke it, and use another one in its place."),
        data,
        ..Event::new("security.git_key", about, format!("{what} was found in a repository"))
    }
}
