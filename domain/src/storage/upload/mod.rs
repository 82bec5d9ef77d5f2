//! Sending files: in one piece up to 5 GiB, or in up to 10,000 parts that become one file.

mod complete;
mod id;
mod part;
mod plan;

pub use self::{
    complete::{COMPLETED_KEPT, Completed, CompletedPart, Completion, PartsDigest, SentPart},
    id::upload_id_parse,
    part::{PART_BYTES_MAX, PART_BYTES_MIN, PARTS_MAX, PartNumber, part_numbers_check},
    plan::{FILE_BYTES_MAX, PART_LINKS_LAST, SINGLE_BYTES_MAX, UploadPlan, single_check},
};

#[cfg(test)]
mod tests;
