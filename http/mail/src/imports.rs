//! Importing mail into a mailbox: an mbox, a maildir, or messages that were saved one by one.

use std::time::Instant;

use actix_web::http::header;
use actors::mail::{MailImportBegin, MailImportCancel, MailImportFill, MailImportStart};
use domain::{
    Context, Error,
    id::{MailImportId, MailboxId},
    mail::{
        IMAP_IMPORT_LATER, IMPORT_BYTES_MAX, IMPORT_UPLOAD_LASTS, ImportFault, MailImport, MailImportKind, Mailbox,
        import_too_large, no_mail_import,
    },
};
use http_shell::{
    answer::{Created, Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    mailbox::MailPerson,
    origin::base_url,
    owned::Owned,
    path::Path,
    query::{Query, RequestQuery},
    state::State,
    upload::{AddressUpload, abandon, refused},
};
use serde::{Deserialize, Serialize};
use store::{blobs::BlobRefusal, mail::MailImportAddress, storage::AddressMaker};
use utoipa::{IntoParams, ToSchema};

/// Why a message was not imported.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"message": 12, "file": "Inbox.mbox", "reason": "A message has at most 35 MB."}))]
pub(crate) struct MailImportFaultBody {
    /// The number of the message among those that were read, from 1 on.
    message: u64,
    /// The file of the archive; empty where there is only one.
    file: String,
    /// What is wrong.
    reason: String,
}

impl From<ImportFault> for MailImportFaultBody {
    fn from(ImportFault { message, file, reason }: ImportFault) -> Self {
        Self { message, file, reason }
    }
}

/// An import of mail.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "importId": "imp_01jd7rt4m5e9fv2w8x3c6k0hqz", "kind": "mbox", "size": 104_857_600, "state": "running", "read": 1_200,
    "filed": 1_190, "duplicates": 9, "failed": 1, "errors": [], "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct MailImportBody {
    /// The import's id.
    import_id: String,
    /// `mbox`, `maildir` or `eml`.
    kind: &'static str,
    /// Bytes of the file.
    size: u64,
    /// `waiting` for its file, `uploaded`, `running`, `done`, `failed` or `cancelled`.
    state: &'static str,
    /// How many messages were read.
    read: u64,
    /// How many of them are in the mailbox by that.
    filed: u64,
    /// How many were in the mailbox already.
    duplicates: u64,
    /// How many could not be imported.
    failed: u64,
    /// What was wrong with the first 100 of these.
    errors: Vec<MailImportFaultBody>,
    /// Why the import came to nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// When it was made.
    created_at: i64,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
}

impl From<MailImport> for MailImportBody {
    fn from(import: MailImport) -> Self {
        Self {
            import_id: import.id.to_string(),
            kind: import.kind.as_str(),
            size: import.size,
            state: import.shown_state(),
            read: import.counts.read,
            filed: import.counts.filed,
            duplicates: import.counts.duplicates,
            failed: import.counts.failed,
            errors: import.faults.into_iter().map(MailImportFaultBody::from).collect(),
            error: import.error,
            created_at: import.created_at.as_millis(),
            ended_at: import.ended_at.map(domain::Timestamp::as_millis),
        }
    }
}

/// Imports of a mailbox.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailImportsAnswer {
    /// The newest 100, the newest first.
    imports: Vec<MailImportBody>,
}

/// An import.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailImportAnswer {
    /// The import.
    import: MailImportBody,
}

impl From<MailImport> for MailImportAnswer {
    fn from(import: MailImport) -> Self {
        Self { import: import.into() }
    }
}

/// An import, and where its file is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailImportCreated {
    /// The import.
    import: MailImportBody,
    /// Takes the file with `PUT` for a day, and needs no credential.
    upload_url: String,
}

/// What is to be imported.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"kind": "mbox", "size": 104_857_600}))]
pub(crate) struct MailImportCreate {
    /// `mbox` (one, or a ZIP or tar of several), `maildir` (a ZIP or tar) or `eml` (one message, or a ZIP or tar of several). What is
    /// packed with gzip is unpacked.
    kind: String,
    /// Bytes of the file, up to 10 GB.
    #[schema(minimum = 1)]
    size: u64,
}

impl RequestBody for MailImportCreate {}

/// Where the client reaches the server.
pub(crate) struct Base(pub String);

impl Argument for Base {
    fn describe(_facts: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(base_url(&call.state, call.header(header::HOST))))
    }
}

/// The imports of a mailbox
///
/// Each is listed for 30 days after its end.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports")]
pub(crate) async fn mail_imports_list(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailImportsAnswer>> {
    let imports = state.store.mail_imports(mailbox.id).await?;
    Ok(Json(MailImportsAnswer { imports: imports.into_iter().map(MailImportBody::from).collect() }))
}

/// Begin to import mail
///
/// Send the file to `uploadUrl`, then start the import. What nobody starts is given up after a week.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports", responses(
    (status = 400, description = "A mailbox has at most 10 imports under way.\n\nImporting over IMAP isn't possible yet; send an mbox, a maildir or messages."),
    (status = 413, description = "A file that is imported has at most 10 GB.")))]
