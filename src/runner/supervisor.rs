//! Whoever starts a job's worker: tells it what to do, holds the pipe of what the job prints, and knows when it is over.

use std::{
    collections::BTreeMap,
    env, fs, io,
    process::Stdio,
    time::{Duration, SystemTime},
};

use domain::pipelines::job::{JOB_SUMMARY_LEN_MAX, JobStatus, STEP_NAME_LEN_MAX, StepReport};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines as LinesOf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    listener::{Annotation, Heard, Listener},
    words::{Assignment, Order, Over, Word},
};

/// Bytes that are read of a job's output at once.
const READ_LEN: usize = 64 * 1024;
/// How long a job's output may stay open once its worker is gone.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
/// Minutes in which a job ends that is cancelled or took too long, as at GitHub; and how long that is where minutes are short.
const END_MINUTES: u64 = 5;
const END_PATIENCE_MIN: Duration = Duration::from_secs(15);

/// Where the lines of a job go.
pub trait Lines {
    /// Takes a line, written at this time (milliseconds since 1970).
    fn line(&mut self, at: i64, text: &str) -> io::Result<()>;
    /// Everything of this moment was taken.
    fn flush(&mut self) -> io::Result<()>;
}

/// How a job's worker ended.
pub struct Ended {
    /// What the job came to; none where the worker died.
    pub over: Option<Over>,
    /// The last that the worker said of its steps.
    pub steps: Vec<StepReport>,
    /// Remarks on what the job did.
    pub annotations: Vec<Annotation>,
}

/// A job whose worker is started.
pub struct Supervised<L> {
    child: Child,
    session: Option<Session>,
    orders: ChildStdin,
    listener: Listener,
    lines: L,
    steps: watch::Sender<Vec<StepReport>>,
    over: Option<Over>,
    bounds: Bounds,
}

/// How long a worker is waited for.
#[derive(Clone, Copy)]
struct Bounds {
    /// When the job took too long.
    deadline: Option<Instant>,
    /// How long it may take to end then, or once it is cancelled.
    patience: Duration,
}

impl Bounds {
    fn of(assignment: &Assignment) -> Self {
        let minutes = |count: u64| Duration::from_millis(count.saturating_mul(assignment.minute_ms));
        Self {
            deadline: Instant::now().checked_add(minutes(assignment.plan.job.timeout_minutes.into())),
            patience: minutes(END_MINUTES).max(END_PATIENCE_MIN),
        }
    }

    /// Waits until a job should have ended long ago.
    async fn passed(self, mut cancel: watch::Receiver<bool>) -> Late {
        let timed_out = async {
            match self.deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let is_cancelled = async {
            if !cancelled(&mut cancel).await {
                std::future::pending::<()>().await;
            }
        };
        let late = tokio::select! {
            () = timed_out => Late::TimedOut,
            () = is_cancelled => Late::Cancelled,
        };
        sleep(self.patience).await;
        late
    }
}

/// Why a job should have ended that didn't.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Late {
    TimedOut,
    Cancelled,
}

/// What is read of a worker.
struct Ears {
    output: ChildStderr,
    words: LinesOf<BufReader<ChildStdout>>,
    buffer: Vec<u8>,
    is_printing: bool,
}

