use std::time::{Duration, Instant};

use gateways::{
    Call, Delivered, Sms, TextError, Texter, TexterOptions,
    texts::{SMS_LEN_MAX, TwilioOptions},
};

use crate::{
    PATIENCE,
    server::{Reply, Service},
};

const TAKEN: &str = r#"{"sid": "SM0123", "status": "queued", "error_code": null}"#;

fn options(base_url: String) -> TwilioOptions {
    TwilioOptions {
        base_url,
        account_sid: "AC1".to_owned(),
        auth_token: "secret".to_owned(),
        from: "+15005550006".to_owned(),
        call_from: None,
        timeout: PATIENCE,
    }
}

fn texter(options: TwilioOptions) -> Texter {
    Texter::new(&TexterOptions::Twilio(options)).expect("a texter")
}

fn sms() -> Sms {
    Sms {
        to: "+4915112345678".to_owned(),
        body: "The disk is full & fülling".to_owned(),
        status_callback: Some("https://troupe.example/v1/hooks/notify/sms".to_owned()),
        idempotency_key: "dlv_1".to_owned(),
    }
}

fn call() -> Call {
    Call {
        to: "+4915112345678".to_owned(),
        say: "The disk is full. Press 1 to acknowledge.".to_owned(),
        gather_url: Some("https://troupe.example/v1/hooks/notify/voice".to_owned()),
        status_callback: None,
        idempotency_key: "dlv_2".to_owned(),
    }
}

async fn refused(replies: Reply) -> TextError {
    let service = Service::replying([replies]).await;
    texter(options(service.url())).sms(&sms()).await.expect_err("a refusal")
}

#[tokio::test]
async fn a_text_is_handed_in_as_a_signed_in_form_and_answers_with_its_id() {
    let service = Service::replying([Reply::new(201, TAKEN)]).await;
    let sent = texter(options(service.url() + "/")).sms(&sms()).await;
    assert_eq!(sent, Ok(Delivered::Sent { response: "SM0123".to_owned() }));
    let heard = service.only();
    assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/2010-04-01/Accounts/AC1/Messages.json"));
    assert_eq!(heard.header("authorization"), "Basic QUMxOnNlY3JldA==");
    assert_eq!(heard.header("content-type"), "application/x-www-form-urlencoded");
    assert_eq!(heard.header("i-twilio-idempotency-token"), "dlv_1");
    let form = heard.form();
    assert_eq!(form["To"], "+4915112345678");
    assert_eq!(form["From"], "+15005550006");
    assert_eq!(form["Body"], "The disk is full & fülling");
    assert_eq!(form["StatusCallback"], "https://troupe.example/v1/hooks/notify/sms");
    assert_eq!(form.len(), 4);
}

#[tokio::test]
async fn a_pool_of_numbers_sends_texts_and_does_not_call() {
    let service = Service::replying([Reply::new(201, TAKEN)]).await;
    let pool = TwilioOptions { from: "MG7".to_owned(), ..options(service.url()) };
    texter(pool.clone()).sms(&sms()).await.expect("a text");
    assert_eq!(service.only().form()["MessagingServiceSid"], "MG7");
    assert!(matches!(texter(pool.clone()).call(&call()).await, Err(TextError::Permanent(_))));
    let with_number = TwilioOptions { call_from: Some("+15005550001".to_owned()), ..pool };
    texter(with_number).call(&call()).await.expect("a call");
    assert_eq!(service.heard()[1].form()["From"], "+15005550001");
}

