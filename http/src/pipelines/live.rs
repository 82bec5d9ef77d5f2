//! `…/pipelines/live`, and the socket that it leads to: which runs and jobs of a repository change.

use actix_web::HttpResponse;
use actors::pipelines::pipelines_channel;
use bytestring::ByteString;
use domain::{
    Authority, Error, Scope,
    git::{REPOSITORY_NOT_FOUND, level_of, repository_not_found},
    id::{OrgId, ResourceId, UserId},
};
use futures::future::LocalBoxFuture;
use gateways::hub::{Signal, Subscription};
use serde::Serialize;
use serde_json::json;
use store::Store;
use utoipa::ToSchema;

use crate::{
    answer::Json,
    call::Call,
    error::Result,
    git::Repository,
    path::{Path, PathParameter, concat_example},
    permission::GitRead,
    socket::{Farewell, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};

/// What a person needs for as long as their socket is open.
const SCOPES: &[Scope] = &[Scope::GitRead];

/// The id of a repository.
#[derive(Clone, Copy)]
pub(crate) struct RepositoryId(pub ResourceId);

impl PathParameter for RepositoryId {
    const NAME: &'static str = "repositoryId";
    const DESCRIPTION: &'static str = "A repository: the id of its resource.";
    const EXAMPLE: &'static str = concat_example(ResourceId::PREFIX);
    const NOT_FOUND: &'static str = REPOSITORY_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Where the socket is.
#[derive(Serialize, ToSchema)]
pub(crate) struct PipelinesLiveView {
    /// Open it with a WebSocket client; null for a key, which is no person.
    socket: Option<SocketAddress>,
}

fn resource(id: ResourceId) -> String {
    format!("pipelines:{id}")
}

/// Find the socket of a repository's pipelines
///
/// Open `url?ticket=…` within two minutes.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/live")]
pub(crate) async fn pipelines_live(repository: Repository<GitRead>, state: State) -> Result<Json<PipelinesLiveView>> {
    let (id, org_id) = (repository.stored.id(), repository.org_id());
    let rights = serde_json::to_value(org_id).map_err(Error::internal)?;
    let path = format!("/v1/sockets/pipelines-of/{id}");
    let socket = SocketAddress::issue_in(&state, repository.org(), &path, resource(id), rights).await?;
    Ok(Json(PipelinesLiveView { socket }))
}

/// The socket of a repository's pipelines.
pub(crate) struct PipelinesLive;

impl SocketKind for PipelinesLive {
    fn resource(call: &Call) -> Result<String> {
        let id = RepositoryId::read(call.path_value(RepositoryId::NAME)?).ok_or_else(repository_not_found)?;
        Ok(resource(id.0))
    }
}

/// Open the socket of a repository's pipelines
///
/// Messages are JSON: `{"type": "run.changed", "runId", "version"}` and `{"type": "job.changed", "runId", "jobId", "version"}` for
/// what was made or changed, or is gone, and `{"type": "reset"}` at the beginning and where some may have been missed: read anew what
/// you show. What an older version changed may come late.
#[utoipa::path(get, path = "/v1/sockets/pipelines-of/{repositoryId}",
    responses((status = 101, description = "The socket is open.")))]
pub(crate) async fn pipelines_live_socket(
    Path(RepositoryId(repository)): Path<RepositoryId>,
    opening: Opening<PipelinesLive>,
    state: State,
) -> Result<HttpResponse> {
    let org_id = serde_json::from_value(opening.ticket().rights.clone()).map_err(Error::internal)?;
    let right = WatchRight { org_id, repository, user_id: opening.ticket().user_id };
    right.check(&state.store).await?;
    let subscription = state.hub.subscribe(&pipelines_channel(repository)).await;
    opening.serve(PipelinesSource { state, right, subscription, must_reset: true }).await
}

/// Who watches what.
#[derive(Clone, Copy)]
struct WatchRight {
    org_id: OrgId,
    repository: ResourceId,
    user_id: UserId,
}

impl WatchRight {
    /// 404 where they may not.
    async fn check(&self, store: &Store) -> domain::Result<()> {
        if self.holds(store).await? { Ok(()) } else { Err(repository_not_found()) }
    }

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

struct PipelinesSource {
    state: State,
    right: WatchRight,
    subscription: Subscription,
    /// Whether changes may have been missed.
    must_reset: bool,
}

impl Source for PipelinesSource {
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