impl<L: Lines> Supervised<L> {
    /// Starts the worker.
    pub async fn start(assignment: Assignment, lines: L, steps: watch::Sender<Vec<StepReport>>) -> io::Result<Self> {
        let secrets = assignment.secrets.values().cloned();
        let listener = Listener::new(&assignment.plan.marker, secrets, assignment.is_debug);
        let bounds = Bounds::of(&assignment);
        let mut command = Command::new(env::current_exe()?);
        command.args(["runner", "worker"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let orders = child.stdin.take().ok_or_else(|| io::Error::other("the worker can't be told anything"))?;
        let session = child.id().map(Session);
        let mut supervised = Self { child, session, orders, listener, lines, steps, over: None, bounds };
        supervised.tell(&Order::Work(Box::new(assignment))).await;
        Ok(supervised)
    }

    /// The worker's process.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Follows the job to its end.
    pub async fn follow(mut self, cancel: watch::Receiver<bool>) -> io::Result<Ended> {
        let missing = || io::Error::other("the worker can't be heard");
        let mut ears = Ears {
            output: self.child.stderr.take().ok_or_else(missing)?,
            words: BufReader::new(self.child.stdout.take().ok_or_else(missing)?).lines(),
            buffer: vec![0; READ_LEN],
            is_printing: true,
        };
        let passed = self.bounds.passed(cancel.clone());
        let late = tokio::select! {
            heard = self.hear(&mut ears, cancel) => heard.map(|()| None)?,
            late = passed => Some(late),
        };
        if late.is_some() {
            drop(self.session.take());
            drop(self.child.start_kill());
        }
        // The worker is gone. Where it died, what it started is still there, and may hold the pipe.
        drop(self.child.wait().await);
        drop(self.session.take());
        timeout(DRAIN_PATIENCE, self.drain(&mut ears)).await.unwrap_or(Ok(()))?;
        let mut last = Vec::new();
        self.listener.finish(&mut |heard| last.push(heard));
        if let Some(late) = late {
            let over = self.late(late);
            last.extend(over.error.iter().map(|why| Heard::Line(format!("##[error]{why}"))));
            self.over.get_or_insert(over);
        }
        self.heard(last).await?;
        Ok(self.ended())
    }

    /// What a job comes to whose worker had to be ended.
    fn late(&self, late: Late) -> Over {
        let why = match late {
            Late::TimedOut => "took too long",
            Late::Cancelled => "was cancelled",
        };
        Over {
            status: JobStatus::Cancelled,
            has_timed_out: late == Late::TimedOut,
            steps: self.steps.borrow().clone(),
            outputs: BTreeMap::new(),
            environment_url: None,
            summary: String::new(),
            error: Some(format!("The job {why}, and did not end for {} seconds.", self.bounds.patience.as_secs())),
        }
    }

    /// Reads what the worker and its steps say, until the worker has nothing more to say.
    async fn hear(&mut self, ears: &mut Ears, mut cancel: watch::Receiver<bool>) -> io::Result<()> {
        let mut is_told = false;
        loop {
            tokio::select! {
                read = ears.output.read(&mut ears.buffer), if ears.is_printing => match read? {
                    0 => ears.is_printing = false,
                    len => self.printed(&ears.buffer[..len]).await?,
                },
                word = ears.words.next_line() => match word? {
                    Some(word) => self.word(&word),
                    None => return Ok(()),
                },
                is_cancelled = cancelled(&mut cancel), if !is_told => {
                    is_told = true;
                    if is_cancelled {
                        self.tell(&Order::Cancel).await;
                    }
                }
            }
        }
    }

    /// Reads what was printed before the worker went.
    async fn drain(&mut self, ears: &mut Ears) -> io::Result<()> {
        while ears.is_printing {
            match ears.output.read(&mut ears.buffer).await? {
                0 => ears.is_printing = false,
                len => self.printed(&ears.buffer[..len]).await?,
            }
        }
        Ok(())
    }

    fn ended(mut self) -> Ended {
        let over = self.over.take();
        // A mask may be longer than what it stands for.
        let mask = |over: Over| Over {
            summary: self.listener.hide(&over.summary).chars().take(JOB_SUMMARY_LEN_MAX).collect(),
            steps: self.masked(over.steps),
            error: over.error.map(|error| self.listener.hide(&error)),
            // As at GitHub, an output or an address that holds a secret isn't handed on.
            outputs: over.outputs.into_iter().filter(|(_, value)| self.listener.hide(value) == *value).collect(),
            environment_url: over.environment_url.filter(|url| self.listener.hide(url) == *url),
            ..over
        };
        let steps = self.steps.borrow().clone();
        Ended { over: over.map(mask), steps, annotations: self.listener.annotations().to_vec() }
    }

    async fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut all = Vec::new();
        self.listener.take(bytes, &mut |heard| all.push(heard));
        self.heard(all).await
    }

    async fn heard(&mut self, all: Vec<Heard>) -> io::Result<()> {
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        for heard in &all {
            if let Heard::Line(line) = heard {
                self.lines.line(at, line)?;
            }
        }
        self.lines.flush()?;
        // What a step said is told only once its lines are safe.
        for heard in all {
            match heard {
                Heard::Line(_) => {}
                Heard::Said(said) => self.tell(&Order::Said(said)).await,
                Heard::End(index) => self.tell(&Order::Heard { index }).await,
            }
        }
        Ok(())
    }

    fn word(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(Word::Steps { steps }) => drop(self.steps.send_replace(self.masked(steps))),
            Ok(Word::Over(over)) => {
                self.steps.send_replace(self.masked(over.steps.clone()));
                self.over = Some(over);
            }
            Err(_) => {}
        }
    }

    fn masked(&self, steps: Vec<StepReport>) -> Vec<StepReport> {
        let name = |name: &str| self.listener.hide(name).chars().take(STEP_NAME_LEN_MAX).collect();
        steps.into_iter().map(|step| StepReport { name: name(&step.name), ..step }).collect()
    }

    /// Tells the worker something. One that is gone is noticed elsewhere.
    async fn tell(&mut self, order: &Order) {
        let Ok(mut line) = serde_json::to_vec(order) else { return };
        // An order is a line, and a plan's raw JSON may have several: inside of texts an end of line is escaped.
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        drop(self.orders.write_all(&line).await);
        drop(self.orders.flush().await);
    }
}

/// Waits until the job is cancelled; says false where nobody can cancel it any more.
pub async fn cancelled(cancel: &mut watch::Receiver<bool>) -> bool {
    cancel.wait_for(|is_cancelled| *is_cancelled).await.is_ok()
}

/// The session that a worker began; its processes end with it.
struct Session(u32);

impl Drop for Session {
    fn drop(&mut self) {
        end_session(self.0);
    }
}

/// Ends all processes of a session.
fn end_session(session: u32) {
    let Ok(entries) = fs::read_dir("/proc") else { return };
    for pid in entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let of = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(3)?.parse::<u32>().ok());
        if of == Some(session) {
            let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
        }
    }
}
