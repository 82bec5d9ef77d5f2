//! Copying files to other names or buckets. A copy shares its source's content, so none takes longer than another.

use std::collections::HashSet;

use super::{
    FileHeaders, FileKey, ReadConditions, ReadOutcome, StoredFile, Tags, VersionId, copies_collide,
    copy_source_changed, copy_to_itself,
};
use crate::error::{Error, Result};

/// Files that a request copies, all or none of them (decisions, "Object storage").
pub const COPIED_FILES_MAX: usize = 1_000;

/// A file and the name of its copy, as a request has them.
#[derive(Clone, Debug, Default)]
pub struct CopyPair {
    /// The file.
    pub from: String,
    /// The copy.
    pub to: String,
    /// Which version is copied; the newest one where none is named.
    pub version_id: Option<String>,
}

/// A file that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCopy {
    /// The file.
    pub from: FileKey,
    /// The copy.
    pub to: FileKey,
    /// Which version is copied; the newest one where none is named.
    pub version: Option<VersionId>,
}

/// Where copies lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPlace {
    /// In the bucket of their sources.
    SameBucket,
    /// In another one.
    OtherBucket,
}

/// The copies of a request over REST; 400 where one can't be, and where two have one name.
pub fn copies_check(pairs: Vec<CopyPair>, place: CopyPlace) -> Result<Vec<FileCopy>> {
    if pairs.len() > COPIED_FILES_MAX {
        return Err(Error::invalid("files", "Send up to 1,000 files."));
    }
    let copies = pairs.into_iter().enumerate().map(|(at, pair)| file_copy(at, pair, place));
    let copies = copies.collect::<Result<Vec<_>>>()?;
    let mut names = HashSet::with_capacity(copies.len());
    if copies.iter().all(|copy| names.insert(&copy.to)) { Ok(copies) } else { Err(copies_collide()) }
}

fn file_copy(at: usize, pair: CopyPair, place: CopyPlace) -> Result<FileCopy> {
    let CopyPair { from, to, version_id } = pair;
    let path = format!("files[{at}].versionId");
    let version = version_id.map(|id| VersionId::parse(&path, &id)).transpose()?;
    let copy = FileCopy { from: FileKey::parse_for_upload(from)?, to: FileKey::parse_for_upload(to)?, version };
    let is_itself = place == CopyPlace::SameBucket && copy.from == copy.to && version.is_none();
    if is_itself { Err(copy_to_itself()) } else { Ok(copy) }
}

/// What a copy is answered with beside its content: what its source is, but for what is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyReplaces {
    /// Other headers.
    pub headers: Option<FileHeaders>,
    /// Other tags.
    pub tags: Option<Tags>,
}

impl CopyReplaces {
    /// Whether the copy differs in nothing from its source.
    pub const fn is_nothing(&self) -> bool {
        self.headers.is_none() && self.tags.is_none()
    }
}

impl ReadConditions {
    /// Passes where the source of a copy is what its conditions say; 409 otherwise, where a read would be answered 304 or 412.
    pub fn check_copy(&self, source: StoredFile) -> Result<()> {
        if self.decide(source) == ReadOutcome::Send { Ok(()) } else { Err(copy_source_changed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Timestamp,
        storage::{ETag, ETagList},
    };

    fn pair(from: &str, to: &str) -> CopyPair {
        CopyPair { from: from.to_owned(), to: to.to_owned(), version_id: None }
    }

    fn refusal(pairs: Vec<CopyPair>, place: CopyPlace) -> (u16, String) {
        let error = copies_check(pairs, place).unwrap_err();
        (error.status(), error.to_string())
    }

    #[test]
    fn copies_have_names_of_their_own() {
        let same = CopyPlace::SameBucket;
        let itself = (400, "The file is already there.".to_owned());
        assert_eq!(refusal(vec![pair("a", "a")], same), itself);
        assert!(copies_check(vec![pair("a", "a")], CopyPlace::OtherBucket).is_ok());
        let earlier = CopyPair { version_id: Some("null".to_owned()), ..pair("a", "a") };
        assert_eq!(copies_check(vec![earlier], same).unwrap()[0].version, Some(VersionId::Null));
        let collide = (400, "Two of the copies have the same place.".to_owned());
        assert_eq!(refusal(vec![pair("a", "c"), pair("b", "c")], same), collide);
        // One source may have several copies, and a copy take the place of another one's source.
        assert_eq!(copies_check(vec![pair("a", "b"), pair("a", "c"), pair("b", "d")], same).unwrap().len(), 3);
        for (from, to) in [("a/", "b"), ("a", "b/"), ("", "b"), ("a", "")] {
            assert_eq!(refusal(vec![pair(from, to)], same).0, 400, "{from} {to}");
        }
        let many = |count: usize| (0..count).map(|at| pair("a", &format!("b{at}"))).collect::<Vec<_>>();
        assert_eq!(copies_check(many(1_000), same).unwrap().len(), 1_000);
        assert_eq!(refusal(many(1_001), same).0, 400);
    }

    #[test]
    fn a_copy_whose_source_is_another_one_is_refused() {
        let etag = ETag::of_md5([7; 16]);
        let source = StoredFile { etag, modified: Timestamp(5_000) };
        let tags = ETagList::parse(&etag.to_string());
        let named = ReadConditions { matches: Some(tags.clone()), ..ReadConditions::default() };
        assert!(named.check_copy(source).is_ok());
        assert!(ReadConditions::default().check_copy(source).is_ok());
        for conditions in [
            ReadConditions { matches_none: Some(tags), ..ReadConditions::default() },
            ReadConditions { modified_since: Some(Timestamp(5_000)), ..ReadConditions::default() },
            ReadConditions { unmodified_since: Some(Timestamp(4_000)), ..ReadConditions::default() },
        ] {
            assert_eq!(conditions.check_copy(source).unwrap_err().status(), 409, "{conditions:?}");
        }
    }
}
