//! `info/refs`: what a client reads first.

use actix_web::{HttpResponse, HttpResponseBuilder, http::header};
use actors::git::host::RefsAsked;
use domain::{
    Error,
    git::{
        RefName,
        wire::{Service, v2_advertisement},
    },
};
use http_shell::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery, parse},
    state::State,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::argument::Served;

/// The header in which a client says which version of the protocol it speaks.
const GIT_PROTOCOL: &str = "Git-Protocol";

/// Which version of the protocol the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// The first one.
    V0,
    /// The second one, which asks for refs by their names.
    V2,
}

impl Protocol {
    /// As git's programs are told.
    pub(super) const fn spoken(self) -> Option<&'static str> {
        match self {
            Self::V0 => None,
            Self::V2 => Some("version=2"),
        }
    }
}

impl Argument for Protocol {
    fn describe(facts: &mut Facts) {
        facts.header(GIT_PROTOCOL, "`version=2`, or the first version is spoken.", false);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let is_v2 = call.header(GIT_PROTOCOL).is_some_and(|said| said.split(':').any(|it| it == "version=2"));
        Ok(if is_v2 { Self::V2 } else { Self::V0 })
    }
}

/// `?service=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct InfoRefsQuery {
    /// `git-upload-pack` or `git-receive-pack`.
    service: Option<String>,
}

impl RequestQuery for InfoRefsQuery {}

/// The repository, in which the caller may do what they come for.
pub(crate) enum Asked {
    Fetch(Box<Served<GitRead>>),
    Push(Box<Served<GitWrite>>),
}

impl Argument for Asked {
    fn describe(facts: &mut Facts) {
        Query::<InfoRefsQuery>::describe(facts);
        Served::<GitRead>::describe(facts);
        facts.error(400, "Use a git client that speaks HTTP's smart protocol.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let query: InfoRefsQuery = parse(call.request.query_string())?;
        let service = query.service.as_deref().and_then(Service::from_name);
        match service {
            Some(Service::UploadPack) => Ok(Self::Fetch(Box::new(Served::take(call).await?))),
            Some(Service::ReceivePack) => Ok(Self::Push(Box::new(Served::take(call).await?))),
            None => {
                Served::<GitRead>::take(call).await?;
                let message = "Use a git client that speaks HTTP's smart protocol.";
                Err(Error::bad_request("service", message).into())
            }
        }
    }
}

/// The beginning of an answer that git reads; nobody keeps it.
pub(super) fn answering(service: Service, what: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, format!("application/x-{}-{what}", service.as_str())))
        .insert_header((header::CACHE_CONTROL, "no-cache, max-age=0, must-revalidate"));
    response
}

/// The same, with all that is said.
pub(super) fn said(service: Service, what: &str, bytes: impl Into<bytes::Bytes>) -> HttpResponse {
    answering(service, what).body(bytes.into())
}

/// List the refs of a repository to git
///
/// What `git clone`, `git fetch` and `git push` ask first. The credential is the password of `Basic`, with any name: a key with
/// git's permissions, a machine's key, or the token of a sign-in on the command line.
#[utoipa::path(get, path = "/git/{owner}/{repository}/info/refs", responses(
    (status = 200, description = "The refs, in the version of the protocol that the client speaks.",
        content_type = "application/x-git-upload-pack-advertisement")))]
pub(crate) async fn git_info_refs(asked: Asked, protocol: Protocol, state: State) -> Result<HttpResponse> {
    let (service, stored) = match &asked {
        Asked::Fetch(served) => (Service::UploadPack, &served.stored),
        Asked::Push(served) => (Service::ReceivePack, &served.stored),
    };
    let bytes = match (service, protocol) {
        (Service::UploadPack, Protocol::V2) => v2_advertisement().into(),
        (Service::UploadPack, Protocol::V0) => {
            let head = RefName::of_branch(&stored.settings.default_branch);
            state.git.refs_answer(stored.no, RefsAsked::ToFetch { head }).await?
        }
        (Service::ReceivePack, _) => state.git.refs_answer(stored.no, RefsAsked::ToPush).await?,
    };
    Ok(said(service, "advertisement", bytes))
}

/// What is told of a request that git can't have sent.
pub(super) fn malformed(error: &domain::git::wire::WireError) -> Error {
    Error::bad_request("malformed", error.0)
}