#[tokio::test]
async fn a_call_says_what_to_press() {
    let service = Service::replying([Reply::new(201, r#"{"sid": "CA9"}"#)]).await;
    let made = texter(options(service.url())).call(&call()).await;
    assert_eq!(made, Ok(Delivered::Sent { response: "CA9".to_owned() }));
    let heard = service.only();
    assert_eq!(heard.path, "/2010-04-01/Accounts/AC1/Calls.json");
    assert_eq!(heard.header("i-twilio-idempotency-token"), "dlv_2");
    let script = &heard.form()["Twiml"];
    assert!(script.contains("<Gather") && script.contains("Press 1 to acknowledge."), "{script}");
    assert!(script.contains("action=\"https://troupe.example/v1/hooks/notify/voice\""), "{script}");
}

#[tokio::test]
async fn a_long_text_is_cut_to_what_providers_take() {
    let service = Service::replying([Reply::new(201, TAKEN)]).await;
    let texter = texter(options(service.url()));
    for characters in [SMS_LEN_MAX - 1, SMS_LEN_MAX, SMS_LEN_MAX + 1] {
        texter.sms(&Sms { body: "ü".repeat(characters), ..sms() }).await.expect("a text");
        let heard = service.heard().pop().expect("a request");
        assert_eq!(heard.form()["Body"].chars().count(), characters.min(SMS_LEN_MAX));
    }
}

#[tokio::test]
async fn what_was_taken_is_taken_whatever_the_answer_says() {
    let service = Service::replying([Reply::new(200, "<html>")]).await;
    let sent = texter(options(service.url())).sms(&sms()).await;
    assert_eq!(sent, Ok(Delivered::Sent { response: String::new() }));
}

#[tokio::test]
async fn a_refused_number_is_for_good() {
    let body = r#"{"code": 21211, "message": "The 'To' number is not valid.", "status": 400}"#;
    assert_eq!(
        refused(Reply::new(400, body)).await,
        TextError::Permanent(
            "the provider of texts and calls answered 400: The 'To' number is not valid. (21211)".to_owned()
        )
    );
}

#[tokio::test]
async fn a_provider_that_refuses_our_account_or_fails_may_take_it_later() {
    for status in [401, 403, 404, 408, 500, 502, 503, 302] {
        let error = refused(Reply::new(status, "{}")).await;
        assert!(error.is_temporary(), "{status}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_busy_provider_says_when_to_come_back() {
    let retry_after = |error: TextError| match error {
        TextError::Temporary { retry_after, .. } => retry_after,
        TextError::Permanent(reason) => panic!("{reason}"),
    };
    let busy = refused(Reply::new(429, r#"{"code": 20429, "message": "Too Many Requests"}"#).with("retry-after", "7"));
    assert_eq!(retry_after(busy.await), Some(Duration::from_secs(7)));
    assert_eq!(retry_after(refused(Reply::new(429, "")).await), None);
    assert_eq!(
        retry_after(refused(Reply::new(503, "").with("retry-after", "60")).await),
        Some(Duration::from_secs(60))
    );
}

#[tokio::test]
async fn a_silent_or_absent_provider_is_waited_for_no_longer_than_said() {
    let service = Service::replying([Reply::never()]).await;
    let hasty = TwilioOptions { timeout: Duration::from_millis(200), ..options(service.url()) };
    let begun = Instant::now();
    let error = texter(hasty).sms(&sms()).await.expect_err("a time-out");
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(error.to_string(), "the service did not answer in time");
    assert!(error.is_temporary());
    let url = service.url();
    drop(service);
    let error = texter(options(url)).sms(&sms()).await.expect_err("nobody there");
    assert!(error.is_temporary() && !error.to_string().contains("AC1"), "{error}");
}

#[tokio::test]
async fn the_sign_in_can_be_checked() {
    let service = Service::replying([Reply::new(200, "{}"), Reply::new(401, r#"{"message": "Authenticate"}"#)]).await;
    let texter = texter(options(service.url()));
    assert_eq!(texter.check().await, Ok(()));
    assert_eq!(service.only().path, "/2010-04-01/Accounts/AC1.json");
    let error = texter.check().await.expect_err("a refusal");
    assert_eq!(error.to_string(), "the provider of texts and calls answered 401: Authenticate");
    assert_eq!(Texter::console().check().await, Ok(()));
}

#[tokio::test]
async fn a_console_keeps_texts_and_calls_and_refuses_what_is_no_number() {
    let console = Texter::new(&TexterOptions::Console).expect("a texter");
    assert_eq!(console.sms(&sms()).await, Ok(Delivered::Keep));
    assert_eq!(console.call(&call()).await, Ok(Delivered::Keep));
    let nobody = Sms { to: "ada".to_owned(), ..sms() };
    assert_eq!(console.sms(&nobody).await, Err(TextError::Permanent("`ada` is no telephone number".to_owned())));
}

#[test]
fn an_address_that_is_none_is_refused_at_the_start() {
    for url in ["", "api.twilio.com", "ftp://api.twilio.com", "https://"] {
        assert!(Texter::new(&TexterOptions::Twilio(options(url.to_owned()))).is_err(), "{url}");
    }
}
