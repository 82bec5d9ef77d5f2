//! Files that patterns name, for `hashFiles`, caches and artifacts: `*`, `**`, `?`, `[…]`, and `!` in front of what is left out.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use super::names::{Piece, is_match, is_name, pieces};

/// Files and folders that are looked at, at most.
const ENTRIES_MAX: usize = 1_000_000;

/// Patterns, of which later ones go before earlier ones.
#[derive(Debug)]
pub struct Patterns {
    root: PathBuf,
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    is_denied: bool,
    parts: Vec<String>,
    /// The same as they are compared.
    levels: Vec<Level>,
}

/// What a part of a pattern stands for.
#[derive(Debug)]
enum Level {
    /// Any number of folders.
    Many,
    /// One folder or file.
    Name(Vec<Piece>),
}

impl Pattern {
    fn new(is_denied: bool, path: &Path) -> Self {
        let parts = parts(path);
        let level = |part: &String| if part == "**" { Level::Many } else { Level::Name(pieces(part)) };
        Self { is_denied, levels: parts.iter().map(level).collect(), parts }
    }

    /// Whether it names the path of these names.
    fn names(&self, path: &[Vec<char>]) -> bool {
        let is_many = |level: &Level| matches!(level, Level::Many);
        let takes = |level: &Level, name: &Vec<char>| matches!(level, Level::Name(pieces) if is_name(pieces, name));
        is_match(&self.levels, path, is_many, takes)
    }

    fn base(&self) -> PathBuf {
        let fixed = self.parts.iter().take_while(|part| !is_magic(part));
        std::iter::once("/").chain(fixed.map(String::as_str)).collect()
    }
}

impl Patterns {
    /// Patterns of files, relative to a folder unless they are absolute; empty lines and those with `#` are left out.
    pub fn new<'p>(root: &Path, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let given = patterns.into_iter().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let patterns = given.map(|line| {
            let (is_denied, text) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest.trim_start()));
            Pattern::new(is_denied, &root.join(home(text)))
        });
        Self { root: root.to_owned(), patterns: patterns.collect() }
    }

    /// The folder to which patterns are relative.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder to which the names of what the first pattern finds are relative: the last one without `*` and its like.
    pub fn base(&self) -> PathBuf {
        let base = self.patterns.first().map(Pattern::base).unwrap_or_default();
        if base.is_dir() { base } else { base.parent().map(Path::to_owned).unwrap_or_default() }
    }

    /// The folder above what the first pattern names, whether that is there or not.
    pub fn base_of_missing(&self) -> PathBuf {
        let Some(first) = self.patterns.first() else { return PathBuf::new() };
        let mut base = first.base();
        if !first.parts.iter().any(|part| is_magic(part)) {
            base.pop();
        }
        base
    }

    /// All files that the patterns name, and those in folders that they name, in the order of their paths.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut left = ENTRIES_MAX;
        let mut files = Vec::new();
        for pattern in self.patterns.iter().filter(|pattern| !pattern.is_denied) {
            walk(&pattern.base(), &mut left, &mut |file| {
                if self.takes(file) {
                    files.push(file.to_owned());
                }
            })?;
        }
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Whether the last pattern that names the file, or a folder above it, takes it.
    fn takes(&self, file: &Path) -> bool {
        let file: Vec<Vec<char>> = parts(file).iter().map(|name| name.chars().collect()).collect();
        let names = |pattern: &&Pattern| (1..=file.len()).any(|len| pattern.names(&file[..len]));
        self.patterns.iter().rev().find(names).is_some_and(|pattern| !pattern.is_denied)
    }
}

/// The folder that all these files have in common.
pub fn common_folder(files: &[PathBuf]) -> PathBuf {
    let folder = |file: &PathBuf| file.parent().map(Path::to_owned).unwrap_or_default();
    let Some(mut common) = files.first().map(folder) else { return PathBuf::new() };
    for file in files {
        while !file.starts_with(&common) && common.pop() {}
    }
    common
}

fn home(text: &str) -> PathBuf {
    let rest = text.strip_prefix("~/").or_else(|| (text == "~").then_some(""));
    match (rest, std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    }
}

/// The names of a path, without `.`, and with `..` carried out.
fn parts(path: &Path) -> Vec<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    parts
}

fn is_magic(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// Calls with each file below a path, or with the path where it is a file. Links are files, wherever they lead.
fn walk(path: &Path, left: &mut usize, found: &mut impl FnMut(&Path)) -> io::Result<()> {
    *left = left.checked_sub(1).ok_or_else(|| io::Error::other("too many files are looked at"))?;
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    if !metadata.is_dir() {
        found(path);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        walk(&entry?.path(), left, found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(patterns: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["a.lock", "b.txt", "x/c.lock", "x/y/d.lock", "x/y/.hidden", "z[1].txt"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), name).unwrap();
        }
        let files = Patterns::new(&root, patterns.iter().copied()).files().unwrap();
        let names = files.iter().map(|file| file.strip_prefix(&root).unwrap().display().to_string());
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn patterns_name_files() {
        assert_eq!(files(&["*.lock"]), "a.lock");
        assert_eq!(files(&["**/*.lock"]), "a.lock x/c.lock x/y/d.lock");
        assert_eq!(files(&["./x/?.lock", "missing"]), "x/c.lock");
        assert_eq!(files(&["x/../b.txt"]), "b.txt");
        assert_eq!(files(&["[ac]*"]), "a.lock");
        assert_eq!(files(&["[!a-b]*.txt"]), "z[1].txt");
        assert_eq!(files(&[""]), "");
    }

    #[test]
    fn folders_stand_for_what_is_in_them_and_later_patterns_go_first() {
        assert_eq!(files(&["x"]), "x/c.lock x/y/.hidden x/y/d.lock");
        assert_eq!(files(&["x", "!x/y"]), "x/c.lock");
        assert_eq!(files(&["x", "!x/y", "x/y/d*"]), "x/c.lock x/y/d.lock");
    }

    #[test]
    fn long_patterns_end() {
        let folders = "/a".repeat(100);
        let takes = |pattern: String| Patterns::new(Path::new("/"), [pattern.as_str()]).takes(Path::new(&folders));
        assert!(!takes(format!("{}/b", "/**/a".repeat(50))));
        assert!(takes(format!("{}/**", "/**/a".repeat(50))));
    }

    #[test]
    fn files_have_a_folder_in_common() {
        let of = |files: &[&str]| common_folder(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["/a/b/c", "/a/b/d/e"]), Path::new("/a/b"));
        assert_eq!(of(&["/a/b/c", "/a/bb/e"]), Path::new("/a"));
        assert_eq!(of(&["/a/b/c"]), Path::new("/a/b"));
    }
}
