//! Secrets and variables: what workflows use, and isn't written in them.
//!
//! Both belong to an organization, to a repository or to one of its environments; of one name the narrower holds.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    expressions::{ContextName, Properties, Template, Usage, Value},
    job::{ContinueOnError, JobPlan, PlannedStep, TimeoutMinutes},
    workflow::OF_STEP,
};
use crate::{Error, Result};

/// Bytes of a value.
pub const VALUE_LEN_MAX: usize = 48 * 1024;
/// Characters of a name.
pub const VALUE_NAME_LEN_MAX: usize = 255;
/// Secrets of a repository or of an environment, at most; as many variables.
pub const VALUES_MAX: u64 = 100;
/// Secrets of an organization, at most; as many variables.
pub const ORGANIZATION_VALUES_MAX: u64 = 1_000;
/// Repositories that a value of an organization names, at most.
pub const VALUE_REPOSITORIES_MAX: usize = 100;
/// Bytes of all secrets that a job is given.
pub const JOB_SECRETS_LEN_MAX: usize = 1024 * 1024;
/// Bytes of all variables of organization and repository that a run is given.
pub const RUN_VARIABLES_LEN_MAX: usize = 256 * 1024;
/// What names don't begin with: such variables are the runner's own.
const RESERVED_PREFIXES: [&str; 2] = ["GITHUB_", "SERVICE_"];

/// The message of the 404 for a secret that isn't there.
pub const SECRET_NOT_FOUND: &str = "Secret not found";
/// The message of the 404 for a variable that isn't there.
pub const VARIABLE_NOT_FOUND: &str = "Variable not found";

/// Whether something may be read in logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// Nobody reads it again but jobs that name it.
    Secret,
    /// Everybody reads it who may read any.
    Variable,
}

impl ValueKind {
    /// 404: there is none of this name.
    pub fn not_found(self) -> Error {
        Error::not_found(match self {
            Self::Secret => SECRET_NOT_FOUND,
            Self::Variable => VARIABLE_NOT_FOUND,
        })
    }

    /// 400: there are as many as there may be.
    pub fn too_many(self, most: u64) -> Error {
        let what = match self {
            Self::Secret => "secrets",
            Self::Variable => "variables",
        };
        Error::bad_request("limit_reached", format!("There may be at most {most} {what} here."))
    }
}

/// The name of a secret or of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueName(String);

impl ValueName {
    /// Reads a name; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let is_first = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        let mut bytes = text.bytes();
        let is_name = bytes.next().is_some_and(is_first) && bytes.all(|byte| is_first(byte) || byte.is_ascii_digit());
        if !is_name || text.len() > VALUE_NAME_LEN_MAX {
            let message = "Use 1 to 255 capital letters, digits and underscores, and no digit at the beginning.";
            return Err(Error::invalid(path, message));
        }
        if RESERVED_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            return Err(Error::invalid(path, "Names that begin with GITHUB_ or SERVICE_ are the runner's own."));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a secret or a variable says.
#[derive(Clone, PartialEq, Eq)]
pub struct ValueText(String);

impl ValueText {
    /// Reads a value; `path` is where it stands in the request.
    pub fn parse(kind: ValueKind, path: &str, text: &str) -> Result<Self> {
        if kind == ValueKind::Secret && text.is_empty() {
            return Err(Error::invalid(path, "An empty text is no secret."));
        }
        if text.len() > VALUE_LEN_MAX {
            return Err(Error::invalid(path, format!("Use at most {VALUE_LEN_MAX} bytes.")));
        }
        if text.contains('\0') {
            return Err(Error::invalid(path, "Use no NUL: no program could be given it."));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text, to be written.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Shown to nobody.
impl fmt::Debug for ValueText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ValueText(…)")
    }
}

/// The secrets that a job's text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretsNamed {
    /// All: the text uses them as a whole, or by names that only evaluating tells.
    All,
    /// Those of these names, in small letters.
    These(BTreeSet<String>),
}

impl SecretsNamed {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::These(names) if names.is_empty())
    }

    /// Whether the secret of this name is one.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.contains(&name.to_lowercase()),
        }
    }
}

