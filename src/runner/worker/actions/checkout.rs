//! `checkout`: files of the repository come to the workspace.

use std::{
    env, fs,
    os::fd::AsFd,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::json;
use tokio::{process::Command, time::Instant};

use super::{Call, Done, Outcome, transfer::SILENCE};
use crate::runner::{
    server::{Failure, Server, again, is_passing},
    words::Files,
};

/// The server's answer (contract C 4.1).
#[derive(Deserialize)]
struct Source {
    url: String,
    authorization: String,
    sha: String,
    #[serde(rename = "ref")]
    name: String,
    /// The branch or the tag, whole, where one was asked for. Servers that don't say it yet say it in `ref`, if at all.
    #[serde(rename = "fullRef")]
    full_name: Option<String>,
}

impl Source {
    /// The ref, whole, as far as the server says it.
    fn whole(&self) -> &str {
        self.full_name.as_deref().unwrap_or(&self.name)
    }

    /// Where the repository keeps what this ref is at the server, as `actions/checkout` has it.
    fn tracking(&self) -> Option<String> {
        let (kind, name) = self.whole().strip_prefix("refs/")?.split_once('/')?;
        match kind {
            "heads" => Some(format!("refs/remotes/origin/{name}")),
            "pull" => Some(format!("refs/remotes/pull/{name}")),
            "tags" => Some(self.whole().to_owned()),
            _ => None,
        }
    }
}

/// Where the first part leaves the folder, and the name of the credential in its configuration, for the last one.
const FOLDER_STATE: &str = "folder";
const CREDENTIAL_STATE: &str = "credential";
/// What a step may have prepared for git to run in the folder, and git doesn't.
const UNPREPARED: [&str; 6] =
    ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "credential.helper="];
