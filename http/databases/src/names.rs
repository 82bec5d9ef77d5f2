//! Fields that take one of a few names.

use domain::{Error, Result};

/// The one of `all` that has this name; 400 listing the names otherwise.
pub(super) fn named<T: Copy>(path: &str, text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T> {
    let found = all.iter().copied().find(|one| name(*one) == text);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().copied().map(name).collect();
        Error::invalid(path, format!("Use one of: {}.", names.join(", ")))
    })
}
