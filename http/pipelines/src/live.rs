//! `…/pipelines/live`, and the socket that it leads to: which runs and jobs of a repository change.

use actix_web::HttpResponse;
use actors::pipelines::pipelines_channel;
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
    let watching = Watching::begin(&state, repository, opening.ticket(), &pipelines_channel(repository)).await?;
    opening.serve(watching).await
}
