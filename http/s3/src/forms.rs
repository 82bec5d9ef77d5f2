//! Forms: in a form's key, `${filename}` stands for the name of the file that it sends.
//!
//! `s3s` reads forms, and knows nothing of that. So what comes before the file is held until the file's own name is known, and
//! passed on with it in the key: before the policy is looked at, as S3 does it.

use std::ops::Range;

use bytes::Bytes;
use futures::{TryStreamExt, stream};
use http_body_util::{BodyDataStream, StreamBody};
use hyper::{HeaderMap, body::Frame, header::CONTENT_TYPE};
use s3s::{Body, StdError};

use crate::{arriving::Arriving, guard::FORM_FIELDS_BYTES_MAX};

/// What stands for the file's name.
const VARIABLE: &str = "${filename}";

/// The form, with the name of its file in its key.
pub(crate) fn named(headers: &HeaderMap, body: Arriving) -> Body {
    let Some(boundary) = boundary(headers) else { return Body::http_body(body) };
    let from = (BodyDataStream::new(body), Some(Fields::new(&boundary)));
    let pieces = stream::try_unfold(from, |(mut body, mut fields)| async move {
        loop {
            let piece = body.try_next().await.map_err(StdError::from)?;
            let passed = match (fields.as_mut(), piece) {
                (None, piece) => piece,
                (Some(held), Some(piece)) => held.feed(&piece),
                (Some(held), None) => Some(held.as_they_came()),
            };
            match passed {
                Some(passed) => return Ok::<_, StdError>(Some((Frame::data(passed), (body, None)))),
                None if fields.is_none() => return Ok(None),
                None => {}
            }
        }
    });
    Body::http_body_unsync(StreamBody::new(pieces))
}

/// What stands between the parts of the form.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    parameter(content_type, "boundary").filter(|boundary| !boundary.is_empty())
}

/// Where reading stands.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Before the first part.
    Start,
    /// In the head of a part, which begins there.
    Head(usize),
    /// In the value of a field, which begins there; whether that is the key.
    Value(usize, bool),
}

/// Everything before the file, as it has come so far.
#[derive(Debug)]
struct Fields {
    /// What ends each part.
    delimiter: Vec<u8>,
    bytes: Vec<u8>,
    at: At,
    /// Where the search for what comes next goes on.
    searched: usize,
    /// The value of the key.
    key: Option<Range<usize>>,
}

/// How a search ended.
enum Found {
    /// The file, which is called so.
    File(String),
    /// That this is no form, or none that `s3s` takes.
    Nothing,
}

impl Fields {
    fn new(boundary: &str) -> Self {
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Self { delimiter, bytes: Vec::new(), at: At::Start, searched: 0, key: None }
    }

    /// Takes a piece in; all so far once it is known what the file is called.
    fn feed(&mut self, piece: &[u8]) -> Option<Bytes> {
        self.bytes.extend_from_slice(piece);
        match self.read() {
            Some(Found::File(name)) => Some(self.with_name(&name)),
            Some(Found::Nothing) => Some(self.as_they_came()),
            None if self.bytes.len() as u64 > FORM_FIELDS_BYTES_MAX => Some(self.as_they_came()),
            None => None,
        }
    }

    fn as_they_came(&mut self) -> Bytes {
        std::mem::take(&mut self.bytes).into()
    }

    /// The fields with the file's name in the key. It is what follows the last slash of either kind (S3).
    fn with_name(&mut self, name: &str) -> Bytes {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        if let Some(range) = self.key.take()
            && let Ok(key) = std::str::from_utf8(&self.bytes[range.clone()])
            && key.contains(VARIABLE)
        {
            let key = key.replace(VARIABLE, name);
            self.bytes.splice(range, key.into_bytes());
        }
        self.as_they_came()
    }

