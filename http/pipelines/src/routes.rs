//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    approvals, artifacts, caches, check, checkout, environments, files, live, log_archive, log_reading, log_socket,
    logs, reports, runner, runners, runs, secrets, why, workflows,
};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Pipelines" {
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows" => workflows::workflows_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}" => workflows::workflow_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}" => workflows::workflow_put;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}/dispatches" => workflows::workflow_dispatch, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/check" => check::workflow_check;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/why" => why::workflows_why;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs" => runs::runs_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}" => runs::run_get;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}" => runs::run_delete;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/cancel" => runs::run_cancel;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/rerun" => runs::run_rerun, creates();
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}" => runs::run_job_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals" => approvals::run_approvals_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals" => approvals::run_approvals_decide;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments" => environments::environments_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" => environments::environment_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" => environments::environment_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" => environments::environment_delete;
            GET    "/v1/orgs/{orgId}/pipelines/runners" => runners::runners_list;
            POST   "/v1/orgs/{orgId}/pipelines/runners/token" => runners::runner_token_create;
            PATCH  "/v1/orgs/{orgId}/pipelines/runners/{runnerId}" => runners::runner_patch;
            DELETE "/v1/orgs/{orgId}/pipelines/runners/{runnerId}" => runners::runner_delete;
            GET    "/v1/orgs/{orgId}/pipelines/queue" => runners::queue_list;
            POST   "/v1/runner/register" => runner::runner_register, per_address(120);
            POST   "/v1/runner/poll" => runner::runner_poll;
            GET    "/v1/runner/job" => runner::runner_job;
            POST   "/v1/runner/status" => reports::runner_status;
            POST   "/v1/runner/complete" => reports::runner_complete;
            POST   "/v1/runner/checkout"                  => checkout::runner_checkout;
            POST   "/v1/runner/logs"                      => logs::runner_logs;
            POST   "/v1/runner/cache/restore"             => caches::runner_cache_restore;
            POST   "/v1/runner/cache/save"                => caches::runner_cache_save;
            POST   "/v1/runner/cache/commit"              => caches::runner_cache_commit;
            POST   "/v1/runner/artifacts/upload"          => artifacts::runner_artifact_upload;
            POST   "/v1/runner/artifacts/commit"          => artifacts::runner_artifact_commit;
            POST   "/v1/runner/artifacts/download"        => artifacts::runner_artifact_download;
            GET    "/v1/runner/files/{fileId}"            => files::job_file_get;
            PUT    "/v1/runner/files/{fileId}"            => files::job_file_put;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log" => log_reading::job_log_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/raw" => log_reading::job_log_raw;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/live" => log_socket::job_log_live;
            GET    "/v1/sockets/jobs/{jobId}/log"         => log_socket::job_log_socket;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/live" => live::pipelines_live;
            GET    "/v1/sockets/pipelines-of/{repositoryId}" => live::pipelines_live_socket;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/logs" => log_archive::run_logs_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/artifacts" => artifacts::run_artifacts_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}" => artifacts::artifact_get;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}" => artifacts::artifact_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/caches" => caches::caches_list;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/caches" => caches::caches_delete;
            GET    "/v1/orgs/{orgId}/pipelines/secrets" => secrets::organization_secrets_list;
            GET    "/v1/orgs/{orgId}/pipelines/secrets/{secret}" => secrets::organization_secret_get;
            PUT    "/v1/orgs/{orgId}/pipelines/secrets/{secret}" => secrets::organization_secret_put;
            DELETE "/v1/orgs/{orgId}/pipelines/secrets/{secret}" => secrets::organization_secret_delete;
            GET    "/v1/orgs/{orgId}/pipelines/variables" => secrets::organization_variables_list;
            GET    "/v1/orgs/{orgId}/pipelines/variables/{variable}" => secrets::organization_variable_get;
            PUT    "/v1/orgs/{orgId}/pipelines/variables/{variable}" => secrets::organization_variable_put;
            DELETE "/v1/orgs/{orgId}/pipelines/variables/{variable}" => secrets::organization_variable_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets" => secrets::repository_secrets_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" => secrets::repository_secret_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" => secrets::repository_secret_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" => secrets::repository_secret_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables" => secrets::repository_variables_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" => secrets::repository_variable_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" => secrets::repository_variable_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" => secrets::repository_variable_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets" => secrets::environment_secrets_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" => secrets::environment_secret_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" => secrets::environment_secret_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" => secrets::environment_secret_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables" => secrets::environment_variables_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" => secrets::environment_variable_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" => secrets::environment_variable_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" => secrets::environment_variable_delete;
        }
    }
}
