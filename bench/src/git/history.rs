//! Histories to push, made by `git fast-import`.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::report::Result;

/// Commits, and files that each of them changes.
const COMMITS: usize = 2_000;
const FILES: usize = 6;
/// Bytes of a file, at most.
const FILE_LEN: usize = 1_500;
/// Branches of a repository with many refs.
const REFS: usize = 1_000;
/// When all commits are made, in seconds since the Unix epoch.
const TIME: usize = 1_700_000_000;

/// Git in a folder, with nothing of this machine's configuration.
pub fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.com");
    }
    command
}

/// Runs git, which has to do what it is asked; what it says.
pub fn well(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Numbers that are the same in each run.
pub struct Noise(u64);

impl Noise {
    pub const fn new() -> Self {
        Self(0x9e37_79b9)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap_or_default() % limit
    }

    /// Text of words, each of which is there more than once.
    fn text(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len + 16);
        while text.len() < len {
            let end = if self.below(8) == 0 { '\n' } else { ' ' };
            // Writing to a text doesn't fail.
            let _ = write!(text, "{:x}{end}", self.below(1 << 20));
        }
        text
    }

    /// Bytes that can't be made smaller.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.next().to_le_bytes()[1]).take(len).collect()
    }
}

/// A repository with 2,000 commits of six files each, on one branch.
pub fn long(folder: &Path) -> Result<PathBuf> {
    let (mut noise, mut stream) = (Noise::new(), String::new());
    for at in 0..COMMITS {
        write!(stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> {} +0000\ndata 1\n.\n", TIME + at)?;
        for _ in 0..FILES {
            let (folder, file, len) = (noise.below(12), noise.below(60), FILE_LEN / 2 + noise.below(FILE_LEN / 2));
            let text = noise.text(len);
            write!(stream, "M 644 inline src/part-{folder}/file-{file}.txt\ndata {}\n{text}\n", text.len())?;
        }
    }
    imported(&folder.join("long"), stream.as_bytes())
}

/// A repository with a thousand branches.
pub fn wide(folder: &Path) -> Result<PathBuf> {
    let mut stream = String::new();
    for at in 0..REFS {
        let name = if at == 0 { "main".to_owned() } else { format!("topic/number-{at}") };
        write!(stream, "commit refs/heads/{name}\ncommitter Ada <ada@example.com> {} +0000\ndata 1\n.\n", TIME + at)?;
        writeln!(stream, "M 644 inline file\ndata 4\n{:04}", at % 50)?;
    }
    imported(&folder.join("wide"), stream.as_bytes())
}

fn imported(place: &Path, stream: &[u8]) -> Result<PathBuf> {
    fs::create_dir_all(place)?;
    well(git(place).args(["init", "--quiet", "--bare", "--initial-branch=main", "."]))?;
    let mut import = git(place).args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn()?;
    import.stdin.take().ok_or("git has no input")?.write_all(stream)?;
    if !import.wait()?.success() {
        return Err("git fast-import failed".into());
    }
    well(git(place).args(["repack", "-adq"]))?;
    Ok(place.to_owned())
}
