//! What crashed on a node, and what was slow.

use actors::platform::Question;
use http_shell::{answer::Json, error::Result, permission::PlatformInfra};

use super::{
    AskedNode, Operator,
    views::{CrashesAnswer, SlowAnswer},
};

/// See the last crashes
#[utoipa::path(get, path = "/v1/platform/crashes")]
pub(crate) async fn crashes_list(_operator: Operator<PlatformInfra>, node: AskedNode) -> Result<Json<CrashesAnswer>> {
    node.pass_on(Question::Crashes).await
}

/// See what was slow
///
/// Requests, commands with where their time went, and turns that held up others because they did not yield.
#[utoipa::path(get, path = "/v1/platform/slow")]
pub(crate) async fn slow_list(_operator: Operator<PlatformInfra>, node: AskedNode) -> Result<Json<SlowAnswer>> {
    node.pass_on(Question::Slow).await
}
