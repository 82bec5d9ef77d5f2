//! Git LFS: large files beside a repository's objects (`docs/decisions/git.md`).
//!
//! Git LFS asks below a repository's own address, with the same credentials as git; bytes go to addresses that the server signs.

mod batch;
mod bytes;
mod locks;
mod pointer;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use domain::Error;
use http_shell::{
    argument::Argument,
    call::Call,
    error::{LFS_TYPE, Result},
    facts::{AskedBy, Facts},
    repository::RepositoryPermission,
};
use serde::Serialize;

pub(super) use self::pointer::{address_of, bytes_of, pointed};
pub(crate) use self::{batch::*, bytes::*, locks::*};
use super::wire::Served;

/// The repository of a git URL that Git LFS asks about.
pub(crate) struct LfsServed<P>(Served<P>);

impl<P: RepositoryPermission> Argument for LfsServed<P> {
    fn describe(facts: &mut Facts) {
        Served::<P>::describe(facts);
        facts.asked_by = AskedBy::GitLfs;
        facts.streams = false;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Served::take(call).await.map(Self)
    }
}

/// An answer of this status, as Git LFS reads it.
fn answer<T: Serialize>(status: StatusCode, value: &T) -> Result<HttpResponse> {
    let bytes = serde_json::to_vec(value).map_err(Error::internal)?;
    Ok(HttpResponse::build(status).insert_header((header::CONTENT_TYPE, LFS_TYPE)).body(bytes))
}
