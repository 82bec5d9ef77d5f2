//! The `git` program, which is run and never linked: it makes packs, reads them and walks them.
//!
//! It sees nothing of the machine's configuration and of who started it. Each run is a group of processes of its own, which is
//! ended with whoever waits for it; only so many run at the same time.

use std::{
    any::Any,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// How long somebody waits for other runs to end.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Bytes that are kept of what a run says went wrong.
const SAID_MAX: u64 = 16 * 1024;
/// The status by which some commands say no.
const STATUS_NO: i32 = 1;
/// Runs at the same time for each processor.
const RUNS_PER_CORE: usize = 2;
/// Runs of this process that are under way.
static RUNNING: Count = Count { gauge: "troupe_git_running", count: AtomicU64::new(0) };
/// Those that wait for others to end.
static WAITING: Count = Count { gauge: "troupe_git_waiting", count: AtomicU64::new(0) };
/// What git says that got no memory.
const NO_MEMORY: [&str; 3] = ["Out of memory", "out of memory", "Cannot allocate memory"];
/// What all runs are told. None takes much memory, however large a repository is: several run at the same time.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "safe.directory=*",
    // Names are written as they are.
    "core.quotePath=false",
    "core.bigFileThreshold=8m",
    "core.deltaBaseCacheLimit=16m",
    "core.packedGitWindowSize=8m",
    "core.packedGitLimit=64m",
    "pack.deltaCacheSize=16m",
    "pack.threads=1",
    "pack.windowMemory=32m",
];
/// The oldest version that is known to do all that is asked of it.
pub const VERSION_MIN: (u32, u32) = (2, 39);

/// Why git didn't do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Too much is under way.
    #[error("git is busy")]
    Busy,
    /// It can't be run, or nobody can talk with it.
    #[error("git can't be run: {0}")]
    Io(#[from] io::Error),
    /// It ended with an error.
    #[error("git {command}: {said}")]
    Failed {
        /// What it was to do.
        command: String,
        /// What it said.
        said: String,
    },
}

impl GitError {
    /// Whether it ended because it asked for more memory than it was to have.
    pub fn took_too_much(&self) -> bool {
        matches!(self, Self::Failed { said, .. } if NO_MEMORY.iter().any(|text| said.contains(text)))
    }
}

/// The program. A cheap handle.
#[derive(Clone, Debug)]
pub struct Git {
    program: Arc<PathBuf>,
    permits: Arc<Semaphore>,
}

impl Default for Git {
    fn default() -> Self {
        Self::new(PathBuf::from("git"))
    }
}

/// What git is to do.
#[derive(Clone, Debug)]
pub struct GitJob {
    folder: PathBuf,
    arguments: Vec<OsString>,
    protocol: Option<&'static str>,
    memory_max: Option<u64>,
    keeps: Option<Arc<dyn Any + Send + Sync>>,
}

impl GitJob {
    /// A command of git's, in the repository `folder`.
    pub fn new(folder: &Path, command: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            arguments: vec![command.into()],
            protocol: None,
            memory_max: None,
            keeps: None,
        }
    }

    /// An argument of the command.
    #[must_use]
    pub fn with(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Arguments of the command.
    #[must_use]
    pub fn with_all<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Self::with)
    }

    /// The version of the protocol that the client speaks.
    #[must_use]
    pub const fn speaking(mut self, protocol: &'static str) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// With no more memory of its own than these bytes: for what reads objects that anybody sends. It ends where it asks for
    /// more, and [`GitError::took_too_much`] says so. Only Linux can hold it to that.
    #[must_use]
    pub const fn within(mut self, memory_max: Option<u64>) -> Self {
        self.memory_max = memory_max;
        self
    }

    /// With what has to be there for as long as it runs.
    #[must_use]
    pub fn keeping(mut self, kept: Arc<dyn Any + Send + Sync>) -> Self {
        self.keeps = Some(kept);
        self
    }

    fn name(&self) -> String {
        self.arguments.first().map_or_else(String::new, |command| command.to_string_lossy().into_owned())
    }
}

/// A run of git. It ends when this is dropped.
#[derive(Debug)]
pub struct GitRun {
    command: String,
    /// What it reads.
    pub stdin: Option<ChildStdin>,
    /// What it writes.
    pub stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    child: Child,
    _kept: Option<Arc<dyn Any + Send + Sync>>,
    _permit: OwnedSemaphorePermit,
    _counted: Counted,
}

/// Runs of git in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GitRuns {
    /// How many are under way.
    pub running: u64,
    /// How many wait for others to end.
    pub waiting: u64,
}

/// What comes and goes, as operators see it.
#[derive(Debug)]
struct Count {
    gauge: &'static str,
    count: AtomicU64,
}

