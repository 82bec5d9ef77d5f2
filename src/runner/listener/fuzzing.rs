//! What a job prints, as fuzzing has it.

use domain::pipelines::logs::LOG_LINE_LEN_MAX;

use super::{Heard, LINE_LEN_MAX, Listener};
use crate::runner::words::Mark;

const MARKER: &str = "0123456789abcdef0123456789abcdef";
const SECRET: &str = "s3cr\u{e9}t-42";
/// How far before the place at which a line is cut the input begins, at most.
const BEFORE_MAX: usize = 255;

/// Bytes that a job prints. The first says how many come at once, the second where in a long line they begin; each NUL stands for
/// a secret, and each U+0001 for the worker's word that a step began.
pub fn printed(bytes: &[u8]) {
    let [at_once, before, bytes @ ..] = bytes else { return };
    let mut output = vec![b'x'; LINE_LEN_MAX - BEFORE_MAX + usize::from(*before)];
    for byte in bytes {
        match byte {
            0 => output.extend_from_slice(SECRET.as_bytes()),
            1 => output.extend_from_slice(format!("{}\n", Mark::Begin(7).line(MARKER)).as_bytes()),
            byte => output.push(*byte),
        }
    }
    output.extend_from_slice(format!("\n{}\n", Mark::End(7).line(MARKER)).as_bytes());
    let mut listener = Listener::new(MARKER, [SECRET.to_owned()], true);
    let (mut lines, mut ends) = (Vec::new(), 0);
    for chunk in output.chunks(usize::from(*at_once) * 257 + 1) {
        listener.take(chunk, &mut |heard| match heard {
            Heard::Line(line) => lines.push(line),
            Heard::End(index) => ends += usize::from(index == 7),
            Heard::Said(_) => {}
        });
    }
    let mut last = 0;
    listener.finish(&mut |_| last += 1);
    assert_eq!((ends, last), (1, 0), "the end is heard, and is the last");
    for line in &lines {
        assert!(line.chars().count() <= LOG_LINE_LEN_MAX);
        assert!(!line.contains(SECRET), "{line:?}");
    }
    // Of one line that has only text, no two pieces make a secret either.
    if bytes.iter().all(|byte| !matches!(byte, 1..=0x1f | 0x7f..)) {
        assert!(!lines.concat().contains(SECRET));
    }
}
