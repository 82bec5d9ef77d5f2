//! The secrets that the scanner finds in folders, for whoever looks at what it makes of real source trees: `secrets FOLDER…`.
//!
//! Each file counts as one that is new, and each folder as a change of its own. Links aren't followed.

use std::{
    collections::HashSet,
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use troupe_domain::{
    Timestamp,
    git::{NewFile, ObjectId, SCANNED_MAX, SecretScanner, SecretSearch, SecretsFound},
    id::ResourceId,
};

/// What a folder came to.
struct Seen {
    search: SecretSearch,
    files: u64,
    bytes: u64,
    /// How long was spent on scanning, without reading.
    took: Duration,
}

fn main() -> ExitCode {
    let mut folders = env::args().skip(1).map(PathBuf::from).peekable();
    if folders.peek().is_none() {
        eprintln!("secrets FOLDER…");
        return ExitCode::FAILURE;
    }
    for folder in folders {
        if let Err(error) = look(&folder) {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn look(folder: &Path) -> io::Result<()> {
    let scanner = SecretScanner::new(b"the server's").map_err(io::Error::other)?;
    let search = SecretSearch::new(scanner, ResourceId::new(Timestamp(0)), HashSet::new());
    let mut seen = Seen { search, files: 0, bytes: 0, took: Duration::ZERO };
    seen.look_through(folder)?;
    let Seen { search, files, bytes, took } = seen;
    let SecretsFound { open, unscanned, .. } = search.finish();
    let rate = u128::from(bytes) / took.as_micros().max(1);
    println!(
        "{}: {files} files, {unscanned} unscanned, {bytes} bytes at {rate} MB/s, {} secrets",
        folder.display(),
        open.len()
    );
    for finding in open {
        println!("  {} {} ({})", finding.place(), finding.secret.rule, finding.secret.preview);
    }
    Ok(())
}

impl Seen {
    fn look_through(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() {
                self.look_through(&path)?;
            } else if kind.is_file() {
                self.look_at(&path)?;
            }
        }
        Ok(())
    }

    fn look_at(&mut self, path: &Path) -> io::Result<()> {
        self.files += 1;
        if fs::metadata(path)?.len() > SCANNED_MAX {
            self.search.pass_over();
            return Ok(());
        }
        let content = fs::read(path)?;
        let path = path.to_string_lossy();
        let file = NewFile { blob: ObjectId::of_bytes([0; 20]), path: path.as_bytes(), content: &content };
        let started = Instant::now();
        let outcome = self.search.look(file);
        self.took += started.elapsed();
        self.bytes += content.len() as u64;
        if outcome.is_break() { Err(io::Error::other("there are too many secrets")) } else { Ok(()) }
    }
}
