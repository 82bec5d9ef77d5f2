//! How much a runner says of a job, at most: who sends keeps to it, and who takes it refuses what is more (contract C 2.1, 4.1).

/// Steps that a runner reports, with what actions do once the steps are over (contract C 4.1).
pub const STEP_REPORTS_MAX: usize = 1_100;
/// The largest index of a step (contract C 2.1).
pub const STEP_INDEX_MAX: i64 = 5_000;
/// Characters of a step's name (contract C 2.1).
pub const STEP_NAME_LEN_MAX: usize = 500;
/// Characters of a value that a job hands on (contract C 4.1); the runner counts bytes, which are at least as many.
pub const JOB_OUTPUT_LEN_MAX: usize = 65_536;
/// Bytes of all that a job hands on, with the names.
pub const JOB_OUTPUTS_LEN_MAX: usize = 1024 * 1024;
/// Characters of a job's summary (contract C 4.1).
pub const JOB_SUMMARY_LEN_MAX: usize = 65_536;
/// Characters of why a job couldn't be run (contract C 4.1).
pub const JOB_ERROR_LEN_MAX: usize = 2_000;
/// Annotations of a job (contract C 4.1).
pub const ANNOTATIONS_MAX: usize = 50;
/// Characters of an annotation's message (contract C 4.1).
pub const ANNOTATION_MESSAGE_LEN_MAX: usize = 4_000;
/// Characters of the name of the file that an annotation is of (contract C 4.1).
pub const ANNOTATION_FILE_LEN_MAX: usize = 500;
/// Characters of an annotation's title (contract C 4.1).
pub const ANNOTATION_TITLE_LEN_MAX: usize = 200;
/// Characters of where a job's deployment is to be seen.
pub const ENVIRONMENT_URL_LEN_MAX: usize = 2_000;

/// A text that people may follow to what a job deployed: an http or https address, no longer than may be. None of any other text.
pub fn environment_address(text: &str) -> Option<&str> {
    let address = text.trim();
    let (scheme, rest) = address.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let has_host = !rest.is_empty() && !rest.starts_with(['/', '?', '#']);
    let is_one_word = !address.contains(|it: char| it.is_whitespace() || it.is_control());
    let fits = address.chars().count() <= ENVIRONMENT_URL_LEN_MAX;
    (is_web && has_host && is_one_word && fits).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_lead_to_deployments() {
        for text in ["https://example.com", "HTTP://[::1]:8080/a?b#c", "http://é.example/ü"] {
            assert_eq!(environment_address(&format!(" {text}\n")), Some(text));
        }
        for text in
            ["", "example.com", "https://", "https:///a", "https://?a", "javascript:alert(1)", "ftp://a", "a https://b"]
        {
            assert_eq!(environment_address(text), None, "{text}");
        }
        for text in ["https://a b", "https://a\nb", "https://a\0"] {
            assert_eq!(environment_address(text), None, "{text:?}");
        }
        let long = |len: usize| format!("https://{}", "é".repeat(len - "https://".len()));
        for (len, fits) in
            [(ENVIRONMENT_URL_LEN_MAX - 1, true), (ENVIRONMENT_URL_LEN_MAX, true), (ENVIRONMENT_URL_LEN_MAX + 1, false)]
        {
            assert_eq!(environment_address(&long(len)).is_some(), fits, "{len}");
        }
    }
}
