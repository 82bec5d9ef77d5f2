use std::{io, time::Duration};

use bytes::Bytes;
use domain::time::Timestamp;
use futures::{StreamExt, TryStreamExt, stream};
use store::{
    Clock, Store,
    blobs::{
        BlobGrant, BlobKey, BlobMethod, BlobOptions, BlobPlace, BlobQuery, BlobRefusal, S3Credentials, S3Options,
        UploadError,
    },
    testing::Scratch,
};

use crate::{START, open};

async fn place(clock: &Clock) -> (Scratch, Store) {
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = open(&scratch, clock).await;
    (scratch, store)
}

fn key(text: &str) -> BlobKey {
    text.parse().expect("a key")
}

fn chunks(parts: &[&'static [u8]]) -> impl futures::Stream<Item = Result<Bytes, io::Error>> {
    stream::iter(parts.iter().map(|part| Ok(Bytes::from_static(part))).collect::<Vec<_>>())
}

#[tokio::test]
async fn what_was_put_is_read_back_whole_and_in_part_until_it_is_deleted() {
    let (_scratch, store) = place(&Clock::manual(START)).await;
    let (blobs, key) = (store.blobs(), key("drive/fil_1"));
    assert_eq!(blobs.get(&key).await.expect("reads"), None);
    blobs.put(&key, Bytes::from_static(b"0123456789")).await.expect("writes");
    assert_eq!(blobs.get(&key).await.expect("reads"), Some(Bytes::from_static(b"0123456789")));
    assert_eq!(blobs.size(&key).await.expect("reads"), Some(10));
    let content = blobs.get_stream(&key, Some(2..5)).await.expect("reads").expect("is there");
    assert_eq!((content.size, content.range), (10, 2..5));
    assert_eq!(content.bytes.try_concat_bytes().await, b"234");
    blobs.delete(&key).await.expect("deletes");
    blobs.delete(&key).await.expect("deletes nothing");
    assert_eq!(blobs.size(&key).await.expect("reads"), None);
    assert!(blobs.get_stream(&key, None).await.expect("reads").is_none());
    blobs.check().await.expect("works");
}

trait ConcatBytes {
    async fn try_concat_bytes(self) -> Vec<u8>;
}

impl<S: futures::Stream<Item = Result<Bytes, store::StoreError>> + Unpin> ConcatBytes for S {
    async fn try_concat_bytes(self) -> Vec<u8> {
        self.map_ok(|bytes| bytes.to_vec()).try_concat().await.expect("reads")
    }
}

#[tokio::test]
async fn an_upload_is_kept_only_when_it_has_exactly_the_announced_size() {
    let (_scratch, store) = place(&Clock::manual(START)).await;
    let (blobs, key) = (store.blobs(), key("drive/fil_1"));
    for announced in [0, 9, 11] {
        let outcome = blobs.put_stream(&key, announced, chunks(&[b"01234", b"56789"])).await;
        assert!(matches!(outcome, Err(UploadError::Size { expected }) if expected == announced));
        assert_eq!(blobs.size(&key).await.expect("reads"), None);
    }
    let broken = chunks(&[b"01234"]).chain(stream::once(async { Err(io::Error::other("gone")) }));
    assert!(matches!(blobs.put_stream(&key, 10, broken).await, Err(UploadError::Source(_))));
    assert_eq!(blobs.size(&key).await.expect("reads"), None);
    blobs.put_stream(&key, 10, chunks(&[b"01234", b"56789"])).await.expect("is kept");
    assert_eq!(blobs.get(&key).await.expect("reads"), Some(Bytes::from_static(b"0123456789")));
    blobs.put_stream(&key, 0, chunks(&[])).await.expect("an empty blob is one");
    assert_eq!(blobs.size(&key).await.expect("reads"), Some(0));
}

fn query(url: &str) -> (String, BlobQuery) {
    let (path, query) = url.strip_prefix("/v1/blobs/").and_then(|rest| rest.split_once('?')).expect("ours");
    let field = |name: &str| query.split('&').find_map(|field| field.strip_prefix(name)).expect("is there").to_owned();
    let query = BlobQuery {
        expires: field("expires=").parse().expect("a number"),
        size: field("size=").parse().expect("a number"),
        signature: field("signature="),
    };
    (path.to_owned(), query)
}

#[tokio::test]
async fn a_signed_address_permits_what_it_says_until_the_moment_it_expires() {
    let clock = Clock::manual(START);
    let (_scratch, store) = place(&clock).await;
    let valid_for = Duration::from_mins(1);
    let address = store.blobs().address(BlobMethod::Put, &key("drive/fil_1"), 10, valid_for).await.expect("signs");
    let (path, query) = query(&address.url);
    let grant =
        BlobGrant { method: BlobMethod::Put, key: key("drive/fil_1"), size: 10, expires_at: START.after(valid_for) };
    clock.set(grant.expires_at.before(Duration::from_millis(1)));
    assert_eq!(store.blobs().verify(BlobMethod::Put, &path, &query), Ok(grant.clone()));
    clock.set(grant.expires_at);
    assert_eq!(store.blobs().verify(BlobMethod::Put, &path, &query), Err(BlobRefusal::Expired));
}

#[tokio::test]
async fn a_signed_address_that_was_tampered_with_is_refused() {
    let (_scratch, store) = place(&Clock::manual(START)).await;
    let grant = BlobGrant {
        method: BlobMethod::Get,
        key: key("drive/fil_1"),
        size: 10,
        expires_at: Timestamp(START.0 + 1_000),
    };
    let (path, good) = query(&store.blobs().sign(&grant).url);
    let verify = |method, path: &str, query: &BlobQuery| store.blobs().verify(method, path, query);
    assert_eq!(verify(BlobMethod::Get, &path, &good), Ok(grant));
    let flipped = if good.signature.starts_with('A') { "B" } else { "A" };
    let tampered = [
        (BlobMethod::Put, path.as_str(), good.clone()),
        (BlobMethod::Get, "drive/fil_2", good.clone()),
        (BlobMethod::Get, "drive/../fil_1", good.clone()),
        (BlobMethod::Get, path.as_str(), BlobQuery { size: 9, ..good.clone() }),
        (BlobMethod::Get, path.as_str(), BlobQuery { size: 11, ..good.clone() }),
        (BlobMethod::Get, path.as_str(), BlobQuery { expires: good.expires + 1, ..good.clone() }),
        (BlobMethod::Get, path.as_str(), BlobQuery { signature: String::new(), ..good.clone() }),
        (BlobMethod::Get, path.as_str(), BlobQuery { signature: "not base64!".into(), ..good.clone() }),
        (
            BlobMethod::Get,
            path.as_str(),
            BlobQuery { signature: format!("{flipped}{}", &good.signature[1..]), ..good.clone() },
        ),
    ];
    for (method, path, query) in &tampered {
        assert_eq!(verify(*method, path, query), Err(BlobRefusal::Forged), "{method:?} {path} {query:?}");
    }
}

#[tokio::test]
async fn s3_signs_downloads_itself_and_uploads_are_held_to_their_size_by_troupe() {
    // Another test may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let scratch = Scratch::sqlite().expect("makes a folder");
    let s3 = S3Options {
        bucket: "troupe".into(),
        region: "us-east-1".into(),
        endpoint: Some("http://127.0.0.1:9".into()),
        credentials: Some(S3Credentials { access_key_id: "id".into(), secret_access_key: "secret".into() }),
    };
    let mut options = scratch.options();
    options.blobs = BlobOptions { place: BlobPlace::S3(s3), ..options.blobs };
    let store = Store::connect(&options, Clock::system()).await.expect("opens");
    let valid_for = Duration::from_mins(1);
    let get = store.blobs().address(BlobMethod::Get, &key("drive/fil_1"), 10, valid_for).await.expect("signs");
    assert!(get.url.starts_with("http://127.0.0.1:9/troupe/drive/fil_1?"), "{}", get.url);
    assert!(get.url.contains("X-Amz-Expires=60") && get.url.contains("X-Amz-Signature="), "{}", get.url);
    let put = store.blobs().address(BlobMethod::Put, &key("drive/fil_1"), 10, valid_for).await.expect("signs");
    assert!(put.url.starts_with("/v1/blobs/drive/fil_1?"), "{}", put.url);
}
