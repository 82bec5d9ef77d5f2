//! Signed addresses, for fuzzing.

use std::sync::LazyLock;

use domain::Timestamp;

use super::{BlobGrant, BlobKey, BlobMethod, BlobOptions, BlobPlace, BlobQuery, BlobRefusal, Blobs};
use crate::{Clock, Faults};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// What a path begins with under which blobs are served.
const BEFORE: &str = "/v1/blobs/";

/// Blobs that nothing is written of.
static BLOBS: LazyLock<Blobs> = LazyLock::new(|| {
    let place = BlobPlace::Folder(std::env::temp_dir().join(format!("troupe-fuzzing-{}", std::process::id())));
    let options = BlobOptions { place, signing_secret: b"0123456789abcdef0123456789abcdef".to_vec() };
    let blobs = Blobs::open(&options, Clock::manual(NOW), Faults::default()).expect("a folder");
    if let BlobPlace::Folder(folder) = options.place {
        // Opening it made it.
        let _ = std::fs::remove_dir(folder);
    }
    blobs
});

/// A line with a key, one with a time, one with a size, one with a signature: none of them holds but the one that is made
/// here, and that one holds for just that, and until then.
pub fn addresses(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let (key, expires, size, signature) = (line(), line(), line(), line());
    let (expires, size) = (expires.parse().unwrap_or(NOW.0), size.parse().unwrap_or(0));
    let asked = BlobQuery { expires, size, signature: signature.to_owned() };
    let Ok(name) = key.parse::<BlobKey>() else {
        assert_eq!(BLOBS.verify(BlobMethod::Get, key, &asked), Err(BlobRefusal::Forged));
        return;
    };
    assert_eq!(name.to_string(), key);
    let grant = BlobGrant { method: BlobMethod::Put, key: name, size, expires_at: Timestamp(expires) };
    let url = BLOBS.sign(&grant).url;
    let (path, made) = url.split_once('?').expect("a query");
    let (rest, own) = made.rsplit_once("&signature=").expect("a signature");
    assert_eq!(path.strip_prefix(BEFORE), Some(key), "the key is part of the path as it is");
    assert_eq!(rest, format!("expires={expires}&size={size}"));
    let query = BlobQuery { signature: own.to_owned(), ..asked.clone() };
    let holds = if NOW.0 < expires { Ok(grant) } else { Err(BlobRefusal::Expired) };
    assert_eq!(BLOBS.verify(BlobMethod::Put, key, &query), holds);
    assert_eq!(BLOBS.verify(BlobMethod::Get, key, &query), Err(BlobRefusal::Forged));
    let other = BlobQuery { size: size.wrapping_add(1), ..query.clone() };
    assert_eq!(BLOBS.verify(BlobMethod::Put, key, &other), Err(BlobRefusal::Forged));
    let later = BlobQuery { expires: expires.wrapping_add(1), ..query };
    assert_eq!(BLOBS.verify(BlobMethod::Put, key, &later), Err(BlobRefusal::Forged));
    if signature != own {
        assert_eq!(BLOBS.verify(BlobMethod::Put, key, &asked), Err(BlobRefusal::Forged));
    }
}
