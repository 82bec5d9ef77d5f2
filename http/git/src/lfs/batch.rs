//! Which large files are there, and where their bytes are read or sent.

use std::time::Duration;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use domain::{
    Error,
    git::{LFS_BATCH_MAX, LFS_OBJECT_MAX, LfsOid},
    problems::Problems,
};
use http_shell::{
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    origin::base_url,
    permission::{GitRead, GitWrite},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{
    git::{LfsAct, LfsAddress, LfsObject, StoredRepository},
    storage::AddressMaker,
};
use utoipa::ToSchema;

use super::{LfsServed, answer};

/// How long an address of a large file works; a client that comes later asks again.
const LINK_LASTS: Duration = Duration::from_hours(1);
/// The one way in which bytes are sent and read.
const BASIC: &str = "basic";
/// The one way in which objects are named.
const SHA256: &str = "sha256";

/// What is to be done with large files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LfsOperation {
    /// They are read.
    Download,
    /// They are sent.
    Upload,
}

/// A large file that is asked for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct LfsAsked {
    /// The SHA-256 of its bytes: 64 hexadecimal digits.
    oid: String,
    /// How many they are.
    size: u64,
}

/// Large files that are asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "operation": "download", "transfers": ["basic"], "hash_algo": "sha256",
    "objects": [{"oid": "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393", "size": 12_345}]
}))]
pub(crate) struct LfsBatch {
    /// What is to be done with them.
    operation: LfsOperation,
    /// The ways in which the client can send and read bytes; `basic` has to be among them.
    transfers: Option<Vec<String>>,
    /// How the objects are named: `sha256`.
    hash_algo: Option<String>,
    /// The files: at most 1,000.
    objects: Vec<LfsAsked>,
}

impl RequestBody for LfsBatch {
    fn check(&self, problems: &mut Problems) {
        let speaks = self.transfers.as_ref().is_none_or(|all| all.is_empty() || all.iter().any(|it| it == BASIC));
        problems.require(speaks, "transfers", "Use basic.");
        let fits = self.objects.iter().all(|it| i64::try_from(it.size).is_ok());
        problems.require(fits, "objects", "No file has so many bytes.");
        problems.require(self.hash_algo.as_deref().is_none_or(|it| it == SHA256), "hash_algo", "Use sha256.");
    }
}

/// The large files that are asked for, of a repository in which the caller may do that.
pub(crate) struct BatchAsked {
    repository: StoredRepository,
    maker: Option<AddressMaker>,
    /// Where the client reaches the server.
    base: String,
    batch: LfsBatch,
}

impl Argument for BatchAsked {
    fn describe(facts: &mut Facts) {
        LfsServed::<GitRead>::describe(facts);
        Body::<LfsBatch>::describe(facts);
        facts.error(413, "Ask for at most 1000 objects at once.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        LfsServed::<GitRead>::take(call).await?;
        let batch = Body::<LfsBatch>::take(call).await?.into_inner();
        if batch.objects.len() > LFS_BATCH_MAX {
            return Err(Error::too_large("Ask for at most 1000 objects at once.").into());
        }
        let served = match batch.operation {
            LfsOperation::Download => LfsServed::<GitRead>::take(call).await?.0.stored,
            LfsOperation::Upload => LfsServed::<GitWrite>::take(call).await?.0.stored,
        };
        let base = base_url(&call.state, call.header(header::HOST));
        Ok(Self { repository: served, maker: AddressMaker::of(&call.context.caller), base, batch })
    }
}

/// Where bytes are read or sent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LfsLink {
    /// The address.
    href: String,
    /// Seconds for which it works.
    expires_in: u64,
}

/// What can be done with a large file.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct LfsActions {
    /// Where its bytes are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    download: Option<LfsLink>,
    /// Where they are sent; missing where the repository has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<LfsLink>,
}

/// Why nothing can be done with a large file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LfsFault {
    /// 404 or 422.
    code: u16,
    /// A sentence for people.
    message: &'static str,
}

/// A large file, and what can be done with it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LfsAnswered {
    /// The file's name.
    oid: String,
    /// The bytes.
    size: u64,
    /// Whether the addresses need no credential: always.
    authenticated: bool,
    /// What can be done with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<LfsActions>,
    /// Why nothing can.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LfsFault>,
}

/// Large files, and what can be done with them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LfsBatchAnswer {
    /// How their bytes are sent and read: `basic`.
    transfer: &'static str,
    /// How they are named: `sha256`.
    hash_algo: &'static str,
    /// The files, in the order of the request.
    objects: Vec<LfsAnswered>,
}

/// Ask where large files are
///
/// What Git LFS asks before it reads or sends anything. A file that the repository has isn't sent again.
#[utoipa::path(post, path = "/git/{owner}/{repository}/info/lfs/objects/batch", responses(
    (status = 200, description = "What can be done with each.", body = LfsBatchAnswer,
        content_type = "application/vnd.git-lfs+json")))]
pub(crate) async fn lfs_batch(asked: BatchAsked, state: State) -> Result<HttpResponse> {
    let BatchAsked { repository, maker, base, batch } = asked;
    let named: Vec<Option<LfsOid>> = batch.objects.iter().map(|it| it.oid.parse().ok()).collect();
    let known: Vec<LfsOid> = named.iter().flatten().copied().collect();
    let there = state.store.lfs_objects(repository.no, &known).await?;
    let expires_at = state.store.now().after(LINK_LASTS);
    let link = |oid: LfsOid, act: LfsAct| {
        let address = LfsAddress { repository: repository.id(), oid, act, expires_at };
        let href = format!("{base}{}", state.store.lfs_address(&address));
        LfsLink { href, expires_in: LINK_LASTS.as_secs() }
    };
    let decide = |oid: Option<LfsOid>, size: u64| {
        let oid = oid.ok_or(LfsFault { code: 422, message: "The name isn't a SHA-256." })?;
        let found = there.get(&oid);
        match batch.operation {
            LfsOperation::Download => {
                download(found, size).map(|()| LfsActions { download: Some(link(oid, LfsAct::Download)), upload: None })
            }
            LfsOperation::Upload => {
                let is_sent = upload(found, size)?;
                let act = maker.filter(|_| is_sent).map(|maker| LfsAct::Upload { size, maker });
                Ok(LfsActions { upload: act.map(|act| link(oid, act)), download: None })
            }
        }
    };
    let objects = batch.objects.iter().zip(named).map(|(it, oid)| {
        let (actions, error) = match decide(oid, it.size) {
            Ok(actions) => (Some(actions), None),
            Err(fault) => (None, Some(fault)),
        };
        LfsAnswered { oid: it.oid.clone(), size: it.size, authenticated: true, actions, error }
    });
    let said = LfsBatchAnswer { transfer: BASIC, hash_algo: SHA256, objects: objects.collect() };
    answer(StatusCode::OK, &said)
}

fn download(found: Option<&LfsObject>, size: u64) -> std::result::Result<(), LfsFault> {
    match found {
        None => Err(LfsFault { code: 404, message: "The repository doesn't have this object." }),
        Some(object) if object.size != size => Err(LfsFault { code: 422, message: "The object has another size." }),
        Some(_) => Ok(()),
    }
}

/// Whether the bytes have to be sent.
fn upload(found: Option<&LfsObject>, size: u64) -> std::result::Result<bool, LfsFault> {
    match found {
        Some(object) if object.size != size => Err(LfsFault { code: 422, message: "The object has another size." }),
        Some(_) => Ok(false),
        None if size > LFS_OBJECT_MAX => Err(LfsFault { code: 422, message: "An object has at most 10 GB." }),
        None => Ok(true),
    }
}