/// Which refs of the server a repository follows, and under which names.
const BRANCHES: &str = "+refs/heads/*:refs/remotes/origin/*";
const TAGS: &str = "+refs/tags/*:refs/tags/*";
/// What git says where a connection broke off under way.
const BROKEN_OFF: [&str; 5] = ["RPC failed", "early EOF", "hung up", "unexpected disconnect", "transfer closed"];
/// What git says where there was no connection.
const OUT_OF_REACH: [&str; 6] = [
    "unable to access 'http",
    "Could not resolve",
    "timed out",
    "Failed to connect",
    "Connection refused",
    "Connection reset",
];
/// What git says beside such words where it would say the same the next time.
const FINAL: [&str; 6] = [
    "not our ref",
    "SSL certificate problem",
    "certificate verification failed",
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
];
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
        let depth = self.input("fetch-depth").map_or(Ok(1), str::parse::<u32>);
        let depth = depth.map_err(|_| "fetch-depth is a whole number.".to_owned())?;
        if !folder.join(".git").exists() {
            self.git(folder, &["init", "--quiet", "--template=", "."], &[]).await?;
        }
        let server = self.server(token)?;
        let source = again("The fetch is tried again", || self.fetch_once(&server, folder, depth)).await?;
        let tracking = source.tracking();
        let target = match (source.whole().strip_prefix("refs/heads/"), &tracking) {
            (Some(branch), Some(tracking)) => vec!["--track", "-B", branch, tracking.as_str()],
            _ => vec!["--detach", source.sha.as_str()],
        };
        let arguments = [vec!["checkout", "--quiet", "--force"], target].concat();
        self.git(folder, &arguments, &[]).await?;
        let is_kept = self.is_true("persist-credentials");
        let name = credential_name(&source.url);
        if is_kept {
            let header = header(&source.authorization);
            self.git(folder, &["config", "--local", "--replace-all", &name, &header], &[]).await?;
        }
        Ok(Brought { sha: source.sha, credential: is_kept.then_some(name) })
    }

    /// Asks for a credential, which is good for minutes only, and fetches with it.
    async fn fetch_once(&self, server: &Server, folder: &Path, depth: u32) -> Result<Source, Failure> {
        let body = json!({ "ref": self.input("ref").unwrap_or_default() });
        let source = server.post("/v1/runner/checkout", &body).await;
        let source: Source = source.map_err(|error| Failure::Final(error.to_string()))?;
        self.output.mask(&source.authorization);
        if let Some((_, credential)) = source.authorization.rsplit_once(' ') {
            self.output.mask(credential);
        }
        self.output.say(&format!("Fetching {} ({})", source.name, source.sha));
        self.download(folder, depth, &source).await?;
        Ok(source)
    }

    /// Brings the commit and its ref into the repository; with a depth of 0 all branches and tags, too.
    async fn download(&self, folder: &Path, depth: u32, source: &Source) -> Result<(), Failure> {
        for (name, value) in [("remote.origin.url", source.url.as_str()), ("remote.origin.fetch", BRANCHES)] {
            let arguments = ["config", "--local", "--replace-all", name, value];
            self.git(folder, &arguments, &[]).await.map_err(Failure::Final)?;
        }
        let (name, header) = (credential_name(&source.url), header(&source.authorization));
        let silence_seconds = SILENCE.as_secs().to_string();
        // In the environment of git alone: arguments can be read by everybody.
        let environment = [
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", name.as_str()),
            ("GIT_CONFIG_VALUE_0", header.as_str()),
            ("GIT_CONFIG_KEY_1", "http.lowSpeedLimit"),
            ("GIT_CONFIG_VALUE_1", "1"),
            ("GIT_CONFIG_KEY_2", "http.lowSpeedTime"),
            ("GIT_CONFIG_VALUE_2", silence_seconds.as_str()),
            // What git says of a failure is looked at.
            ("LC_ALL", "C"),
        ];
        let tracking = source.tracking();
        let wanted = tracking.as_ref().filter(|_| depth > 0);
        let wanted = wanted.map_or_else(|| source.sha.clone(), |tracking| format!("+{}:{tracking}", source.sha));
        let depth_wanted = format!("--depth={depth}");
        let mut arguments = vec!["fetch", "--quiet", "--force", "--no-recurse-submodules"];
        if depth > 0 {
            arguments.extend(["--no-tags", depth_wanted.as_str(), source.url.as_str(), wanted.as_str()]);
        } else {
            arguments.extend(folder.join(".git/shallow").exists().then_some("--unshallow"));
            arguments.extend([source.url.as_str(), wanted.as_str(), BRANCHES, TAGS]);
        }
        self.git_judged(folder, &arguments, &environment).await?;
        // The branch may have moved on since the run began.
        if let Some(tracking) = tracking.filter(|tracking| depth == 0 && !tracking.starts_with("refs/tags/")) {
            let moved = self.git(folder, &["update-ref", &tracking, &source.sha], &[]).await;
            moved.map_err(Failure::Final)?;
        }
        Ok(())
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
        let mut command = self.command(folder, arguments, environment);
        let status = command.stderr(Stdio::from(stderr)).status().await;
        let status = status.map_err(|error| format!("git can't be started: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("git {} failed.", arguments[0])) }
    }

    /// The same, where what git says of a failure tells whether it may pass.
    async fn git_judged(&self, folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), Failure> {
        let began = Instant::now();
        let mut command = self.command(folder, arguments, environment);
        let started = command.stderr(Stdio::piped()).spawn();
        let started = started.map_err(|error| Failure::Final(format!("git can't be started: {error}")))?;
        let output = started.wait_with_output().await.map_err(|error| Failure::Final(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        self.output.say(&said);
        if output.status.success() {
            return Ok(());
        }
        let why = format!("git {} failed.", arguments[0]);
        if !may_pass(&said) {
            return Err(Failure::Final(why));
        }
        Err(Failure::passing(why).after(moved(&said, began.elapsed())))
    }

    fn command(&self, folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
        // What a repository's configuration has git run is locked in as steps are. Without a server git also reads a repository
        // outside of the job.
        let wrapper: &[String] = if matches!(self.files, Files::Server { .. }) { &self.wrapper } else { &[] };
        let mut command = git(wrapper, folder, arguments);
        command.envs(environment.iter().copied()).stdout(Stdio::null());
        command
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
        // Where git-lfs is at home on this machine, it would ask for files without a credential.
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE");
    command
}

/// The name in git's configuration of a header for a repository, and for nobody else.
fn credential_name(url: &str) -> String {
    format!("http.{url}.extraHeader")
}

/// The header that opens a repository; the server may say its value with its name.
fn header(authorization: &str) -> String {
    let name = authorization.get(..14).filter(|name| name.eq_ignore_ascii_case("authorization:"));
    format!("Authorization: {}", name.map_or(authorization, |name| &authorization[name.len()..]).trim())
}

/// Whether what git says of a failure means that the next try may succeed. A git that was ended says nothing.
fn may_pass(said: &str) -> bool {
    let says = |all: &[&str]| all.iter().any(|words| said.contains(words));
    let status = said.split("returned error: ").nth(1).and_then(|rest| rest.get(..3)?.parse::<u16>().ok());
    match status.and_then(|status| StatusCode::from_u16(status).ok()) {
        _ if says(&FINAL) => false,
        Some(status) => is_passing(status),
        None => said.trim().is_empty() || says(&BROKEN_OFF) || says(&OUT_OF_REACH),
    }
}

/// For how long bytes moved at least in a fetch that failed after so long: before it broke off it may have been silent.
fn moved(said: &str, span: Duration) -> Duration {
    let is_broken_off = BROKEN_OFF.iter().any(|words| said.contains(words));
    if is_broken_off { span.saturating_sub(SILENCE) } else { Duration::ZERO }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_of_a_refusal_is_final_and_what_it_says_of_an_outage_is_not() {
        let status = |status: u16| {
            format!("fatal: unable to access 'http://x/a.git/': The requested URL returned error: {status}\n")
        };
        let refusals = [
            status(400),
            status(403),
            status(410),
            "fatal: Authentication failed for 'http://x/a.git/'".to_owned(),
            "fatal: repository 'http://x/a.git/' not found".to_owned(),
            "fatal: remote error: upload-pack: not our ref 1234567890123456789012345678901234567890".to_owned(),
            "fatal: couldn't find remote ref refs/heads/gone".to_owned(),
            "fatal: unable to access 'https://x/a.git/': SSL certificate problem: certificate has expired".to_owned(),
            "fatal: Unable to create '/w/.git/shallow.lock': File exists.".to_owned(),
            "error: cannot open '.git/FETCH_HEAD': Permission denied".to_owned(),
            "fatal: write error: Disk quota exceeded\nfatal: early EOF".to_owned(),
            "error: object file .git/objects/12/34 is empty\nfatal: loose object 1234 is corrupt".to_owned(),
            "error: unknown option `unshallow-all'".to_owned(),
            format!("error: RPC failed; HTTP 413 curl 22 {}", status(413)),
        ];
        for said in refusals {
            assert!(!may_pass(&said), "{said}");
        }
        let outages = [
            status(429),
            status(500),
            status(503),
            "fatal: unable to access 'http://x/a.git/': Failed to connect to x port 80 after 0 ms".to_owned(),
            "fatal: unable to access 'http://x/a.git/': Could not resolve host: x".to_owned(),
            "error: RPC failed; curl 56 Recv failure: Connection reset by peer\nfatal: early EOF".to_owned(),
            "fetch-pack: unexpected disconnect while reading sideband packet".to_owned(),
            "fatal: the remote end hung up unexpectedly".to_owned(),
            format!("error: RPC failed; HTTP 502 curl 22 {}", status(502)),
            String::new(),
        ];
        for said in outages {
            assert!(may_pass(&said), "{said}");
        }
    }

    #[test]
    fn a_fetch_that_broke_off_after_long_moved_and_one_that_found_nobody_did_not() {
        let span = SILENCE + Duration::from_secs(60);
        assert_eq!(moved("error: RPC failed; curl 18 transfer closed\nfatal: early EOF", span), span - SILENCE);
        assert_eq!(moved("fatal: early EOF", Duration::from_secs(60)), Duration::ZERO);
        assert_eq!(moved("fatal: unable to access 'http://x/a.git/': Failed to connect", span), Duration::ZERO);
    }

    #[test]
    fn a_branch_is_followed_and_the_servers_older_answer_is_understood() {
        let tracking = |answer: serde_json::Value| serde_json::from_value::<Source>(answer).unwrap().tracking();
        let answer = |name: &str| json!({ "url": "u", "authorization": "a", "sha": "s", "ref": name });
        assert_eq!(tracking(answer("refs/heads/a/b")).as_deref(), Some("refs/remotes/origin/a/b"));
        assert_eq!(tracking(answer("refs/pull/7/merge")).as_deref(), Some("refs/remotes/pull/7/merge"));
        assert_eq!(tracking(answer("refs/tags/v1")).as_deref(), Some("refs/tags/v1"));
        assert_eq!(tracking(answer("main")), None);
        let mut named = answer("main");
        named["fullRef"] = "refs/heads/main".into();
        assert_eq!(tracking(named).as_deref(), Some("refs/remotes/origin/main"));
    }
}
