//! Whoever starts a job's worker: tells it what to do, holds the pipe of what the job prints, and knows when it is over.

use std::{
    env, fs, io,
    process::Stdio,
    time::{Duration, SystemTime},
};

use domain::pipelines::job::StepReport;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::watch,
    time::timeout,
};

use super::{
    listener::{Annotation, Heard, Listener},
    words::{Assignment, Order, Over, Word},
};

/// Bytes that are read of a job's output at once.
const READ_LEN: usize = 64 * 1024;
/// How long a job's output may stay open once its worker is gone.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

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
}

impl<L: Lines> Supervised<L> {
    /// Starts the worker.
    pub async fn start(assignment: Assignment, lines: L, steps: watch::Sender<Vec<StepReport>>) -> io::Result<Self> {
        let secrets = assignment.secrets.values().cloned();
        let listener = Listener::new(&assignment.plan.marker, secrets, assignment.is_debug);
        let mut command = Command::new(env::current_exe()?);
        command.args(["runner", "worker"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let orders = child.stdin.take().ok_or_else(|| io::Error::other("the worker can't be told anything"))?;
        let session = child.id().map(Session);
        let mut supervised = Self { child, session, orders, listener, lines, steps, over: None };
        supervised.tell(&Order::Work(Box::new(assignment))).await;
        Ok(supervised)
    }

    /// The worker's process.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Follows the job to its end.
    pub async fn follow(mut self, mut cancel: watch::Receiver<bool>) -> io::Result<Ended> {
        let missing = || io::Error::other("the worker can't be heard");
        let mut output = self.child.stderr.take().ok_or_else(missing)?;
        let mut words = BufReader::new(self.child.stdout.take().ok_or_else(missing)?).lines();
        let mut buffer = vec![0; READ_LEN];
        let (mut is_printing, mut is_told) = (true, false);
        loop {
            tokio::select! {
                read = output.read(&mut buffer), if is_printing => match read? {
                    0 => is_printing = false,
                    len => self.printed(&buffer[..len]).await?,
                },
                word = words.next_line() => match word? {
                    Some(word) => self.word(&word),
                    None => break,
                },
                is_cancelled = cancelled(&mut cancel), if !is_told => {
                    is_told = true;
                    if is_cancelled {
                        self.tell(&Order::Cancel).await;
                    }
                }
            }
        }
        // The worker is gone. Where it died, what it started is still there, and may hold the pipe.
        drop(self.child.wait().await);
        drop(self.session.take());
        let drained = timeout(DRAIN_PATIENCE, async {
            while is_printing {
                match output.read(&mut buffer).await? {
                    0 => is_printing = false,
                    len => self.printed(&buffer[..len]).await?,
                }
            }
            io::Result::Ok(())
        });
        drained.await.unwrap_or(Ok(()))?;
        let mut last = Vec::new();
        self.listener.finish(&mut |heard| last.push(heard));
        self.heard(last).await?;
        Ok(self.ended())
    }

    fn ended(self) -> Ended {
        let mask = |over: Over| Over {
            summary: self.listener.hide(&over.summary),
            error: over.error.map(|error| self.listener.hide(&error)),
            // As at GitHub, an output that holds a secret isn't handed on.
            outputs: over.outputs.into_iter().filter(|(_, value)| self.listener.hide(value) == *value).collect(),
            ..over
        };
        let steps = self.steps.borrow().clone();
        Ended { over: self.over.map(mask), steps, annotations: self.listener.annotations().to_vec() }
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
        steps.into_iter().map(|step| StepReport { name: self.listener.hide(&step.name), ..step }).collect()
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
