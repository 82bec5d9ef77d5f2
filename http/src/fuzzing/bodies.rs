//! Bodies in JSON, each as its endpoint reads it.

use domain::Error;
use http_shell::fuzzing::Kinds;

/// The kinds of each area.
const KINDS: [Kinds; 6] = [
    http_accounts::fuzzing::BODIES,
    http_backup::fuzzing::BODIES,
    http_vault::fuzzing::BODIES,
    http_notify::fuzzing::BODIES,
    http_pages::fuzzing::BODIES,
    http_platform::fuzzing::BODIES,
];

/// A line with the kind of body, and the body. What is refused is the client's fault, and says what is wrong.
pub fn bodies(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let (kind, raw) = (&bytes[..end], &bytes[end + 1..]);
    let Some((_, read)) = KINDS.into_iter().flatten().find(|(name, _)| name.as_bytes() == kind) else { return };
    match read(raw) {
        Err(Error::Invalid { problems }) => {
            assert!(!problems.is_empty(), "nothing is wrong");
            assert!(problems.iter().all(|problem| problem.message.ends_with('.')), "{problems:?}");
        }
        Err(error) => assert!(matches!(error.status(), 400..=499), "{error:?}"),
        Ok(()) => {}
    }
}
