//! Folders that are held open: what is read and written below one never leaves it, whatever links a step makes meanwhile.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, symlinkat, unlinkat},
    io::Errno,
};

/// Folders may be passed through that may not be listed.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::empty();

/// A folder that is held open.
#[derive(Clone, Debug)]
pub struct Folder(Arc<OwnedFd>);

impl Folder {
    /// Opens a folder. No name of the path may be a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::walk(Self::root()?, path, Self::enter)
    }

    /// Opens a folder, and makes what isn't there. No name of the path may be a link.
    pub fn make(path: &Path) -> io::Result<Self> {
        Self::root()?.below(path)
    }

    /// Opens a folder below this one, and makes what isn't there.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        Self::walk(self.clone(), path, |folder, name| match folder.enter(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match mkdirat(&*folder.0, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => folder.enter(name),
                    Err(error) => Err(error.into()),
                }
            }
            entered => entered,
        })
    }

    fn root() -> io::Result<Self> {
        let flags = THROUGH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(Arc::new(open("/", flags, Mode::empty())?)))
    }

    fn walk(from: Self, path: &Path, enter: impl Fn(&Self, &OsStr) -> io::Result<Self>) -> io::Result<Self> {
        path.components().try_fold(from, |folder, component| match component {
            Component::Normal(name) => enter(&folder, name),
            Component::RootDir | Component::CurDir => Ok(folder),
            Component::ParentDir | Component::Prefix(_) => Err(io::ErrorKind::InvalidInput.into()),
        })
    }

    fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let flags = THROUGH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(Arc::new(openat(&*self.0, name, flags, Mode::empty())?)))
    }

    /// A new file, in place of whatever has the name.
    pub fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = name.as_ref();
        self.remove(name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&*self.0, name, flags, Mode::from_raw_mode(0o666))?))
    }

    /// A file that has no name any more, and is gone once nobody holds it.
    pub fn unnamed(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let file = self.create(name.as_ref())?;
        self.remove(name.as_ref())?;
        Ok(file)
    }

    /// Opens a file to read it. What is no file (a link, a pipe, a device) is an error.
    pub fn read(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        // Nobody waits for the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let no_file = || io::Error::new(io::ErrorKind::InvalidData, "it is no regular file");
        let file = match openat(&*self.0, name.as_ref(), flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::NXIO) => return Err(no_file()),
            file => File::from(file?),
        };
        if file.metadata()?.is_file() { Ok(file) } else { Err(no_file()) }
    }

    /// Makes a link, in place of whatever has the name.
    pub fn link(&self, name: impl AsRef<OsStr>, target: &Path) -> io::Result<()> {
        self.remove(name.as_ref())?;
        Ok(symlinkat(target, &*self.0, name.as_ref())?)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&*self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The folders that a job's actions may read and write: they are done by the worker, which no `--wrapper` locks in.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The job's own.
    own: PathBuf,
    /// The runner's, where its secret is.
    closed: Option<PathBuf>,
    /// Whether steps are locked in, and actions keep to the job's own folder.
    is_locked: bool,
}

impl Reach {
    /// What a job reaches whose folders these are; they are there.
    pub fn new(own: &Path, closed: Option<&Path>, is_locked: bool) -> io::Result<Self> {
        let closed = closed.map(Path::canonicalize).transpose()?;
        Ok(Self { own: own.canonicalize()?, closed, is_locked })
    }

    /// The path with all links carried out, where a job may use it. Names behind what is there are left as they are.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let resolved = resolve(path)?;
        self.check(&resolved)?;
        Ok(resolved)
    }

    /// Refuses a path without links that the job may not use.
    pub fn check(&self, resolved: &Path) -> io::Result<()> {
        let refused = |why: &str| Err(io::Error::other(format!("{}: {why}", resolved.display())));
        if resolved.starts_with(&self.own) {
            return Ok(());
        }
        if self.is_locked {
            return refused("Steps are locked in here, so actions use only files in the job's own folder.");
        }
        if self.closed.as_ref().is_some_and(|closed| resolved.starts_with(closed)) {
            return refused("This is the runner's own folder.");
        }
        Ok(())
    }

    /// Whether the job's own folder holds the path, with all links carried out.
    pub fn is_own(&self, path: &Path) -> bool {
        resolve(path).is_ok_and(|resolved| resolved.starts_with(&self.own))
    }
}

fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            Ok(resolve(folder)?.join(name))
        }
        resolved => resolved,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        os::unix::fs::symlink,
    };

    use super::*;

    fn root() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    #[test]
    fn nothing_below_a_folder_is_reached_through_links() {
        let (_held, root) = root();
        fs::create_dir(root.join("outside")).unwrap();
        fs::write(root.join("outside/file"), "kept").unwrap();
        let inner = Folder::make(&root.join("inner/deep")).unwrap();
        symlink(root.join("outside"), root.join("inner/deep/folder")).unwrap();
        symlink(root.join("outside/file"), root.join("inner/deep/file")).unwrap();
        assert!(inner.below(Path::new("folder")).is_err());
        assert!(inner.below(Path::new("../..")).is_err());
        assert!(Folder::open(&root.join("inner/deep/folder")).is_err());
        assert!(Folder::open(&root.join("inner/missing")).is_err());
        assert_eq!(inner.read("file").unwrap_err().kind(), io::ErrorKind::InvalidData);
        inner.create("file").unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(root.join("outside/file")).unwrap(), "kept");
        let mut text = String::new();
        inner.read("file").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "new");
        fs::rename(root.join("inner/deep"), root.join("moved")).unwrap();
        symlink(root.join("outside"), root.join("inner/deep")).unwrap();
        inner.create("late").unwrap();
        assert!(root.join("moved/late").exists() && !root.join("outside/late").exists());
        inner.unnamed("gone").unwrap();
        assert!(!root.join("moved/gone").exists());
    }

    #[test]
    fn only_files_are_read() {
        let (_held, root) = root();
        let folder = Folder::open(&root).unwrap();
        fs::create_dir(root.join("folder")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(made.success());
        for name in ["folder", "pipe"] {
            assert_eq!(folder.read(name).unwrap_err().kind(), io::ErrorKind::InvalidData, "{name}");
        }
        assert_eq!(folder.read("missing").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_job_reaches_neither_the_runners_folder_nor_what_locked_steps_dont() {
        let (_held, root) = root();
        let (home, own) = (root.join("home"), root.join("home/jobs/job_1"));
        fs::create_dir_all(own.join("work")).unwrap();
        fs::create_dir_all(root.join("home/jobs/job_2")).unwrap();
        fs::write(home.join("runner.json"), "{}").unwrap();
        symlink(&home, own.join("work/link")).unwrap();
        let reach = Reach::new(&own, Some(&home), false).unwrap();
        for path in ["home/runner.json", "home/jobs/job_2/x", "home/missing", "home/jobs/job_1/work/link/runner.json"] {
            assert!(reach.resolve(&root.join(path)).is_err(), "{path}");
        }
        for path in ["home/jobs/job_1/work/new/file", "elsewhere/file"] {
            assert_eq!(reach.resolve(&root.join(path)).unwrap(), root.join(path));
        }
        assert!(reach.resolve(&own.join("missing/../../x")).is_err());
        let locked = Reach::new(&own, Some(&home), true).unwrap();
        assert!(locked.resolve(&root.join("elsewhere")).is_err());
        assert!(locked.resolve(&own.join("work/file")).is_ok());
        assert!(locked.is_own(&own.join("work/x")) && !locked.is_own(&own.join("work/link/x")));
    }
}
