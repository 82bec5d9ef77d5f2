//! Files as one: zips of artifacts and caches. What is unpacked stays in its folder, whatever the zip says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, FileTimes},
    io::{self, Read},
    ops::Bound,
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use zip::{
    CompressionMethod, ExtraField, ZipArchive, ZipWriter,
    read::ZipFile,
    write::{FullFileOptions, SimpleFileOptions},
};

use crate::runner::worker::folder::{Folder, Reach};

/// Bytes that a zip unpacks to, at most.
const UNPACKED_LEN_MAX: u64 = 64 * 1024 * 1024 * 1024;
/// Files of a zip, at most.
const ENTRIES_MAX: usize = 1_000_000;
/// Bytes of where a link leads, at most.
const LINK_LEN_MAX: usize = 4_096;
/// The bits of a mode that say what kind of thing it is, and what they are of a file, a folder and a link.
const KIND: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
/// The field of a zip that says in seconds when a file was changed, and its mark for having that time only.
const TIME_FIELD: u16 = 0x5455;
const CHANGED: u8 = 1;

/// A file, and its name in the zip.
pub struct Entry {
    /// The name, with `/` between folders.
    pub name: String,
    /// Where the file is.
    pub path: PathBuf,
}

/// Which folder the names of a zip are below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// All are below one.
    Whole,
    /// The first part of each name says below which.
    Numbered,
}

impl Names {
    /// Parts of a name that say which folder it is below.
    const fn prefix(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Numbered => 1,
        }
    }

    /// The folder that a name is below, and the rest of it.
    fn place<'b>(self, bases: &'b [PathBuf], name: &Path) -> Option<(&'b Path, PathBuf)> {
        let mut parts = name.components();
        let number = match self {
            Self::Whole => 0,
            Self::Numbered => parts.next()?.as_os_str().to_str()?.parse().ok()?,
        };
        let rest = parts.as_path();
        (!rest.as_os_str().is_empty()).then_some((bases.get(number)?.as_path(), rest.to_owned()))
    }
}

/// How hard a zip is made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// As hard as is usual.
    #[default]
    Usual,
    /// Not at all.
    Stored,
    /// From 1, which is fast, to 9.
    Deflated(u8),
}

impl Level {
    /// A level from 0 to 9.
    pub fn read(text: &str) -> Option<Self> {
        match text.parse().ok()? {
            0 => Some(Self::Stored),
            level @ 1..=9 => Some(Self::Deflated(level)),
            _ => None,
        }
    }

    /// The same as zips have it.
    fn method(self) -> (CompressionMethod, Option<i64>) {
        match self {
            Self::Usual => (CompressionMethod::Deflated, None),
            Self::Stored => (CompressionMethod::Stored, None),
            Self::Deflated(level) => (CompressionMethod::Deflated, Some(level.into())),
        }
    }
}

/// Writes a zip. A relative link stays a link where the zip has what it leads to; of others the file is packed that they lead to.
/// Other things that are no files are left out. Answers how many files and links there are.
pub fn pack(to: &File, entries: &[Entry], (names, level): (Names, Level), reach: &Reach) -> io::Result<usize> {
    let packed: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut zip = ZipWriter::new(to);
    let mut source = Source { reach, folder: None };
    let mut count = 0;
    for entry in entries {
        let Ok(metadata) = fs::symlink_metadata(&entry.path) else { continue };
        let mut path = entry.path.clone();
        if metadata.is_symlink() {
            if let Some(target) = link_kept(entry, names, &packed) {
                zip.add_symlink(entry.name.as_str(), target, SimpleFileOptions::default())?;
                count += 1;
                continue;
            }
            let Ok(real) = fs::canonicalize(path) else { continue };
            path = real;
        }
        if let Some(file) = source.open(&path)? {
            pack_file(&mut zip, &entry.name, level, file)?;
            count += 1;
        }
    }
    zip.finish()?;
    Ok(count)
}

fn pack_file(zip: &mut ZipWriter<&File>, name: &str, level: Level, mut file: File) -> io::Result<()> {
    let metadata = file.metadata()?;
    let (method, level) = level.method();
    let mut options = FullFileOptions::default()
        .compression_method(method)
        .compression_level(level)
        .unix_permissions(metadata.permissions().mode() & 0o777)
        .large_file(metadata.len() >= u64::from(u32::MAX));
    let since = metadata.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    if let Ok(seconds) = u32::try_from(since.as_secs()) {
        let [a, b, c, d] = seconds.to_le_bytes();
        options.add_extra_field(TIME_FIELD, [CHANGED, a, b, c, d], false)?;
    }
    zip.start_file(name, options)?;
    io::copy(&mut file, zip).map(drop)
}

/// Opens the files of a zip that is written.
struct Source<'r> {
    reach: &'r Reach,
    folder: Option<(PathBuf, Folder)>,
}

