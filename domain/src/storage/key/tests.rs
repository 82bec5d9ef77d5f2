use proptest::prelude::*;

use super::*;

fn refusal<T: fmt::Debug>(result: Result<T>) -> (u16, &'static str, String) {
    let error = result.unwrap_err();
    (error.status(), error.code(), error.to_string())
}

#[test]
fn a_key_has_up_to_1024_bytes_without_zeros() {
    let longest = "a".repeat(1_024);
    for key in ["a", "a/", "a//b", "/", ".", "..", "../a", " ", "\n", "ä", "\u{ffff}", "a\u{7f}", &longest] {
        assert_eq!(FileKey::parse(key).unwrap().as_str(), key);
    }
    let too_long = (400, "invalid_key", "Keys have at most 1,024 bytes.".to_owned());
    assert_eq!(refusal(FileKey::parse("a".repeat(1_025))), too_long);
    assert_eq!(refusal(FileKey::parse("ä".repeat(513))), too_long);
    assert_eq!(refusal(FileKey::parse("")).2, "Keys have at least one character.");
    assert_eq!(refusal(FileKey::parse("a\0")).2, "Keys can't contain the character 0.");
}

#[test]
fn what_ends_with_a_slash_is_a_folder() {
    assert_eq!(refusal(FileKey::parse_for_download("a/")).2, "Folders can't be downloaded.");
    assert_eq!(refusal(FileKey::parse_for_upload("a/")).2, "File names can't end with /.");
    let (folder, file) = (FileKey::parse("a/").unwrap(), FileKey::parse("a").unwrap());
    assert_eq!(refusal(folder.check_size(1)).2, "File names can't end with /.");
    assert!(folder.check_size(0).is_ok() && file.check_size(1).is_ok());
    assert!(FileKey::parse_for_upload("a/b").is_ok() && FileKey::parse_for_download("a/b").is_ok());
    for path in ["a", "a/b"] {
        let refused = (400, "invalid_folder", "Folder paths end with /.".to_owned());
        assert_eq!(refusal(KeyPrefix::parse_folder(path)), refused);
        assert_eq!(refusal(Folder::parse(path)), refused);
    }
    assert!(KeyPrefix::parse_folder("").is_ok() && Folder::parse("").is_err());
    let folder = Folder::parse("a/").unwrap();
    assert!(folder.contains("a/b") && folder.contains("a/") && !folder.contains("a"));
    assert!(folder.range().contains(folder.placeholder().as_str().as_bytes()));
}

#[test]
fn the_successor_of_the_last_bytes_is_none() {
    for (prefix, next) in [
        (&b""[..], None),
        (b"a", Some(&b"b"[..])),
        (b"a\xff", Some(b"b")),
        (b"a\xff\xff", Some(b"b")),
        (b"\xff", None),
        (b"\xff\xff", None),
        (b"a\xffb", Some(b"a\xffc")),
    ] {
        assert_eq!(successor(prefix).as_deref(), next, "{prefix:?}");
    }
    assert!(KeyRange { start: b"b".to_vec(), end: Some(b"a".to_vec()) }.is_empty());
    assert!(!KeyPrefix::default().range().is_empty());
}

proptest! {
    #[test]
    fn a_range_has_what_begins_with_its_prefix(
        prefix in proptest::collection::vec(prop_oneof![Just(0xff), Just(0x61), Just(0)], 0..4),
        key in proptest::collection::vec(prop_oneof![Just(0xff), Just(0x61), Just(0x62), Just(0)], 0..6),
    ) {
        let range = KeyRange { start: prefix.clone(), end: successor(&prefix) };
        prop_assert_eq!(range.contains(&key), key.starts_with(&prefix));
    }
}
