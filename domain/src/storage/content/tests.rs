use super::*;
use crate::error::Error;

fn paths(error: Error) -> Vec<String> {
    let Error::Invalid { problems } = error else { panic!("{error}") };
    problems.into_iter().map(|problem| problem.path).collect()
}

#[test]
fn a_tag_is_an_md5_or_one_of_md5s() {
    use md5::{Digest, Md5};
    let empty = ETag::of_md5(Md5::digest("").into());
    assert_eq!(empty.to_string(), "d41d8cd98f00b204e9800998ecf8427e");
    // What S3 answers for two parts of "a" and "b": the MD5 of both their MD5s.
    let parts = ["a", "b"].map(|part| ETag::of_md5(Md5::digest(part).into()));
    let both: Vec<u8> = ["a", "b"].iter().flat_map(|part| Md5::digest(part).to_vec()).collect();
    let whole = ETag::of_parts(&parts);
    assert_eq!(whole.to_string(), format!("{}-2", ETag::of_md5(Md5::digest(both).into())));
    for tag in [empty, whole] {
        assert_eq!(ETag::parse(&tag.to_string()), Some(tag));
        assert_eq!(ETag::parse(&format!("\"{tag}\"")), Some(tag));
        assert_eq!(ETag::parse(&tag.to_string().to_uppercase()), Some(tag));
        for wrong in
            [format!("\"{tag}"), format!("W/\"{tag}\""), format!("{tag}-0"), format!("{tag}-01"), format!("0{tag}")]
        {
            assert_eq!(ETag::parse(&wrong), None, "{wrong}");
        }
    }
    for wrong in ["", "\"", "\"\"", "*", "-1", &"+0".repeat(16), &"é".repeat(16), &format!("{empty}-10001")] {
        assert_eq!(ETag::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn classes_that_need_no_thawing_are_labels() {
    assert_eq!(StorageClass::parse(None).unwrap(), StorageClass::Standard);
    assert_eq!(StorageClass::parse(Some("STANDARD_IA")).unwrap(), StorageClass::StandardIa);
    for class in ["GLACIER", "DEEP_ARCHIVE", "standard", "", "OUTPOSTS"] {
        assert_eq!(StorageClass::parse(Some(class)).unwrap_err().code(), "invalid_storage_class", "{class}");
    }
}

#[test]
fn a_content_type_has_the_form_of_one() {
    let longest = format!("a/{}", "b".repeat(253));
    for text in ["text/plain", "text/html; charset=utf-8", "image/svg+xml", "text/plain ;a=\"b c\"", &longest] {
        assert_eq!(content_type_check("contentType", text).unwrap().as_deref(), Some(text));
    }
    assert_eq!(content_type_check("contentType", "").unwrap(), None);
    for text in
        ["text", "/", "text/", "a b/c", " text/plain", "text/plain\r\nx: y", "text/é", "a/b/c", &format!("{longest}b")]
    {
        assert!(content_type_check("contentType", text).is_err(), "{text}");
    }
}

#[test]
fn every_header_at_fault_is_named() {
    let metadata =
        |pairs: &[(&str, &str)]| pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let headers = FileHeaders {
        content_type: Some("text".to_owned()),
        cache_control: Some("a".repeat(1_025)),
        content_disposition: Some("inline\n".to_owned()),
        content_encoding: Some("gzip".to_owned()),
        metadata: metadata(&[("A", "1"), ("a", "2"), ("b c", ""), ("d", "\0")]),
        ..FileHeaders::default()
    };
    let expected = ["contentType", "cacheControl", "contentDisposition", "metadata.a", "metadata.b c", "metadata.d"];
    assert_eq!(paths(headers.check().unwrap_err()), expected);
    let kept = FileHeaders { metadata: metadata(&[("Name", "Zoë")]), ..FileHeaders::default() }.check().unwrap();
    assert_eq!(kept.metadata, metadata(&[("name", "Zoë")]));
    let of_bytes = |bytes: usize| FileHeaders { metadata: metadata(&[("n", &"a".repeat(bytes - 1))]), ..kept.clone() };
    assert!(of_bytes(2_048).check().is_ok());
    assert_eq!(paths(of_bytes(2_049).check().unwrap_err()), ["metadata"]);
}
