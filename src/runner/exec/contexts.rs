//! What a run on this machine is of: the repository around the workflow's file, as git tells of it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Stdio,
};

use domain::pipelines::{expressions::Value, run::RunContexts, workflow::Workflow};
use tokio::process::Command;

use super::Exec;

/// The server that there isn't.
pub const SERVER_URL: &str = "http://localhost";

/// What a run is of.
pub struct Source {
    /// The repository's name.
    pub repository: String,
    folder: Option<PathBuf>,
    file: String,
    branch: String,
    sha: String,
}

impl Source {
    /// The repository around a file.
    pub async fn of(file: &Path) -> Self {
        let around = file.canonicalize().ok().and_then(|file| file.parent().map(Path::to_owned)).unwrap_or_default();
        let folder = git(&around, &["rev-parse", "--show-toplevel"]).await.map(PathBuf::from);
        let of = folder.clone().unwrap_or_else(|| env::current_dir().unwrap_or_default());
        let name = of.file_name().map(|name| name.to_string_lossy().into_owned());
        Self {
            repository: name.filter(|_| folder.is_some()).unwrap_or_else(|| "local".to_owned()),
            file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            branch: git(&of, &["symbolic-ref", "--short", "HEAD"]).await.unwrap_or_else(|| "main".to_owned()),
            sha: git(&of, &["rev-parse", "--verify", "HEAD"]).await.unwrap_or_else(|| "0".repeat(40)),
            folder,
        }
    }

    /// A folder of the repository, where there is one.
    pub fn repository_folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// The workflow's name.
    pub fn workflow(&self, workflow: &Workflow) -> String {
        workflow.name.clone().unwrap_or_else(|| self.file.clone())
    }

    /// The contexts that stay the same throughout the run.
    pub fn contexts(&self, exec: &Exec) -> RunContexts {
        let text = |text: &str| Value::text(text);
        let texts = |of: &std::collections::BTreeMap<String, String>| {
            Value::object(of.iter().map(|(name, value)| (name.as_str(), Value::text(value.as_str()))))
        };
        let actor = env::var("USER").unwrap_or_else(|_| "local".to_owned());
        let inputs = texts(&exec.inputs);
        let github = Value::object([
            ("event_name", text(&exec.event)),
            ("event", Value::object([("inputs", inputs.clone())])),
            ("ref", text(&format!("refs/heads/{}", self.branch))),
            ("ref_name", text(&self.branch)),
            ("ref_type", text("branch")),
            ("sha", text(&self.sha)),
            ("actor", text(&actor)),
            ("triggering_actor", text(&actor)),
            ("repository", text(&self.repository)),
            ("server_url", text(SERVER_URL)),
            ("run_id", text("1")),
            ("run_number", text("1")),
            ("run_attempt", text("1")),
        ]);
        RunContexts { github, inputs, vars: texts(&exec.vars) }
    }
}

/// What git prints; nothing where it fails or isn't there.
async fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(folder).args(arguments).stdin(Stdio::null()).output().await.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}
