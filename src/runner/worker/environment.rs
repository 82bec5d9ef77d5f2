//! What surrounds a job's steps: folders of their own, and environment variables.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use domain::pipelines::expressions::{ContextName, Value};

use super::folder::{Folder, Reach};
use crate::runner::{
    error::{Result, RunnerError},
    words::Assignment,
};

/// The folders of a job, all of them in the job's own.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where scripts run, and the repository's files come to.
    pub workspace: PathBuf,
    /// What is gone after the job.
    pub temp: PathBuf,
    /// Where actions put programs.
    pub tools: PathBuf,
    /// What started the run, as JSON.
    pub event: PathBuf,
    /// Where scripts, and the files that steps write for the runner, stand.
    files: PathBuf,
    opened: Option<Opened>,
}

/// What is known of a job's folders once they are there, whatever its steps make of their names.
#[derive(Clone, Debug)]
struct Opened {
    files: Folder,
    reach: Reach,
}

/// A file that a step writes for the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFile {
    /// Outputs of the step.
    Output,
    /// Environment variables of the steps behind it.
    Env,
    /// Folders of programs of the steps behind it.
    Path,
    /// Values for the action's last part.
    State,
    /// What people read of the job.
    Summary,
}

impl CommandFile {
    /// All of them, each with the variable that names the file.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Output, "OUTPUT"),
        (Self::Env, "ENV"),
        (Self::Path, "PATH"),
        (Self::State, "STATE"),
        (Self::Summary, "STEP_SUMMARY"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(file, _)| *file == self).map_or("", |(_, name)| name)
    }

    fn name_of(self, index: usize) -> String {
        format!("{}_{index}", self.name().to_ascii_lowercase())
    }
}

impl Place {
    /// Where the folders are.
    pub fn of(assignment: &Assignment) -> Self {
        let folder = &assignment.folder;
        // The repository's name may come with the organization's in front.
        let name = assignment.plan.job.repository.rsplit('/').next().unwrap_or_default();
        let is_usual = !name.is_empty() && !name.starts_with('.');
        Self {
            workspace: folder.join("work").join(if is_usual { name } else { "repository" }),
            temp: folder.join("temp"),
            tools: folder.join("tools"),
            event: folder.join("temp/_runner/event.json"),
            files: folder.join("temp/_runner"),
            opened: None,
        }
    }

    /// Makes the folders.
    pub fn make(&mut self, assignment: &Assignment) -> Result<()> {
        for folder in [&self.workspace, &self.temp, &self.tools, &self.files] {
            fs::create_dir_all(folder).map_err(RunnerError::file(folder))?;
        }
        let event = match assignment.plan.context(ContextName::Github) {
            Value::Object(github) => github.get("event").and_then(|event| event.print_json().ok()),
            _ => None,
        };
        fs::write(&self.event, event.unwrap_or_else(|| "{}".to_owned())).map_err(RunnerError::file(&self.event))?;
        self.opened = Some(Opened::of(&self.files, assignment).map_err(RunnerError::file(&self.files))?);
        Ok(())
    }

    fn opened(&self) -> io::Result<&Opened> {
        self.opened.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// What the job's actions may read and write.
    pub fn reach(&self) -> io::Result<&Reach> {
        Ok(&self.opened()?.reach)
    }

    /// Opens a folder that an action was given, and makes what isn't there.
    pub fn folder(&self, path: &Path) -> io::Result<Folder> {
        Folder::make(&self.reach()?.resolve(path)?)
    }

    /// A file for what goes to the server or comes from it. It has no name that a step could use.
    pub fn transfer_file(&self) -> io::Result<File> {
        self.opened()?.files.unnamed("transfer")
    }

    /// The file that a step writes for the runner.
    pub fn file(&self, file: CommandFile, index: usize) -> PathBuf {
        self.files.join(file.name_of(index))
    }

    /// What a step wrote for the runner; an error where that is longer, or no file any more.
    pub fn read(&self, file: CommandFile, index: usize, len_max: u64) -> io::Result<String> {
        let file = match self.opened()?.files.read(file.name_of(index)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            file => file?,
        };
        let mut bytes = Vec::new();
        if file.take(len_max + 1).read_to_end(&mut bytes)? as u64 > len_max {
            return Err(io::Error::other(format!("it has more than {len_max} bytes")));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Makes the file of a step's script.
    pub fn make_script(&self, index: usize, ending: &str, script: &str) -> io::Result<PathBuf> {
        let name = format!("script_{index}.{ending}");
        self.opened()?.files.create(&name)?.write_all(script.as_bytes())?;
        Ok(self.files.join(name))
    }

    /// Makes the files that a step writes for the runner, empty.
    pub fn make_files(&self, index: usize) -> io::Result<()> {
        let files = &self.opened()?.files;
        CommandFile::ALL.iter().try_for_each(|(file, _)| files.create(file.name_of(index)).map(drop))
    }
}

impl Opened {
    fn of(files: &Path, assignment: &Assignment) -> io::Result<Self> {
        let is_locked = !assignment.wrapper.is_empty();
        Ok(Self {
            files: Folder::open(&files.canonicalize()?)?,
            reach: Reach::new(&assignment.folder, assignment.closed.as_deref(), is_locked)?,
        })
    }
}

/// The system's name, as at GitHub.
pub fn os() -> &'static str {
    match env::consts::OS {
        "macos" => "macOS",
        "linux" => "Linux",
        other => other,
    }
}

/// The machine's kind, as at GitHub.
pub fn architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "X64",
        "x86" => "X86",
        "aarch64" => "ARM64",
        "arm" => "ARM",
        other => other,
    }
}

