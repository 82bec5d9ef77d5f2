//! Caches: what jobs keep for jobs that come later (contract C 3, 4.1).

use std::{ops::RangeInclusive, time::Duration};

use super::job::sized;
use crate::{Error, Result};

/// Characters of a key (contract C 4.1).
pub const CACHE_KEY_LEN: RangeInclusive<usize> = 1..=512;
/// Keys with which a job looks further (contract C 4.1).
pub const RESTORE_KEYS_MAX: usize = 10;
/// Digits of a version (contract C 4.1).
pub const CACHE_VERSION_LEN: usize = 64;
/// Bytes of all caches of a repository, unless the configuration says otherwise.
pub const CACHE_QUOTA: u64 = 10 * 1024 * 1024 * 1024;
/// How long a cache is kept that nobody uses.
pub const CACHE_UNUSED_KEPT: Duration = Duration::from_hours(7 * 24);
/// How long an upload keeps others from sending the same.
pub const CACHE_UPLOAD_YOUNG: Duration = Duration::from_mins(10);
/// How long the address works at which a cache is sent or fetched.
pub const CACHE_LINK_LASTS: Duration = Duration::from_hours(1);
/// Caches that a job sends and hasn't committed, at most.
pub const CACHE_UPLOADS_MAX: u64 = 50;
/// How seldom it is noted that a cache is used.
pub const CACHE_USE_NOTED: Duration = Duration::from_mins(10);

/// Bytes that all caches of a repository may have (`pipelines.cache_quota`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheQuota(pub u64);

impl Default for CacheQuota {
    fn default() -> Self {
        Self(CACHE_QUOTA)
    }
}

/// What a cache is found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey(String);

impl CacheKey {
    /// Reads a key, or the beginning of one; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        if CACHE_KEY_LEN.contains(&text.chars().count()) && !text.contains(char::is_control) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::invalid(path, "Use 1 to 512 characters, and none that isn't printed."))
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a cache has in common with others that can stand in its place: how it was packed, of which paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheVersion(String);

impl CacheVersion {
    /// Reads a version; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == CACHE_VERSION_LEN && text.bytes().all(is_digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::invalid(path, "Use 64 hexadecimal digits in small letters."))
    }

    /// The version.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is looked for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheWanted<'a> {
    /// The cache with this key.
    Exact(&'a str),
    /// The newest whose key begins so.
    Prefix(&'a str),
}

impl CacheWanted<'_> {
    /// Whether a cache with this key is one.
    pub fn is_met_by(self, key: &str) -> bool {
        match self {
            Self::Exact(wanted) => key == wanted,
            Self::Prefix(wanted) => key.starts_with(wanted),
        }
    }
}

/// How well a cache fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheHit {
    /// Its key is the one that was asked for.
    Exact,
    /// Its key begins as one of the others.
    Partial,
}

impl CacheHit {
    /// How well a cache with this key fits who asked for `wanted`.
    pub fn of(wanted: &CacheKey, found: &str) -> Self {
        if found == wanted.as_str() { Self::Exact } else { Self::Partial }
    }

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Partial => "partial",
        }
    }
}

