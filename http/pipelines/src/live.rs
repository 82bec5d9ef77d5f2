//! `…/pipelines/live`, and the socket that it leads to: which runs and jobs of a repository change.

use actix_web::HttpResponse;
use actors::pipelines::pipelines_channel;
use domain::id::ResourceId;
use http_shell::{
    answer::Json,
    error::Result,
    path::Path,
    permission::GitRead,
    repository::Repository,
    socket::{Opening, SocketAddress},
    state::State,
    watching::{RepositoryId, WatchKind, watch, watch_address},
};
use serde::Serialize;
use utoipa::ToSchema;

/// Where the socket is.
#[derive(Serialize, ToSchema)]
pub(crate) struct PipelinesLiveView {
    /// Open it with a WebSocket client; null for a key, which is no person.
    socket: Option<SocketAddress>,
}

/// Find the socket of a repository's pipelines
///
/// Open `url?ticket=…` within two minutes.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/live")]
pub(crate) async fn pipelines_live(repository: Repository<GitRead>, state: State) -> Result<Json<PipelinesLiveView>> {
    Ok(Json(PipelinesLiveView { socket: watch_address::<PipelinesLive>(&state, &repository).await? }))
}

/// The socket of a repository's pipelines.
pub(crate) struct PipelinesLive;

impl WatchKind for PipelinesLive {
    const PATH: &'static str = "/v1/sockets/pipelines-of";

    fn channel(repository: ResourceId) -> String {
        pipelines_channel(repository)
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
    Path(repository): Path<RepositoryId>,
    opening: Opening<PipelinesLive>,
    state: State,
) -> Result<HttpResponse> {
    watch(&state, repository, opening).await
}
