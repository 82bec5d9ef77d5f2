//! Exporting a mailbox: a ZIP with an mbox for each box.

use actix_web::{HttpResponse, HttpResponseBuilder, http::header};
use actors::mail::MailExportBegin;
use domain::{
    Timestamp,
    id::{MailExportId, MailboxId},
    mail::{EXPORT_ADDRESS_LASTS, MailExport, Mailbox, no_mail_export},
};
use http_shell::{
    answer::{Created, Json},
    argument::Argument,
    call::Call,
    download::Download,
    error::Result,
    facts::Facts,
    mailbox::MailPerson,
    owned::Owned,
    path::Path,
    query::{Query, RequestQuery},
    state::State,
    upload::refused,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::imports::Base;

/// An export of a mailbox.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "exportId": "exp_01jd7rt4m5e9fv2w8x3c6k0hqz", "state": "done", "size": 104_857_600, "messages": 1_200,
    "createdAt": 1_767_225_600_000_i64, "endedAt": 1_767_225_660_000_i64,
    "url": "https://troupe.example.com/v1/mail/exports/exp_01jd7rt4m5e9fv2w8x3c6k0hqz?expires=1767229200000&signature=Zm9v"
}))]
pub(crate) struct MailExportBody {
    /// The export's id.
    export_id: String,
    /// `running`, `done` or `failed`.
    state: &'static str,
    /// Bytes of the file; 0 until it is done.
    size: u64,
    /// How many messages are in it; 0 until it is done.
    messages: u64,
    /// When it was made.
    created_at: i64,
    /// When it ended. A week later it is thrown away.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    /// Gives the file for ten minutes, and needs no credential; there once the export is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl MailExportBody {
    fn new(export: &MailExport, base: &Base, state: &State) -> Self {
        let expires_at = state.store.now().after(EXPORT_ADDRESS_LASTS);
        let address = || format!("{}{}", base.0, state.store.mail_export_address(export.id, expires_at));
        Self {
            export_id: export.id.to_string(),
            state: export.state.as_str(),
            size: export.size,
            messages: export.messages,
            created_at: export.created_at.as_millis(),
            ended_at: export.ended_at.map(Timestamp::as_millis),
            url: export.content.is_some().then(address),
        }
    }
}

/// Exports of a mailbox.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailExportsAnswer {
    /// The newest first.
    exports: Vec<MailExportBody>,
}

/// An export.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailExportAnswer {
    /// The export.
    export: MailExportBody,
}

/// The exports of a mailbox
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/exports")]
pub(crate) async fn mail_exports_list(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    base: Base,
    state: State,
) -> Result<Json<MailExportsAnswer>> {
    let exports = state.store.mail_exports(mailbox.id).await?;
    Ok(Json(MailExportsAnswer { exports: exports.iter().map(|it| MailExportBody::new(it, &base, &state)).collect() }))
}

/// Export a mailbox
///
/// A ZIP with an mbox (mboxrd) for each box. Each message is in it once, its labels are in `X-Gmail-Labels`. Goes on by itself.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/exports", responses(
    (status = 409, description = "An export of this mailbox is under way.")))]
pub(crate) async fn mail_export_create(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    base: Base,
    state: State,
) -> Result<Created<MailExportAnswer>> {
    let command = MailExportBegin { org_id: person.id() };
    let export = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Created(MailExportAnswer { export: MailExportBody::new(&export, &base, &state) }))
}

/// See an export
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/exports/{mailExportId}")]
pub(crate) async fn mail_export_get(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailExportId>,
    base: Base,
    state: State,
) -> Result<Json<MailExportAnswer>> {
    let found = state.store.mail_export(*id).await?.filter(|it| it.mailbox_id == mailbox.id);
    let export = found.ok_or_else(no_mail_export)?;
    Ok(Json(MailExportAnswer { export: MailExportBody::new(&export, &base, &state) }))
}

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedMailExport {
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedMailExport {}

/// The file of an export, and the part of it that is asked for.
pub(crate) struct MailExportDownload {
    export: MailExport,
    download: Download,
}

impl Argument for MailExportDownload {
    fn describe(facts: &mut Facts) {
        Path::<MailExportId>::describe(facts);
        Query::<SignedMailExport>::describe(facts);
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
        facts.open();
        facts.streams = true;
        Download::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(id) = Path::<MailExportId>::take(call).await?;
        let SignedMailExport { expires, signature } = Query::<SignedMailExport>::take(call).await?.0;
        let store = &call.state.store;
        store.mail_export_address_verify(id, Timestamp(expires), &signature).map_err(refused)?;
        let export = store.mail_export(id).await?.ok_or_else(no_mail_export)?;
        let content = export.content.ok_or_else(no_mail_export)?;
        let download = Download::of(call, export.org_id, content, export.size);
        Ok(Self { export, download })
    }
}

/// Download an export
///
/// The address comes from the export and needs no credential.
#[utoipa::path(get, path = "/v1/mail/exports/{mailExportId}", responses(
    (status = 200, description = "The ZIP.", content_type = "application/zip"),
    (status = 206, description = "The range that was asked for.", content_type = "application/zip"),
    (status = 416, description = "The file ends before.")))]
pub(crate) async fn mail_export_download(found: MailExportDownload, state: State) -> Result<HttpResponse> {
    let MailExportDownload { export, download } = found;
    let about = |response: &mut HttpResponseBuilder| {
        response
            .insert_header((header::CONTENT_TYPE, "application/zip"))
            .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}.zip\"", export.id)))
            .insert_header((header::CACHE_CONTROL, "private, no-store"));
    };
    download.answer(&state, about).await
}
