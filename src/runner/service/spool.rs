//! What a job leaves for the server: the lines of its log, how its steps do, and how it ended. All of it stands in files before
//! it is sent, so that neither a dead server nor a dead runner loses a line.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use domain::pipelines::job::{JobPlan, StepReport};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use super::{
    Taken,
    home::{Home, private, write_private},
};
use crate::runner::{
    error::{Result, RunnerError},
    supervisor::Lines,
    words::mark_prefix,
};

const JOB: &str = "job.json";
const LINES: &str = "lines";
const STEPS: &str = "steps.json";
const END: &str = "end.json";

/// A line of a log, as it is sent (contract C 4.1).
#[derive(Debug, Serialize, Deserialize)]
pub struct SpooledLine {
    /// When it was written, in milliseconds since 1970.
    pub t: i64,
    /// The text.
    pub m: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobFile {
    job_id: String,
    token: String,
}

/// A job's files.
#[derive(Clone)]
pub struct Spool {
    folder: PathBuf,
    /// The job's id.
    pub job_id: String,
    /// What the runner shows in the job's name.
    pub token: String,
}

impl Spool {
    /// Makes the files of a job.
    pub fn make(home: &Home, taken: &Taken) -> Result<Self> {
        let folder = home.spools().join(&taken.job_id);
        let spool = Self { folder, job_id: taken.job_id.clone(), token: taken.token.clone() };
        let file = JobFile { job_id: taken.job_id.clone(), token: taken.token.clone() };
        let made = crate::program::make_folder(&spool.folder)
            .and_then(|()| private().create(true).truncate(false).open(spool.folder.join(LINES)).map(drop))
            .and_then(|()| write_private(&spool.folder.join(JOB), &serde_json::to_vec(&file)?));
        made.map_err(RunnerError::file(&spool.folder))?;
        Ok(spool)
    }

    /// What a runner that died left behind.
    pub fn left(home: &Home) -> Result<Vec<Self>> {
        let folder = home.spools();
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(RunnerError::file(&folder))?,
        };
        let spool = |entry: fs::DirEntry| {
            let file: JobFile = read(&entry.path().join(JOB))?;
            Some(Self { folder: entry.path(), job_id: file.job_id, token: file.token })
        };
        Ok(entries.flatten().filter_map(spool).collect())
    }

    /// What writes the log of a job with this plan, and says how many lines it has.
    pub fn writer(&self, plan: &JobPlan) -> io::Result<(SpoolWriter, watch::Receiver<u64>)> {
        let file = private().append(true).open(self.folder.join(LINES))?;
        let (count, counted) = watch::channel(0);
        let (len_max, marks) = (plan.limits.log_bytes, mark_prefix(&plan.marker));
        Ok((SpoolWriter { file: BufWriter::new(file), written: 0, count, marks, len_max, len: 0 }, counted))
    }

    /// What reads the log.
    pub fn reader(&self) -> io::Result<SpoolReader> {
        let path = self.folder.join(LINES);
        Ok(SpoolReader { reader: BufReader::new(File::open(&path)?), path, next: 0 })
    }

    /// Whole lines of the log.
    pub fn count(&self) -> io::Result<u64> {
        let mut reader = BufReader::new(File::open(self.folder.join(LINES))?);
        let (mut count, mut line) = (0, Vec::new());
        while reader.read_until(b'\n', &mut line)? > 0 {
            count += u64::from(line.ends_with(b"\n"));
            line.clear();
        }
        Ok(count)
    }

    /// Keeps how the steps do.
    pub fn keep_steps(&self, steps: &[StepReport]) -> io::Result<()> {
        write_private(&self.folder.join(STEPS), &serde_json::to_vec(steps)?)
    }

    /// How the steps did.
    pub fn steps(&self) -> Vec<StepReport> {
        read(&self.folder.join(STEPS)).unwrap_or_default()
    }

    /// Keeps how the job ended.
    pub fn keep_end(&self, end: &Value) -> io::Result<()> {
        write_private(&self.folder.join(END), &serde_json::to_vec(end)?)
    }

    /// How the job ended, if it did.
    pub fn end(&self) -> Option<Value> {
        read(&self.folder.join(END))
    }

    /// Removes the files: the server has it all.
    pub fn remove(&self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn read<T: for<'d> Deserialize<'d>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a log.
pub struct SpoolWriter {
    file: BufWriter<File>,
    written: u64,
    count: watch::Sender<u64>,
    /// What the runner's own words begin with, which the server needs whatever a job prints.
    marks: String,
    /// Bytes that the server keeps of the log. What is longer would only fill this machine's disk.
    len_max: u64,
    len: u64,
}

impl Lines for SpoolWriter {
    fn line(&mut self, at: i64, text: &str) -> io::Result<()> {
        if text.starts_with(&self.marks) {
            return self.write(at, text);
        }
        if self.len > self.len_max {
            return Ok(());
        }
        // As the server counts: each line costs a little, so that empty ones have an end, too.
        self.len += text.len() as u64 + 1;
        if self.len > self.len_max {
            let text = format!("The log is longer than {} bytes. What follows isn't kept.", self.len_max);
            return self.write(at, &text);
        }
        self.write(at, text)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.count.send_replace(self.written);
        Ok(())
    }
}

impl SpoolWriter {
    fn write(&mut self, at: i64, text: &str) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, &SpooledLine { t: at, m: text.to_owned() })?;
        self.file.write_all(b"\n")?;
        self.written += 1;
        Ok(())
    }
}

