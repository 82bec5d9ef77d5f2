//! Git itself against repositories: what `git clone`, `git fetch` and `git push` make of them.

mod beginnings;
mod branches;
mod clones;
mod closing;
mod contents;
mod differences;
#[cfg(target_os = "linux")]
mod keepalives;
mod large;
mod lfs;
mod live;
mod lost;
mod merges;
mod news;
mod owners;
mod pack_cache;
mod packs;
mod pulls;
mod pushes;
mod refusals;
mod renames;
mod reviews;
mod rules;
mod secrets;
mod statuses;
mod threads;
mod waiting;
mod web_commits;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::json;

use super::Repos;
use crate::harness::{Answer, Client};

/// A repository, and somebody who works with git in folders of their own.
struct Workshop {
    repos: Repos,
    folder: tempfile::TempDir,
    /// A key with git's permissions.
    key: String,
}

/// What a run of git came to.
#[derive(Debug)]
struct Ran {
    is_ok: bool,
    out: String,
    err: String,
}

impl Workshop {
    /// With an empty repository `web`.
    async fn new() -> Self {
        Self::with(&[]).await
    }

    /// The same with these settings of the server.
    async fn with(settings: &[&str]) -> Self {
        let repos = Repos::with(settings).await;
        repos.make("web", "organization").await;
        let key = key(&repos, &repos.ada.client, &["git:read", "git:write"]).await;
        Self { repos, folder: tempfile::tempdir().unwrap(), key }
    }

    /// The repository's address, with a key in it.
    fn url(&self, name: &str, key: &str) -> String {
        let base = self.repos.server.client().base().replace("http://", &format!("http://anyone:{key}@"));
        format!("{base}/git/{}/{name}.git", self.repos.org.rsplit('/').next().unwrap())
    }

    fn web(&self) -> String {
        self.url("web", &self.key)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs git in one of the folders; the server goes on meanwhile.
    async fn try_git(&self, folder: &str, arguments: &[&str]) -> Ran {
        let mut command = git_in(&self.at(folder), self.folder.path());
        command.args(arguments);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("git");
        Ran::of(&output)
    }

    /// Runs git, which must not fail; what it said.
    async fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let ran = self.try_git(folder, arguments).await;
        assert!(ran.is_ok, "git {arguments:?}: {}{}", ran.out, ran.err);
        ran.out.trim_end().to_owned()
    }

    /// A folder of the shop with a repository that has `commits` commits on `main`, and `web` as its `origin`.
    async fn begin(&self, folder: &str, commits: usize) {
        self.git(".", &["init", "--quiet", "--initial-branch=main", folder]).await;
        self.git(folder, &["remote", "add", "origin", &self.web()]).await;
        for at in 0..commits {
            self.commit(folder, &format!("file-{at}"), &format!("text {at}\n")).await;
        }
    }

    async fn commit(&self, folder: &str, file: &str, text: &str) {
        let path = self.at(folder).join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.git(folder, &["add", "."]).await;
        self.git(folder, &["commit", "--quiet", "-m", &format!("Add {file}")]).await;
    }

    /// The refs of a repository of the shop, but for what it knows of others.
    async fn refs(&self, folder: &str) -> String {
        let format = "--format=%(refname) %(objectname)";
        self.git(folder, &["for-each-ref", format, "refs/heads", "refs/notes", "refs/tags"]).await
    }

    /// With what `begin` makes, pushed.
    async fn pushed(commits: usize) -> Self {
        let shop = Self::new().await;
        shop.begin("ada", commits).await;
        shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
        shop
    }

    /// Asks below the repository.
    async fn ask(&self, rest: &str) -> Answer {
        self.repos.ada.client.get(&self.repos.at(&format!("web/{rest}"))).send().await
    }

    async fn tip(&self, name: &str) -> String {
        self.git("ada", &["rev-parse", name]).await
    }

    /// A fresh mirror of `web`, checked; its refs.
    async fn mirrored(&self, folder: &str) -> String {
        self.git(".", &["clone", "--quiet", "--mirror", &self.web(), folder]).await;
        self.git(folder, &["fsck", "--full", "--strict"]).await;
        self.refs(folder).await
    }
}

impl Ran {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { is_ok: output.status.success(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// Git as it is installed, with nothing of this machine's configuration.
fn git_in(folder: &Path, home: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.com");
    }
    command
}

async fn key(repos: &Repos, client: &Client, scopes: &[&str]) -> String {
    let body = json!({ "name": "Git", "kind": "api", "scopes": scopes });
    client.post(&format!("{}/keys", repos.org)).json(&body).send().await.expect(201).str("/secret").to_owned()
}
