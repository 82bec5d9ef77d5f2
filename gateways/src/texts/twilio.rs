//! Texts and calls over Twilio's HTTP interface, which others speak too.

use reqwest::{Client, RequestBuilder, StatusCode, header::CONTENT_TYPE};
use serde::Deserialize;

use super::{Call, SAY_LEN_MAX, SMS_LEN_MAX, Sms, TextError, TexterOptionsError, TwilioOptions};
use crate::{
    Delivered,
    outgoing::{self, Answer, cut},
};

/// The version of the interface that is spoken.
const VERSION: &str = "2010-04-01";
/// What the id of a pool of numbers starts with.
const POOL_PREFIX: &str = "MG";
/// Seconds that a called person has for a key.
const KEY_TIMEOUT_S: u32 = 10;

/// A text or a call, as the provider shows it.
#[derive(Deserialize)]
struct Taken {
    sid: String,
}

/// What the provider says about a refusal.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    code: u32,
    message: String,
}

pub(super) struct Twilio {
    client: Client,
    options: TwilioOptions,
}

impl Twilio {
    pub(super) fn new(options: &TwilioOptions) -> Result<Self, TexterOptionsError> {
        let is_http = ["http://", "https://"].iter().any(|scheme| options.base_url.starts_with(scheme));
        if !is_http || reqwest::Url::parse(&options.base_url).is_err() {
            return Err(TexterOptionsError::BaseUrl(options.base_url.clone()));
        }
        let client =
            outgoing::client(options.timeout).build().map_err(|error| TexterOptionsError::Client(error.to_string()))?;
        Ok(Self { client, options: options.clone() })
    }

    pub(super) fn auth_token(&self) -> &str {
        &self.options.auth_token
    }

    pub(super) async fn sms(&self, sms: &Sms) -> Result<Delivered, TextError> {
        let from = &self.options.from;
        let sender = if from.starts_with(POOL_PREFIX) { "MessagingServiceSid" } else { "From" };
        let body = cut(&sms.body, SMS_LEN_MAX);
        let mut fields = vec![("To", sms.to.as_str()), (sender, from), ("Body", &body)];
        fields.extend(sms.status_callback.as_deref().map(|url| ("StatusCallback", url)));
        self.post("Messages", &fields, &sms.idempotency_key).await
    }

    pub(super) async fn call(&self, call: &Call) -> Result<Delivered, TextError> {
        let from = self.options.call_from.as_deref().unwrap_or(&self.options.from);
        if from.starts_with(POOL_PREFIX) {
            return Err(TextError::Permanent("there is no number to call from".to_owned()));
        }
        let script = script(call);
        let mut fields = vec![("To", call.to.as_str()), ("From", from), ("Twiml", &script)];
        fields.extend(call.status_callback.as_deref().map(|url| ("StatusCallback", url)));
        self.post("Calls", &fields, &call.idempotency_key).await
    }

    /// Whether the provider answers and takes our sign-in.
    pub(super) async fn check(&self) -> Result<(), TextError> {
        let request = self.client.get(format!("{}.json", self.account()));
        self.ask(request).await.map(drop)
    }

    fn account(&self) -> String {
        let base = self.options.base_url.trim_end_matches('/');
        format!("{base}/{VERSION}/Accounts/{}", self.options.account_sid)
    }

    async fn post(&self, what: &str, fields: &[(&str, &str)], key: &str) -> Result<Delivered, TextError> {
        let form: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self
            .client
            .post(format!("{}/{what}.json", self.account()))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("I-Twilio-Idempotency-Token", key)
            .body(form);
        let answer = self.ask(request).await?;
        // It was taken, whatever the body looks like: an error here would send it again.
        Ok(Delivered::Sent { response: answer.json::<Taken>().map(|taken| taken.sid).unwrap_or_default() })
    }

    async fn ask(&self, request: RequestBuilder) -> Result<Answer, TextError> {
        let request = request.basic_auth(&self.options.account_sid, Some(&self.options.auth_token));
        let answer = outgoing::ask(request).await;
        let answer = answer.map_err(|reason| TextError::Temporary { reason, retry_after: None })?;
        if answer.status.is_success() { Ok(answer) } else { Err(refusal(&answer)) }
    }
}

/// A 4xx answer is for good, unless it says to wait, or is about our account: that is an operator's to mend, and the text
/// should go out when it is.
pub(crate) fn refusal(answer: &Answer) -> TextError {
    let refused: Refused = answer.json().unwrap_or_default();
    let words = if refused.code == 0 { refused.message } else { format!("{} ({})", refused.message, refused.code) };
    let reason = answer.refusal("the provider of texts and calls", &words);
    let about_us = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
    let to_wait = matches!(answer.status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    if answer.status.is_client_error() && !about_us && !to_wait {
        TextError::Permanent(reason)
    } else {
        TextError::Temporary { reason, retry_after: answer.retry_after() }
    }
}

/// What the provider does when the call is answered.
pub(crate) fn script(call: &Call) -> String {
    let say = format!("<Say loop=\"2\">{}</Say>", escaped(&cut(&call.say, SAY_LEN_MAX)));
    match &call.gather_url {
        None => format!("<Response>{say}</Response>"),
        Some(url) => format!(
            "<Response><Gather input=\"dtmf\" numDigits=\"1\" timeout=\"{KEY_TIMEOUT_S}\" method=\"POST\" action=\"{}\">\
             {say}</Gather></Response>",
            escaped(url)
        ),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no way to write these.
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(say: &str, gather_url: Option<&str>) -> Call {
        Call {
            to: "+4915112345678".to_owned(),
            say: say.to_owned(),
            gather_url: gather_url.map(str::to_owned),
            status_callback: None,
            idempotency_key: "one".to_owned(),
        }
    }

    #[test]
    fn what_is_said_is_never_part_of_the_script() {
        let script = script(&call("</Say><Dial>+1900</Dial>\u{0}\u{ffff}\"&", Some("https://x.example/?a=1&b=\"")));
        assert_eq!(
            script,
            "<Response><Gather input=\"dtmf\" numDigits=\"1\" timeout=\"10\" method=\"POST\" \
             action=\"https://x.example/?a=1&amp;b=&quot;\"><Say loop=\"2\">&lt;/Say&gt;&lt;Dial&gt;+1900&lt;/Dial&gt;  \
             &quot;&amp;</Say></Gather></Response>"
        );
    }

    #[test]
    fn the_longest_script_is_one_that_providers_take() {
        let longest = script(&call(&"\"".repeat(SAY_LEN_MAX + 1), Some(&format!("https://{}", "x".repeat(200)))));
        assert!(longest.len() <= 4_000, "{}", longest.len());
        assert_eq!(longest.matches("&quot;").count(), SAY_LEN_MAX);
    }
}
