//! Policies of buckets in Amazon's JSON. The one that there can be says that everybody may read the files.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// Bytes of a policy (S3).
const POLICY_BYTES_MAX: usize = 20 * 1_024;
const VERSIONS: &[&str] = &["2012-10-17", "2008-10-17"];
const ACTION: &str = "s3:GetObject";
/// What a statement has that is none for everybody's reading.
const FURTHER: &[&str] = &["Condition", "NotAction", "NotPrincipal", "NotResource"];

/// 400: a text that is no policy, or none of this bucket.
fn policy_malformed(message: &'static str) -> Error {
    Error::bad_request("malformed_policy", message)
}

/// 400: a policy that says anything else than that everybody may read the files.
fn policy_unknown() -> Error {
    Error::bad_request("policy_unknown", "The one policy that a bucket can have lets everybody read its files.")
}

/// The policy of a bucket whose files everybody may read.
pub fn policy_of_public(bucket: &str) -> String {
    json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Sid": "PublicRead",
            "Effect": "Allow",
            "Principal": "*",
            "Action": ACTION,
            "Resource": resource(bucket),
        }],
    })
    .to_string()
}

/// Passes where the text is a policy that lets everybody read the files of the bucket, which has these names.
pub fn policy_check(text: &str, names: &[&str]) -> Result<()> {
    if text.len() > POLICY_BYTES_MAX {
        return Err(policy_malformed("Policies have at most 20 KB."));
    }
    let policy: Map<String, Value> = serde_json::from_str(text)
        .map_err(|_| policy_malformed("Policies must be valid JSON and the first byte must be '{'"))?;
    if policy.get("Version").is_some_and(|version| !version.as_str().is_some_and(|it| VERSIONS.contains(&it))) {
        return Err(policy_malformed("The policy must contain a valid version string"));
    }
    let statements = policy.get("Statement").map(listed).filter(|statements| !statements.is_empty());
    let statements = statements.ok_or_else(|| policy_malformed("Could not parse the policy: Statement is empty!"))?;
    statements.into_iter().try_for_each(|statement| statement_check(statement, names))
}

fn statement_check(statement: &Value, names: &[&str]) -> Result<()> {
    let statement = statement.as_object().ok_or_else(|| policy_malformed("A statement must be an object"))?;
    if FURTHER.iter().any(|name| statement.contains_key(*name)) {
        return Err(policy_unknown());
    }
    let member = |name: &str, missing: &'static str| statement.get(name).ok_or_else(|| policy_malformed(missing));
    let effect = member("Effect", "Missing required field Effect")?;
    let principal = member("Principal", "Missing required field Principal")?;
    let actions = listed(member("Action", "Missing required field Action")?);
    let resources = listed(member("Resource", "Missing required field Resource")?);
    let is_own = |named: &&Value| {
        let rest = named.as_str().and_then(|named| named.strip_prefix("arn:aws:s3:::"));
        rest.is_some_and(|rest| names.contains(&rest.split('/').next().unwrap_or_default()))
    };
    if resources.is_empty() || !resources.iter().all(is_own) {
        return Err(policy_malformed("Policy has invalid resource"));
    }
    let is_all = |named: &&Value| names.iter().any(|name| named.as_str() == Some(resource(name).as_str()));
    let is_reading = |action: &&Value| action.as_str().is_some_and(|action| action.eq_ignore_ascii_case(ACTION));
    let is_public_reading = effect == "Allow"
        && is_everybody(principal)
        && !actions.is_empty()
        && actions.iter().all(is_reading)
        && resources.iter().all(is_all);
    if is_public_reading { Ok(()) } else { Err(policy_unknown()) }
}

fn resource(bucket: &str) -> String {
    format!("arn:aws:s3:::{bucket}/*")
}

fn is_everybody(principal: &Value) -> bool {
    let named = principal.as_object().filter(|named| named.len() == 1).and_then(|named| named.get("AWS"));
    let all = named.map_or_else(|| vec![principal], listed);
    !all.is_empty() && all.into_iter().all(|it| it == "*")
}

/// What stands alone, or in a list.
fn listed(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |all| all.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(statement: &Value) -> String {
        json!({ "Version": "2012-10-17", "Statement": statement }).to_string()
    }

    fn reading() -> Value {
        json!({ "Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*" })
    }

    fn with(name: &str, value: Value) -> String {
        let mut statement = reading();
        statement[name] = value;
        policy(&json!([statement]))
    }

    fn code(text: &str) -> &'static str {
        policy_check(text, &["b", "b-12345678"]).unwrap_err().code()
    }

    #[test]
    fn everybody_reads_by_each_form_of_the_policy() {
        for text in [
            policy_of_public("b"),
            policy_of_public("b-12345678"),
            policy(&reading()),
            with("Principal", json!({ "AWS": "*" })),
            with("Principal", json!({ "AWS": ["*"] })),
            with("Action", json!(["s3:getobject"])),
            with("Resource", json!(["arn:aws:s3:::b/*", "arn:aws:s3:::b-12345678/*"])),
            with("Sid", json!("1")),
        ] {
            assert!(policy_check(&text, &["b", "b-12345678"]).is_ok(), "{text}");
        }
    }

    #[test]
    fn whatever_says_more_or_less_is_no_policy_here() {
        for text in [
            with("Effect", json!("Deny")),
            with("Principal", json!({ "AWS": "arn:aws:iam::1:root" })),
            with("Principal", json!({ "AWS": "*", "Service": "*" })),
            with("Principal", json!([])),
            with("Action", json!(["s3:GetObject", "s3:PutObject"])),
            with("Action", json!([])),
            with("Action", json!("s3:*")),
            with("Resource", json!("arn:aws:s3:::b/a/*")),
            with("Condition", json!({})),
            with("NotAction", json!("s3:PutObject")),
        ] {
            assert_eq!(code(&text), "policy_unknown", "{text}");
        }
    }

    #[test]
    fn what_is_no_policy_of_the_bucket_is_malformed() {
        let long = |bytes: usize| format!("{}{}", policy(&reading()), " ".repeat(bytes - policy(&reading()).len()));
        assert!(policy_check(&long(POLICY_BYTES_MAX), &["b"]).is_ok());
        for text in [
            "",
            "{}",
            "[]",
            "{",
            r#"{"Statement":[]}"#,
            r#"{"Statement":[1]}"#,
            r#"{"Statement":{"Effect":"Allow"}}"#,
            &with("Resource", json!("arn:aws:s3:::other/*")),
            &with("Resource", json!([])),
            &with("Resource", json!("*")),
            &json!({ "Version": "2020-01-01", "Statement": reading() }).to_string(),
            &long(POLICY_BYTES_MAX + 1),
        ] {
            assert_eq!(code(text), "malformed_policy", "{text}");
        }
    }
}
