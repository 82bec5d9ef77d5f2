//! Files and folders of which none lies in another.

/// Paths, sorted.
pub(super) struct Places<'p> {
    folders: Vec<&'p str>,
    files: Vec<&'p str>,
}

impl<'p> Places<'p> {
    /// Puts paths in order; none where one is there twice, or lies in a folder of the others.
    pub(super) fn new(folders: impl Iterator<Item = &'p str>, files: impl Iterator<Item = &'p str>) -> Option<Self> {
        let mut places = Self { folders: folders.collect(), files: files.collect() };
        places.folders.sort_unstable();
        places.files.sort_unstable();
        // Behind a folder come first the paths that lie in it.
        let is_nested = places.folders.is_sorted_by(|one, two| !two.starts_with(one));
        let is_once = places.files.is_sorted_by(|one, two| one < two);
        let is_apart = is_nested && is_once && !places.files.iter().any(|file| places.is_in_folder(file));
        is_apart.then_some(places)
    }

    /// Whether a path is one of these, or lies in a folder of them.
    pub(super) fn has(&self, path: &str) -> bool {
        self.is_in_folder(path) || self.files.binary_search(&path).is_ok()
    }

    fn is_in_folder(&self, path: &str) -> bool {
        covering(&self.folders, path).is_some()
    }

    /// All of them.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'p str> {
        self.folders.iter().chain(&self.files).copied()
    }
}

/// The folder in which a path lies, of folders that are sorted and of which none lies in another: then it is the last one
/// that isn't behind the path.
pub(super) fn covering<'f, F: AsRef<str>>(folders: &'f [F], path: &str) -> Option<&'f F> {
    let behind = folders.partition_point(|folder| folder.as_ref() <= path);
    folders[..behind].last().filter(|folder| path.starts_with(folder.as_ref()))
}