/// Reads a log.
pub struct SpoolReader {
    path: PathBuf,
    reader: BufReader<File>,
    next: u64,
}

impl SpoolReader {
    /// Lines from a number on, as long as they are no more than this many and no longer together.
    pub fn lines(&mut self, from: u64, to: u64, len_max: usize) -> io::Result<Vec<SpooledLine>> {
        if from < self.next {
            (self.reader, self.next) = (BufReader::new(File::open(&self.path)?), 0);
        }
        let (mut lines, mut len, mut text) = (Vec::new(), 0, String::new());
        while self.next < to && len < len_max {
            text.clear();
            if self.reader.read_line(&mut text)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.next >= from {
                lines.push(serde_json::from_str(&text)?);
                len += text.len();
            }
            self.next += 1;
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(log_bytes: u64) -> JobPlan {
        serde_json::from_value(serde_json::json!({
            "protocol": 1,
            "job": {
                "id": "job_1", "key": "a", "name": "a", "runId": "run_1", "runNumber": 1, "attempt": 1, "workflow": "ci",
                "repository": "site", "timeoutMinutes": 1
            },
            "contexts": {}, "env": {}, "defaults": {}, "steps": [], "outputs": {}, "marker": "0123",
            "limits": { "logBytes": log_bytes, "summaryBytes": 1, "artifactBytes": 1, "cacheBytes": 1 },
            "serverUrl": "http://localhost"
        }))
        .unwrap()
    }

    #[test]
    fn a_log_that_is_too_long_ends_with_a_line_that_says_so_and_keeps_the_runners_words() {
        for (log_bytes, kept) in [(29, 2), (30, 3), (31, 3)] {
            let folder = tempfile::tempdir().unwrap();
            let taken = Taken { job_id: "job_1".to_owned(), token: "trp_j_x".to_owned() };
            let spool = Spool::make(&Home::new(folder.path().to_owned()), &taken).unwrap();
            let (mut writer, _count) = spool.writer(&plan(log_bytes)).unwrap();
            for line in ["##[0123]step 0 begin", "123456789", "123456789", "123456789"] {
                writer.line(0, line).unwrap();
            }
            (0..1_000).for_each(|_| writer.line(0, "123456789").unwrap());
            writer.line(0, "##[0123]step 0 end").unwrap();
            writer.flush().unwrap();
            let count = spool.count().unwrap();
            let lines = spool.reader().unwrap().lines(0, count, usize::MAX).unwrap();
            let lines: Vec<_> = lines.iter().map(|line| line.m.as_str()).collect();
            assert_eq!(lines.iter().filter(|line| **line == "123456789").count(), kept, "{log_bytes}");
            assert_eq!(lines.len(), kept + 3, "{log_bytes}: {lines:?}");
            assert!(lines[kept + 1].starts_with("The log is longer than"), "{lines:?}");
            assert_eq!(lines[kept + 2], "##[0123]step 0 end");
        }
    }

    #[test]
    fn what_is_written_is_read_from_any_line_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let taken = Taken { job_id: "job_1".to_owned(), token: "trp_j_x".to_owned() };
        let spool = Spool::make(&home, &taken).unwrap();
        let (mut writer, count) = spool.writer(&plan(1_000_000)).unwrap();
        for number in 0..100 {
            writer.line(number, &format!("line {number}\u{1}")).unwrap();
        }
        assert_eq!(*count.borrow(), 0);
        writer.flush().unwrap();
        assert_eq!(*count.borrow(), 100);
        let mut reader = spool.reader().unwrap();
        for (from, to) in [(0, 3), (50, 60), (10, 20), (99, 100), (100, 100)] {
            let numbers: Vec<i64> = reader.lines(from, to, usize::MAX).unwrap().iter().map(|line| line.t).collect();
            assert_eq!(numbers, (i64::try_from(from).unwrap()..i64::try_from(to).unwrap()).collect::<Vec<_>>());
        }
        assert_eq!(reader.lines(0, 100, 1).unwrap().len(), 1);
        // A runner that was killed may leave half a line.
        private().append(true).open(spool.folder.join(LINES)).unwrap().write_all(b"{\"t\":1,").unwrap();
        spool.keep_end(&serde_json::json!({"conclusion": "success"})).unwrap();
        let left = Spool::left(&home).unwrap();
        assert_eq!((left.len(), left[0].count().unwrap(), left[0].token.as_str()), (1, 100, "trp_j_x"));
        assert!(left[0].end().is_some());
        spool.remove();
        assert!(Spool::left(&home).unwrap().is_empty());
    }
}
