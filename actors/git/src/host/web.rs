//! Making commits of the web: what their parent has where they change something, and the objects that they bring.
//!
//! `git fast-import` makes the objects in a quarantine, from paths that were checked; `git index-pack --strict` looks at each of
//! them, as it does at those of a push.

use std::{fmt::Write as _, io};

use domain::{
    Error, Result, Timestamp,
    git::{
        ObjectId,
        objects::{Commit, RepositoryPath},
        web::{
            FolderToRead, Place, WebEdit, WrittenBytes, commit_name, places_below, upload_missing, web_commit_refused,
        },
    },
    id::{ContentId, OrgId},
};
use futures::TryStreamExt;
use gateways::GitError;
use store::{Store, git::UploadedFile};
use tokio::{
    fs,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
};

use super::{
    Quarantine, Reading, internal,
    quarantine::{TOO_MUCH_MEMORY, reason},
    views::failed,
};

/// The ref in the quarantine that names what is made.
const MADE: &str = "refs/web/commit";

/// A commit that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewCommit<'c> {
    /// The commit that it follows, unless it is the first one.
    pub parent: Option<&'c Commit>,
    /// What whoever makes it is called.
    pub name: &'c str,
    /// The address of whoever makes it.
    pub email: &'c str,
    /// When.
    pub at: Timestamp,
    /// What it says.
    pub message: &'c str,
    /// What it changes; no two of them meet.
    pub edits: &'c [WebEdit],
    /// The files of its upload.
    pub uploaded: &'c [UploadedFile],
    /// The organization whose files these are.
    pub org_id: OrgId,
}

impl Reading {
    /// What a commit has at these paths, which are in the order of [`RepositoryPath::cmp_in_tree`]. Only the folders are read in
    /// which they are.
    pub async fn places(&self, tree: ObjectId, paths: &[RepositoryPath]) -> Result<Vec<Place>> {
        let mut run = self.start(&self.job("cat-file").with("--batch")).await?;
        let (Some(mut stdin), Some(stdout)) = (run.stdin.take(), run.stdout.take()) else {
            return Err(Error::internal("git cat-file can't be talked with"));
        };
        let mut stdout = BufReader::new(stdout);
        let mut places = vec![Place::Free; paths.len()];
        let mut folders = vec![FolderToRead::whole(tree, paths.len())];
        while let Some(folder) = folders.pop() {
            let object = tree_object(&mut stdin, &mut stdout, folder.tree).await?;
            folders.extend(places_below(&folder, &object, paths, &mut places));
        }
        Ok(places)
    }
}

/// The object of a folder, from `git cat-file --batch`.
async fn tree_object(stdin: &mut ChildStdin, stdout: &mut BufReader<ChildStdout>, tree: ObjectId) -> Result<Vec<u8>> {
    stdin.write_all(format!("{tree}\n").as_bytes()).await.map_err(failed)?;
    let mut line = String::new();
    stdout.read_line(&mut line).await.map_err(failed)?;
    let size = line.trim_end().split_once(" tree ").and_then(|(_, size)| size.parse::<usize>().ok());
    let size = size.ok_or_else(|| Error::internal(format_args!("git cat-file says {line:?}")))?;
    // A line's end is behind it.
    let mut object = vec![0; size + 1];
    stdout.read_exact(&mut object).await.map_err(failed)?;
    object.truncate(size);
    Ok(object)
}

