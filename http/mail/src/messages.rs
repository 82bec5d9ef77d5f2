//! One message: what it says with all of its headers and why it lies where it lies, its bytes, and its files.

use std::ops::Range;

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};
use bytes::Bytes;
use domain::{
    Error, Tenant,
    id::MailMessageId,
    mail::{
        FileDecoder, FilterNote, HEAD_BYTES_MAX, MailFile, MailMessage, Mailbox, RawId, Unsubscribing, Verdict, fields,
        file_bytes, joined, no_file, no_message, sent_type, unsubscribing,
    },
    storage::{RangeAnswer, range_answer},
};
use futures::{StreamExt, TryStreamExt, future::ready, stream, stream::BoxStream};
use http_shell::{
    answer::Json,
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    mailbox::MailPerson,
    owned::Owned,
    path::{FilePart, Path},
    state::State,
};
use kernel::CpuKind;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use store::StoreError;
use utoipa::ToSchema;

use crate::{
    invitation::invitations,
    thread::{MailMessageBody, Shown},
};

/// What browsers may do with what strangers sent: nothing.
const POLICY: &str = "sandbox; default-src 'none'";
/// What stands as it is in the name of a file (RFC 8187).
const NAME_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A field of a message's head.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"name": "Reply-To", "value": "Bob <bob@example.org>"}))]
pub(crate) struct MailHeaderBody {
    /// What the field is called, as it is written.
    name: String,
    /// What it says, on one line and otherwise as it is written.
    value: String,
}

/// A rule that speaks for or against a message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"rule": "spf_fail", "points": 2.5}))]
pub(crate) struct MailPointBody {
    /// The rule that says so.
    rule: String,
    /// How much; below 0 speaks for the message.
    points: f64,
}

/// A filter of the mailbox that held for a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"filterId": "flt_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Bills"}))]
pub(crate) struct MailFilterNoteBody {
    /// The filter, which may be deleted.
    filter_id: String,
    /// What it was called then; its query where it had no name.
    name: String,
}

/// Why a message was put where it was put.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "placed": "inbox", "points": [], "categoryRule": "person", "envelopeFrom": "bob@example.org", "fromDomain": "example.org",
    "helo": "mx.example.org", "clientIp": "192.0.2.1"
}))]
pub(crate) struct MailWhyBody {
    /// `inbox` or `spam`: where it went when it came.
    placed: &'static str,
    /// What spoke for or against it; from five points on, a message is spam.
    points: Vec<MailPointBody>,
    /// The rule that the category follows from.
    category_rule: String,
    /// The sender of the envelope; empty for the null sender.
    envelope_from: String,
    /// The domain that people see.
    from_domain: String,
    /// The name that the client gave itself.
    helo: String,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_ip: Option<String>,
    /// The filters that held for it, in the order in which they did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    filters: Vec<MailFilterNoteBody>,
    /// Whether the sender was told that the mailbox's people are away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    answered: bool,
    /// The addresses to which filters passed it on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    forwarded: Vec<String>,
}

impl MailWhyBody {
    fn new(message: &MailMessage) -> Self {
        let Verdict { placed, points, from_domain, helo, client_ip, filters, is_answered, forwarded, .. } =
            message.verdict.clone();
        let held = |it: FilterNote| MailFilterNoteBody { filter_id: it.filter_id.to_string(), name: it.name };
        let point = |it: domain::mail::Point| MailPointBody { rule: it.rule, points: f64::from(it.tenths) / 10.0 };
        Self {
            placed: placed.as_str(),
            points: points.into_iter().map(point).collect(),
            category_rule: message.rule.clone(),
            envelope_from: message.envelope_from.clone(),
            from_domain,
            helo,
            client_ip: client_ip.map(|ip| ip.to_string()),
            filters: filters.into_iter().map(held).collect(),
            answered: is_answered,
            forwarded,
        }
    }
}

/// A message whole.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WholeMailMessageBody {
    /// The message as its conversation shows it.
    #[serde(flatten)]
    message: MailMessageBody,
    /// The fields of its head in their order, those first that this server wrote.
    headers: Vec<MailHeaderBody>,
    /// Why it was put where it was put.
    why: MailWhyBody,
    /// How the list that it came over can be left: by a `request` to its server, or by a `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsubscribe: Option<&'static str>,
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailMessageAnswer {
    /// The message.
    message: WholeMailMessageBody,
}

