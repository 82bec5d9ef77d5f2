//! What object storage refuses, one function each, so that what is answered and what is documented is the same.

use crate::{Timestamp, error::Error};

/// 404: no bucket of the organization has this id.
pub fn no_bucket() -> Error {
    Error::not_found("Bucket not found")
}

/// 404: the bucket has no file with this key.
pub fn file_not_found() -> Error {
    Error::not_found("File not found.")
}

/// 404: nothing in the bucket lies in this folder.
pub fn folder_not_found() -> Error {
    Error::not_found("Folder not found.")
}

/// 404: the file has no such version; for a download also where it is a delete marker.
pub fn version_not_found() -> Error {
    Error::not_found("Version not found.")
}

/// 404: there is no such upload, or it was completed or aborted.
pub fn upload_not_found() -> Error {
    Error::not_found("Upload not found.")
}

/// 409: the organization has a bucket with this name already.
pub fn bucket_exists() -> Error {
    Error::conflict("bucket_exists", "A bucket with this name exists.")
}

/// 409: the organization has so many buckets, which is all that it may have.
pub fn too_many_buckets(most: u64) -> Error {
    Error::conflict("too_many_buckets", format!("An organization has up to {most} buckets."))
}

/// 409: only an empty bucket is deleted without `force`.
pub fn bucket_not_empty() -> Error {
    Error::conflict("bucket_not_empty", "The bucket isn't empty.")
}

/// 409: the bucket isn't there yet.
pub fn bucket_creating() -> Error {
    Error::conflict("resource_busy", "This bucket is being created.")
}

/// 409: the bucket isn't there much longer.
pub fn bucket_deleting() -> Error {
    Error::conflict("resource_busy", "This bucket is being deleted.")
}

/// 409: the bucket could not be made; it can only be deleted.
pub fn bucket_failed() -> Error {
    Error::conflict("resource_busy", "This bucket could not be created.")
}

/// 403: a write would take the bucket over its quota.
pub fn bucket_full() -> Error {
    Error::forbidden("quota_exceeded", "This bucket is full.")
}

/// 409: versioning that was on once can be suspended only.
pub fn versioning_stays() -> Error {
    Error::conflict("versioning_stays", "Versioning that was on can be suspended, but not disabled.")
}

/// 409: strangers' files would be served from the console's own host.
pub fn no_public_address() -> Error {
    Error::conflict("no_public_address", "Public files need a host of their own. Set s3.domain or s3.public_url.")
}

/// 400: a key that no file can have.
pub fn key_invalid(message: &'static str) -> Error {
    Error::bad_request("invalid_key", message)
}

/// 400: a folder's path ends with `/`, and the whole bucket's is empty.
pub fn folder_path_open() -> Error {
    Error::bad_request("invalid_folder", "Folder paths end with /.")
}

/// 400: what ends with `/` is a folder.
pub fn folder_download() -> Error {
    Error::bad_request("invalid_key", "Folders can't be downloaded.")
}

/// 400: a cursor is damaged, or belongs to another list.
pub fn invalid_cursor() -> Error {
    Error::bad_request("invalid_cursor", "Invalid cursor.")
}

/// 400: a file is made or moved to where only folders are.
pub fn file_name_is_folder() -> Error {
    Error::bad_request("invalid_key", "File names can't end with /.")
}

/// 400: a file is moved to where it is.
pub fn move_to_itself() -> Error {
    Error::bad_request("invalid_move", "The file is already there.")
}

/// 400: a move of everything, or to above everything.
pub fn move_of_bucket() -> Error {
    Error::bad_request("invalid_move", "Pick a folder, not the whole bucket.")
}

/// 400: a folder would lie in itself.
pub fn move_into_itself() -> Error {
    Error::bad_request("invalid_move", "A folder can't be moved into itself.")
}

/// 400: a file is moved twice by one request, by itself or with a folder.
pub fn moved_twice() -> Error {
    Error::bad_request("invalid_move", "The same file or folder is listed twice.")
}

/// 400: two moves of one request end in the same place, or one ends where another one begins.
pub fn moves_collide() -> Error {
    Error::bad_request("invalid_move", "Two of the moves have the same place.")
}

