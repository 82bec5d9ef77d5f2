//! The query of a request's address.

use std::ops::Deref;

use domain::{Error, problems::Problems};
use serde::de::DeserializeOwned;
use utoipa::{IntoParams, openapi::path::ParameterIn};

use crate::{argument::Argument, call::Call, error::Result, facts::Facts};

/// A type that is read from the query. Derive `Deserialize` and `IntoParams`.
pub trait RequestQuery: DeserializeOwned + IntoParams {
    /// Adds a problem for each parameter that breaks a rule.
    fn check(&self, problems: &mut Problems) {
        let _ = problems;
    }
}

/// A query whose structure and rules hold.
pub struct Query<T>(pub T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: RequestQuery> Argument for Query<T> {
    fn describe(facts: &mut Facts) {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            facts.parameter(parameter);
        }
        facts.error(400, "The request has fields that can't be used as they are.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(parse(call.request.query_string())?))
    }
}

/// Reads and checks a query.
pub fn parse<T: RequestQuery>(query: &str) -> domain::Result<T> {
    refuse_nul(query)?;
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    let value: T = serde_path_to_error::deserialize(pairs).map_err(|error| {
        let (path, message) = (error.path().to_string(), error.inner().to_string());
        if let Some(name) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            return Error::invalid(name, "This field is required.");
        }
        let path = if path == "." { String::new() } else { path };
        Error::invalid(path, crate::structure::sentence(&message))
    })?;
    let mut problems = Problems::default();
    value.check(&mut problems);
    problems.into_result()?;
    Ok(value)
}

/// PostgreSQL takes no text with a NUL in it. A cursor is never given to it as it is, and has an error of its own.
fn refuse_nul(query: &str) -> domain::Result<()> {
    if !query.contains("%00") {
        return Ok(());
    }
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let found = pairs.find(|(name, value)| name != "cursor" && value.contains('\0'));
    found.map_or(Ok(()), |(name, _)| Err(Error::invalid(name, "Use no control characters.")))
}
