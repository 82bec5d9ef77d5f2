//! Files that patterns name, for `hashFiles`, caches and artifacts: `*`, `**`, `?`, `[…]`, and `!` in front of what is left out.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

/// Files and folders that are looked at, at most.
const ENTRIES_MAX: usize = 1_000_000;
/// Patterns for which one with braces stands, at most.
const ALTERNATIVES_MAX: usize = 1_000;

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
}

impl Pattern {
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
            let parts = parts(&root.join(home(text)));
            Pattern { is_denied, parts }
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
        let file = parts(file);
        let names = |pattern: &&Pattern| (1..=file.len()).any(|len| matches(&pattern.parts, &file[..len]));
        self.patterns.iter().rev().find(names).is_some_and(|pattern| !pattern.is_denied)
    }
}

/// Whether a name is like a pattern, in which `{a,b}` stands for either, and which an `!` in front turns round.
pub fn is_like(pattern: &str, name: &str) -> bool {
    let (is_denied, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
    let name: Vec<char> = name.chars().collect();
    let is_one = |pattern: String| is_name(&pattern.chars().collect::<Vec<_>>(), &name);
    alternatives(pattern).into_iter().any(is_one) != is_denied
}

/// The patterns for which one with braces stands.
fn alternatives(pattern: &str) -> Vec<String> {
    let (mut open, mut plain) = (vec![pattern.to_owned()], Vec::new());
    while let Some(pattern) = open.pop() {
        match braces(&pattern) {
            Some((before, choices, after)) if open.len() + plain.len() < ALTERNATIVES_MAX => {
                open.extend(choices.split(',').map(|choice| format!("{before}{choice}{after}")));
            }
            _ => plain.push(pattern),
        }
    }
    plain
}

/// What stands before, between and behind the first braces that hold a choice and no other braces.
fn braces(pattern: &str) -> Option<(&str, &str, &str)> {
    pattern.match_indices('}').find_map(|(end, _)| {
        let start = pattern[..end].rfind('{')?;
        let choices = &pattern[start + 1..end];
        choices.contains(',').then(|| (&pattern[..start], choices, &pattern[end + 1..]))
    })
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

/// Whether names match a pattern's names.
fn matches(pattern: &[String], names: &[String]) -> bool {
    match (pattern.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => (0..=names.len()).any(|skipped| matches(rest, &names[skipped..])),
        (Some((first, rest)), Some((name, others))) => {
            let (first, name): (Vec<char>, Vec<char>) = (first.chars().collect(), name.chars().collect());
            is_name(&first, &name) && matches(rest, others)
        }
        _ => false,
    }
}

fn is_name(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => (0..=name.len()).any(|skipped| is_name(rest, &name[skipped..])),
        (Some(('?', rest)), Some((_, others))) => is_name(rest, others),
        (Some(('[', rest)), Some((letter, others))) => match class(rest, *letter) {
            Some((holds, rest)) => holds && is_name(rest, others),
            None => *letter == '[' && is_name(rest, others),
        },
        (Some((one, rest)), Some((other, others))) => one == other && is_name(rest, others),
        _ => false,
    }
}

/// Whether the letter is one of those in brackets, and what stands behind them.
fn class(pattern: &[char], letter: char) -> Option<(bool, &[char])> {
    let end = pattern.iter().skip(1).position(|one| *one == ']')? + 1;
    let inner = &pattern[..end];
    let (is_denied, inner) = match inner.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        _ => (false, inner),
    };
    let is_range = |at: usize| inner.get(at + 1) == Some(&'-') && at + 2 < inner.len();
    let (mut at, mut holds) = (0, false);
    while let Some(first) = inner.get(at) {
        let last = if is_range(at) { inner[at + 2] } else { *first };
        holds |= (*first..=last).contains(&letter);
        at += if is_range(at) { 3 } else { 1 };
    }
    Some((holds != is_denied, &pattern[end + 1..]))
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
    fn names_are_like_patterns() {
        for (pattern, name, is_so) in [
            ("build-*", "build-linux", true),
            ("build-*", "a build-linux", false),
            ("*", "", true),
            ("build-?", "build-é", true),
            ("[a-c]x", "bx", true),
            ("{build,test}-{a,b}", "test-b", true),
            ("{build,test}-{a,b}", "test-c", false),
            ("x{,-{a,b}}", "x", true),
            ("x{,-{a,b}}", "x-b", true),
            ("{a}", "{a}", true),
            ("{a}-{b,c}", "{a}-c", true),
            ("}a,b{", "}a,b{", true),
            ("!build-*", "test", true),
            ("!build-*", "build-a", false),
        ] {
            assert_eq!(is_like(pattern, name), is_so, "{pattern} {name}");
        }
        // More choices than are looked at end, too.
        assert!(!is_like(&"{a,b}".repeat(50), "c"));
    }

    #[test]
    fn files_have_a_folder_in_common() {
        let of = |files: &[&str]| common_folder(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["/a/b/c", "/a/b/d/e"]), Path::new("/a/b"));
        assert_eq!(of(&["/a/b/c", "/a/bb/e"]), Path::new("/a"));
        assert_eq!(of(&["/a/b/c"]), Path::new("/a/b"));
    }
}
