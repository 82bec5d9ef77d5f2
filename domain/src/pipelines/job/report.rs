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