/// Variables of the process that steps never see: what belongs to Troupe itself.
const HIDDEN: &str = "TROUPE_";
/// What other runners say to their steps: this one may be a step of such a runner.
const OTHERS: [&str; 2] = ["GITHUB_", "RUNNER_"];

/// Whether steps don't see this variable of the process.
fn is_hidden(name: &str) -> bool {
    name.starts_with(HIDDEN) || OTHERS.iter().any(|other| name.starts_with(other))
}

/// All variables of a step: the machine's, those that workflow, job and step set, and the runner's own, which nobody overwrites.
pub fn variables(
    assignment: &Assignment,
    place: &Place,
    env: &BTreeMap<String, String>,
    index: usize,
    paths: &[String],
) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !is_hidden(name))
        .collect();
    all.insert("CI".to_owned(), "true".to_owned());
    all.extend(env.iter().map(|(name, value)| (name.clone(), value.clone())));
    if !paths.is_empty() {
        let machine = all.get("PATH").cloned().into_iter();
        // What was added last is looked at first.
        let path: Vec<String> = paths.iter().rev().cloned().chain(machine).collect();
        all.insert("PATH".to_owned(), path.join(":"));
    }
    all.extend(own(assignment, place, index));
    all
}

/// The runner's own variables.
fn own(assignment: &Assignment, place: &Place, index: usize) -> BTreeMap<String, String> {
    let job = &assignment.plan.job;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let mut github: BTreeMap<String, String> = BTreeMap::new();
    if let Value::Object(context) = assignment.plan.context(ContextName::Github) {
        let shown = context.entries().filter(|(name, value)| value.is_primitive() && &***name != "token");
        github.extend(shown.map(|(name, value)| (name.to_ascii_uppercase(), value.to_text().to_string())));
    }
    let step = assignment.plan.steps.get(index);
    let action = step.and_then(|step| step.id.clone()).unwrap_or_else(|| "__run".to_owned());
    for (name, value) in [
        ("ACTIONS", "true".to_owned()),
        ("ACTION", action),
        ("JOB", job.key.clone()),
        ("WORKFLOW", job.workflow.clone()),
        ("RUN_ID", job.run_id.clone()),
        ("RUN_NUMBER", job.run_number.to_string()),
        ("RUN_ATTEMPT", job.attempt.to_string()),
        ("WORKSPACE", path(&place.workspace)),
        ("EVENT_PATH", path(&place.event)),
    ] {
        github.insert(name.to_owned(), value);
    }
    github.entry("REPOSITORY".to_owned()).or_insert_with(|| job.repository.clone());
    github.entry("SERVER_URL".to_owned()).or_insert_with(|| assignment.plan.server_url.clone());
    github.extend(CommandFile::ALL.map(|(file, name)| (name.to_owned(), path(&place.file(file, index)))));
    let mut own: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in github {
        own.insert(format!("SERVICE_{name}"), value.clone());
        own.insert(format!("GITHUB_{name}"), value);
    }
    for (name, value) in [
        ("NAME", assignment.runner.clone()),
        ("OS", os().to_owned()),
        ("ARCH", architecture().to_owned()),
        ("TEMP", path(&place.temp)),
        ("TOOL_CACHE", path(&place.tools)),
        ("ENVIRONMENT", "self-hosted".to_owned()),
    ] {
        own.insert(format!("RUNNER_{name}"), value);
    }
    if assignment.is_debug {
        own.insert("RUNNER_DEBUG".to_owned(), "1".to_owned());
    }
    own
}
