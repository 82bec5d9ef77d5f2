//! `checkout`: files of the repository come to the workspace.

use std::{
    env, fs,
    os::fd::AsFd,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;

use super::{Call, Done, Outcome};
use crate::runner::words::Files;

/// The server's answer (contract C 4.1).
#[derive(Deserialize)]
struct Source {
    url: String,
    authorization: String,
    sha: String,
    #[serde(rename = "ref")]
    name: String,
}

/// Where the first part leaves the folder, and the name of the credential in its configuration, for the last one.
const FOLDER_STATE: &str = "folder";
const CREDENTIAL_STATE: &str = "credential";
/// What a step may have prepared for git to run in the folder, and git doesn't.
const UNPREPARED: [&str; 4] = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
/// Variables of the process that nothing sees which it starts.
const HIDDEN: &str = "TROUPE_";

/// What was brought.
struct Brought {
    sha: String,
    /// The name under which the repository's configuration has the credential.
    credential: Option<String>,
}

impl Call {
    /// Brings the files.
    pub(super) async fn checkout(&self) -> Outcome {
        let folder = self.place.workspace.join(self.input("path").unwrap_or("."));
        if !inside(&self.place.workspace, &folder) {
            return Err("The path of a checkout is in the workspace.".to_owned());
        }
        self.place.folder(&folder).map_err(|error| error.to_string())?;
        if !self.place.reach().is_ok_and(|reach| reach.is_own(&folder)) {
            return Err("The path of a checkout is in the workspace, and no link leads out of it.".to_owned());
        }
        let brought = match &self.files {
            Files::Here { repository: None, .. } => {
                return Err("The workflow file is in no git repository, so there is nothing to check out.".to_owned());
            }
            Files::Here { repository: Some(repository), .. } => self.copy(repository, &folder).await?,
            Files::Server { token } => self.fetch(token, &folder).await?,
        };
        let name = self.input("ref").unwrap_or("").to_owned();
        let outputs = vec![("commit".to_owned(), brought.sha), ("ref".to_owned(), name)];
        let mut state = vec![(FOLDER_STATE.to_owned(), folder.to_string_lossy().into_owned())];
        state.extend(brought.credential.map(|name| (CREDENTIAL_STATE.to_owned(), name)));
        Ok(Done { outputs, state })
    }

    /// Takes the credential out of the repository's configuration, where it was put.
    pub(super) async fn forget_credential(&self) -> Outcome {
        let folder = self.state.get(FOLDER_STATE).map(PathBuf::from).filter(|folder| folder.join(".git").exists());
        if let (Some(folder), Some(name)) = (folder, self.state.get(CREDENTIAL_STATE)) {
            drop(self.git(&folder, &["config", "--local", "--unset-all", name], &[]).await);
        }
        Ok(Done::default())
    }

    async fn fetch(&self, token: &str, folder: &Path) -> Outcome<Brought> {
        let body = json!({ "ref": self.input("ref").unwrap_or_default() });
        let source: Source =
            self.server(token)?.post("/v1/runner/checkout", &body).await.map_err(|error| error.to_string())?;
        self.output.mask(&source.authorization);
        if let Some((_, credential)) = source.authorization.rsplit_once(' ') {
            self.output.mask(credential);
        }
        self.output.say(&format!("Fetching {} ({})", source.name, source.sha));
        if !folder.join(".git").exists() {
            self.git(folder, &["init", "--quiet", "--template=", "."], &[]).await?;
        }
        let header = format!("Authorization: {}", strip_name(&source.authorization));
        let name = credential_name(&source.url);
        // In the environment of git alone: arguments can be read by everybody.
        let secret =
            [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", name.as_str()), ("GIT_CONFIG_VALUE_0", header.as_str())];
        let depth = self.input("fetch-depth").map_or(Ok(1), str::parse::<u32>);
        let depth = depth.map_err(|_| "fetch-depth is a whole number.".to_owned())?;
        let depth = format!("--depth={depth}");
        let mut arguments = vec!["fetch", "--quiet", "--force", "--no-recurse-submodules"];
        if depth == "--depth=0" {
            arguments.push("--tags");
        } else {
            arguments.extend(["--no-tags", depth.as_str()]);
        }
        arguments.extend([source.url.as_str(), source.sha.as_str()]);
        self.git(folder, &arguments, &secret).await?;
        let target = match source.name.strip_prefix("refs/heads/") {
            Some(branch) => vec!["checkout", "--quiet", "--force", "-B", branch, source.sha.as_str()],
            None => vec!["checkout", "--quiet", "--force", "--detach", source.sha.as_str()],
        };
        self.git(folder, &target, &[]).await?;
        self.git(folder, &["config", "--local", "remote.origin.url", &source.url], &[]).await?;
        let is_kept = self.is_true("persist-credentials");
        if is_kept {
            self.git(folder, &["config", "--local", "--replace-all", &name, &header], &[]).await?;
        }
        Ok(Brought { sha: source.sha, credential: is_kept.then_some(name) })
    }

    /// Copies what stands in the repository's folder, also what isn't committed; of another ref, what is committed.
    async fn copy(&self, repository: &Path, folder: &Path) -> Outcome<Brought> {
        let top = self.answer(repository, &["rev-parse", "--show-toplevel"]).await?;
        let top = PathBuf::from(String::from_utf8_lossy(&top).trim_end());
        let source = top.to_string_lossy().into_owned();
        if !folder.join(".git").exists() {
            self.git(folder, &["clone", "--quiet", "--shared", "--no-checkout", &source, "."], &[]).await?;
        }
        if let Some(name) = self.input("ref") {
            self.git(folder, &["checkout", "--quiet", "--force", name], &[]).await?;
        } else {
            self.git(folder, &["reset", "--quiet"], &[]).await?;
            let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
            let names = self.answer(&top, &list).await?;
            for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                let name = std::str::from_utf8(name).map_err(|_| "A file's name isn't UTF-8.".to_owned())?;
                copy_file(&top.join(name), &folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
            }
        }
        let sha = self.answer(folder, &["rev-parse", "HEAD"]).await.unwrap_or_default();
        Ok(Brought { sha: String::from_utf8_lossy(&sha).trim_end().to_owned(), credential: None })
    }

    /// Runs git, whose words people read.
    async fn git(&self, folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Outcome<()> {
        let stderr = std::io::stderr().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
        // What a repository's configuration has git run is locked in as steps are. Without a server git also reads a repository
        // outside of the job.
        let wrapper: &[String] = if matches!(self.files, Files::Server { .. }) { &self.wrapper } else { &[] };
        let mut command = git(wrapper, folder, arguments);
        command.envs(environment.iter().copied()).stdout(Stdio::null()).stderr(Stdio::from(stderr));
        let status = command.status().await.map_err(|error| format!("git can't be started: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("git {} failed.", arguments[0])) }
    }

    /// What git prints.
    async fn answer(&self, folder: &Path, arguments: &[&str]) -> Outcome<Vec<u8>> {
        let output = git(&[], folder, arguments).stderr(Stdio::null()).output().await;
        let output = output.map_err(|error| format!("git can't be started: {error}"))?;
        if output.status.success() { Ok(output.stdout) } else { Err(format!("git {} failed.", arguments[0])) }
    }
}

fn git(wrapper: &[String], folder: &Path, arguments: &[&str]) -> Command {
    let mut words =
        wrapper.iter().map(String::as_str).chain(["git"]).chain(UNPREPARED).chain(arguments.iter().copied());
    let mut command = Command::new(words.next().unwrap_or("git"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    for name in env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with(HIDDEN)) {
        command.env_remove(name);
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "true")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE");
    command
}

/// The name in git's configuration of a header for a repository, and for nobody else.
fn credential_name(url: &str) -> String {
    format!("http.{url}.extraHeader")
}

/// The value of a header that may come with its name.
fn strip_name(authorization: &str) -> &str {
    let name = authorization.get(..14).filter(|name| name.eq_ignore_ascii_case("authorization:"));
    name.map_or(authorization, |name| &authorization[name.len()..]).trim()
}

/// Whether a path is in a folder, by its names.
fn inside(folder: &Path, path: &Path) -> bool {
    let climbs = |path: &Path| path.components().any(|part| part == std::path::Component::ParentDir);
    path.starts_with(folder) && !climbs(path)
}

fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(from) else {
        // In the index, and deleted.
        return Ok(());
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if metadata.is_symlink() {
        drop(fs::remove_file(to));
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    // A submodule is a folder.
    if metadata.is_dir() { fs::create_dir_all(to) } else { fs::copy(from, to).map(drop) }
}
