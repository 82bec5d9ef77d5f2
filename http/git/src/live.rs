//! `…/live`, and the socket that it leads to: what changes in a repository.

use actix_web::HttpResponse;
use actors::repository_channel;
use domain::{Error, git::repository_not_found, id::ResourceId};
use http_shell::{
    answer::Json,
    call::Call,
    error::Result,
    path::{Path, PathParameter},
    permission::GitRead,
    repository::Repository,
    socket::{Opening, SocketAddress, SocketKind},
    state::State,
    watching::{RepositoryId, Watching},
};
use serde::Serialize;
use utoipa::ToSchema;

/// Where the socket is.
#[derive(Serialize, ToSchema)]
pub(crate) struct RepositoryLiveView {
    /// Open it with a WebSocket client; null for a key, which is no person.
    socket: Option<SocketAddress>,
}

fn resource(id: ResourceId) -> String {
    format!("repository:{id}")
}

/// Find the socket of a repository
///
/// Open `url?ticket=…` within two minutes.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/live")]
pub(crate) async fn repository_live(repository: Repository<GitRead>, state: State) -> Result<Json<RepositoryLiveView>> {
    let (id, org_id) = (repository.stored.id(), repository.org_id());
    let rights = serde_json::to_value(org_id).map_err(Error::internal)?;
    let path = format!("/v1/sockets/repositories/{id}");
    let socket = SocketAddress::issue_in(&state, repository.org(), &path, resource(id), rights).await?;
    Ok(Json(RepositoryLiveView { socket }))
}

/// The socket of a repository.
pub(crate) struct RepositoryLive;

impl SocketKind for RepositoryLive {
    fn resource(call: &Call) -> Result<String> {
        let id = RepositoryId::read(call.path_value(RepositoryId::NAME)?).ok_or_else(repository_not_found)?;
        Ok(resource(id.0))
    }
}

/// Open the socket of a repository
///
/// Messages are JSON: `{"type": "refs.moved", "pushId", "version"}` for a push that moved refs, `{"type": "pull.changed", "number",
/// "version"}`, `{"type": "review.changed", "number"}` for reviews, threads and who is asked, `{"type": "status.changed",
/// "commitId", "context"}` for a check, and `{"type": "reset"}` at the beginning and where some may have been missed: read anew what
/// you show. What an older version changed may come late.
#[utoipa::path(get, path = "/v1/sockets/repositories/{repositoryId}",
    responses((status = 101, description = "The socket is open.")))]
pub(crate) async fn repository_live_socket(
    Path(RepositoryId(repository)): Path<RepositoryId>,
    opening: Opening<RepositoryLive>,
    state: State,
) -> Result<HttpResponse> {
    let watching = Watching::begin(&state, repository, opening.ticket(), &repository_channel(repository)).await?;
    opening.serve(watching).await
}
