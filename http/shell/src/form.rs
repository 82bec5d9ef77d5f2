//! A form, as providers send one to a callback.

use actix_web::http::header;

use crate::{
    argument::Argument,
    body::TOO_LARGE,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
};

/// How it is written.
const CONTENT_TYPE: &str = "application/x-www-form-urlencoded";
/// How large it may be, in bytes.
const FORM_LEN_MAX: usize = 64 * 1024;

/// The fields of a form in their order, decoded.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// All of them.
    pub fn fields(&self) -> &[(String, String)] {
        &self.0
    }

    /// The first field of this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Argument for Form {
    fn describe(facts: &mut Facts) {
        facts.form(CONTENT_TYPE);
        facts.error(413, TOO_LARGE);
        facts.error(415, "Send the body as application/x-www-form-urlencoded.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let content_type = call.header(header::CONTENT_TYPE).unwrap_or_default();
        let is_form = content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(CONTENT_TYPE));
        if !is_form {
            return Err(ApiError::UnsupportedMediaType(CONTENT_TYPE));
        }
        let raw = call.read_body(FORM_LEN_MAX, TOO_LARGE).await?;
        Ok(Self(form_urlencoded::parse(&raw).into_owned().collect()))
    }
}