impl Source<'_> {
    /// Opens a file that the job may read; none where it is no file, or gone.
    fn open(&mut self, path: &Path) -> io::Result<Option<File>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        let folder = match &self.folder {
            Some((known, folder)) if known == parent => folder.clone(),
            _ => {
                let folder = Folder::open(&self.reach.resolve(parent)?)?;
                self.folder = Some((parent.to_owned(), folder.clone()));
                folder
            }
        };
        match folder.read(name) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => Ok(None),
            file => file.map(Some),
        }
    }
}

/// Where a link leads, if that is in the zip, too.
fn link_kept(entry: &Entry, names: Names, packed: &BTreeSet<&str>) -> Option<String> {
    let target = fs::read_link(&entry.path).ok()?.to_str()?.to_owned();
    let end = link_end(&entry.name, &target, names)?;
    let below = format!("{end}/");
    let mut from = packed.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded));
    let is_packed = packed.contains(end.as_str()) || from.next().is_some_and(|name| name.starts_with(&below));
    is_packed.then_some(target)
}

/// The name at which a link ends; none where it leads out of the folder that its own name is below. Ways up stand only at the
/// beginning: behind a name that is a link itself, they would lead anywhere.
fn link_end(name: &str, target: &str, names: Names) -> Option<String> {
    if target.is_empty() || target.len() > LINK_LEN_MAX || target.contains(['\\', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    let mut goes_down = false;
    for component in Path::new(target).components() {
        match component {
            Component::ParentDir if !goes_down && parts.len() > names.prefix() => drop(parts.pop()),
            Component::Normal(part) => {
                goes_down = true;
                parts.push(part.to_str()?);
            }
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(parts.join("/"))
}

/// What an entry of a zip becomes.
struct Place<'b> {
    base: &'b Path,
    rest: PathBuf,
    link: Option<PathBuf>,
}

/// Unpacks a zip below folders. A zip with names that climb out, absolute ones, devices, or links that lead out is refused before
/// a byte of it is written; links that stand in the way of names aren't followed.
pub fn unpack(from: &File, bases: &[PathBuf], names: Names, reach: &Reach) -> io::Result<usize> {
    let mut zip = ZipArchive::new(from)?;
    if zip.len() > ENTRIES_MAX {
        return Err(refused("too many files", ""));
    }
    let places: Vec<Place<'_>> =
        (0..zip.len()).map(|index| place(&mut zip, index, bases, names)).collect::<io::Result<_>>()?;
    let mut target = Target { reach, bases: BTreeMap::new(), folder: None };
    for place in &places {
        target.base(place.base)?;
    }
    let mut left = UNPACKED_LEN_MAX;
    for (index, place) in places.iter().enumerate().filter(|(_, place)| place.link.is_none()) {
        let mut entry = zip.by_index(index)?;
        if entry.is_dir() {
            target.folder(place.base, &place.rest)?;
            continue;
        }
        let (folder, name) = target.parent(place)?;
        let mut file = folder.create(name)?;
        let len = io::copy(&mut (&mut entry).take(left + 1), &mut file)?;
        left = left.checked_sub(len).ok_or_else(|| refused("too many bytes", ""))?;
        if let Some(mode) = entry.unix_mode() {
            file.set_permissions(fs::Permissions::from_mode(mode & 0o777 | 0o600))?;
        }
        if let Some(changed) = changed(&entry) {
            file.set_times(FileTimes::new().set_modified(changed))?;
        }
    }
    for place in &places {
        if let Some(link) = &place.link {
            let (folder, name) = target.parent(place)?;
            folder.link(name, link)?;
        }
    }
    Ok(places.len())
}

fn place<'b>(zip: &mut ZipArchive<&File>, index: usize, bases: &'b [PathBuf], names: Names) -> io::Result<Place<'b>> {
    let entry = zip.by_index(index)?;
    let given = entry.name()?.into_owned();
    let name = relative(&given).ok_or_else(|| refused("a name leads out of its folder", &given))?;
    let (base, rest) = names.place(bases, &name).ok_or_else(|| refused("it belongs nowhere", &given))?;
    let link = match entry.unix_mode().map_or(0, |mode| mode & KIND) {
        0 | FILE | FOLDER => None,
        LINK => {
            let mut target = String::new();
            entry.take(LINK_LEN_MAX as u64 + 1).read_to_string(&mut target)?;
            let leads_out = || refused("a link leads out of its folder", &given);
            link_end(name.to_str().unwrap_or_default(), &target, names).ok_or_else(leads_out)?;
            Some(PathBuf::from(target))
        }
        _ => return Err(refused("it is neither file nor folder", &given)),
    };
    Ok(Place { base, rest, link })
}

/// When a file was changed, as its zip says.
fn changed<R: Read>(entry: &ZipFile<'_, R>) -> Option<SystemTime> {
    let seconds = entry.extra_data_fields().find_map(|field| match field {
        ExtraField::ExtendedTimestamp(time) => time.mod_time(),
        _ => None,
    })?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.into()))
}

