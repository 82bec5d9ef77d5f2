//! Reads JSON into a type, and says of all of it that does not fit what and where.
//!
//! `serde` stops at the first fault. Only once it has, the JSON is compared with the type's schema, to list what is
//! missing, what is unknown and what is of another type.

use domain::{Error, Problem};
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

/// Reads `raw`. What is no JSON is a 400 `malformed`; what does not fit is a 400 `invalid` with every field at fault.
pub(crate) fn read<T: DeserializeOwned + ToSchema>(raw: &[u8]) -> domain::Result<T> {
    let mut json = serde_json::Deserializer::from_slice(raw);
    let read = serde_path_to_error::deserialize::<_, T>(&mut json);
    let error = match read {
        Ok(value) => {
            json.end().map_err(|_| malformed())?;
            return if is_list(raw) { list_check::<T>(raw).map(|()| value) } else { Ok(value) };
        }
        Err(error) => error,
    };
    let Ok(value) = serde_json::from_slice::<Value>(raw) else {
        return Err(malformed());
    };
    let mut problems = Vec::new();
    crate::schema_check::compare::<T>(&value, &mut problems);
    if problems.is_empty() {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        problems.push(Problem { path, message: sentence(&error.inner().to_string()) });
    }
    Err(Error::Invalid { problems })
}

fn is_list(raw: &[u8]) -> bool {
    raw.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

/// `serde` takes the fields of a struct from a list too, in their order. The schema says which of the two is meant.
fn list_check<T: ToSchema>(raw: &[u8]) -> domain::Result<()> {
    let value = serde_json::from_slice::<Value>(raw).map_err(|_| malformed())?;
    let mut problems = Vec::new();
    crate::schema_check::compare::<T>(&value, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems }) }
}

fn malformed() -> Error {
    Error::bad_request("malformed", "The body is not valid JSON.")
}

/// `serde`'s message as a sentence, without its place in the text.
pub(crate) fn sentence(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or(message).trim_end_matches('.');
    let mut letters = message.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
