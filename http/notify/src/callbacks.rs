//! `/v1/hooks/notify/…`: what providers of texts and calls report, and what people answer through them.
//!
//! There is no credential: an address that names a delivery carries a token that only this server makes, and where a
//! provider is configured, each request must have its signature too. What lacks either doesn't exist: 404.

use std::time::Duration;

use actix_web::{HttpResponse, http::header};
use actors::notify::{
    acknowledge::Acknowledgement,
    deliveries::{DeliveryReport, ReportDelivery},
};
use domain::{
    Context, Error,
    id::DeliveryId,
    notify::{AckCode, escalation::AckVia},
};
use gateways::{
    SignedCallback,
    hub::{Limit, RetryAfter},
};
use http_shell::{
    answer::NoContent, argument::Argument, call::Call, caller::Anyone, error::Result, facts::Facts, form::Form,
    state::State,
};
use store::Delivery;

/// The header that carries the provider's signature.
const SIGNATURE: &str = "X-Twilio-Signature";
/// What a callback reads that names no delivery, or was not made by the provider.
const NOT_FOUND: &str = "Delivery not found.";
/// Codes that one telephone number may try within [`CODES_WINDOW`]: many alerts at once, few guesses.
const CODES_MAX: u32 = 60;
/// See [`CODES_MAX`].
const CODES_WINDOW: Duration = Duration::from_hours(1);
/// What a phone reads whose code is not known.
const UNKNOWN_CODE: &str = "That code isn't known. Reply ACK and the code of the text, such as ACK 7F3K.";
/// The key that acknowledges.
const ACK_KEY: &str = "1";

/// A form that the provider sent, if there is one.
pub(crate) struct ProviderForm {
    form: Form,
    context: Context,
}

impl Argument for ProviderForm {
    fn describe(facts: &mut Facts) {
        Anyone::describe(facts);
        facts.header(SIGNATURE, "The provider's signature; needed where a provider is configured.", false);
        Form::describe(facts);
        facts.error(404, NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let form = Form::take(call).await?;
        if !call.state.texter.is_console() {
            let url = format!("{}{}", call.state.options.public_url, call.path_and_query());
            let signature = call.header(SIGNATURE).unwrap_or_default();
            let callback = SignedCallback { url: &url, fields: form.fields(), signature };
            if !call.state.texter.is_genuine(&callback) {
                return Err(Error::not_found(NOT_FOUND).into());
            }
        }
        Ok(Self { form, context: call.context.clone() })
    }
}

/// A callback about a delivery, at an address that this server made.
pub(crate) struct DeliveryCallback {
    delivery: Delivery,
    sent: ProviderForm,
}

impl Argument for DeliveryCallback {
    fn describe(facts: &mut Facts) {
        facts.path_parameter("deliveryId", "The delivery.", "dlv_01jd7rt4m5e9fv2w8x3c6k0hqz");
        facts.path_parameter("token", "What proves that this server made the address.", "dGhlIHRva2Vu");
        ProviderForm::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let not_found = || Error::not_found(NOT_FOUND);
        let id: DeliveryId = call.path_value("deliveryId")?.parse().map_err(|_| not_found())?;
        if !call.state.store.delivery_token_holds(id, call.path_value("token")?) {
            return Err(not_found().into());
        }
        let sent = ProviderForm::take(call).await?;
        let delivery = call.state.store.delivery(id).await?.ok_or_else(not_found)?;
        Ok(Self { delivery, sent })
    }
}

/// A key was pressed in a call
///
/// For the provider of calls, which reads the answer (`TwiML`) out. `Digits` `1` acknowledges.
#[utoipa::path(post, path = "/v1/hooks/notify/voice/{deliveryId}/{token}", responses(
    (status = 200, description = "What is read out.", content_type = "text/xml")))]
pub(crate) async fn notify_voice_hook(callback: DeliveryCallback, state: State) -> Result<HttpResponse> {
    let DeliveryCallback { delivery, sent } = callback;
    if sent.form.field("Digits").map(str::trim) != Some(ACK_KEY) {
        return Ok(twiml("<Gather numDigits=\"1\"><Say>Press 1 to acknowledge.</Say></Gather>"));
    }
    let words = match state.actors.acknowledgements.by_delivery(&delivery, AckVia::Voice, sent.context).await? {
        Acknowledgement::Made => "Acknowledged. Thank you.",
        Acknowledgement::Before => "This was acknowledged already.",
        Acknowledgement::Gone => "There is nothing left to acknowledge.",
    };
    Ok(twiml(&format!("<Say>{words}</Say>")))
}