/// Opens the folders that a zip is unpacked to.
struct Target<'r> {
    reach: &'r Reach,
    /// By their paths as they were given: the path without links, and the folder.
    bases: BTreeMap<PathBuf, (PathBuf, Folder)>,
    folder: Option<(PathBuf, Folder)>,
}

impl Target<'_> {
    fn base(&mut self, given: &Path) -> io::Result<(PathBuf, Folder)> {
        if let Some(known) = self.bases.get(given) {
            return Ok(known.clone());
        }
        let path = self.reach.resolve(given)?;
        let opened = (path.clone(), Folder::make(&path)?);
        self.bases.insert(given.to_owned(), opened.clone());
        Ok(opened)
    }

    fn folder(&mut self, base: &Path, rest: &Path) -> io::Result<Folder> {
        let (path, base) = self.base(base)?;
        let path = path.join(rest);
        if let Some((_, folder)) = self.folder.as_ref().filter(|(known, _)| *known == path) {
            return Ok(folder.clone());
        }
        self.reach.check(&path)?;
        let folder = base.below(rest)?;
        self.folder = Some((path, folder.clone()));
        Ok(folder)
    }

    /// The folder of an entry, and its name there.
    fn parent<'p>(&mut self, place: &'p Place<'_>) -> io::Result<(Folder, &'p std::ffi::OsStr)> {
        let (parent, name) = (place.rest.parent(), place.rest.file_name());
        let name = name.ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.folder(place.base, parent.unwrap_or(Path::new("")))?, name))
    }
}

fn refused(why: &str, name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("The archive is refused: {why} {name:?}"))
}