/// The refs in whose caches a job looks, in this order: its own, the target of its pull request, the default branch.
pub fn cache_scopes(own: &str, target: Option<&str>, default: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::with_capacity(3);
    for scope in [Some(own), target, Some(default)].into_iter().flatten() {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// What a job looks for, in this order: in each scope the key itself, then each of the others as a beginning.
pub fn cache_searches<'a>(
    scopes: &'a [String],
    key: &'a CacheKey,
    restore_keys: &'a [CacheKey],
) -> impl Iterator<Item = (&'a str, CacheWanted<'a>)> {
    scopes.iter().flat_map(move |scope| {
        let exact = std::iter::once(CacheWanted::Exact(key.as_str()));
        let others = restore_keys.iter().map(|key| CacheWanted::Prefix(key.as_str()));
        exact.chain(others).map(move |wanted| (scope.as_str(), wanted))
    })
}

impl CacheQuota {
    /// How many of these caches have to go, so that all fit into the quota: those that nobody used for longest come first.
    pub fn evictions(self, sizes: impl IntoIterator<Item = u64>, all: u64) -> usize {
        let mut left = all;
        let goes = |size: u64| {
            let is_over = left > self.0;
            left = left.saturating_sub(size);
            is_over
        };
        sizes.into_iter().map(goes).take_while(|goes| *goes).count()
    }

    /// 400 where a job has begun as many uploads as it may, or those of the repository would take more than all its caches may.
    pub fn uploads_check(self, (count, all): (u64, u64), size: u64) -> Result<()> {
        if count >= CACHE_UPLOADS_MAX {
            let message = format!("A job sends at most {CACHE_UPLOADS_MAX} caches before it commits them.");
            return Err(Error::bad_request("limit_reached", message));
        }
        if all.saturating_add(size) > self.0 {
            let quota = sized(self.0);
            let message =
                format!("The caches that jobs of this repository send and haven't committed have at most {quota}.");
            return Err(Error::bad_request("limit_reached", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> CacheKey {
        CacheKey::parse("key", text).unwrap()
    }

    #[test]
    fn keys_and_versions_have_bounds() {
        for text in ["a", &"é".repeat(511), &"é".repeat(512)] {
            assert_eq!(key(text).as_str(), text);
        }
        for text in ["", &"é".repeat(513), "a\nb", "a\0"] {
            assert_eq!(CacheKey::parse("key", text).unwrap_err().status(), 400, "{text:?}");
        }
        assert!(CacheVersion::parse("version", &"0f".repeat(32)).is_ok());
        for text in ["", &"0F".repeat(32), &"0".repeat(63), &"0".repeat(65), &"g".repeat(64)] {
            assert_eq!(CacheVersion::parse("version", text).unwrap_err().status(), 400, "{text:?}");
        }
    }

    #[test]
    fn a_job_looks_in_its_own_ref_first() {
        let scopes = cache_scopes("refs/pull/7/merge", Some("refs/heads/next"), "refs/heads/main");
        assert_eq!(scopes, ["refs/pull/7/merge", "refs/heads/next", "refs/heads/main"]);
        assert_eq!(cache_scopes("refs/heads/main", None, "refs/heads/main"), ["refs/heads/main"]);
        let (wanted, others) = (key("npm-1"), [key("npm-"), key("n")]);
        let searches: Vec<_> = cache_searches(&scopes[..2], &wanted, &others).collect();
        let of = |scope| {
            [
                (scope, CacheWanted::Exact("npm-1")),
                (scope, CacheWanted::Prefix("npm-")),
                (scope, CacheWanted::Prefix("n")),
            ]
        };
        assert_eq!(searches, [of("refs/pull/7/merge"), of("refs/heads/next")].concat());
        assert!(CacheWanted::Prefix("npm-").is_met_by("npm-2") && !CacheWanted::Exact("npm-").is_met_by("npm-2"));
        assert_eq!(
            (CacheHit::of(&wanted, "npm-1"), CacheHit::of(&wanted, "npm-2")),
            (CacheHit::Exact, CacheHit::Partial)
        );
    }

    #[test]
    fn what_is_sent_fits_into_the_quota() {
        for quota in [CacheQuota::default(), CacheQuota(1_000)] {
            let check = |all: u64| quota.uploads_check((0, all), 10);
            assert!(check(quota.0 - 11).is_ok() && check(quota.0 - 10).is_ok());
            assert_eq!(check(quota.0 - 9).unwrap_err().code(), "limit_reached");
        }
        let count = |count: u64| CacheQuota::default().uploads_check((count, 0), 1);
        assert!(count(CACHE_UPLOADS_MAX - 1).is_ok());
        assert_eq!(count(CACHE_UPLOADS_MAX).unwrap_err().code(), "limit_reached");
    }

    proptest! {
        #[test]
        fn no_more_goes_than_has_to(sizes in prop::collection::vec(1_u64..100, 0..30), quota in 0_u64..1_000) {
            let all: u64 = sizes.iter().sum();
            let count = CacheQuota(quota).evictions(sizes.iter().copied(), all);
            let left = |gone: usize| sizes[gone..].iter().sum::<u64>();
            prop_assert!(left(count) <= quota || count == sizes.len());
            prop_assert!(count == 0 || left(count - 1) > quota);
        }
    }
}
