//! `git-upload-pack`: what a client has and wants, and the pack that it is sent.

use std::time::Instant;

use actix_web::HttpResponse;
use actors::git::{
    NoteClone, cloner,
    host::{FetchAnswer, RefsAsked},
};
use domain::{
    Context,
    git::{
        RefName,
        wire::{LsRefs, Packet, Service, WireError, is_clone, v2_command},
    },
};
use http_shell::{error::Result, permission::GitRead, state::State};

use super::{
    argument::Served,
    body::FetchBody,
    listing::{Protocol, answering, malformed, said},
};
use crate::running::output;

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
    if is_clone(&body) {
        note_clone(&state, &served);
    }
    let mut response = answering(Service::UploadPack, "result");
    Ok(match answer {
        FetchAnswer::Run(run) => response.streaming(output(*run, body)),
        FetchAnswer::Shared(following) => response.streaming(following.pieces()),
    })
}

/// Has the owners be told of somebody's first clone, for which nobody waits.
fn note_clone(state: &State, served: &Served<GitRead>) {
    let Some(by) = cloner(&served.context.caller) else { return };
    // A large request takes its time.
    let deadline = Instant::now() + state.options.request_timeout;
    let (state, context) = (State::clone(state), Context { deadline, ..served.context.clone() });
    let (id, no, org_id) = (served.stored.id(), served.stored.no, served.stored.resource.org_id);
    actix_web::rt::spawn(async move {
        let is_first = match state.store.repository_cloned(no, by).await {
            Ok(before) => before.is_none(),
            Err(error) => {
                tracing::warn!(%error, repository = %id, "it isn't known whether a clone is the first one");
                return;
            }
        };
        if is_first && let Err(error) = state.actors.repository.tell(&id, NoteClone { org_id }, context) {
            tracing::warn!(%error, repository = %id, "a clone was not noted");
        }
    });
}
