use proptest::prelude::*;

use super::*;
use crate::{
    Timestamp,
    id::UploadId,
    storage::{KEY_BYTES_MAX, Last, VersionStamp},
};

fn key() -> ListCursorKey {
    ListCursorKey::new(b"a secret of the server")
}

fn bucket() -> ResourceId {
    "res_01h455vb4pex5vsknk084sn02q".parse().unwrap()
}

fn any_place() -> impl Strategy<Value = Place> {
    let text = || "[a/é]{0,5}";
    prop_oneof![
        text().prop_map(|key| Place::Last(Last::Key(key))),
        text().prop_map(|prefix| Place::Last(Last::CommonPrefix(prefix))),
        (text(), any::<[u8; 16]>()).prop_map(|(key, id)| Place::Version { key, stamp: VersionStamp::from_bytes(id) }),
        (text(), any::<i64>()).prop_map(|(key, at)| Place::Upload { key, id: UploadId::new(Timestamp(at)) }),
    ]
}

#[test]
fn a_cursor_goes_on_with_what_it_came_from_and_nothing_else() {
    let (none, some) = (KeyPrefix::default(), KeyPrefix::parse("a").unwrap());
    let (slash, other) = (Delimiter::slash(), Delimiter::parse("a").unwrap().unwrap());
    let file = FileKey::parse("a").unwrap();
    let lists = [
        ListOf::Files { prefix: &none, delimiter: None },
        ListOf::Files { prefix: &some, delimiter: None },
        ListOf::Files { prefix: &some, delimiter: Some(&slash) },
        ListOf::Files { prefix: &none, delimiter: Some(&other) },
        ListOf::Deleted { prefix: &none },
        ListOf::Deleted { prefix: &some },
        ListOf::AllVersions { prefix: &some, delimiter: None },
        ListOf::Versions { key: &file },
        ListOf::Uploads { prefix: &some, delimiter: None },
    ];
    let of = |bucket| lists.map(|list| ListScope { bucket, list });
    let scopes = [of(bucket()), of(ResourceId::new(Timestamp(1)))].concat();
    let place = Place::Last(Last::Key("a".to_owned()));
    for (at, written) in scopes.iter().enumerate() {
        let cursor = key().write(written, &place);
        for (place, read) in scopes.iter().enumerate() {
            assert_eq!(key().read(read, &cursor).is_ok(), at == place, "{at} {place}");
        }
        assert!(ListCursorKey::new(b"another").read(written, &cursor).is_err());
    }
}

#[test]
fn the_longest_place_still_fits_a_cursor_and_anything_else_is_refused() {
    let prefix = KeyPrefix::default();
    let scope = ListScope { bucket: bucket(), list: ListOf::Files { prefix: &prefix, delimiter: None } };
    let longest = Place::Version { key: "a".repeat(KEY_BYTES_MAX), stamp: VersionStamp::next(Timestamp(1), None) };
    let upload = Place::Upload { key: "a".repeat(KEY_BYTES_MAX), id: UploadId::new(Timestamp(1)) };
    for longest in [longest, upload] {
        let cursor = key().write(&scope, &longest);
        assert!(cursor.len() <= FILES_CURSOR_LEN_MAX, "{}", cursor.len());
        assert_eq!(key().read(&scope, &cursor).unwrap(), longest);
    }
    for cursor in ["", "A", "AAAA", "%%%%", &"A".repeat(22), &"A".repeat(2_048), &"A".repeat(2_049), "é"] {
        let refused = key().read(&scope, cursor).unwrap_err();
        assert_eq!(
            (refused.status(), refused.code(), refused.to_string().as_str()),
            (400, "invalid_cursor", "Invalid cursor.")
        );
    }
}

proptest! {
    #[test]
    fn a_place_reads_back_and_any_damage_is_noticed(place in any_place(), at in any::<usize>(), byte in any::<u8>()) {
        let prefix = KeyPrefix::default();
        let scope = ListScope { bucket: bucket(), list: ListOf::Deleted { prefix: &prefix } };
        let cursor = key().write(&scope, &place);
        prop_assert_eq!(key().read(&scope, &cursor).unwrap(), place);
        let mut damaged = cursor.clone().into_bytes();
        let at = at % damaged.len();
        damaged[at] = byte & 0x7f;
        let damaged = String::from_utf8(damaged).unwrap();
        prop_assert_eq!(key().read(&scope, &damaged).is_ok(), damaged == cursor);
    }

    #[test]
    fn no_bytes_are_two_places(bytes in proptest::collection::vec(0_u8..6, 0..20)) {
        if let Some(place) = Place::from_bytes(&bytes) {
            prop_assert_eq!(place.to_bytes(), bytes);
        }
    }
}
