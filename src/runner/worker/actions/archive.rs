//! Files as one: zips of artifacts and caches. What is unpacked stays in its folder, whatever the zip says.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};

use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Bytes that a zip unpacks to, at most.
const UNPACKED_LEN_MAX: u64 = 64 * 1024 * 1024 * 1024;
/// Files of a zip, at most.
const ENTRIES_MAX: usize = 1_000_000;
/// The bits of a mode that say what kind of thing it is, and what they are of a file and of a folder.
const KIND: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// A file, and its name in the zip.
pub struct Entry {
    /// The name, with `/` between folders.
    pub name: String,
    /// Where the file is.
    pub path: PathBuf,
}

/// Writes a zip. Links to files are followed, as zips with links aren't unpacked; other things that are no files are left out.
/// Answers how many files there are.
pub fn pack(to: &Path, entries: &[Entry]) -> io::Result<usize> {
    let mut zip = ZipWriter::new(File::create(to)?);
    let mut count = 0;
    for entry in entries {
        let Ok(metadata) = fs::metadata(&entry.path) else { continue };
        if !metadata.is_file() {
            continue;
        }
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(metadata.permissions().mode() & 0o777)
            .large_file(metadata.len() >= u64::from(u32::MAX));
        zip.start_file(entry.name.as_str(), options)?;
        io::copy(&mut File::open(&entry.path)?, &mut zip)?;
        count += 1;
    }
    zip.finish()?.sync_all()?;
    Ok(count)
}

/// Unpacks a zip, each file where `place` says. A zip with names that climb out, absolute ones, links or devices is refused
/// before a byte of it is written.
pub fn unpack(from: &Path, place: impl Fn(&Path) -> Option<PathBuf>) -> io::Result<usize> {
    let mut zip = ZipArchive::new(File::open(from)?)?;
    if zip.len() > ENTRIES_MAX {
        return Err(refused("too many files", ""));
    }
    let mut places = Vec::with_capacity(zip.len());
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index)?;
        let given = entry.name()?;
        let name = relative(&given).ok_or_else(|| refused("a name leads out of its folder", &given))?;
        let kind = entry.unix_mode().map_or(0, |mode| mode & KIND);
        if entry.is_symlink() || ![0, FILE, FOLDER].contains(&kind) {
            return Err(refused("it is neither file nor folder", &given));
        }
        places.push(place(&name).ok_or_else(|| refused("it belongs nowhere", &given))?);
    }
    let mut left = UNPACKED_LEN_MAX;
    for (index, path) in places.iter().enumerate() {
        let mut entry = zip.by_index(index)?;
        if entry.is_dir() {
            fs::create_dir_all(path)?;
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // What stands there may be a link to somewhere else.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::options().write(true).create_new(true).open(path)?;
        let len = io::copy(&mut (&mut entry).take(left + 1), &mut file)?;
        left = left.checked_sub(len).ok_or_else(|| refused("too many bytes", ""))?;
        if let Some(mode) = entry.unix_mode() {
            file.set_permissions(fs::Permissions::from_mode(mode & 0o777 | 0o600))?;
        }
    }
    Ok(places.len())
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
    use std::io::Write;

    use super::*;

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
        let zip = folder.path().join("a.zip");
        let entries = [
            Entry { name: "x/run.sh".to_owned(), path: source },
            Entry { name: "x".to_owned(), path: folder.path().to_owned() },
        ];
        assert_eq!(pack(&zip, &entries).unwrap(), 1);
        assert_eq!(unpack(&zip, |name| Some(target.join(name))).unwrap(), 1);
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
            let refused = unpack(&path, |name| Some(target.join(name))).unwrap_err();
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
        std::os::unix::fs::symlink(folder.path().join("outside"), target.join("good.txt")).unwrap();
        unpack(&path, |name| Some(target.join(name))).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("outside")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(target.join("good.txt")).unwrap(), "good");
    }
}
