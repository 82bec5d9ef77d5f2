use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::error::Error;

fn pairs(pairs: &[(&str, &str)]) -> Vec<MovePair> {
    pairs.iter().map(|&(from, to)| MovePair { from: from.to_owned(), to: to.to_owned() }).collect()
}

fn check(files: &[(&str, &str)], folders: &[(&str, &str)]) -> Result<Moves> {
    MoveRequest { files: pairs(files), folders: pairs(folders), resume: Resume::No }.check()
}

fn moves(files: &[(&str, &str)], folders: &[(&str, &str)]) -> Moves {
    check(files, folders).unwrap()
}

fn refusal<T: std::fmt::Debug>(result: Result<T>) -> (u16, String) {
    let error = result.unwrap_err();
    (error.status(), error.to_string())
}

fn bad(text: &str) -> (u16, String) {
    (400, text.to_owned())
}

#[test]
fn a_move_that_cannot_be_is_refused_in_words() {
    for (from, to, text) in [
        ("a/", "b", "File names can't end with /."),
        ("a", "b/", "File names can't end with /."),
        ("a", "a", "The file is already there."),
        ("", "a", "Keys have at least one character."),
        ("a", "b\0", "Keys can't contain the character 0."),
    ] {
        assert_eq!(refusal(check(&[(from, to)], &[])), bad(text));
    }
    for (from, to, text) in [
        ("", "a/", "Pick a folder, not the whole bucket."),
        ("a/", "", "Pick a folder, not the whole bucket."),
        ("a", "b/", "Folder paths end with /."),
        ("a/", "b", "Folder paths end with /."),
        ("a/", "a/", "A folder can't be moved into itself."),
        ("a/", "a/b/", "A folder can't be moved into itself."),
    ] {
        assert_eq!(refusal(check(&[], &[(from, to)])), bad(text));
    }
    assert!(check(&[("a", "a/b")], &[("ab/", "abc/"), ("/", "x/")]).is_ok());
    assert!(check(&[], &[("a/b/", "a/")]).is_ok());
    assert!(check(&[], &[]).is_ok());
}

#[test]
fn no_move_gets_in_the_way_of_another() {
    let twice = bad("The same file or folder is listed twice.");
    assert_eq!(refusal(check(&[("a", "b"), ("a", "c")], &[])), twice);
    assert_eq!(refusal(check(&[], &[("a/", "b/"), ("a/", "c/")])), twice);
    assert_eq!(refusal(check(&[], &[("a/", "b/"), ("a/x/", "c/")])), twice);
    assert_eq!(refusal(check(&[("a/x", "y")], &[("a/", "b/")])), twice);
    let collide = bad("Two of the moves have the same place.");
    assert_eq!(refusal(check(&[("a", "c"), ("b", "c")], &[])), collide);
    assert_eq!(refusal(check(&[("a", "b"), ("b", "a")], &[])), collide);
    assert_eq!(refusal(check(&[], &[("a/", "c/"), ("b/", "c/d/")])), collide);
    assert_eq!(refusal(check(&[("x", "c/d")], &[("a/", "c/")])), collide);
    assert_eq!(refusal(check(&[("x", "a/x")], &[("a/", "c/")])), collide);
    assert!(check(&[("a", "b"), ("a-", "c")], &[("a/", "d/"), ("a./", "e/")]).is_ok());
}

#[test]
fn a_request_has_up_to_1000_files_and_100_folders() {
    let names: Vec<_> = (0..1_001).map(|at| (format!("a{at}"), format!("b{at}"))).collect();
    let files: Vec<_> = names.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert!(check(&files[..1_000], &[]).is_ok());
    assert!(matches!(check(&files, &[]), Err(Error::Invalid { .. })));
    let names: Vec<_> = (0..101).map(|at| (format!("a{at}/"), format!("b{at}/"))).collect();
    let folders: Vec<_> = names.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert!(check(&[], &folders[..100]).is_ok());
    assert!(matches!(check(&[], &folders), Err(Error::Invalid { .. })));
}

fn found(moves: &Moves, keys: &[&str]) -> Result<()> {
    let keys: BTreeSet<_> = keys.iter().copied().collect();
    let folder = |folder: &Folder| {
        let lengths = keys.iter().filter(|key| folder.contains(key)).map(|key| key.len());
        lengths.max().map(|longest_key| FolderFacts { longest_key })
    };
    moves.check_found(|key| keys.contains(key.as_str()), folder)
}

#[test]
fn all_that_moves_is_there_and_nothing_is_where_it_goes() {
    let file = moves(&[("a", "b")], &[]);
    assert!(found(&file, &["a", "b/"]).is_ok());
    assert_eq!(refusal(found(&file, &["a/"])), (404, "File not found.".to_owned()));
    assert_eq!(refusal(found(&file, &["a", "b"])), (409, "A file with this name already exists.".to_owned()));
    let folder = moves(&[], &[("a/", "bb/")]);
    assert!(found(&folder, &["a/", "bb"]).is_ok());
    assert_eq!(refusal(found(&folder, &["a"])), (404, "Folder not found.".to_owned()));
    assert_eq!(refusal(found(&folder, &["a/", "bb/c"])), (409, "A folder with this name already exists.".to_owned()));
    let key = |bytes: usize| format!("a/{}", "x".repeat(bytes - 2));
    assert!(found(&folder, &[&key(1_023)]).is_ok());
    assert_eq!(refusal(found(&folder, &[&key(1_024)])), bad("Keys have at most 1,024 bytes."));
    assert_eq!(refusal(found(&moves(&[], &[("a/b/", "a/")]), &["a/b/c"])).0, 409);
}

