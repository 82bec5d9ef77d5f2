//! Object storage (contract C 2.3, 4.4): buckets, and the files in them with their versions.

mod bucket;
mod download;
mod file;
mod list;
mod moves;
mod object;
mod parts;
mod upload;
mod versions;

pub(crate) use self::{bucket::*, download::*, list::*, moves::*, object::*, parts::*, versions::*};

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