impl JobPlan {
    /// The secrets that the job's text names. Conditions can't name any.
    pub fn secrets_named(&self) -> SecretsNamed {
        let mut usage = Usage::default();
        let of_job = self.env.values().chain(self.outputs.values()).map(String::as_str);
        for text in of_job.chain(self.steps.iter().flat_map(texts_of)) {
            // Steps may name whatever a job may. What can't be read here, no runner can evaluate.
            usage.merge(Template::parse(text, &OF_STEP).map(|template| template.usage()).unwrap_or_default());
        }
        match usage.contexts.remove(&ContextName::Secrets) {
            None => SecretsNamed::These(BTreeSet::new()),
            Some(Properties::Named(names)) => SecretsNamed::These(names),
            Some(Properties::All) => SecretsNamed::All,
        }
    }
}

/// The texts of a step in which secrets may be named: all but its condition.
fn texts_of(step: &PlannedStep) -> impl Iterator<Item = &str> {
    let PlannedStep { name, run, shell, working_directory, with, env, continue_on_error, timeout_minutes, .. } = step;
    let settings = [
        match continue_on_error {
            Some(ContinueOnError::Evaluated(text)) => Some(text),
            _ => None,
        },
        match timeout_minutes {
            Some(TimeoutMinutes::Evaluated(text)) => Some(text),
            _ => None,
        },
    ];
    let maps = [with, env].into_iter().flatten().flat_map(BTreeMap::values);
    let single = [name, run, shell, working_directory].into_iter().flatten();
    maps.chain(settings.into_iter().flatten()).chain(single).map(String::as_str)
}

/// The variables of an organization and of its repository that a run is given, as the context `vars`. Past the limit variables of the
/// organization are left out, the last by their names first.
pub fn variables_of_run(
    organization: BTreeMap<String, String>,
    repository: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut left = RUN_VARIABLES_LEN_MAX;
    let mut given = BTreeMap::new();
    let mut of_organization = organization;
    of_organization.retain(|name, _| !repository.contains_key(name));
    for (name, text) in repository.into_iter().chain(of_organization) {
        let Some(rest) = left.checked_sub(name.len() + text.len()) else { break };
        left = rest;
        given.insert(name, text);
    }
    given
}

