//! Watching a repository: where its sockets are, for whom, and for how long they are open.

use actix_web::HttpResponse;
use bytestring::ByteString;
use domain::{
    Authority, Error, Scope,
    git::{REPOSITORY_NOT_FOUND, level_of, repository_not_found},
    id::{OrgId, ResourceId, UserId},
};
use futures::future::LocalBoxFuture;
use gateways::hub::{Signal, Subscription, Ticket};
use serde_json::json;
use store::Store;

use crate::{
    call::Call,
    error::Result,
    path::{PathParameter, concat_example},
    permission::GitRead,
    repository::Repository,
    socket::{Farewell, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};

/// What a person needs for as long as their socket is open.
const SCOPES: &[Scope] = &[Scope::GitRead];

/// The id of a repository.
#[derive(Clone, Copy)]
pub struct RepositoryId(pub ResourceId);

impl PathParameter for RepositoryId {
    const NAME: &'static str = "repositoryId";
    const DESCRIPTION: &'static str = "A repository: the id of its resource.";
    const EXAMPLE: &'static str = concat_example(ResourceId::PREFIX);
    const NOT_FOUND: &'static str = REPOSITORY_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// A kind of sockets that tell what changes in a repository.
pub trait WatchKind: 'static {
    /// Where they are, without the repository's id.
    const PATH: &'static str;

    /// The channel on which changes are heard.
    fn channel(repository: ResourceId) -> String;
}

/// The path of a repository's socket, which is what its tickets are for.
fn path_of<K: WatchKind>(repository: ResourceId) -> String {
    format!("{}/{repository}", K::PATH)
}

impl<K: WatchKind> SocketKind for K {
    fn resource(call: &Call) -> Result<String> {
        let id = RepositoryId::read(call.path_value(RepositoryId::NAME)?).ok_or_else(repository_not_found)?;
        Ok(path_of::<K>(id.0))
    }
}

/// Where whoever may read a repository opens its socket; nowhere for a key, which is no person.
pub async fn watch_address<K: WatchKind>(
    state: &State,
    repository: &Repository<GitRead>,
) -> Result<Option<SocketAddress>> {
    let path = path_of::<K>(repository.stored.id());
    let rights = serde_json::to_value(repository.org_id()).map_err(Error::internal)?;
    SocketAddress::issue_in(state, repository.org(), &path, path.clone(), rights).await
}

/// Serves a repository's socket until it ends; 404 where whoever opens it may not read the repository.
pub async fn watch<K: WatchKind>(
    state: &State,
    RepositoryId(repository): RepositoryId,
    opening: Opening<K>,
) -> Result<HttpResponse> {
    let watching = Watching::begin(state, repository, opening.ticket(), &K::channel(repository)).await?;
    opening.serve(watching).await
}

/// What comes over a channel of a repository, for somebody who may read it.
struct Watching {
    state: State,
    right: WatchRight,
    subscription: Subscription,
    /// Whether changes may have been missed.
    must_reset: bool,
}

impl Watching {
    /// Begins to listen for whoever got the ticket, the rights of which are the organization; 404 where they may not read the
    /// repository.
    async fn begin(state: &State, repository: ResourceId, ticket: &Ticket, channel: &str) -> Result<Self> {
        let org_id = serde_json::from_value(ticket.rights.clone()).map_err(Error::internal)?;
        let right = WatchRight { org_id, repository, user_id: ticket.user_id };
        if !right.holds(&state.store).await? {
            return Err(repository_not_found().into());
        }
        let subscription = state.hub.subscribe(channel).await;
        Ok(Self { state: State::clone(state), right, subscription, must_reset: true })
    }
}

/// Who watches what.
#[derive(Clone, Copy)]
struct WatchRight {
    org_id: OrgId,
    repository: ResourceId,
    user_id: UserId,
}

impl WatchRight {
    /// Whether they may now.
    async fn holds(&self, store: &Store) -> domain::Result<bool> {
        let found = store.authority_of_person(self.org_id, self.user_id).await;
        let authority = match Authority::admit(found, SCOPES) {
            Ok(authority) => authority,
            Err(Error::MissingScope(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let found = store.repository(self.org_id, self.repository).await?.filter(|found| !found.is_gone());
        let Some(stored) = found else { return Ok(false) };
        let granted = store.repository_granted(stored.no, self.org_id, self.user_id).await?;
        Ok(level_of(&authority, stored.settings.visibility, granted).is_some())
    }
}

impl Source for Watching {
    async fn next(&mut self) -> Result<Outgoing, Farewell> {
        if !self.must_reset {
            match self.subscription.next().await {
                Signal::Message(message) => {
                    return ByteString::try_from(message).map(Outgoing::Text).map_err(|_| Farewell::Failed);
                }
                Signal::Gap => self.must_reset = true,
            }
        }
        self.must_reset = false;
        Ok(Outgoing::Text(json!({ "type": "reset" }).to_string().into()))
    }

    fn is_still_allowed(&self) -> LocalBoxFuture<'static, domain::Result<bool>> {
        let (state, right) = (State::clone(&self.state), self.right);
        Box::pin(async move { right.holds(&state.store).await })
    }
}
