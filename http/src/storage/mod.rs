//! Object storage (contract C 2.3, 4.4): buckets, and the files in them with their versions.

mod bucket;
mod copies;
mod deletions;
mod download;
mod file;
mod folders;
mod list;
mod moves;
mod object;
mod parts;
mod rules;
mod sending;
mod upload;
mod uploads;
mod versions;
mod whole;

pub(crate) use self::{
    bucket::*,
    copies::*,
    deletions::*,
    download::*,
    folders::*,
    list::*,
    moves::*,
    object::*,
    parts::*,
    rules::*,
    sending::*,
    upload::{AddressUpload, abandon},
    uploads::*,
    versions::*,
    whole::*,
};

use domain::storage::BucketAddress;

use crate::path::PathParameter;

impl PathParameter for BucketAddress {
    const NAME: &'static str = "resourceId";
    const DESCRIPTION: &'static str = "A bucket, or the project (`prj_…`) that has it.";
    const EXAMPLE: &'static str = "res_01jd7rt4m5e9fv2w8x3c6k0hqz";
    const NOT_FOUND: &'static str = "Bucket not found";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}
