//! What is done to files, and the points at which each of it is killed.

/// Something that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    PutSmall,
    PutLarge,
    PutAddress,
    Delete,
    PutVersion,
    LayMarker,
    Undelete,
    RestoreOld,
    DeleteVersion,
    MoveFile,
    MoveFiles,
    MoveFolder,
    BeginUpload,
    PutPart,
    CompleteUpload,
    AbortUpload,
    EndUpload,
    Expire,
    DeleteBucket,
    Sweep,
}

/// All of them.
pub const ACTS: &[Act] = &[
    Act::PutSmall,
    Act::PutLarge,
    Act::PutAddress,
    Act::Delete,
    Act::PutVersion,
    Act::LayMarker,
    Act::Undelete,
    Act::RestoreOld,
    Act::DeleteVersion,
    Act::MoveFile,
    Act::MoveFiles,
    Act::MoveFolder,
    Act::BeginUpload,
    Act::PutPart,
    Act::CompleteUpload,
    Act::AbortUpload,
    Act::EndUpload,
    Act::Expire,
    Act::DeleteBucket,
    Act::Sweep,
];

/// A blob's way to the disk: its pending row, the first of its parts, the next one.
const WRITING: [&str; 4] = ["commit=kill;times=1", "commit=kill_after;times=1", "blob=kill", "blob=kill;after=1"];

impl Act {
    /// The points at which it is killed, each of which it comes to.
    pub fn rules(self) -> Vec<String> {
        let owned = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect::<Vec<_>>();
        let lane = |command| turn("bucket_lane", command);
        match self {
            Self::PutSmall | Self::PutVersion => lane("put_file"),
            Self::PutLarge | Self::PutAddress => [owned(&WRITING), lane("put_file")].concat(),
            Self::Delete | Self::LayMarker => lane("delete_file"),
            Self::Undelete | Self::RestoreOld => lane("restore_version"),
            Self::DeleteVersion => lane("delete_version"),
            Self::MoveFile | Self::MoveFiles => turn("bucket", "move_files"),
            // The journal's entry, the first thousand, the rest with the entry's end.
            Self::MoveFolder => [turn("bucket", "move_files"), later("bucket", 3)].concat(),
            Self::BeginUpload => turn("bucket_upload", "begin_upload"),
            Self::PutPart => [owned(&WRITING), turn("bucket_upload", "put_part")].concat(),
            Self::CompleteUpload => turn("bucket_upload", "complete_upload"),
            Self::AbortUpload => turn("bucket_upload", "abort_upload"),
            Self::EndUpload => owned(&["commit:bucket_upload=kill", "commit:bucket_upload=kill_after"]),
            // The timer's turn; the keys, the upload, the job's end.
            Self::Expire => [later("bucket", 1), later("storage.lifecycle", 3)].concat(),
            // Files, old versions, the parts of an upload, the upload, the bucket, the job's end.
            Self::DeleteBucket => [turn("resource_book", "delete_bucket"), later("storage.removal", 6)].concat(),
            // The timer's turn, segments, contents, the job's end; and whatever else is over by then.
            Self::Sweep => later("housekeeping", 4),
        }
    }
}

/// The points of a command that commits once.
fn turn(kind: &str, command: &str) -> Vec<String> {
    vec![format!("handler:{kind}/{command}=kill"), format!("commit:{kind}=kill"), format!("commit:{kind}=kill_after")]
}

/// Before and behind each of so many commits.
fn later(kind: &str, commits: usize) -> Vec<String> {
    (0..commits)
        .flat_map(|at| ["kill", "kill_after"].map(|effect| format!("commit:{kind}={effect};after={at}")))
        .collect()
}
