//! Moves of files and folders in a bucket.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::storage::{FileKey, FolderFacts, MoveBatch, MoveCursor, MovePair, MoveRequest, Moves, MovingFolders};

/// Moves, and the keys that there are.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    files: Vec<MovePair>,
    folders: Vec<MovePair>,
    keys: Vec<String>,
}

/// JSON of all that. Moves that pass don't touch, are recognized in any order, and leave every file under one name.
pub fn moves(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    if asked.files.len() + asked.folders.len() > 40 {
        return;
    }
    let request =
        |files: Vec<MovePair>, folders: Vec<MovePair>| MoveRequest { files, folders, ..MoveRequest::default() };
    let Ok(moves) = request(asked.files.clone(), asked.folders.clone()).check() else { return };
    are_apart(&asked);
    let reversed = request(asked.files.iter().rev().cloned().collect(), asked.folders.iter().rev().cloned().collect());
    assert_eq!(reversed.check().map(|moves| moves.id()).ok(), Some(moves.id()));
    let text = serde_json::to_string(&moves).expect("what is kept can be written");
    assert_eq!(serde_json::from_str::<Moves>(&text).ok().as_ref(), Some(&moves));
    let keys: BTreeSet<_> = asked.keys.iter().take(40).filter_map(|key| FileKey::parse(key.as_str()).ok()).collect();
    moving_holds(&asked, &moves, &keys);
    if found(&moves, &keys) {
        let names = run(&moves, &keys);
        assert_eq!(names, naive(&asked, &keys));
        assert_eq!(names.values().collect::<BTreeSet<_>>().len(), keys.len(), "every file has a name of its own");
    }
}

/// No two moves have a name in common, or one below another's folder.
fn are_apart(asked: &Asked) {
    let all: Vec<_> = asked.files.iter().chain(&asked.folders).collect();
    let is_in = |path: &str, place: &str| path == place || place.ends_with('/') && path.starts_with(place);
    for (at, one) in all.iter().enumerate() {
        for (place, two) in all.iter().enumerate().filter(|(place, _)| *place != at) {
            assert!(!is_in(&one.from, &two.from), "{at} {place}: moved twice");
            assert!(!is_in(&one.to, &two.to) && !is_in(&one.to, &two.from), "{at} {place}: no place of its own");
        }
    }
}

fn moving_holds(asked: &Asked, moves: &Moves, keys: &BTreeSet<FileKey>) {
    let moving = MovingFolders::new([moves]);
    for key in keys {
        let is_below =
            asked.folders.iter().any(|it| [&it.from, &it.to].iter().any(|path| key.as_str().starts_with(*path)));
        assert_eq!(moving.check_write(key).is_err(), is_below, "{key}");
    }
    assert_eq!(moving.check_moves(moves).is_err(), !asked.folders.is_empty());
}

fn found(moves: &Moves, keys: &BTreeSet<FileKey>) -> bool {
    let longest =
        |folder: &str| keys.iter().filter(|key| key.as_str().starts_with(folder)).map(|key| key.as_str().len()).max();
    let facts = |longest_key| FolderFacts { longest_key };
    moves.check_found(|key| keys.contains(key), |folder| longest(folder.as_str()).map(facts)).is_ok()
}

/// Which name each file has after all batches.
fn run(moves: &Moves, keys: &BTreeSet<FileKey>) -> BTreeMap<FileKey, FileKey> {
    let mut names: BTreeMap<_, _> = keys.iter().map(|key| (key.clone(), key.clone())).collect();
    let mut cursor = MoveCursor::default();
    while !moves.is_done(&cursor) {
        let mut batch = MoveBatch::new(moves, cursor);
        while let Some(range) = batch.range() {
            for key in keys.iter().filter(|key| range.contains(key.as_str().as_bytes())) {
                batch.take(key.clone()).expect("no name is too long");
            }
            batch.folder_ends();
        }
        let files;
        (files, cursor) = batch.finish();
        for (from, to) in files {
            assert_eq!(names.insert(from.clone(), to), Some(from), "a file moves once");
        }
    }
    names
}

fn naive(asked: &Asked, keys: &BTreeSet<FileKey>) -> BTreeMap<FileKey, FileKey> {
    let target = |key: &FileKey| {
        let file = asked.files.iter().find(|it| it.from == key.as_str()).map(|it| it.to.clone());
        let folder = || {
            let folder = asked.folders.iter().find(|it| key.as_str().starts_with(&it.from))?;
            Some(key.as_str().replacen(&folder.from, &folder.to, 1))
        };
        file.or_else(folder).and_then(|to| FileKey::parse(to).ok()).unwrap_or_else(|| key.clone())
    };
    keys.iter().map(|key| (key.clone(), target(key))).collect()
}
