//! Files of buckets: keys and their lists, ranges, tags, conditions, versions and cursors.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::{
    Timestamp,
    id::ResourceId,
    storage::{
        After, Delimiter, ETag, ETagList, FileKey, ItsOwnFolder, KeyPrefix, Last, ListCursorKey, ListEntries, ListOf,
        ListQuery, ListScope, Listed, Listing, Place, Precondition, RangeAnswer, ReadConditions, ReadOutcome,
        StoredFile, VersionId, VersionStamp, WriteConditions, range_answer,
    },
};

/// Keys, and what is asked of them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    keys: Vec<String>,
    prefix: String,
    delimiter: String,
    limit: usize,
    range: String,
    size: u64,
    tags: String,
    version: String,
    cursor: String,
}

/// JSON of all that. Lists have what a naive list has, whatever the pages; what reads, prints and reads again as the same.
pub fn files(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    let keys: BTreeSet<_> = asked.keys.iter().take(40).filter_map(|key| FileKey::parse(key.as_str()).ok()).collect();
    if let (Ok(prefix), Ok(delimiter)) = (KeyPrefix::parse(asked.prefix.as_str()), Delimiter::parse(&asked.delimiter)) {
        let limit = asked.limit.clamp(1, 50);
        let (its_own_folder, after) = (ItsOwnFolder::Shown, After::Nothing);
        let query = ListQuery { prefix, delimiter, after, entries: ListEntries::Keys, limit, its_own_folder };
        assert_eq!(walk(&keys, &query), naive(&keys, &query));
        cursors_hold(&query, &asked.cursor);
    }
    range_holds(&asked.range, asked.size);
    tags_hold(&asked.tags);
    if let Ok(id) = asked.version.parse::<VersionId>() {
        assert_eq!(id.to_string(), asked.version);
    }
}

/// All pages of a list, one behind the other.
fn walk(keys: &BTreeSet<FileKey>, query: &ListQuery) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), After::Nothing);
    loop {
        let mut listing = Listing::new(ListQuery { after, ..query.clone() });
        let before = all.len();
        while read_range(keys, &mut listing, &mut all) {}
        assert!(all.len() - before <= query.limit);
        match listing.next() {
            Some(last) => after = After::Page(last.clone()),
            None => return all,
        }
    }
}

/// Reads a range of keys; says whether the list goes on in another one.
fn read_range(keys: &BTreeSet<FileKey>, listing: &mut Listing, all: &mut Vec<String>) -> bool {
    let Some(range) = listing.range().cloned() else { return false };
    for key in keys.iter().filter(|key| range.contains(key.as_str().as_bytes())) {
        match listing.show(key.as_str()) {
            Listed::Key => all.push(key.to_string()),
            Listed::CommonPrefix(prefix) => {
                all.push(prefix);
                return true;
            }
            Listed::Passed => {}
            Listed::NextPage => return false,
        }
    }
    false
}

fn naive(keys: &BTreeSet<FileKey>, query: &ListQuery) -> Vec<String> {
    let entry = |key: &FileKey| {
        let rest = key.as_str().strip_prefix(query.prefix.as_str())?;
        let cut =
            query.delimiter.as_ref().and_then(|it| Some(rest.split_once(it.as_str())?.0.len() + it.as_str().len()));
        Some(format!("{}{}", query.prefix.as_str(), &rest[..cut.unwrap_or(rest.len())]))
    };
    keys.iter().filter_map(entry).collect::<BTreeSet<_>>().into_iter().collect()
}

fn cursors_hold(query: &ListQuery, cursor: &str) {
    let signer = ListCursorKey::new(b"fuzzing");
    let Ok(bucket) = "res_01h455vb4pex5vsknk084sn02q".parse::<ResourceId>() else { return };
    let list = ListOf::Files { prefix: &query.prefix, delimiter: query.delimiter.as_ref() };
    let scope = ListScope { bucket, list };
    let stamp = VersionStamp::next(Timestamp(1_700_000_000_000), None);
    let key = query.prefix.as_str().to_owned();
    for place in [Place::Last(Last::Key(key.clone())), Place::Version { key, stamp }] {
        let written = signer.write(&scope, &place);
        assert_eq!(signer.read(&scope, &written).ok(), Some(place));
        let deleted = ListScope { bucket, list: ListOf::Deleted { prefix: &query.prefix } };
        assert!(signer.read(&deleted, &written).is_err());
    }
    assert!(signer.read(&scope, cursor).is_err(), "nobody signed that");
}

fn range_holds(header: &str, size: u64) {
    if let RangeAnswer::Part(part) = range_answer(Some(header), size) {
        assert!(part.bytes.start() <= part.bytes.end() && *part.bytes.end() < size && part.size == size);
        let plain = format!("bytes={}-{}", part.bytes.start(), part.bytes.end());
        assert_eq!(range_answer(Some(&plain), size), RangeAnswer::Part(part));
    }
}

fn tags_hold(header: &str) {
    if let Some(tag) = ETag::parse(header) {
        assert_eq!(ETag::parse(&tag.to_string()), Some(tag));
    }
    let etag = ETag::of_md5([0x11; 16]);
    let (file, list) = (StoredFile { etag, modified: Timestamp(0) }, Some(ETagList::parse(header)));
    let writes = WriteConditions { matches: list.clone(), matches_none: None };
    let makes = WriteConditions { matches: None, matches_none: list.clone() };
    assert_eq!((writes.decide(None), makes.decide(None)), (Err(Precondition::Missing), Ok(())));
    // What is named byte for byte is named.
    assert!(writes.decide(Some(file)).is_err() || makes.decide(Some(file)).is_err());
    let read = ReadConditions { matches_none: list, ..ReadConditions::default() };
    assert_eq!(read.decide(file) == ReadOutcome::Send, makes.decide(Some(file)).is_ok());
}