impl Quarantine {
    /// Makes a commit in the quarantine; none where it has the same files as its parent.
    pub async fn make_commit(&mut self, commit: NewCommit<'_>) -> Result<Option<ObjectId>> {
        let job = self.intake("fast-import").with_all(["--quiet", "--done"]);
        let mut run = self.host.parts.git.start(&job).await.map_err(internal)?;
        let (stdin, stdout) = (run.stdin.take(), run.stdout.take());
        let store = &self.host.parts.store;
        let writing = async {
            let Some(mut stdin) = stdin else { return Ok(()) };
            write_commit(&mut stdin, store, commit).await
        };
        let reading = async {
            if let Some(mut stdout) = stdout {
                tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await?;
            }
            Ok::<_, io::Error>(())
        };
        let ((written, read), ended) = tokio::join!(async { tokio::join!(writing, reading) }, run.end());
        // Others may run meanwhile; who holds one run and waits for another could wait for themselves.
        drop(run);
        if ended.as_ref().is_err_and(GitError::took_too_much) {
            return Err(web_commit_refused(TOO_MUCH_MEMORY));
        }
        // What was refused is told before what git makes of it.
        written?;
        ended.map_err(internal)?;
        read.map_err(failed)?;
        let (oid, tree) = self.made().await?;
        if commit.parent.is_some_and(|parent| parent.tree == tree) {
            return Ok(None);
        }
        self.check_pack().await?;
        if commit.edits.iter().any(|edit| matches!(edit, WebEdit::Move { .. })) {
            self.check_depth(oid).await?;
        }
        Ok(Some(oid))
    }

    /// 400 where folders that were moved are in so many others now that git reads them no more, and would send them to nobody.
    async fn check_depth(&self, oid: ObjectId) -> Result<()> {
        let job = self.job("ls-tree").with_all(["-r", "-d", "-z", "--full-tree", "--object-only", &oid.to_string()]);
        match self.host.parts.git.run(&job, b"").await {
            Ok(_) => Ok(()),
            Err(GitError::Failed { said, .. }) => Err(web_commit_refused(&reason(&said))),
            Err(other) => Err(internal(other)),
        }
    }

    /// The commit that was made, and its folder.
    async fn made(&self) -> Result<(ObjectId, ObjectId)> {
        let job = self.job("rev-parse").with_all([MADE, &format!("{MADE}^{{tree}}")]);
        let said = self.host.parts.git.run(&job, b"").await.map_err(internal)?;
        let said = String::from_utf8_lossy(&said);
        let mut oids = said.lines().map(str::parse);
        match (oids.next(), oids.next()) {
            (Some(Ok(commit)), Some(Ok(tree))) => Ok((commit, tree)),
            _ => Err(Error::internal(format_args!("git rev-parse says {said:?}"))),
        }
    }

    /// Looks at each object of the one pack that was made, and remembers the pack. There is none where the repository has all of
    /// it, since somebody made the same commit in the same second.
    async fn check_pack(&mut self) -> Result<()> {
        let Some(pack) = self.pack_made().await.map_err(failed)? else { return Ok(()) };
        let job = self.intake("index-pack").with_all(["--strict", "-o", "checked.idx"]).with(&pack);
        let said = match self.host.parts.git.run(&job, b"").await {
            Ok(said) => said,
            Err(error) if error.took_too_much() => return Err(web_commit_refused(TOO_MUCH_MEMORY)),
            Err(GitError::Failed { said, .. }) => return Err(web_commit_refused(&reason(&said))),
            Err(other) => return Err(internal(other)),
        };
        let hash = String::from_utf8_lossy(&said).trim().parse();
        self.hash = Some(hash.map_err(|_| Error::internal("git index-pack says something else"))?);
        Ok(())
    }

    async fn pack_made(&self) -> io::Result<Option<String>> {
        let mut entries = fs::read_dir(self.folder().join("objects/pack")).await?;
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "pack") {
                return Ok(entry.file_name().to_str().map(|name| format!("objects/pack/{name}")));
            }
        }
        Ok(None)
    }
}

/// Tells `git fast-import` what the commit is.
async fn write_commit(stdin: &mut ChildStdin, store: &Store, commit: NewCommit<'_>) -> Result<()> {
    send(stdin, head(&commit).as_bytes()).await?;
    for edit in commit.edits {
        match edit {
            WebEdit::Move { from, to } => {
                send(stdin, format!("R {} {}\n", quoted(from), quoted(to)).as_bytes()).await?;
            }
            WebEdit::Delete { path } => send(stdin, format!("D {}\n", quoted(path)).as_bytes()).await?,
            WebEdit::Write { path, kind, bytes } => {
                send(stdin, format!("M {} inline {}\n", kind.mode(), quoted(path)).as_bytes()).await?;
                write_bytes(stdin, store, (commit.org_id, commit.uploaded), bytes).await?;
            }
        }
    }
    send(stdin, b"\ndone\n").await
}

