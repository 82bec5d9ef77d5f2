//! Git LFS: large files beside a repository's objects, and locks on paths (`docs/decisions/git.md`).

use std::{fmt, str::FromStr};

use crate::{
    Error, Timestamp,
    id::{LfsLockId, UserId},
};

/// Objects that one request may name.
pub const LFS_BATCH_MAX: usize = 1_000;
/// Bytes of an object.
pub const LFS_OBJECT_MAX: u64 = 10 * 1024 * 1024 * 1024;
/// Locks of a repository.
pub const LFS_LOCKS_MAX: u64 = 10_000;
/// Locks of one answer.
pub const LFS_LOCKS_LISTED_MAX: u64 = 100;
/// Bytes that the pointer to an object has at most, which stands in its place among git's.
pub const LFS_POINTER_LEN_MAX: u64 = 1_024;

/// The name of an object: the SHA-256 of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LfsOid([u8; 32]);

/// The text names no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the SHA-256 of an object")]
pub struct NotAnLfsOid;

impl LfsOid {
    /// The name of what has this SHA-256.
    pub const fn of_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for LfsOid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for LfsOid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for LfsOid {
    type Err = NotAnLfsOid;

    fn from_str(text: &str) -> Result<Self, NotAnLfsOid> {
        let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 64 || !text.as_bytes().iter().all(is_hex) {
            return Err(NotAnLfsOid);
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| NotAnLfsOid)?;
        }
        Ok(Self(bytes))
    }
}

/// What stands among git's objects in the place of a large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LfsPointer {
    /// Which object it is.
    pub oid: LfsOid,
    /// Its bytes.
    pub size: u64,
}

impl LfsPointer {
    /// Reads a pointer; none where these bytes are none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        if lines.next()? != "version https://git-lfs.github.com/spec/v1" {
            return None;
        }
        let (mut oid, mut size) = (None, None);
        for line in lines {
            match line.split_once(' ')? {
                ("oid", value) => oid = value.strip_prefix("sha256:")?.parse().ok(),
                ("size", value) => size = value.parse().ok(),
                _ => {}
            }
        }
        Some(Self { oid: oid?, size: size? })
    }
}

/// A path that only one person may push changes of, by the word of the clients that ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LfsLock {
    /// Its id.
    pub id: LfsLockId,
    /// The path.
    pub path: String,
    /// Who has it locked.
    pub owner: UserId,
    /// Since when.
    pub locked_at: Timestamp,
}

impl LfsLock {
    /// Since when, as RFC 3339 writes it.
    pub fn since(&self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.locked_at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        format!("{at:.3}")
    }
}

/// Who may have a lock end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlockBy {
    /// Whoever has the path locked.
    Owner,
    /// Anybody who may administer the repository.
    Force,
}

/// 404: there is no such lock.
pub fn lfs_lock_not_found() -> Error {
    Error::not_found("Lock not found")
}

/// 400: the repository has as many locks as it may.
pub fn too_many_lfs_locks() -> Error {
    Error::bad_request("limit_reached", format!("A repository has at most {LFS_LOCKS_MAX} locks."))
}

/// 403: somebody else has it locked.
pub fn lfs_lock_of_another() -> Error {
    Error::forbidden("lock_owner", "Somebody else has this file locked.")
}

/// 422: these bytes are another object.
pub fn lfs_object_differs() -> Error {
    Error::unprocessable("oid_mismatch", "These bytes are not the object that was announced.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_named_by_64_small_hexadecimal_digits() {
        let text = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let oid: LfsOid = text.parse().unwrap();
        assert_eq!(oid.to_string(), text);
        assert_eq!(LfsOid::of_bytes(*oid.as_bytes()), oid);
        for bad in ["", &text[1..], &format!("{text}0"), &text.to_uppercase(), &text.replace('4', "é")] {
            assert_eq!(bad.parse::<LfsOid>(), Err(NotAnLfsOid), "{bad}");
        }
    }

    #[test]
    fn a_moment_is_written_with_milliseconds() {
        let locked_at = Timestamp(1_767_225_600_000);
        let lock =
            LfsLock { id: LfsLockId::new(locked_at), path: "a".to_owned(), owner: UserId::new(locked_at), locked_at };
        assert_eq!(lock.since(), "2026-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_pointer_is_read() {
        let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let text = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n");
        assert_eq!(LfsPointer::read(text.as_bytes()), Some(LfsPointer { oid: oid.parse().unwrap(), size: 12_345 }));
        let extended = text.replace("oid ", &format!("ext-0-foo sha256:{oid}\noid "));
        assert!(LfsPointer::read(extended.as_bytes()).is_some());
        for bad in [
            "",
            "version https://git-lfs.github.com/spec/v1\n",
            &text.replace("sha256", "md5"),
            &text.replace("size 12345", "size -1"),
            &text.replace("version", "Version"),
            &format!("{text}words"),
        ] {
            assert_eq!(LfsPointer::read(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(LfsPointer::read(b"\xff"), None);
    }
}