/// A message
///
/// With its text, all fields of its head, and why it lies where it lies.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}")]
pub(crate) async fn mail_message_get(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailMessageId>,
    state: State,
) -> Result<Json<MailMessageAnswer>> {
    let (thread_id, message) = state.store.mail_message(mailbox.id, *id).await?.ok_or_else(no_message)?;
    let raw = state.store.mail_raw_bytes(message.raw_id).await?.ok_or_else(|| not_there(message.raw_id))?;
    let (head, is_unparsed) = (message.head.clone(), message.is_unparsed);
    let verdict = message.verdict.clone();
    let reading = move || (headers(&head, &raw), Shown::read(&raw, is_unparsed), unsubscribing(&raw, &verdict).ok());
    let (headers, shown, leaves) =
        state.actors.kernel.cpu().run(Tenant::Org(mailbox.org_id), CpuKind::Document, reading).await?;
    let why = MailWhyBody::new(&message);
    let unsubscribe = leaves.map(|it| if matches!(it, Unsubscribing::OneClick(_)) { "request" } else { "message" });
    let invitation = invitations(&state, mailbox.id, &[*id]).await?.remove(&*id);
    let message = MailMessageBody::new(&thread_id.to_string(), message, Some(shown)).inviting(invitation);
    Ok(Json(MailMessageAnswer { message: WholeMailMessageBody { message, headers, why, unsubscribe } }))
}

fn not_there(id: RawId) -> Error {
    Error::internal(format_args!("the bytes {id} of a message are not there"))
}

/// The fields of a message's head.
fn headers(head: &str, raw: &[u8]) -> Vec<MailHeaderBody> {
    let whole = joined(head, &raw[..raw.len().min(HEAD_BYTES_MAX)]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    fields(&whole).map(|field| MailHeaderBody { name: text(field.name), value: text(field.value) }).collect()
}

/// What every answer with a stranger's bytes says: a file that is saved and never shown, whatever it says itself.
fn answer(status: StatusCode, content_type: &str, name: &str) -> HttpResponseBuilder {
    let disposition = format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(name, NAME_CHARACTERS));
    let mut response = HttpResponse::build(status);
    response
        .insert_header((header::CONTENT_TYPE, content_type))
        .insert_header((header::CONTENT_DISPOSITION, disposition))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"));
    response
}

/// Bytes on their way to a client.
type Bytestream = BoxStream<'static, std::result::Result<Bytes, StoreError>>;

fn sent(bytes: Bytestream) -> BoxStream<'static, std::io::Result<Bytes>> {
    let broken = |error: StoreError| {
        tracing::warn!(%error, "a message broke off");
        std::io::Error::other("the message broke off")
    };
    bytes.try_filter(|piece| ready(!piece.is_empty())).map_err(broken).boxed()
}

/// The bytes of a message
///
/// As they came, behind the lines that this server wrote: `Return-Path`, `Authentication-Results`, `Received`.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/raw", responses(
    (status = 200, description = "The message.", content_type = "message/rfc822")))]
pub(crate) async fn mail_message_raw(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailMessageId>,
    state: State,
) -> Result<HttpResponse> {
    let (_, message) = state.store.mail_message(mailbox.id, *id).await?.ok_or_else(no_message)?;
    let raw = state.store.mail_raw(message.raw_id).await?.ok_or_else(|| not_there(message.raw_id))?;
    let (size, mut rest) = (raw.size, raw.bytes);
    // Only in its head, a message is not as it came.
    let mut begin = Vec::new();
    while begin.len() < HEAD_BYTES_MAX {
        let Some(piece) = rest.try_next().await? else { break };
        begin.extend_from_slice(&piece);
    }
    let whole = joined(&message.head, &begin);
    let size = size - begin.len() as u64 + whole.len() as u64;
    let bytes = stream::iter([Ok(Bytes::from(whole))]).chain(rest).boxed();
    let name = format!("{}.eml", message.placing.id);
    Ok(answer(StatusCode::OK, "message/rfc822", &name).no_chunking(size).streaming(sent(bytes)))
}

/// The part of a file that is asked for.
pub(crate) struct AskedRange(Option<String>);

impl Argument for AskedRange {
    fn describe(facts: &mut Facts) {
        facts.header("Range", "One range of bytes, as `bytes=0-1023`.", false);
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(call.header(header::RANGE).map(str::to_owned)))
    }
}