#[test]
fn the_same_moves_are_recognized_in_any_order() {
    let one = moves(&[("a", "b"), ("c", "d")], &[("x/", "y/")]);
    assert_eq!(one.id(), moves(&[("c", "d"), ("a", "b")], &[("x/", "y/")]).id());
    for other in [moves(&[("a", "b"), ("c", "d")], &[]), moves(&[("a", "d"), ("c", "b")], &[("x/", "y/")])] {
        assert_ne!(one.id(), other.id());
    }
    assert_eq!(MoveId::from_bytes(*one.id().as_bytes()), one.id());
    let kept = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<Moves>(&kept).unwrap(), one);
    let start = |journal, resume| MoveStart::decide(journal, resume);
    assert_eq!(start(MoveJournal::Nothing, Resume::No).unwrap(), MoveStart::Begin);
    assert_eq!(start(MoveJournal::Nothing, Resume::Yes).unwrap(), MoveStart::Done);
    assert_eq!(start(MoveJournal::UnderWay, Resume::Yes).unwrap(), MoveStart::Continue);
    let refused = refusal(start(MoveJournal::UnderWay, Resume::No));
    assert_eq!(refused, (409, "This move is already under way.".to_owned()));
    let request: MoveRequest = serde_json::from_str(r#"{"resume": true}"#).unwrap();
    assert_eq!(request.resume, Resume::Yes);
}

#[test]
fn nothing_is_written_below_either_name_of_a_folder_that_moves() {
    let (one, two) = (moves(&[("f", "g")], &[("a/b/", "c/")]), moves(&[], &[("d/", "e/")]));
    let moving = MovingFolders::new([&one, &two]);
    for (key, passes) in
        [("a/b/x", false), ("c/x", false), ("c/", false), ("e/y/z", false), ("a/b", true), ("f", true), ("cc/", true)]
    {
        assert_eq!(moving.check_write(&FileKey::parse(key).unwrap()).is_ok(), passes, "{key}");
    }
    let refused = refusal(moving.check_moves(&moves(&[("x", "c/x")], &[])));
    assert_eq!(refused, (409, "This folder is being moved.".to_owned()));
    for (from, to, passes) in [("a/", "x/", false), ("x/", "d/y/", false), ("a/c/", "x/", true), ("x/", "a/b/", false)]
    {
        assert_eq!(moving.check_moves(&moves(&[], &[(from, to)])).is_ok(), passes, "{from} {to}");
    }
}

/// Makes moves, batch after batch.
fn run(moves: &Moves, mut keys: BTreeSet<FileKey>) -> (BTreeMap<FileKey, FileKey>, Vec<usize>) {
    let (mut all, mut batches, mut cursor) = (BTreeMap::new(), Vec::new(), MoveCursor::default());
    while !moves.is_done(&cursor) {
        let mut batch = MoveBatch::new(moves, cursor);
        while let Some(range) = batch.range() {
            let found = keys.iter().filter(|key| range.contains(key.as_str().as_bytes()));
            let found: Vec<_> = found.take(batch.room()).cloned().collect();
            let is_end = found.len() < batch.room();
            for key in found {
                batch.take(key).unwrap();
            }
            if is_end {
                batch.folder_ends();
            }
        }
        let files;
        (files, cursor) = batch.finish();
        let kept = serde_json::to_string(&cursor).unwrap();
        cursor = serde_json::from_str(&kept).unwrap();
        batches.push(files.len());
        for (from, to) in files {
            assert!(keys.remove(&from) && keys.insert(to.clone()));
            all.insert(from, to);
        }
    }
    (all, batches)
}

#[test]
fn a_batch_has_1000_files_of_whichever_folders() {
    let keys = (0..1_500).map(|at| FileKey::parse(format!("{}/{at:04}", if at < 600 { "a" } else { "b" })).unwrap());
    let keys: BTreeSet<_> = keys.chain([FileKey::parse("f").unwrap()]).collect();
    let (files, batches) = run(&moves(&[("f", "g")], &[("a/", "x/"), ("b/", "y/")]), keys);
    assert_eq!((files.len(), batches), (1_501, vec![1_000, 501]));
    assert!(files.iter().all(|(from, to)| from.as_str()[1..] == to.as_str()[1..]));
}

proptest! {
    #[test]
    fn every_file_of_a_folder_moves_once(
        keys in proptest::collection::btree_set("[ab/]{1,4}", 0..30),
        from in "[ab/]{0,2}/",
        to in "[ab/]{0,2}/",
    ) {
        let keys: BTreeSet<_> = keys.iter().map(|key| FileKey::parse(key.as_str()).unwrap()).collect();
        let Ok(moves) = check(&[], &[(&from, &to)]) else {
            prop_assert!(to.starts_with(&from));
            return Ok(());
        };
        let target = Folder::parse(to.as_str()).unwrap();
        if keys.iter().any(|key| target.contains(key.as_str())) { return Ok(()); }
        let (moved, _) = run(&moves, keys.clone());
        let expected: BTreeMap<_, _> = keys
            .iter()
            .filter_map(|key| Some((key.clone(), key.as_str().strip_prefix(from.as_str())?)))
            .map(|(key, rest)| (key, FileKey::parse(format!("{to}{rest}")).unwrap()))
            .collect();
        prop_assert_eq!(moved, expected);
    }
}