/// One that is counted for as long as this is there.
#[derive(Debug)]
struct Counted(&'static Count);

impl Counted {
    fn by(count: &'static Count) -> Self {
        count.count.fetch_add(1, Ordering::Relaxed);
        metrics::gauge!(count.gauge).increment(1.0);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
        metrics::gauge!(self.0.gauge).decrement(1.0);
    }
}

impl Git {
    /// The program at this path, or of this name.
    pub fn new(program: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self { program: Arc::new(located(program)), permits: Arc::new(Semaphore::new(RUNS_PER_CORE * cores)) }
    }

    /// How many may run now beside those that do.
    pub fn idle(&self) -> usize {
        self.permits.available_permits()
    }

    /// The runs of this process, whatever they are for.
    pub fn runs() -> GitRuns {
        let of = |count: &Count| count.count.load(Ordering::Relaxed);
        GitRuns { running: of(&RUNNING), waiting: of(&WAITING) }
    }

    /// Starts a run.
    pub async fn start(&self, job: &GitJob) -> Result<GitRun, GitError> {
        let permit = self.permit().await?;
        let mut command = self.command();
        command.current_dir(&job.folder).arg("--git-dir=.").args(&job.arguments);
        if let Some(protocol) = job.protocol {
            command.env("GIT_PROTOCOL", protocol);
        }
        let mut child = command.spawn()?;
        if let Some(memory_max) = job.memory_max {
            // It reads nothing before.
            bound(&child, memory_max)?;
        }
        metrics::counter!("troupe_git_runs_total", "command" => job.name()).increment(1);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(GitRun {
            command: job.name(),
            stdin,
            stdout,
            stderr,
            child,
            _kept: job.keeps.clone(),
            _permit: permit,
            _counted: Counted::by(&RUNNING),
        })
    }

    /// Waits until there are few enough runs.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, GitError> {
        let _waits = Counted::by(&WAITING);
        let waited = timeout(WAIT_MAX, Arc::clone(&self.permits).acquire_owned()).await;
        waited.map_err(|_| GitError::Busy)?.map_err(|_| GitError::Busy)
    }

    /// Runs a command that reads `input`; all that it writes.
    pub async fn run(&self, job: &GitJob, input: &[u8]) -> Result<Vec<u8>, GitError> {
        let mut run = self.start(job).await?;
        let (status, said, output) = run.talk(input).await?;
        run.outcome(status, &said)?;
        Ok(output)
    }

    /// Runs a command that says no by its status 1; whether it says yes, and all that it writes.
    pub async fn ask(&self, job: &GitJob, input: &[u8]) -> Result<(bool, Vec<u8>), GitError> {
        let mut run = self.start(job).await?;
        let (status, said, output) = run.talk(input).await?;
        if status.code() != Some(STATUS_NO) {
            run.outcome(status, &said)?;
        }
        Ok((status.success(), output))
    }

    /// Its version, as it says it.
    pub async fn version(&self) -> Result<String, GitError> {
        let output = self.command().arg("version").output().await?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().trim_start_matches("git version ").to_owned())
    }

    /// The program with nothing of the machine's around it.
    fn command(&self) -> Command {
        let mut command = Command::new(self.program.as_ref());
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs([
                ("LC_ALL", "C"),
                ("HOME", "/nonexistent"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_TERMINAL_PROMPT", "0"),
            ])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

/// Holds a program that was just started to so many bytes of memory of its own; what it maps of files isn't in it.
#[cfg(target_os = "linux")]
fn bound(child: &Child, memory_max: u64) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, prlimit};
    // One that has ended already takes none.
    let number = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let limit = Rlimit { current: Some(memory_max), maximum: Some(memory_max) };
    match number.map(|number| prlimit(Some(number), Resource::Data, limit)) {
        None | Some(Ok(_) | Err(rustix::io::Errno::SRCH)) => Ok(()),
        Some(Err(error)) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "there it can't be bound, and nothing fails")]
fn bound(_: &Child, _: u64) -> io::Result<()> {
    Ok(())
}

/// Where a program is that only has a name: what is started by its path is started without a copy of this process.
fn located(program: PathBuf) -> PathBuf {
    let is_name = program.file_name() == Some(program.as_os_str());
    let folders = std::env::var_os("PATH").filter(|_| is_name).unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&program)).find(|place| place.is_file());
    found.unwrap_or(program)
}