/// What stands before the changes of a commit.
fn head(commit: &NewCommit<'_>) -> String {
    let NewCommit { parent, name, email, at, message, .. } = commit;
    let seconds = at.as_millis().div_euclid(1_000).max(0);
    let who = format!("{} <{}> {seconds} +0000", commit_name(name), commit_name(email));
    let mut head = format!("commit {MADE}\nauthor {who}\ncommitter {who}\ndata {}\n{message}\n", message.len());
    if let Some(parent) = parent {
        // Writing to a text doesn't fail.
        let _ = writeln!(head, "from {}", parent.id);
    }
    head
}

async fn write_bytes(
    stdin: &mut ChildStdin,
    store: &Store,
    (org_id, uploaded): (OrgId, &[UploadedFile]),
    bytes: &WrittenBytes,
) -> Result<()> {
    match bytes {
        WrittenBytes::Sent(bytes) => {
            send(stdin, format!("data {}\n", bytes.len()).as_bytes()).await?;
            send(stdin, bytes).await?;
        }
        WrittenBytes::Uploaded(index) => {
            let file = uploaded.iter().find(|file| file.index == *index).ok_or_else(upload_missing)?;
            let content = file.content.ok_or_else(upload_missing)?;
            send(stdin, format!("data {}\n", file.size).as_bytes()).await?;
            write_content(stdin, store, (org_id, content)).await?;
        }
    }
    send(stdin, b"\n").await
}

async fn write_content(stdin: &mut ChildStdin, store: &Store, (org_id, id): (OrgId, ContentId)) -> Result<()> {
    let mut content = store.content_read(org_id, id, None).await?.ok_or_else(upload_missing)?;
    while let Some(piece) = content.bytes.try_next().await? {
        send(stdin, &piece).await?;
    }
    Ok(())
}

/// Sends bytes to git. Where it reads no more it has failed, and says itself why.
async fn send(stdin: &mut ChildStdin, bytes: &[u8]) -> Result<()> {
    match stdin.write_all(bytes).await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(failed),
    }
}

/// A path as `git fast-import` reads it, whatever stands in it.
fn quoted(path: &RepositoryPath) -> String {
    let mut text = String::with_capacity(path.as_str().len() + 2);
    text.push('"');
    for it in path.as_str().chars() {
        match it {
            '"' | '\\' => text.extend(['\\', it]),
            it if it.is_ascii_control() => {
                let _ = write!(text, "\\{:03o}", u32::from(it));
            }
            it => text.push(it),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_as_git_reads_it() {
        let said = |text: &str| quoted(&RepositoryPath::parse("path", text).unwrap());
        assert_eq!(said("a/b c.txt"), "\"a/b c.txt\"");
        assert_eq!(said("say \"ä\" \\ now"), "\"say \\\"ä\\\" \\\\ now\"");
        assert_eq!(said("a\nb\tc"), "\"a\\012b\\011c\"");
    }

    #[test]
    fn a_commit_begins_with_whoever_makes_it() {
        let commit = NewCommit {
            parent: None,
            name: "Ada <x>\nLovelace",
            email: "ada@example.com",
            at: Timestamp(1_767_225_600_999),
            message: "Ä\n",
            edits: &[],
            uploaded: &[],
            org_id: OrgId::new(Timestamp(0)),
        };
        let who = "Ada xLovelace <ada@example.com> 1767225600 +0000";
        assert_eq!(head(&commit), format!("commit refs/web/commit\nauthor {who}\ncommitter {who}\ndata 3\nÄ\n\n"));
    }
}
