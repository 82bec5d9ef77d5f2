//! Object storage (contract C 2.3, 3, 4.4): buckets of files, as S3 has them.
//!
//! A file is what a bucket has at a key, in one version or several. There are no folders but in keys: a folder is there
//! while the key of any file begins with its path. What is over REST and over S3's own protocol alike is decided here.

mod bucket;
mod content;
mod copy;
mod cursor;
mod deletion;
mod key;
mod lifecycle;
mod listing;
mod moves;
mod read;
mod refusal;
mod upload;
mod version;

pub use self::{
    bucket::{
        BUCKET_NAME_LEN, BUCKETS_LISTED_MAX, BUCKETS_MAX_DEFAULT, BucketAddress, BucketChange, BucketDraft, BucketName,
        BucketSettings, BucketStatus, CORS_RULES_MAX, CREATING_TRIES, CorsMethod, CorsRequest, CorsRule, CorsRules,
        FILE_TAGS, PublicHost, Quota, QuotaLevel, RESOURCE_TAGS, Tag, TagLimits, Tags, Versioning, policy_check,
        policy_of_public, url_host,
    },
    content::{
        CONTENT_TYPE_LEN_MAX, Checksum, ChecksumAlgorithm, ChecksumHasher, ChecksumKind, ChecksumPlan, ETag,
        FileChecksum, FileHeaders, FilePatch, HEADER_LEN_MAX, METADATA_BYTES_MAX, StorageClass, content_type_check,
    },
    copy::{COPIED_FILES_MAX, CopyPair, CopyPlace, CopyReplaces, FileCopy, copies_check},
    cursor::{FILES_CURSOR_LEN_MAX, ListCursorKey, ListOf, ListScope, OTHER_CURSOR_LEN_MAX, Place},
    deletion::{DELETED_FILES_MAX, DELETED_FOLDERS_MAX, Deletion},
    key::{FileKey, Folder, KEY_BYTES_MAX, KeyPrefix, KeyRange, successor},
    lifecycle::{
        AgedVersion, Expiry, Fate, KeyRun, LIFECYCLE_RULES_MAX, LifecycleRule, LifecycleRules, OLD_VERSIONS_KEPT_MAX,
        RULE_ID_LEN_MAX, RuleFilter, UPLOAD_DAYS_DEFAULT, due_after_days, next_lifecycle_run, next_midnight,
    },
    listing::{
        After, Delimiter, ItsOwnFolder, LIST_DEFAULT, LIST_MAX, Last, ListEntries, ListQuery, Listed, Listing,
        list_limit,
    },
    moves::{
        BATCH_FILES_MAX, BATCHES_PER_CALL, FileMove, FolderFacts, FolderMove, MOVE_LEFT_ALONE, MOVED_FILES_MAX,
        MOVED_FOLDERS_MAX, MoveBatch, MoveCursor, MoveId, MoveJournal, MovePair, MoveRequest, MoveStart, MovedFile,
        Moves, MovingFolders, Resume,
    },
    read::{
        ByteRange, DeleteConditions, ETAGS_MAX, ETagList, Overwrite, Precondition, RangeAnswer, ReadConditions,
        ReadOutcome, StoredFile, TagStrength, WriteConditions, WriteOutcome, range_answer,
    },
    refusal::{
        bucket_creating, bucket_deleting, bucket_exists, bucket_failed, bucket_full, bucket_not_empty,
        checksum_unknown, checksum_wrong, copies_collide, copy_source_changed, copy_to_itself, file_changed,
        file_exists, file_name_is_folder, file_not_found, file_replaced, file_too_large, files_not_deleted,
        folder_download, folder_exists, folder_moving, folder_not_found, folder_path_open, invalid_cursor, key_invalid,
        move_into_itself, move_of_bucket, move_to_itself, move_under_way, moved_twice, moves_collide, no_bucket,
        no_content_to_restore, no_public_address, part_missing, part_too_small, parts_out_of_order,
        storage_class_unknown, too_large_to_copy, too_many_buckets, too_many_markers, upload_not_found,
        upload_too_large, version_is_current, version_locked, version_not_found, versioning_stays,
    },
    upload::{
        COMPLETED_KEPT, Completed, CompletedPart, Completion, FILE_BYTES_MAX, PART_BYTES_MAX, PART_BYTES_MIN,
        PART_LINKS_LAST, PARTS_MAX, PartNumber, PartsDigest, SINGLE_BYTES_MAX, SentPart, UploadPlan,
        part_numbers_check, single_check, upload_id_parse,
    },
    version::{
        FileState, RESTORE_MARKERS_MAX, Restored, RowChange, VERSION_ID_LEN, VERSIONS_LISTED_MAX, Version, VersionId,
        VersionKind, VersionName, VersionStamp,
    },
};