impl GitRun {
    /// Has it read `input`, and waits until it has ended; what it said went wrong, and what it wrote.
    async fn talk(&mut self, input: &[u8]) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), GitError> {
        let (stdin, stdout) = (self.stdin.take(), self.stdout.take());
        let writing = async {
            let Some(mut stdin) = stdin else { return Ok(()) };
            // Who has read enough reads no more.
            match stdin.write_all(input).await {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other,
            }
        };
        let reading = async {
            let mut output = Vec::new();
            if let Some(mut stdout) = stdout {
                stdout.read_to_end(&mut output).await?;
            }
            Ok::<_, io::Error>(output)
        };
        let ((written, output), ended) = tokio::join!(async { tokio::join!(writing, reading) }, self.ended());
        let (status, said) = ended?;
        if status.success() {
            written?;
        }
        Ok((status, said, output?))
    }

    /// Waits until it has ended; what it said went wrong is an error. What it writes has to be read meanwhile.
    pub async fn end(&mut self) -> Result<(), GitError> {
        let (status, said) = self.ended().await?;
        self.outcome(status, &said)
    }

    async fn ended(&mut self) -> Result<(ExitStatus, Vec<u8>), GitError> {
        let mut said = Vec::new();
        if let Some(stderr) = &mut self.stderr {
            stderr.take(SAID_MAX).read_to_end(&mut said).await?;
            tokio::io::copy(stderr, &mut tokio::io::sink()).await?;
        }
        Ok((self.child.wait().await?, said))
    }

    fn outcome(&self, status: ExitStatus, said: &[u8]) -> Result<(), GitError> {
        if status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(said).trim().to_owned();
        let said = if said.is_empty() { status.to_string() } else { said };
        Err(GitError::Failed { command: self.command.clone(), said })
    }
}

impl Drop for GitRun {
    fn drop(&mut self) {
        // Its own children end with it. One that was waited for has no number any more.
        let number = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = number.and_then(Pid::from_raw)
            && let Err(error) = kill_process_group(group, Signal::KILL)
        {
            tracing::debug!(%error, command = self.command, "a run of git had ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn repository() -> (Git, tempfile::TempDir) {
        let (git, folder) = (Git::default(), tempfile::tempdir().unwrap());
        let init = GitJob::new(folder.path(), "init").with_all(["--quiet", "--bare", "."]);
        git.run(&init, b"").await.unwrap();
        (git, folder)
    }

    #[tokio::test]
    async fn git_reads_and_writes_and_says_what_went_wrong() {
        let (git, folder) = repository().await;
        let hash = GitJob::new(folder.path(), "hash-object").with_all(["-w", "--stdin"]);
        let named = git.run(&hash, b"hello").await.unwrap();
        assert_eq!(named, b"b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0\n");
        let wrong =
            git.run(&GitJob::new(folder.path(), "cat-file").with_all(["-p", "nothing"]), b"").await.unwrap_err();
        assert!(
            matches!(&wrong, GitError::Failed { command, said } if command == "cat-file" && said.contains("nothing")),
            "{wrong}"
        );
        let found = |name: &str| GitJob::new(folder.path(), "merge-base").with_all(["--is-ancestor", name, name]);
        assert!(matches!(git.ask(&found("nothing"), b"").await, Err(GitError::Failed { .. })));
        let differs = GitJob::new(folder.path(), "diff").with_all(["--no-index", "--quiet", "/dev/null", "config"]);
        assert_eq!(git.ask(&differs, b"").await.unwrap(), (false, Vec::new()));
        let missing = Git::new("no-such-program".into()).run(&hash, b"").await.unwrap_err();
        assert!(matches!(missing, GitError::Io(_)), "{missing}");
        assert!(git.version().await.unwrap().starts_with("2."));
    }

    #[test]
    fn a_program_is_found_by_its_name() {
        let found = located("git".into());
        assert!(found.is_absolute() && found.ends_with("git"), "{found:?}");
        assert_eq!(located("no-such-program".into()), Path::new("no-such-program"));
        assert_eq!(located("./git".into()), Path::new("./git"));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_run_has_no_more_memory_than_it_is_to_have() {
        let (git, folder) = repository().await;
        // A tag is read into memory whole.
        let hash = GitJob::new(folder.path(), "hash-object").with_all(["--literally", "-t", "tag", "--stdin"]);
        let read = async |bytes: usize| git.run(&hash.clone().within(Some(64 << 20)), &vec![b'x'; bytes]).await;
        assert!(read(1 << 20).await.is_ok());
        let refused = read(100 << 20).await.unwrap_err();
        assert!(refused.took_too_much(), "{refused}");
        let other = git.run(&GitJob::new(folder.path(), "cat-file").with_all(["-p", "nothing"]), b"").await;
        assert!(!other.unwrap_err().took_too_much());
    }

    #[tokio::test]
    async fn a_run_that_nobody_waits_for_ends() {
        let (git, folder) = repository().await;
        let idle = git.idle();
        let run = git.start(&GitJob::new(folder.path(), "cat-file").with("--batch")).await.unwrap();
        let group = Pid::from_raw(i32::try_from(run.child.id().unwrap()).unwrap()).unwrap();
        assert_eq!(git.idle(), idle - 1);
        drop(run);
        assert_eq!(git.idle(), idle);
        for _ in 0..500 {
            if rustix::process::test_kill_process_group(group).is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it goes on");
    }
}
