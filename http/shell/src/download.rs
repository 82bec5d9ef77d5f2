//! A content that goes out: all of it, or the range that is asked for.

use std::ops::Range;

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};
use domain::{
    Error,
    id::{ContentId, OrgId},
    storage::{RangeAnswer, range_answer},
};
use futures::TryStreamExt;

use crate::{call::Call, error::Result, facts::Facts, state::State};

/// A content of an organization that is sent to whoever asked for it.
pub struct Download {
    org_id: OrgId,
    content: ContentId,
    size: u64,
    range: RangeAnswer,
}

impl Download {
    /// Says of an endpoint that parts of its answer can be asked for.
    pub fn describe(facts: &mut Facts) {
        facts.header("Range", "One range of bytes, as `bytes=0-1023`.", false);
    }

    /// What a request is sent of a content that has so many bytes.
    pub fn of(call: &Call, org_id: OrgId, content: ContentId, size: u64) -> Self {
        Self { org_id, content, size, range: range_answer(call.header(header::RANGE), size) }
    }

    /// The answer; `head` adds what there is to say of the bytes. 416 for a range behind their end.
    pub async fn answer(self, state: &State, head: impl FnOnce(&mut HttpResponseBuilder)) -> Result<HttpResponse> {
        let Self { org_id, content, size, range } = self;
        let (status, part) = match range {
            RangeAnswer::Whole => (StatusCode::OK, None),
            RangeAnswer::Part(part) => (StatusCode::PARTIAL_CONTENT, Some(*part.bytes.start()..part.bytes.end() + 1)),
            RangeAnswer::Unsatisfiable => {
                let mut response = HttpResponse::build(StatusCode::RANGE_NOT_SATISFIABLE);
                return Ok(response.insert_header((header::CONTENT_RANGE, format!("bytes */{size}"))).finish());
            }
        };
        let read = state.store.content_read(org_id, content, part.clone()).await?;
        let read = read.ok_or_else(|| Error::internal(format_args!("there is no content {content}")))?;
        let mut response = HttpResponse::build(status);
        if let Some(Range { start, end }) = part {
            response.insert_header((header::CONTENT_RANGE, format!("bytes {start}-{}/{size}", end - 1)));
        }
        head(&mut response);
        Ok(response
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::ACCEPT_RANGES, "bytes"))
            .no_chunking(read.range.end - read.range.start)
            .streaming(read.bytes.map_err(|error| {
                tracing::warn!(%error, "a download broke off");
                std::io::Error::other("the download broke off")
            })))
    }
}
