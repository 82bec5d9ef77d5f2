//! `git-upload-pack`: what a client has and wants, and the pack that it is sent.

use actix_web::HttpResponse;
use actors::git::host::{FetchAnswer, RefsAsked};
use domain::git::{
    RefName,
    wire::{LsRefs, Packet, Service, WireError, v2_command},
};

use super::{
    argument::Served,
    body::FetchBody,
    listing::{Protocol, answering, malformed, said},
};
use crate::{error::Result, git::running::output, permission::GitRead, state::State};

/// Send objects of a repository to git
///
/// What `git clone` and `git fetch` ask after the refs; in the second version of the protocol also for the refs themselves.
#[utoipa::path(post, path = "/git/{owner}/{repository}/git-upload-pack", responses(
    (status = 200, description = "What git says, with a pack in it.",
        content_type = "application/x-git-upload-pack-result")))]
pub(crate) async fn git_upload_pack(
    served: Served<GitRead>,
    protocol: Protocol,
    body: FetchBody,
    state: State,
) -> Result<HttpResponse> {
    let (stored, FetchBody(body)) = (&served.stored, body);
    let begins = Packet::first(&body).and_then(|first| first.ok_or(WireError("The request breaks off.")));
    begins.map_err(|error| malformed(&error))?;
    if protocol == Protocol::V2 && v2_command(&body).map_err(|error| malformed(&error))? == b"ls-refs" {
        let asked = LsRefs::read(&body).map_err(|error| malformed(&error))?;
        let head = RefName::of_branch(&stored.settings.default_branch);
        let answer = state.git.refs_answer(stored.no, RefsAsked::Some { asked, head }).await?;
        return Ok(said(Service::UploadPack, "result", answer));
    }
    let answer = state.git.fetch(stored, protocol.spoken(), &body).await?;
    let mut response = answering(Service::UploadPack, "result");
    Ok(match answer {
        FetchAnswer::Run(run) => response.streaming(output(*run, body)),
        FetchAnswer::Shared(following) => response.streaming(following.pieces()),
    })
}
