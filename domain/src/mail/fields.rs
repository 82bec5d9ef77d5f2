//! The fields at the head of a message as its bytes have them, and the message whole: with the lines that this server put before
//! it, and without those that others put there in its name.

use std::ops::Range;

/// Bytes of a message that are read as its head.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;

/// A field of a message's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name, as it is written.
    pub name: &'a [u8],
    /// What stands behind the colon, with its line ends.
    pub value: &'a [u8],
    /// Where all of it stands, the line end included.
    pub place: Range<usize>,
}

impl Field<'_> {
    /// Whether it is called so; case doesn't matter.
    pub fn is(&self, name: &str) -> bool {
        self.name.trim_ascii_end().eq_ignore_ascii_case(name.as_bytes())
    }
}

/// The fields of a message, from the first on; lines that are no field are passed over.
pub fn fields(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let head = &message[..message.len().min(HEAD_BYTES_MAX)];
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(end) = field_end(head, at) {
            let place = at..end;
            at = end;
            let line = &head[place.clone()];
            if let Some(colon) = line.iter().position(|byte| *byte == b':') {
                return Some(Field { name: &line[..colon], value: &line[colon + 1..], place });
            }
        }
        None
    })
}

/// Where the field that begins at `at` ends, behind its last line; none at the empty line, and at the end.
fn field_end(head: &[u8], at: usize) -> Option<usize> {
    let rest = head.get(at..)?;
    if rest.is_empty() || rest.starts_with(b"\r\n") || rest.starts_with(b"\n") {
        return None;
    }
    let mut end = at;
    loop {
        end += head[end..].iter().position(|byte| *byte == b'\n').map_or(head.len() - end, |line_end| line_end + 1);
        // A line that begins with white space goes on with the field.
        if !matches!(head.get(end), Some(b' ' | b'\t')) {
            return Some(end);
        }
    }
}

/// How many servers say that the message came through them.
pub fn hops(message: &[u8]) -> usize {
    fields(message).filter(|field| field.is("Received")).count()
}

/// The message as people and programs read it: `head`, which this server wrote when the message came, then the bytes as they came.
/// `Authentication-Results` in the name of this server are left out of them: only it may say so (RFC 8601 5).
pub fn joined(head: &str, raw: &[u8]) -> Vec<u8> {
    let ours = fields(head.as_bytes()).find_map(|field| results_of(&field));
    let mut whole = Vec::with_capacity(head.len() + raw.len());
    whole.extend_from_slice(head.as_bytes());
    let mut at = 0;
    for field in fields(raw).filter(|field| ours.is_some() && results_of(field) == ours) {
        whole.extend_from_slice(&raw[at..field.place.start]);
        at = field.place.end;
    }
    whole.extend_from_slice(&raw[at..]);
    whole
}

/// Whose results a field says, in small letters; none where it is another field.
fn results_of(field: &Field<'_>) -> Option<String> {
    if !field.is("Authentication-Results") {
        return None;
    }
    let value = String::from_utf8_lossy(field.value);
    let (mut depth, mut is_quoted, mut who) = (0_u32, false, String::new());
    for character in value.chars() {
        match character {
            '"' if depth == 0 => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            ';' if !is_quoted => break,
            '\\' if is_quoted => {}
            it if it.is_whitespace() && (who.is_empty() || is_quoted) => {}
            it if it.is_whitespace() => break,
            it => who.push(it.to_ascii_lowercase()),
        }
    }
    Some(who)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(message: &str) -> Vec<String> {
        fields(message.as_bytes()).map(|field| String::from_utf8_lossy(field.name).into_owned()).collect()
    }

    #[test]
    fn fields_end_with_their_last_line_and_the_head_with_an_empty_one() {
        assert_eq!(
            names("From: a\r\nTo: b\r\n c\r\n\td\r\nSubject: e\r\n\r\nX-Body: f\r\n"),
            ["From", "To", "Subject"]
        );
        assert_eq!(names("From: a\nTo: b\n\nX-Body: f\n"), ["From", "To"]);
        assert_eq!(names("no field\r\nFrom: a"), ["From"]);
        assert_eq!(names("\r\nFrom: a\r\n"), [""; 0]);
        assert_eq!(names(""), [""; 0]);
    }

    #[test]
    fn nothing_behind_the_longest_head_is_a_field() {
        let long = |len: usize| format!("{}B: 2\r\n", "A: 1\r\n".repeat(len / 6));
        assert_eq!(names(&long(HEAD_BYTES_MAX - 6)).last().map(String::as_str), Some("B"));
        assert!(names(&long(HEAD_BYTES_MAX + 6)).iter().all(|name| name == "A"));
    }

    #[test]
    fn hops_are_counted_by_received_alone() {
        assert_eq!(hops(b"Received: a\r\nreceived : b\r\n c\r\nX-Received: d\r\n\r\nReceived: e\r\n"), 2);
    }

    #[test]
    fn nobody_elses_results_stand_in_our_name() {
        let head = "Return-Path: <a@b>\r\nAuthentication-Results: mx.example.org;\r\n\tspf=pass\r\n";
        for forged in [
            "Authentication-Results: mx.example.org; dkim=pass\r\n",
            "authentication-results:  MX.Example.ORG 1;\r\n dkim=pass\r\n",
            "Authentication-Results: (a (b) c) \"mx.example.org\" ; dkim=pass\r\n",
            "Authentication-Results : mx.example.org; none\r\n",
            "Authentication-Results:\r\n mx.example.org; none\r\n",
        ] {
            let raw = format!("A: 1\r\n{forged}B: 2\r\n\r\n{forged}");
            let whole = String::from_utf8(joined(head, raw.as_bytes())).expect("text");
            assert_eq!(whole, format!("{head}A: 1\r\nB: 2\r\n\r\n{forged}"), "{forged}");
        }
        let theirs = "Authentication-Results: mx.example.com; dkim=pass\r\nX: mx.example.org\r\n\r\nbody";
        assert_eq!(joined(head, theirs.as_bytes()), format!("{head}{theirs}").into_bytes());
        assert_eq!(joined("", theirs.as_bytes()), theirs.as_bytes());
    }
}
