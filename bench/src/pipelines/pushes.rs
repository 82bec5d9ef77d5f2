//! Pushes as git sends them, whose bytes are put together before the clock starts.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Stdio,
    time::Instant,
};

use tempfile::TempDir;

use crate::{
    git::history::{git, well},
    load::Request,
    report::Result,
};

/// The branch that is pushed to.
const BRANCH: &str = "refs/heads/main";
/// What stands for the commit of a branch that isn't there yet.
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// A clone that commits are made in.
pub struct Work {
    folder: TempDir,
    /// The path of the repository on its server.
    path: String,
    /// Who pushes.
    key: String,
}

impl Work {
    /// One without a commit yet.
    pub fn new(path: String, key: String) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        well(git(folder.path()).args(["init", "--quiet", "--initial-branch=main", "."]))?;
        Ok(Self { folder, path, key })
    }

    /// Commits workflow files; the push of it, which says when the server had answered it.
    pub fn push(&self, address: SocketAddr, files: &[(String, String)]) -> Result<impl FnOnce() -> Result<Instant>> {
        let folder = self.folder.path();
        let before = well(git(folder).args(["rev-parse", "--quiet", "--verify", "HEAD"])).ok();
        let place = folder.join(".service/workflows");
        fs::create_dir_all(&place)?;
        for (name, text) in files {
            fs::write(place.join(name), text)?;
        }
        well(git(folder).args(["add", "."]))?;
        well(git(folder).args(["commit", "--quiet", "--allow-empty", "-m", "Change"]))?;
        let after = well(git(folder).args(["rev-parse", "HEAD"]))?;
        let line = format!("{} {after} {BRANCH}\0report-status", before.as_deref().unwrap_or(NOTHING));
        let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
        body.extend(pack(folder, &after, before.as_deref())?);
        let request = Request::new("POST", &format!("{}/git-receive-pack", self.path))
            .bearer(&self.key)
            .header("Connection", "close")
            .body("application/x-git-receive-pack-request", body)
            .bytes();
        Ok(move || {
            let mut stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.write_all(&request)?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            let answered = Instant::now();
            let answer = String::from_utf8_lossy(&answer);
            if answer.contains(&format!("ok {BRANCH}")) { Ok(answered) } else { Err(answer.into()) }
        })
    }
}

/// The objects that a commit has and the one before it has not.
fn pack(folder: &Path, after: &str, before: Option<&str>) -> Result<Vec<u8>> {
    let mut command = git(folder);
    command.args(["pack-objects", "--quiet", "--revs", "--thin", "--stdout"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let wanted = before.map_or_else(|| format!("{after}\n"), |before| format!("{after}\n^{before}\n"));
    child.stdin.take().ok_or("git without an input")?.write_all(wanted.as_bytes())?;
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(output.stdout) } else { Err("git packs nothing".into()) }
}
