//! What whoever watches a repository's pipelines is told: which runs and jobs changed. Clients read what they want to know of them.

use domain::id::{JobId, ResourceId, RunId};
use gateways::hub::Hub;
use serde::Serialize;

/// Something that changed, as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum PipelineChange {
    /// A run was made or changed, or is gone.
    #[serde(rename = "run.changed")]
    Run {
        /// The run.
        run_id: RunId,
        /// Counts its changes.
        version: i64,
    },
    /// A job was made or changed.
    #[serde(rename = "job.changed")]
    Job {
        /// The run.
        run_id: RunId,
        /// The job.
        job_id: JobId,
        /// Counts its changes.
        version: i64,
    },
}

/// The channel on which the changes of a repository's pipelines are heard.
pub fn pipelines_channel(repository_id: ResourceId) -> String {
    format!("pipelines:{repository_id}")
}

/// Tells whoever watches what a commit changed.
pub(crate) fn tell_changes(hub: &Hub, repository_id: ResourceId, changes: impl IntoIterator<Item = PipelineChange>) {
    let channel = pipelines_channel(repository_id);
    for change in changes {
        // Ids and numbers can always be written.
        let message = serde_json::to_vec(&change).unwrap_or_default();
        hub.publish(&channel, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_its_ids_and_its_version() {
        let run_id: RunId = "run_01jd7rt4m5e9fv2w8x3c6k0hqz".parse().unwrap();
        let job_id: JobId = "job_01jd7rt4m5e9fv2w8x3c6k0hqz".parse().unwrap();
        let written = |change: PipelineChange| serde_json::to_value(change).unwrap();
        let run = serde_json::json!({ "type": "run.changed", "runId": run_id, "version": 3 });
        assert_eq!(written(PipelineChange::Run { run_id, version: 3 }), run);
        let job = serde_json::json!({ "type": "job.changed", "runId": run_id, "jobId": job_id, "version": 1 });
        assert_eq!(written(PipelineChange::Job { run_id, job_id, version: 1 }), job);
    }
}