/// A text came in
///
/// For the provider of texts, which sends the answer (`TwiML`) to the number that wrote. `ACK 7F3K` acknowledges the text
/// to this number that asked for that code. 404 where no provider is configured.
#[utoipa::path(post, path = "/v1/hooks/notify/sms", responses(
    (status = 200, description = "What is texted back, if anything.", content_type = "text/xml")))]
pub(crate) async fn notify_sms_hook(sent: ProviderForm, state: State) -> Result<HttpResponse> {
    if state.texter.is_console() {
        // Nobody could sign it, and the sender's number alone proves nothing.
        return Err(Error::not_found(NOT_FOUND).into());
    }
    let phone = sent.form.field("From").unwrap_or_default();
    let Some(code) = AckCode::in_reply(sent.form.field("Body").unwrap_or_default()) else { return Ok(twiml("")) };
    let limit = Limit::new(CODES_MAX, CODES_WINDOW);
    let verdict = state.hub.limit_check(&format!("ack-code:{phone}"), limit, state.store.now()).await;
    verdict.map_err(|RetryAfter(retry_after)| Error::RateLimited {
        message: "That were too many codes; try again later.".into(),
        retry_after,
    })?;
    let Some(delivery) = answered(&state, phone, &code).await? else { return Ok(texted(UNKNOWN_CODE)) };
    let title = &delivery.title;
    let words = match state.actors.acknowledgements.by_delivery(&delivery, AckVia::Sms, sent.context).await? {
        Acknowledgement::Made => format!("Acknowledged: {title}"),
        Acknowledgement::Before => format!("Acknowledged already: {title}"),
        Acknowledgement::Gone => format!("There is nothing left to acknowledge: {title}"),
    };
    Ok(texted(&words))
}

/// The text that `phone` answers with this code, as long as the number is confirmed as that person's.
async fn answered(state: &State, phone: &str, code: &AckCode) -> Result<Option<Delivery>> {
    let Some(delivery) = state.store.delivery_of_code(phone, code).await? else { return Ok(None) };
    let confirmed = state.store.confirmed_phone(delivery.user_id).await?;
    Ok(confirmed.is_some_and(|confirmed| confirmed == phone).then_some(delivery))
}

/// What became of a text or a call
///
/// For the provider: `MessageStatus` of a text, `CallStatus` of a call. What says that it arrived, or that it can't, is
/// noted.
#[utoipa::path(post, path = "/v1/hooks/notify/status/{deliveryId}/{token}")]
pub(crate) async fn notify_status_hook(callback: DeliveryCallback, state: State) -> Result<NoContent> {
    let DeliveryCallback { delivery, sent } = callback;
    if let Some(report) = reported(&sent.form) {
        let command = ReportDelivery { id: delivery.id, report };
        state.actors.inbox.ask(&delivery.user_id, command, sent.context).await?;
    }
    Ok(NoContent)
}

/// What a provider's status says; nothing while it is under way.
fn reported(form: &Form) -> Option<DeliveryReport> {
    let status = form.field("MessageStatus").or_else(|| form.field("CallStatus"))?;
    match status {
        "delivered" | "read" | "completed" => Some(DeliveryReport::Arrived),
        "failed" | "undelivered" | "busy" | "no-answer" | "canceled" => {
            let code = form.field("ErrorCode").map(|code| format!(" ({code})")).unwrap_or_default();
            Some(DeliveryReport::Lost(format!("{status}{code}")))
        }
        _ => None,
    }
}

fn texted(words: &str) -> HttpResponse {
    twiml(&format!("<Message>{}</Message>", escaped(words)))
}

fn twiml(verbs: &str) -> HttpResponse {
    let document = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response>{verbs}</Response>");
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "text/xml; charset=utf-8")).body(document)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // XML 1.0 has no way to write them.
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() && !matches!(other, '\n' | '\t') => {}
            other => escaped.push(other),
        }
    }
    escaped
}
