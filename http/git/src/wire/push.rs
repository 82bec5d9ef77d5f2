//! `git-receive-pack`: what a client pushes, and what becomes of it.
//!
//! A push is acknowledged by the line of its report, which is sent once the commit is made that moves the refs. The answer begins
//! once all of the pack has come: git may take its time to look at it, and so may the search for secrets.

use std::{
    collections::HashMap,
    pin::pin,
    time::{Duration, Instant},
};

use actix_web::{HttpResponse, dev::Payload, rt};
use actors::git::{
    LandPush, LandedPush, Scanned,
    host::{NewObjects, PackRefusal, Quarantine, Unpacked},
};
use bytes::{Bytes, BytesMut};
use domain::{
    Context, Error,
    git::{
        RefMove, RefVerdict,
        wire::{FLUSH, PushCommand, PushReport, PushRequest, PushRequestReader, Service},
    },
};
use futures::{
    FutureExt,
    channel::oneshot,
    future::{LocalBoxFuture, ready},
    stream,
};
use http_shell::{error::Result, permission::GitWrite, state::State};
use store::git::{NewPack, PushedRef, StoredRepository};
use tokio::sync::mpsc;

use super::{
    argument::Served,
    body::{PushBody, next},
    listing::{answering, malformed, said},
};

/// What may come before the pack: 5,000 refs with the longest names.
const REQUEST_LEN_MAX: usize = 8 * 1024 * 1024;
/// How often a client that waits hears that it isn't forgotten.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);

/// An empty packet of the band that people read.
const SIGN_OF_LIFE: &[u8] = b"0005\x02";

/// Push to a repository
///
/// What `git push` sends: which refs are to be moved, and the objects that they need. Each ref is reported; what is reported as
/// moved is kept.
#[utoipa::path(post, path = "/git/{owner}/{repository}/git-receive-pack", responses(
    (status = 200, description = "What became of each ref.", content_type = "application/x-git-receive-pack-result")))]
pub(crate) async fn git_receive_pack(served: Served<GitWrite>, body: PushBody, state: State) -> Result<HttpResponse> {
    let (request, pack) = Incoming::of(body).request().await?;
    if request.commands.is_empty() {
        // What git sends first to see whether it may push.
        return Ok(said(Service::ReceivePack, "result", Bytes::new()));
    }
    let in_bands = request.in_bands;
    let push = Push { state, stored: served.stored, context: served.context, request };
    let taking = push.begin(pack).await?;
    let (sender, receiver) = mpsc::channel::<std::io::Result<Bytes>>(1);
    rt::spawn(answer(taking, in_bands, sender));
    let pieces = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    Ok(answering(Service::ReceivePack, "result").streaming(pieces))
}

/// The body of a push, of which the beginning is read.
struct Incoming {
    payload: Payload,
    waiting: BytesMut,
}

impl Incoming {
    fn of(body: PushBody) -> Self {
        Self { payload: body.payload, waiting: body.beginning.into() }
    }

    /// What is asked for, and the pack behind it.
    async fn request(mut self) -> Result<(PushRequest, Self)> {
        let (mut reader, mut read) = (PushRequestReader::default(), 0);
        loop {
            let (taken, is_whole) = reader.take(&self.waiting).map_err(|error| malformed(&error))?;
            drop(self.waiting.split_to(taken));
            if is_whole {
                return Ok((reader.finish(), self));
            }
            let broke_off = || Error::bad_request("malformed", "The body broke off.");
            let piece = next(&mut self.payload).await?.ok_or_else(broke_off)?;
            read += piece.len();
            if read > REQUEST_LEN_MAX {
                return Err(Error::too_large("A push names at most 5000 refs.").into());
            }
            self.waiting.extend_from_slice(&piece);
        }
    }

