//! The inputs of actions: which there are at GitHub, and what becomes of each here.

use super::model::Action;
use crate::pipelines::expressions::{Template, Value};

/// An input that an action has at GitHub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionInput {
    /// The input's name.
    pub name: &'static str,
    /// Why the action doesn't follow it, where it doesn't.
    fault: Option<InputFault>,
    /// Texts, in small letters, that say what holds in any case: they are followed.
    usual: &'static [&'static str],
    /// What of the run it may say, where that is all it may say.
    own: Option<Own>,
}

/// What of its run an action acts on in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Repository,
    Run,
    Server,
}

/// What actions of a run act on in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRun {
    repository: String,
    run: String,
    server: String,
}

/// Why an action doesn't follow what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFault {
    /// The action has no such input.
    Unknown,
    /// The input does nothing here.
    Idle,
    /// The action would do something else than the input says, for this reason, unless it says what holds of the run.
    Foreign(&'static str),
    /// The action would do something else than the input says, for this reason, whatever it says.
    Impossible(&'static str),
}

const fn followed(name: &'static str) -> ActionInput {
    ActionInput { name, fault: None, usual: &[], own: None }
}

const fn idle(name: &'static str, usual: &'static [&'static str]) -> ActionInput {
    ActionInput { name, fault: Some(InputFault::Idle), usual, own: None }
}

const fn foreign(name: &'static str, why: &'static str, own: Own, usual: &'static [&'static str]) -> ActionInput {
    ActionInput { name, fault: Some(InputFault::Foreign(why)), usual, own: Some(own) }
}

const fn impossible(name: &'static str, why: &'static str) -> ActionInput {
    ActionInput { name, fault: Some(InputFault::Impossible(why)), usual: &[], own: None }
}

const OTHER_REPOSITORY: &str = "a job checks out the repository that its run is of";
const OTHER_RUN: &str = "a job downloads what its own run made";
const BY_ID: &str = "a job downloads artifacts by their names";

/// The repository of the run, which is that of both ends of a pull request, too.
const OWN_REPOSITORY: &[&str] = &[
    "${{ github.repository }}",
    "${{ github.event.repository.full_name }}",
    "${{ github.event.pull_request.head.repo.full_name }}",
    "${{ github.event.pull_request.base.repo.full_name }}",
];
/// The credential of the job, which actions use in any case.
const OWN_TOKEN: &[&str] = &["${{ github.token }}", "${{ secrets.github_token }}"];

const CHECKOUT: &[ActionInput] = &[
    foreign("repository", OTHER_REPOSITORY, Own::Repository, OWN_REPOSITORY),
    followed("ref"),
    idle("token", OWN_TOKEN),
    idle("ssh-key", &[]),
    idle("ssh-known-hosts", &[]),
    idle("ssh-strict", &["true"]),
    idle("ssh-user", &["git"]),
    followed("persist-credentials"),
    followed("path"),
    idle("clean", &["true"]),
    idle("filter", &[]),
    idle("sparse-checkout", &[]),
    idle("sparse-checkout-cone-mode", &["true"]),
    followed("fetch-depth"),
    idle("fetch-tags", &["false"]),
    idle("show-progress", &["true"]),
    idle("lfs", &["false"]),
    idle("submodules", &["false"]),
    idle("set-safe-directory", &["true"]),
    foreign("github-server-url", OTHER_REPOSITORY, Own::Server, &["${{ github.server_url }}"]),
];

const CACHE: &[ActionInput] = &[
    followed("path"),
    followed("key"),
    followed("restore-keys"),
    idle("upload-chunk-size", &[]),
    idle("enableCrossOsArchive", &["false"]),
    followed("fail-on-cache-miss"),
    followed("lookup-only"),
    idle("save-always", &["false"]),
];

const CACHE_RESTORE: &[ActionInput] = &[
    followed("path"),
    followed("key"),
    followed("restore-keys"),
    idle("enableCrossOsArchive", &["false"]),
    followed("fail-on-cache-miss"),
    followed("lookup-only"),
];

const CACHE_SAVE: &[ActionInput] =
    &[followed("path"), followed("key"), idle("upload-chunk-size", &[]), idle("enableCrossOsArchive", &["false"])];

const UPLOAD_ARTIFACT: &[ActionInput] = &[
    followed("name"),
    followed("path"),
    followed("if-no-files-found"),
    followed("retention-days"),
    followed("compression-level"),
    idle("overwrite", &["false"]),
    followed("include-hidden-files"),
];

const DOWNLOAD_ARTIFACT: &[ActionInput] = &[
    followed("name"),
    impossible("artifact-ids", BY_ID),
    followed("path"),
    followed("pattern"),
    followed("merge-multiple"),
    idle("github-token", OWN_TOKEN),
    foreign("repository", OTHER_RUN, Own::Repository, OWN_REPOSITORY),
    foreign("run-id", OTHER_RUN, Own::Run, &["${{ github.run_id }}"]),
];

impl ActionInput {
    /// Whether a text says what holds in any case.
    fn is_usual(&self, given: &Template) -> bool {
        // `service` is another name of `github`.
        let text = given.to_string().to_ascii_lowercase().replace("${{ service.", "${{ github.");
        let text = text.trim();
        text.is_empty() || self.usual.contains(&text)
    }
}

impl OwnRun {
    /// What the context `github` of a run says.
    pub fn of(github: &Value) -> Self {
        let text = |name: &str| match github {
            Value::Object(object) => object.get(name).map(|value| value.to_text().to_string()).unwrap_or_default(),
            _ => String::new(),
        };
        Self { repository: text("repository"), run: text("run_id"), server: text("server_url") }
    }

    /// Whether a value is this of the run.
    fn is(&self, own: Own, value: &str) -> bool {
        let own = match own {
            Own::Repository => &self.repository,
            Own::Run => &self.run,
            Own::Server => return alike(self.server.trim_end_matches('/'), value.trim_end_matches('/')),
        };
        alike(own, value)
    }
}

/// Whether a value is what holds of the run, regardless of case; not where that isn't known.
fn alike(own: &str, value: &str) -> bool {
    !own.is_empty() && own.eq_ignore_ascii_case(value)
}

impl Action {
    /// The inputs that the action has at GitHub.
    pub const fn inputs(self) -> &'static [ActionInput] {
        match self {
            Self::Checkout => CHECKOUT,
            Self::Cache => CACHE,
            Self::CacheRestore => CACHE_RESTORE,
            Self::CacheSave => CACHE_SAVE,
            Self::UploadArtifact => UPLOAD_ARTIFACT,
            Self::DownloadArtifact => DOWNLOAD_ARTIFACT,
        }
    }

    /// Why the action doesn't follow what it is given under a name, where it doesn't.
    pub fn input_fault(self, name: &str, given: &Template) -> Option<InputFault> {
        self.input(name).map_or(Some(InputFault::Unknown), |input| input.fault.filter(|_| !input.is_usual(given)))
    }

    /// The same of the value that it came to in a run.
    pub fn value_fault(self, name: &str, value: &str, run: &OwnRun) -> Option<InputFault> {
        let own = self.input(name).and_then(|input| input.own);
        let fault = self.input_fault(name, &Template::literal(value));
        fault.filter(|_| own.is_none_or(|own| !run.is(own, value.trim())))
    }

    fn input(self, name: &str) -> Option<&'static ActionInput> {
        self.inputs().iter().find(|input| input.name.eq_ignore_ascii_case(name))
    }
}

impl InputFault {
    /// What people are told of inputs with this fault; of unknown ones what GitHub tells.
    pub fn message(self, action: Action, names: &[&str]) -> String {
        let given = quoted(names.iter().copied());
        match self {
            Self::Unknown => {
                let known = quoted(action.inputs().iter().map(|input| input.name));
                format!("Unexpected input(s) {given}, valid inputs are [{known}]")
            }
            Self::Idle => format!("Input(s) {given} do nothing here"),
            Self::Foreign(why) | Self::Impossible(why) => format!("Input(s) {given} can't be followed: {why}"),
        }
    }

    /// The same before it is known what the run is of.
    pub fn forecast(self, action: Action, names: &[&str]) -> String {
        match self {
            Self::Foreign(why) => {
                let given = quoted(names.iter().copied());
                format!("Input(s) {given} can't be followed where they ask for something else: {why}")
            }
            fault => fault.message(action, names),
        }
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
