//! `…/live`, and the socket that it leads to: what changes in a repository.

use actix_web::HttpResponse;
use actors::repository_channel;
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
pub(crate) struct RepositoryLiveView {
    /// Open it with a WebSocket client; null for a key, which is no person.
    socket: Option<SocketAddress>,
}

/// Find the socket of a repository
///
/// Open `url?ticket=…` within two minutes.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/live")]
pub(crate) async fn repository_live(repository: Repository<GitRead>, state: State) -> Result<Json<RepositoryLiveView>> {
    Ok(Json(RepositoryLiveView { socket: watch_address::<RepositoryLive>(&state, &repository).await? }))
}

/// The socket of a repository.
pub(crate) struct RepositoryLive;

impl WatchKind for RepositoryLive {
    const PATH: &'static str = "/v1/sockets/repositories";

    fn channel(repository: ResourceId) -> String {
        repository_channel(repository)
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
    Path(repository): Path<RepositoryId>,
    opening: Opening<RepositoryLive>,
    state: State,
) -> Result<HttpResponse> {
    watch(&state, repository, opening).await
}