    /// What is left of it; says once all has come.
    fn rest(self, came: oneshot::Sender<()>) -> impl stream::Stream<Item = domain::Result<Bytes>> {
        stream::unfold(Some((self, came)), async |incoming| {
            let (mut incoming, came) = incoming?;
            if !incoming.waiting.is_empty() {
                let piece = incoming.waiting.split().freeze();
                return Some((Ok(piece), Some((incoming, came))));
            }
            match next(&mut incoming.payload).await {
                Ok(None) => {
                    // Where nobody waits for it, the push was answered already.
                    let _ = came.send(());
                    None
                }
                Ok(Some(piece)) => Some((Ok(piece), Some((incoming, came)))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

/// A push that is under way.
struct Push {
    state: State,
    stored: StoredRepository,
    context: Context,
    request: PushRequest,
}

/// What was taken of a push.
enum Taken {
    /// Its objects, which nobody sees yet; none where it needs none.
    Objects(Option<Quarantine>),
    /// Nothing, and why.
    Nothing(String),
}

/// What a push comes to before its repository decides on it.
struct Looked {
    /// The refs that can be moved.
    moves: Vec<RefMove>,
    /// The other ones, and why they can't.
    refused: Vec<(PushCommand, String)>,
    /// The secrets in what came.
    secrets: Scanned,
    /// What came, which no commit has named yet.
    pack: Option<NewPack>,
    /// What people are told beside the reasons of the refs.
    told: String,
}

/// A push whose pack is being taken in.
type Taking = LocalBoxFuture<'static, (Push, domain::Result<Taken>)>;

/// Sends what becomes of a push, and signs of life until that is known. Nobody goes on once the client is gone.
async fn answer(taking: Taking, in_bands: bool, sender: mpsc::Sender<std::io::Result<Bytes>>) {
    let mut landing = pin!(async move {
        let (push, taken) = taking.await;
        push.land(taken).await
    });
    let report = loop {
        tokio::select! {
            report = &mut landing => break report,
            () = sender.closed() => return,
            () = tokio::time::sleep(KEEPALIVE_EVERY) => {
                if in_bands && sender.send(Ok(Bytes::from_static(SIGN_OF_LIFE))).await.is_err() {
                    return;
                }
            }
        }
    };
    if let Err(error) = sender.send(Ok(report.into())).await {
        tracing::debug!(%error, "who pushed didn't wait for the report");
    }
}

impl Push {
    /// Takes the pack in until all of it has come, and git has only to look at it; whatever is wrong by then is no answer of a push.
    async fn begin(self, pack: Incoming) -> Result<Taking> {
        let (came, mut has_come) = oneshot::channel();
        let mut taking: Taking = Box::pin(async move {
            let taken = self.take(pack, came).await;
            (self, taken)
        });
        tokio::select! {
            biased;
            (push, taken) = &mut taking => Ok(ready((push, Ok(taken?))).boxed_local()),
            Ok(()) = &mut has_come => Ok(taking),
        }
    }

    /// Takes the pack in, where there is one.
    async fn take(&self, pack: Incoming, came: oneshot::Sender<()>) -> domain::Result<Taken> {
        if !self.request.has_pack() {
            return Ok(Taken::Objects(None));
        }
        let mut quarantine = self.state.git.quarantine(&self.stored).await?;
        match quarantine.take_pack(pack.rest(came)).await {
            Ok(()) => Ok(Taken::Objects(Some(quarantine))),
            Err(PackRefusal::Bad(reason)) => Ok(Taken::Nothing(reason)),
            Err(PackRefusal::BrokeOff) => Err(Error::bad_request("malformed", "The body broke off.")),
            Err(PackRefusal::Failed(error)) => Err(error),
        }
    }

    /// What is sent of the push once all is done.
    async fn land(&self, taken: domain::Result<Taken>) -> Vec<u8> {
        let names = || self.request.commands.iter().map(|command| command.name.as_slice());
        let decided = match taken {
            Ok(Taken::Nothing(reason)) => Ok(PushReport::not_unpacked(names(), &reason)),
            Ok(Taken::Objects(quarantine)) => self.decide(quarantine).await,
            Err(error) => Err(error),
        };
        let report = decided.unwrap_or_else(|error| {
            let id = &self.context.request_id;
            if let Error::Internal { log } = &error {
                tracing::error!(error = %log, request_id = %id, "a push failed");
            }
            let refused = names().map(|name| (name.to_vec(), Some(error.to_string())));
            PushReport { refs: refused.collect(), ..PushReport::default() }
        });
        if self.request.reports { report.answer(self.request.in_bands) } else { FLUSH.to_vec() }
    }

    /// Looks at what came, keeps it, and has the repository move its refs.
    async fn decide(&self, quarantine: Option<Quarantine>) -> domain::Result<PushReport> {
        let Looked { moves, refused, secrets, pack, told } = match &quarantine {
            None => self.deletions(),
            Some(quarantine) => self.look(quarantine).await?,
        };
        let command = LandPush {
            org_id: self.stored.resource.org_id,
            moves,
            refused: refused.iter().filter_map(noted).collect(),
            refuses_more: refused.iter().any(|(command, _)| command.ref_name().is_none()),
            is_atomic: self.request.is_atomic,
            pack: pack.clone(),
            secrets,
        };
        let deadline = Instant::now() + self.state.options.request_timeout;
        let context = Context { deadline, ..self.context.clone() };
        let landed = self.state.actors.repository.ask(&self.stored.id(), command, context).await;
        if let Some(pack) = &pack
            && !landed.as_ref().is_ok_and(|landed| landed.took_pack)
            && let Err(error) = self.state.store.repository_pack_abandon(pack).await
        {
            tracing::warn!(%error, "a pack that was refused could not be deleted yet");
        }
        let LandedPush { refs, secrets, .. } = landed?;
        let decided = refs.into_iter().map(|it| (it.name.as_bytes().to_vec(), it.reason));
        // Those among them whose names no ref has weren't noted.
        let refused = refused.into_iter().map(|(command, reason)| (command.name, Some(reason)));
        let report = reported(&self.request.commands, decided.chain(refused).collect())?;
        let told = secrets.map_or(told, |secrets| secrets.refusal().text());
        Ok(PushReport { told, ..report })
    }

    /// Looks at what came and scans it for secrets; keeps it where there are none that nobody allowed.
    async fn look(&self, quarantine: &Quarantine) -> domain::Result<Looked> {
        let git = &self.state.git;
        let refs = git.refs_in_view(&self.stored).await?;
        let Unpacked { mut moves, refused, new: names } = quarantine.look(&self.request.commands, &refs).await?;
        let rules = self.state.store.branch_rules(self.stored.no).await?;
        quarantine.look_for_merges(&mut moves, &refs, &rules).await?;
        let pulls = self.state.store.open_pulls(self.stored.no).await?;
        quarantine.look_for_heads(&mut moves, &refs, &pulls).await?;
        let takes = moves.iter().any(|asked| asked.new.is_some());
        // What is kept has the objects of the refused refs, too.
        let tips = self.request.commands.iter().filter_map(|command| command.new).filter(|_| takes);
        let tips: Vec<_> = tips.collect();
        let new = NewObjects { folder: quarantine.folder(), tips: &tips, known: &refs };
        let secrets = git.scan(&self.stored, (new, names), self.request.allowed_secrets()).await?;
        if let Some(reason) = secrets.large.reason() {
            return Ok(self.nothing(&reason, secrets.large.text()));
        }
        let pack = if !takes || secrets.refuses() { None } else { quarantine.keep(&self.stored).await? };
        Ok(Looked { moves, refused, secrets, pack, told: String::new() })
    }

    /// A push of which nothing is taken, and why.
    fn nothing(&self, reason: &str, told: String) -> Looked {
        let refused = self.request.commands.iter().map(|command| (command.clone(), reason.to_owned()));
        Looked { moves: Vec::new(), refused: refused.collect(), secrets: Scanned::default(), pack: None, told }
    }

    /// Refs that are to be deleted, which needs no objects.
    fn deletions(&self) -> Looked {
        let (mut moves, mut refused) = (Vec::new(), Vec::new());
        for command in &self.request.commands {
            match RefMove::check_name(&command.name) {
                Ok(name) => {
                    moves.push(RefMove { old: command.old, ..RefMove::nothing(name) });
                }
                Err(reason) => refused.push((command.clone(), reason.to_owned())),
            }
        }
        Looked { moves, refused, secrets: Scanned::default(), pack: None, told: String::new() }
    }
}

/// A ref that can't be moved, as it is noted; none whose name no ref has.
fn noted((command, reason): &(PushCommand, String)) -> Option<PushedRef> {
    let PushCommand { old, new, .. } = *command;
    Some(PushedRef { name: command.ref_name()?, old, new, verdict: RefVerdict::Refused, reason: Some(reason.clone()) })
}

/// The report, in the order of the commands, of why each ref wasn't moved.
fn reported(commands: &[PushCommand], mut reasons: HashMap<Vec<u8>, Option<String>>) -> domain::Result<PushReport> {
    let mut report = PushReport::default();
    for PushCommand { name, .. } in commands {
        let undecided = || Error::internal("a ref of a push was not decided on");
        report.refs.push((name.clone(), reasons.remove(name).ok_or_else(undecided)?));
    }
    Ok(report)
}
