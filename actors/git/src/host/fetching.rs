//! Sending packs.

use std::{fs::File, io};

use bytes::Bytes;
use domain::{Result, git::wire::PackRequest};
use gateways::GitRun;
use store::git::StoredRepository;
use tokio::io::AsyncWriteExt;

use super::{
    GitHost,
    answers::{Copied, Following, Found, Writing},
    internal,
};

/// How long `git upload-pack` waits for more of a request, in seconds.
const SILENCE_SECONDS: u32 = 60;

/// Where the answer to a request to fetch comes from.
#[derive(Debug)]
pub enum FetchAnswer {
    /// From a run of git, which is still to read the request.
    Run(Box<GitRun>),
    /// From what git answers to whoever asks for the same.
    Shared(Following),
}

impl GitHost {
    /// Starts to answer a request to fetch. `protocol` is the version that is spoken.
    pub async fn fetch(
        &self,
        repository: &StoredRepository,
        protocol: Option<&'static str>,
        body: &Bytes,
    ) -> Result<FetchAnswer> {
        match self.shared(repository, protocol, body).await? {
            Some(following) => Ok(FetchAnswer::Shared(following)),
            None => Ok(FetchAnswer::Run(Box::new(self.send(repository, protocol).await?))),
        }
    }

    /// What git answers to whoever asks for the same, where that can be shared.
    async fn shared(
        &self,
        repository: &StoredRepository,
        protocol: Option<&'static str>,
        body: &Bytes,
    ) -> Result<Option<Following>> {
        let request = if protocol.is_some() { PackRequest::of_v2(body) } else { PackRequest::of_v0(body) };
        let Some(request) = request else { return Ok(None) };
        let (parts, no) = (&self.parts, repository.no);
        let beside = parts.listings.told_apart(&parts.store, no, request.follows_from).await?;
        let name = request.answer_name(&no.to_string(), &beside);
        let mut following = match parts.answers.find(name, repository.size).await {
            Found::Nothing => return Ok(None),
            Found::There(following) => following,
            Found::Begun(following, writing) => {
                let (host, repository, body) = (self.clone(), repository.clone(), body.clone());
                tokio::spawn(async move { writing.done(host.answer(&repository, protocol, &body, &writing)).await });
                following
            }
        };
        // Where nothing came of it, somebody who asks for themselves is told why.
        Ok(following.has_begun().await.then_some(following))
    }

    /// Has git answer to a file.
    async fn answer(
        &self,
        repository: &StoredRepository,
        protocol: Option<&'static str>,
        body: &[u8],
        writing: &Writing,
    ) -> io::Result<Copied> {
        let mut run = self.send(repository, protocol).await.map_err(io::Error::other)?;
        let (stdin, stdout) = (run.stdin.take(), run.stdout.take());
        let Some((mut stdin, stdout)) = stdin.zip(stdout) else { return Err(io::Error::other("git has no output")) };
        let asking = async move {
            if let Err(error) = stdin.write_all(body).await {
                tracing::debug!(%error, "git read less than was sent");
            }
        };
        let source = File::from(stdout.into_owned_fd()?);
        let (copied, ()) = tokio::join!(writing.copy(source), asking);
        match (copied?, run.end().await) {
            (Copied::All, Err(error)) => {
                tracing::info!(%error, "git didn't end well");
                Ok(Copied::Said)
            }
            (copied, _) => Ok(copied),
        }
    }

    /// Starts what answers a request to fetch, which it reads from its input.
    async fn send(&self, repository: &StoredRepository, protocol: Option<&'static str>) -> Result<GitRun> {
        let view = self.view(repository).await?;
        let silence = format!("--timeout={SILENCE_SECONDS}");
        let job = view.job("upload-pack").with_all(["--stateless-rpc", "--strict", &silence, "."]);
        let job = match protocol {
            Some(protocol) => job.speaking(protocol),
            None => job,
        };
        self.parts.git.start(&job).await.map_err(internal)
    }
}