/// 400: a file is copied to where it is.
pub fn copy_to_itself() -> Error {
    Error::bad_request("invalid_copy", "The file is already there.")
}

/// 400: two copies of one request have one name.
pub fn copies_collide() -> Error {
    Error::bad_request("invalid_copy", "Two of the copies have the same place.")
}

/// 409: the file that is to be copied was written anew while it was read.
pub fn file_replaced() -> Error {
    Error::conflict("file_replaced", "This file was written anew meanwhile; try again.")
}

/// 409: the file that is to be copied isn't what the request says of it.
pub fn copy_source_changed() -> Error {
    Error::conflict("stale_source", "The file that is copied isn't the one you named.")
}

/// 409: a file has this key already.
pub fn file_exists() -> Error {
    Error::conflict("file_exists", "A file with this name already exists.")
}

/// 409: files lie in a folder of this name already.
pub fn folder_exists() -> Error {
    Error::conflict("folder_exists", "A folder with this name already exists.")
}

/// 409: the file is another one than the request names by its `ETag`.
pub fn file_changed() -> Error {
    Error::conflict("stale_file", "This file changed since you opened it.")
}

/// 409 of the contract, which nothing here answers: contents are shared, and never copied.
pub fn too_large_to_copy() -> Error {
    Error::conflict("too_large_to_copy", "This file is too large to copy in one request.")
}

/// 409: old versions of what is moved or deleted are locked.
pub fn files_not_deleted() -> Error {
    Error::conflict("files_not_deleted", "Some files could not be deleted.")
}

/// 409: a write below either name of a folder that is being moved.
pub fn folder_moving() -> Error {
    Error::conflict("folder_moving", "This folder is being moved.")
}

/// 409: the moves of a request that doesn't resume them are under way.
pub fn move_under_way() -> Error {
    Error::conflict("move_under_way", "This move is already under way.")
}

/// 400: the version that is to be restored is a delete marker, and isn't the newest or has nothing below.
pub fn no_content_to_restore() -> Error {
    Error::bad_request("no_content", "Pick a version with content to restore.")
}

/// 409: the version that is to be restored is what the file has now.
pub fn version_is_current() -> Error {
    Error::conflict("version_is_current", "This is already the current version.")
}

/// 409: more delete markers lie on the file's content than one commit takes away.
pub fn too_many_markers() -> Error {
    Error::conflict("too_many_markers", "This file has too many delete markers. Delete some of them first.")
}

/// 403: the version is kept until then.
pub fn version_locked(until: Timestamp) -> Error {
    let date = jiff::Timestamp::from_millisecond(until.0).unwrap_or(jiff::Timestamp::MAX);
    let date = date.to_zoned(jiff::tz::TimeZone::UTC).date();
    Error::forbidden("locked", format!("This version is locked until {date}."))
}

/// 413: the file is larger than files can be.
pub fn file_too_large() -> Error {
    Error::too_large("Files can have up to 5 TB.")
}

/// 413: the file is larger than what one request takes.
pub fn upload_too_large() -> Error {
    Error::too_large("Send files over 5 GB in parts.")
}

/// 400: the parts of an upload don't ascend.
pub fn parts_out_of_order() -> Error {
    Error::bad_request("invalid_parts", "Parts must be in order.")
}

/// 400: a part wasn't sent, or is another one than the client says.
pub fn part_missing(number: u32) -> Error {
    Error::bad_request("invalid_parts", format!("Part {number} is missing or has another ETag."))
}

/// 400: only the last part may be small.
pub fn part_too_small(number: u32) -> Error {
    Error::bad_request("part_too_small", format!("Part {number} has less than 5 MB."))
}

/// 400: a storage class whose files would have to be thawed.
pub fn storage_class_unknown() -> Error {
    Error::bad_request("invalid_storage_class", "Files are kept ready to read. Pick another storage class.")
}

/// 400: what was sent has another checksum than the request says.
pub fn checksum_wrong() -> Error {
    Error::bad_request("checksum_wrong", "The bytes that came have another checksum.")
}

/// 400: a checksum of a kind that isn't computed here.
pub fn checksum_unknown() -> Error {
    Error::bad_request("checksum_unknown", "Use Content-MD5 or x-amz-checksum-sha256.")
}