/// A name in a zip as a path that stays where it is.
fn relative(name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains(['\\', '\0']) {
        return None;
    }
    let path = Path::new(name);
    path.components().all(|part| matches!(part, Component::Normal(_))).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::symlink, slice};

    use super::*;

    const WHOLE: (Names, Level) = (Names::Whole, Level::Usual);

    fn reach(own: &Path) -> Reach {
        Reach::new(own, None, false).unwrap()
    }

    fn zip_of(name: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let mut zip = ZipWriter::new(File::create(&path).unwrap());
        zip.start_file("good.txt", SimpleFileOptions::default()).unwrap();
        zip.write_all(b"good").unwrap();
        if mode & KIND == 0o120_000 {
            zip.add_symlink(name, "/etc", SimpleFileOptions::default()).unwrap();
        } else {
            zip.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
        }
        zip.finish().unwrap();
        (folder, path)
    }

    #[test]
    fn files_come_back_with_their_modes() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("run.sh"), folder.path().join("out"));
        fs::write(&source, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o755)).unwrap();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_001);
        File::options().write(true).open(&source).unwrap().set_modified(changed).unwrap();
        let entries = [
            Entry { name: "x/run.sh".to_owned(), path: source },
            Entry { name: "x".to_owned(), path: folder.path().to_owned() },
        ];
        let (zip, reach) = (tempfile::tempfile().unwrap(), reach(folder.path()));
        assert_eq!(pack(&zip, &entries, WHOLE, &reach).unwrap(), 1);
        assert_eq!(unpack(&zip, slice::from_ref(&target), Names::Whole, &reach).unwrap(), 1);
        assert_eq!(fs::metadata(target.join("x/run.sh")).unwrap().modified().unwrap(), changed);
        assert_eq!(fs::read_to_string(target.join("x/run.sh")).unwrap(), "#!/bin/sh\n");
        assert_eq!(fs::metadata(target.join("x/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn what_leads_out_is_refused_before_anything_is_written() {
        for (name, mode) in [
            ("../out", 0o644),
            ("a/../../out", 0o644),
            ("/etc/out", 0o644),
            ("a\\..\\out", 0o644),
            ("./a/../b", 0o644),
            ("link", 0o120_777),
        ] {
            let (folder, path) = zip_of(name, mode);
            let target = folder.path().join("target");
            let zip = File::open(path).unwrap();
            let refused = unpack(&zip, slice::from_ref(&target), Names::Whole, &reach(folder.path())).unwrap_err();
            assert!(refused.to_string().contains("refused"), "{name}: {refused}");
            assert!(!target.exists(), "{name}");
        }
    }

    #[test]
    fn a_link_that_stands_where_a_file_comes_to_is_replaced() {
        let (folder, path) = zip_of("a.txt", 0o644);
        let target = folder.path().join("target");
        fs::create_dir_all(&target).unwrap();
        fs::write(folder.path().join("outside"), "kept").unwrap();
        symlink(folder.path().join("outside"), target.join("good.txt")).unwrap();
        unpack(&File::open(path).unwrap(), slice::from_ref(&target), Names::Whole, &reach(folder.path())).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("outside")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(target.join("good.txt")).unwrap(), "good");
    }

    #[test]
    fn a_link_that_stands_where_a_folder_comes_to_is_not_followed() {
        let (folder, path) = zip_of("sub/a.txt", 0o644);
        let (target, outside) = (folder.path().join("target"), folder.path().join("outside"));
        fs::create_dir_all(&target).unwrap();
        fs::create_dir_all(&outside).unwrap();
        symlink(&outside, target.join("sub")).unwrap();
        let zip = File::open(path).unwrap();
        assert!(unpack(&zip, &[target], Names::Whole, &reach(folder.path())).is_err());
        assert!(!outside.join("a.txt").exists());
    }

    #[test]
    fn nothing_is_packed_from_the_runners_folder_or_unpacked_into_it() {
        let (folder, path) = zip_of("home/a.txt", 0o644);
        let root = folder.path().canonicalize().unwrap();
        let (own, home) = (root.join("home/jobs/job_1"), root.join("home"));
        fs::create_dir_all(&own).unwrap();
        fs::write(home.join("runner.json"), "secret").unwrap();
        symlink(home.join("runner.json"), own.join("link")).unwrap();
        let reach = Reach::new(&own, Some(&home), false).unwrap();
        for path in [home.join("runner.json"), own.join("link"), own.join("../../runner.json")] {
            let entries = [Entry { name: "a".to_owned(), path }];
            let packed = pack(&tempfile::tempfile().unwrap(), &entries, WHOLE, &reach);
            assert!(packed.unwrap_err().to_string().contains("runner's own folder"));
        }
        let zip = File::open(path).unwrap();
        for base in [&home, &root] {
            let unpacked = unpack(&zip, slice::from_ref(base), Names::Whole, &reach);
            assert!(unpacked.unwrap_err().to_string().contains("runner's own folder"));
        }
        assert!(!home.join("a.txt").exists() && !home.join("good.txt").exists());
    }

    #[test]
    fn links_to_what_is_packed_come_back_as_links_and_others_as_files() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir_all(source.join("lib/deep")).unwrap();
        fs::write(source.join("lib/deep/a.so.1"), "library").unwrap();
        fs::write(folder.path().join("outside"), "outside").unwrap();
        for (link, leads) in [
            ("lib/a.so", "deep/a.so.1"),
            ("lib/deep/up", "../deep/a.so.1"),
            ("current", "lib/deep"),
            ("lib/out", "../../outside"),
            ("lib/back", "deep/../../../outside"),
            ("dangling", "missing"),
        ] {
            symlink(leads, source.join(link)).unwrap();
        }
        symlink(folder.path().join("outside"), source.join("absolute")).unwrap();
        let names =
            ["lib/deep/a.so.1", "lib/a.so", "lib/deep/up", "current", "lib/out", "lib/back", "dangling", "absolute"];
        let entries = names.map(|name| Entry { name: name.to_owned(), path: source.join(name) });
        let (zip, reach) = (tempfile::tempfile().unwrap(), reach(folder.path()));
        assert_eq!(pack(&zip, &entries, WHOLE, &reach).unwrap(), 7);
        unpack(&zip, slice::from_ref(&target), Names::Whole, &reach).unwrap();
        for (link, leads) in [("lib/a.so", "deep/a.so.1"), ("lib/deep/up", "../deep/a.so.1"), ("current", "lib/deep")] {
            assert_eq!(fs::read_link(target.join(link)).unwrap(), Path::new(leads));
        }
        for file in ["lib/out", "lib/back", "absolute"] {
            assert!(fs::symlink_metadata(target.join(file)).unwrap().is_file(), "{file}");
            assert_eq!(fs::read_to_string(target.join(file)).unwrap(), "outside");
        }
        assert!(fs::symlink_metadata(target.join("dangling")).is_err());
    }

    #[test]
    fn links_end_in_the_folder_that_their_names_are_below() {
        let end = |name, target| link_end(name, target, Names::Numbered);
        assert_eq!(end("0/a/b", "../c").as_deref(), Some("0/c"));
        assert_eq!(end("0/b", "./c/d").as_deref(), Some("0/c/d"));
        let long = "x".repeat(LINK_LEN_MAX + 1);
        for (name, target) in
            [("0/b", "../1/c"), ("0/a/b", "../../c"), ("0/a", "/0/b"), ("0/a", "b/../c"), ("0/a", ""), ("0/a", &long)]
        {
            assert_eq!(end(name, target), None, "{name} {target}");
        }
        assert!(end("0/a", &long[..LINK_LEN_MAX]).is_some());
    }
}