/// The context `vars` of a job: that of its run, with the variables of the job's environment over it.
pub fn variables_of_job(of_run: &Value, environment: &BTreeMap<String, String>) -> Value {
    let is_over = |name: &str| environment.keys().any(|own| own.eq_ignore_ascii_case(name));
    let of_run = match of_run {
        Value::Object(object) => Some(object.entries()),
        _ => None,
    };
    let below = of_run.into_iter().flatten().filter(|(name, _)| !is_over(name));
    let below = below.map(|(name, value)| (name.to_string(), value.clone()));
    let own = environment.iter().map(|(name, text)| (name.clone(), Value::text(text.as_str())));
    Value::object(below.chain(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipelines::job::PROTOCOL;

    fn plan(steps: &serde_json::Value) -> JobPlan {
        let plan = serde_json::json!({
            "protocol": PROTOCOL, "contexts": {}, "env": {"A": "${{ secrets.OF_ENV }}"}, "defaults": {}, "steps": steps,
            "job": {
                "id": "job_1", "key": "test", "name": "test", "runId": "run_1", "runNumber": 1, "attempt": 1,
                "workflow": "CI", "repository": "web", "timeoutMinutes": 360
            },
            "outputs": {"o": "${{ format('{0}', secrets['of_outputs']) }}"}, "marker": "", "serverUrl": "",
            "limits": {"logBytes": 0, "summaryBytes": 0, "artifactBytes": 0, "cacheBytes": 0}
        });
        serde_json::from_value(plan).unwrap()
    }

    fn named(steps: &serde_json::Value) -> SecretsNamed {
        plan(steps).secrets_named()
    }

    fn these(names: &[&str]) -> SecretsNamed {
        SecretsNamed::These(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn a_job_names_the_secrets_of_each_of_its_texts() {
        let steps = serde_json::json!([
            {"index": 0, "name": "${{ secrets.N }}", "run": "echo ${{ Secrets.run }} secrets.PLAIN",
             "shell": "${{ secrets.S }} {0}", "workingDirectory": "${{ secrets.W }}", "env": {"E": "${{ secrets.E && 1 }}"},
             "continueOnError": "${{ secrets.C == '1' }}", "timeoutMinutes": "${{ fromJSON(secrets.T) }}"},
            {"index": 1, "uses": "checkout", "with": {"ref": "${{ secrets.REF }}"}, "if": "env.secrets == 'x'"}
        ]);
        let all = ["of_env", "of_outputs", "n", "run", "s", "w", "e", "c", "t", "ref"];
        assert_eq!(named(&steps), these(&all));
        assert!(named(&steps).has("REF") && !named(&steps).has("PLAIN"));
    }

    #[test]
    fn whatever_only_evaluating_tells_names_all() {
        for text in ["toJSON(secrets)", "secrets[matrix.name]", "secrets.*", "secrets[format('A{0}', 1)]"] {
            let steps = serde_json::json!([{"index": 0, "run": format!("echo ${{{{ {text} }}}}")}]);
            assert_eq!(named(&steps), SecretsNamed::All, "{text}");
        }
        assert_eq!(
            named(&serde_json::json!([{"index": 0, "run": "toJSON(secrets)"}])),
            these(&["of_env", "of_outputs"])
        );
    }

    #[test]
    fn names_have_bounds() {
        for name in ["A", "_", "_1", "A_B2", &"A".repeat(254), &"A".repeat(255), "GITHUB", "SERVICE", "MY_GITHUB_TOKEN"]
        {
            assert_eq!(ValueName::parse("name", name).unwrap().as_str(), name);
        }
        for name in
            ["", "a", "1A", "A-B", "A B", "Ä", "A\n", "A\0", &"A".repeat(256), "GITHUB_TOKEN", "SERVICE_", "../A"]
        {
            assert_eq!(ValueName::parse("name", name).unwrap_err().status(), 400, "{name:?}");
        }
    }

    #[test]
    fn values_have_bounds() {
        for kind in [ValueKind::Secret, ValueKind::Variable] {
            for length in [1, VALUE_LEN_MAX - 1, VALUE_LEN_MAX] {
                assert!(ValueText::parse(kind, "value", &"x".repeat(length)).is_ok());
            }
            assert!(ValueText::parse(kind, "value", &"x".repeat(VALUE_LEN_MAX + 1)).is_err());
            assert!(ValueText::parse(kind, "value", "a\0b").is_err());
            assert_eq!(ValueText::parse(kind, "value", "").is_ok(), kind == ValueKind::Variable);
        }
        assert_eq!(format!("{:?}", ValueText::parse(ValueKind::Secret, "value", "swordfish").unwrap()), "ValueText(…)");
    }

    fn texts(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn the_narrower_variable_holds() {
        let of_run = variables_of_run(
            texts(&[("A", "org"), ("B", "org"), ("C", "org")]),
            texts(&[("B", "repo"), ("C", "repo")]),
        );
        assert_eq!(of_run, texts(&[("A", "org"), ("B", "repo"), ("C", "repo")]));
        let context = Value::object(of_run.iter().map(|(name, text)| (name.as_str(), Value::text(text.as_str()))));
        let of_job = variables_of_job(&context, &texts(&[("C", "env"), ("D", "env")]));
        let json: serde_json::Value = serde_json::from_str(&of_job.print_json().unwrap()).unwrap();
        assert_eq!(json, serde_json::json!({"A": "org", "B": "repo", "C": "env", "D": "env"}));
    }

    #[test]
    fn what_a_run_is_given_has_a_limit() {
        let large = "x".repeat(RUN_VARIABLES_LEN_MAX - 2);
        let repository = texts(&[("R", "1")]);
        let of_run = variables_of_run(texts(&[("O", &large)]), repository.clone());
        assert_eq!(of_run.keys().collect::<Vec<_>>(), ["R"]);
        let of_run = variables_of_run(texts(&[("O", &large[1..])]), repository);
        assert_eq!(of_run.keys().collect::<Vec<_>>(), ["O", "R"]);
    }
}