pub(crate) async fn mail_import_create(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<MailImportCreate>,
    base: Base,
    state: State,
) -> Result<Created<MailImportCreated>> {
    let kind = kind_read(&body.kind)?;
    let size = body.size;
    if size == 0 {
        return Err(Error::invalid("size", "Must be 1 or more.").into());
    }
    if size > IMPORT_BYTES_MAX {
        return Err(import_too_large().into());
    }
    let context = person.context();
    let maker = AddressMaker::of(&context.caller).ok_or(Error::Unauthenticated)?;
    let command = MailImportBegin { org_id: person.id(), kind, size };
    let import = state.actors.mailbox.ask(&mailbox_id, command, context).await?;
    let expires_at = state.store.now().after(IMPORT_UPLOAD_LASTS);
    let address = MailImportAddress { import: import.id, size, maker, expires_at };
    let upload_url = format!("{}{}", base.0, state.store.mail_import_address(&address));
    Ok(Created(MailImportCreated { import: import.into(), upload_url }))
}

fn kind_read(kind: &str) -> domain::Result<MailImportKind> {
    if kind == "imap" {
        return Err(Error::bad_request("imap_later", IMAP_IMPORT_LATER));
    }
    MailImportKind::from_name(kind).ok_or_else(|| Error::invalid("kind", "Choose mbox, maildir or eml."))
}

/// See an import
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports/{mailImportId}")]
pub(crate) async fn mail_import_get(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailImportId>,
    state: State,
) -> Result<Json<MailImportAnswer>> {
    let found = state.store.mail_import(*id).await?.filter(|it| it.mailbox_id == mailbox.id);
    Ok(Json(found.ok_or_else(no_mail_import)?.into()))
}

/// Start an import
///
/// Goes on by itself from then on. Nobody is told of its messages one by one, and no filter, notice or answer follows from them.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports/{mailImportId}/start", responses(
    (status = 409, description = "The upload isn't there yet.\n\nThis import is over.")))]
pub(crate) async fn mail_import_start(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailImportId>,
    state: State,
) -> Result<Json<MailImportAnswer>> {
    let command = MailImportStart { org_id: person.id(), id: *id };
    Ok(Json(state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?.into()))
}

/// Call an import off
///
/// What it filed stays in the mailbox.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports/{mailImportId}/cancel", responses(
    (status = 409, description = "This import is over.")))]
pub(crate) async fn mail_import_cancel(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailImportId>,
    state: State,
) -> Result<Json<MailImportAnswer>> {
    let command = MailImportCancel { org_id: person.id(), id: *id };
    Ok(Json(state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?.into()))
}

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedMailImport {
    /// How many bytes are sent.
    size: u64,
    /// The sign-in with which the address was asked for.
    #[serde(default)]
    maker: String,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedMailImport {}

/// The file of an import, as it is sent.
pub(crate) struct SentMailImport {
    import: MailImport,
    maker: AddressMaker,
    body: AddressUpload,
}

impl Argument for SentMailImport {
    fn describe(facts: &mut Facts) {
        Path::<MailImportId>::describe(facts);
        Query::<SignedMailImport>::describe(facts);
        AddressUpload::describe(facts);
        facts.error(403, "Whoever made this address may not write here any more.");
        facts.error(409, "This import has begun.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(id) = Path::<MailImportId>::take(call).await?;
        let SignedMailImport { size, maker, expires, signature } = Query::<SignedMailImport>::take(call).await?.0;
        let maker = maker.parse().map_err(|_| refused(BlobRefusal::Forged))?;
        let address = MailImportAddress { import: id, size, maker, expires_at: domain::Timestamp(expires) };
        call.state.store.mail_import_address_verify(&address, &signature).map_err(refused)?;
        let import = call.state.store.mail_import(id).await?.ok_or_else(no_mail_import)?;
        Ok(Self { import, maker, body: AddressUpload::take(call).await? })
    }
}

/// Send the file of an import
///
/// The address comes from beginning the import and needs no credential. Until the import is started, the file can be sent again.
#[utoipa::path(put, path = "/v1/mail/imports/{mailImportId}")]
pub(crate) async fn mail_import_put(sent: SentMailImport, state: State) -> Result<NoContent> {
    let SentMailImport { import, maker, body } = sent;
    let (org_id, context) = (import.org_id, body.context());
    let kept = body.keep(&state, org_id, import.size).await?;
    let landed = async {
        // Only now, since the bytes may have taken hours.
        let found = state.store.address_maker(org_id, maker).await?;
        let over = || Error::forbidden("file_address", "Whoever made this address may not write here any more.");
        let deadline = Instant::now() + state.options.request_timeout;
        let context = Context { caller: found.ok_or_else(over)?, deadline, ..context };
        let command = MailImportFill { org_id, id: import.id, content: kept.clone() };
        state.actors.mailbox.ask(&import.mailbox_id, command, context).await
    };
    let landed = landed.await;
    if landed.is_err() {
        abandon(&state, &kept).await;
    }
    landed?;
    Ok(NoContent)
}