/// A file of a message
///
/// Decoded, always saved and never shown.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/attachments/{part}", responses(
    (status = 200, description = "The file.", content_type = "application/octet-stream"),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 404, description = "Message not found\n\nAttachment not found"),
    (status = 416, description = "The file ends before.")))]
pub(crate) async fn mail_attachment_get(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailMessageId>,
    part: Path<FilePart>,
    range: AskedRange,
    state: State,
) -> Result<HttpResponse> {
    let (_, message) = state.store.mail_message(mailbox.id, *id).await?.ok_or_else(no_message)?;
    let file = message.files.iter().find(|file| file.part == part.0.0).ok_or_else(no_file)?;
    let size = file.size as u64;
    let (status, wanted) = match range_answer(range.0.as_deref(), size) {
        RangeAnswer::Whole => (StatusCode::OK, 0..size),
        RangeAnswer::Part(it) => (StatusCode::PARTIAL_CONTENT, *it.bytes.start()..it.bytes.end() + 1),
        RangeAnswer::Unsatisfiable => {
            let mut response = HttpResponse::build(StatusCode::RANGE_NOT_SATISFIABLE);
            return Ok(response.insert_header((header::CONTENT_RANGE, format!("bytes */{size}"))).finish());
        }
    };
    let bytes = decoded(&state, &mailbox, &message, file, wanted.clone()).await?;
    let mut response = answer(status, sent_type(&file.content_type), &file.name);
    if status == StatusCode::PARTIAL_CONTENT {
        let shown = format!("bytes {}-{}/{size}", wanted.start, wanted.end - 1);
        response.insert_header((header::CONTENT_RANGE, shown));
    }
    response.insert_header((header::ACCEPT_RANGES, "bytes"));
    Ok(response.no_chunking(wanted.end - wanted.start).streaming(sent(bytes)))
}

/// What is asked of a file, decoded: piece by piece where its place in the message is known.
async fn decoded(
    state: &State,
    mailbox: &Mailbox,
    message: &MailMessage,
    file: &MailFile,
    wanted: Range<u64>,
) -> domain::Result<Bytestream> {
    let gone = || not_there(message.raw_id);
    if let Some(place) = file.place {
        let raw = state.store.mail_raw_range(message.raw_id, place.start..place.end).await?.ok_or_else(gone)?;
        let (mut decoder, mut at) = (FileDecoder::new(place.encoding), 0);
        return Ok(raw.bytes.map_ok(move |piece| cut(&decoder.decode(&piece).into(), &mut at, &wanted)).boxed());
    }
    let raw = state.store.mail_raw_bytes(message.raw_id).await?.ok_or_else(gone)?;
    let part = file.part;
    let reading = move || file_bytes(&raw, part);
    let bytes = state.actors.kernel.cpu().run(Tenant::Org(mailbox.org_id), CpuKind::Document, reading).await?;
    let bytes = Bytes::from(bytes.ok_or_else(no_file)?);
    Ok(stream::iter([Ok(cut(&bytes, &mut 0, &wanted))]).boxed())
}

/// What is wanted of the next bytes of a file, of which `at` were before.
fn cut(bytes: &Bytes, at: &mut u64, wanted: &Range<u64>) -> Bytes {
    let (begin, end) = (*at, *at + bytes.len() as u64);
    *at = end;
    let place = |it: u64| usize::try_from(it.clamp(begin, end) - begin).unwrap_or(bytes.len());
    let (from, to) = (place(wanted.start), place(wanted.end));
    if from < to { bytes.slice(from..to) } else { Bytes::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_from_pieces_wherever_they_end() {
        let bytes: Vec<u8> = (0..100).collect();
        for size in [1, 3, 7, 100] {
            for wanted in [0..100, 0..1, 99..100, 5..6, 6..50, 7..7] {
                let mut at = 0;
                let pieces = bytes.chunks(size).map(|piece| cut(&Bytes::copy_from_slice(piece), &mut at, &wanted));
                let read: Vec<u8> = pieces.flatten().collect();
                assert!(read.iter().copied().map(u64::from).eq(wanted.clone()), "{size} {wanted:?}");
            }
        }
    }

    #[test]
    fn a_name_ends_no_header() {
        let response = answer(StatusCode::OK, "text/plain", "é\"\r\n;.html").finish();
        let shown = response.headers().get(header::CONTENT_DISPOSITION).expect("a header");
        assert_eq!(shown, "attachment; filename*=UTF-8''%C3%A9%22%0D%0A%3B.html");
    }
}