    /// Reads on; none where more has to come.
    fn read(&mut self) -> Option<Found> {
        loop {
            match self.at {
                At::Start => {
                    // Nothing comes before the first line, unlike before the others.
                    let end = self.delimiter.len();
                    if self.bytes.len() + 2 < end {
                        return None;
                    }
                    if !self.bytes.starts_with(&self.delimiter[2..]) {
                        return Some(Found::Nothing);
                    }
                    self.go(At::Head(end - 2), end - 2);
                }
                At::Head(begin) => {
                    let end = self.seek(b"\r\n\r\n")?;
                    let Ok(head) = std::str::from_utf8(&self.bytes[begin..end]) else { return Some(Found::Nothing) };
                    let Some((name, file_name)) = disposition(head) else { return Some(Found::Nothing) };
                    if name.eq_ignore_ascii_case("file") {
                        return Some(Found::File(file_name.unwrap_or_default()));
                    }
                    // An empty value is ended by the line's end that the head is ended by.
                    self.go(At::Value(end + 4, name.eq_ignore_ascii_case("key")), end + 2);
                }
                At::Value(begin, is_key) => {
                    let delimiter = std::mem::take(&mut self.delimiter);
                    let found = self.seek(&delimiter);
                    let len = delimiter.len();
                    self.delimiter = delimiter;
                    let end = found?;
                    if is_key && end >= begin {
                        self.key = Some(begin..end);
                    }
                    self.go(At::Head(end + len), end + len);
                }
            }
        }
    }

    const fn go(&mut self, at: At, searched: usize) {
        (self.at, self.searched) = (at, searched);
    }

    /// Where `needle` is next. Nothing is looked at twice, however small the pieces are.
    fn seek(&mut self, needle: &[u8]) -> Option<usize> {
        let found = self.bytes[self.searched..].windows(needle.len()).position(|window| window == needle);
        if found.is_none() {
            self.searched = self.searched.max((self.bytes.len() + 1).saturating_sub(needle.len()));
        }
        found.map(|place| self.searched + place)
    }
}

/// The names of a part and of the file in it.
fn disposition(head: &str) -> Option<(String, Option<String>)> {
    let line = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    Some((parameter(line, "name")?, parameter(line, "filename")))
}

/// A parameter of a header.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let (text, behind) = if let Some(quoted) = behind.trim_start().strip_prefix('"') {
            // Browsers write a quote in it as `%22`.
            quoted.split_once('"')?
        } else {
            let (text, behind) = behind.split_once(';').unwrap_or((behind, ""));
            (text.trim(), behind)
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(text.to_owned());
        }
        rest = behind.trim_start().trim_start_matches(';');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(key: &str, file: &str) -> String {
        format!(
            "--x\r\nContent-Disposition: form-data; name=\"acl\"\r\n\r\n\r\n--x\r\n\
             Content-Disposition: form-data; name=\"key\"\r\n\r\n{key}\r\n--x\r\n\
             content-disposition: form-data; name=\"file\"; filename=\"{file}\"\r\nContent-Type: text/x\r\n\r\n\
             ${{filename}}\r\n--x--\r\n"
        )
    }

    /// What is passed on of a form that comes in pieces of this length.
    fn passed(form: &str, len: usize) -> String {
        let (mut fields, mut passed) = (Some(Fields::new("x")), Vec::new());
        for piece in form.as_bytes().chunks(len) {
            match fields.as_mut().map(|fields| fields.feed(piece)) {
                None => passed.extend_from_slice(piece),
                Some(None) => {}
                Some(Some(bytes)) => {
                    passed.extend_from_slice(&bytes);
                    fields = None;
                }
            }
        }
        if let Some(mut fields) = fields {
            passed.extend_from_slice(&fields.as_they_came());
        }
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn the_files_name_stands_in_the_key_and_nowhere_else() {
        for (file, name) in [("a.txt", "a.txt"), ("C:\\docs\\a b.txt", "a b.txt"), ("a/b;c=d", "b;c=d"), ("", "")] {
            let (sent, expected) = (form("up/${filename}/${filename}", file), form(&format!("up/{name}/{name}"), file));
            for len in [1, 2, 7, 64, 10_000] {
                assert_eq!(passed(&sent, len), expected, "{file} in pieces of {len}");
            }
        }
    }

    #[test]
    fn what_has_no_such_key_or_is_no_form_is_passed_on_as_it_came() {
        let long = format!("--x\r\n{}", "y".repeat(300_000));
        for text in [&form("up/a", "b"), "", "--x", "--y\r\n\r\n", "--x\r\nnothing\r\n\r\n", "--x--\r\n", &long] {
            for len in [1, 5, 400_000] {
                assert_eq!(passed(text, len), *text);
            }
        }
    }

    #[test]
    fn a_boundary_is_a_parameter_of_the_type() {
        for (content_type, boundary) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("multipart/form-data; charset=utf-8; boundary=\"a;b\"", Some("a;b")),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data; boundary=\"abc", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
            assert_eq!(super::boundary(&headers).as_deref(), boundary, "{content_type}");
        }
    }
}
