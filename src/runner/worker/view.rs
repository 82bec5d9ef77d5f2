//! What the expressions of a job's steps look at.

use std::{
    fmt::Write as _,
    {collections::BTreeMap, sync::Arc},
};

use domain::pipelines::{
    expressions::{ContextName, Expression, ExpressionFault, Function, Surroundings, Template, Value, Vocabulary},
    job::StepsState,
};
use sha2::{Digest, Sha256};

use super::{environment::Place, glob::Patterns};
use crate::runner::words::Assignment;

/// A job as its expressions see it.
pub struct View<'a> {
    /// The job.
    pub assignment: &'a Assignment,
    /// Where the job works.
    pub place: &'a Place,
    /// How far the steps are.
    pub steps: &'a StepsState,
    /// The environment variables that workflow, job and step set.
    pub env: &'a BTreeMap<String, String>,
}

/// The name under which values stand that an expression gives all at once.
const INSERT: &str = "${{ insert }}";

impl View<'_> {
    /// What a condition comes to.
    pub fn holds(&self, condition: &str, vocabulary: &Vocabulary) -> Result<bool, ExpressionFault> {
        Ok(Expression::parse(condition, vocabulary)?.evaluate(self)?.is_truthy())
    }

    /// What a text with expressions comes to.
    pub fn text(&self, text: &str, vocabulary: &Vocabulary) -> Result<String, String> {
        self.value(text, vocabulary).map(|value| value.to_text().to_string())
    }

    fn value(&self, text: &str, vocabulary: &Vocabulary) -> Result<Value, String> {
        let template = Template::parse(text, vocabulary).map_err(|fault| fault.to_string())?;
        template.evaluate(self).map_err(|fault| fault.to_string())
    }

    /// What texts by names come to, those that an expression gives all at once among them.
    pub fn texts(
        &self,
        texts: &BTreeMap<String, String>,
        vocabulary: &Vocabulary,
    ) -> Result<BTreeMap<String, String>, String> {
        let mut made = BTreeMap::new();
        for (name, text) in texts {
            if name != INSERT {
                made.insert(name.clone(), self.text(text, vocabulary)?);
                continue;
            }
            if let Value::Object(object) = self.value(text, vocabulary)? {
                made.extend(object.entries().map(|(name, value)| (name.to_string(), value.to_text().to_string())));
            }
        }
        Ok(made)
    }

    fn github(&self) -> Value {
        let told = self.assignment.plan.context(ContextName::Github);
        let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
        if let Value::Object(told) = &told {
            entries.extend(told.entries().map(|(name, value)| (Arc::clone(name), value.clone())));
        }
        let path = |path: &std::path::Path| Value::text(path.to_string_lossy().into_owned());
        entries.push(("workspace".into(), path(&self.place.workspace)));
        entries.push(("event_path".into(), path(&self.place.event)));
        entries.push(("job".into(), Value::text(self.assignment.plan.job.key.as_str())));
        Value::object(entries)
    }

    fn runner(&self) -> Value {
        let path = |path: &std::path::Path| Value::text(path.to_string_lossy().into_owned());
        let mut entries = vec![
            ("name", Value::text(self.assignment.runner.as_str())),
            ("os", Value::text(super::environment::os())),
            ("arch", Value::text(super::environment::architecture())),
            ("temp", path(&self.place.temp)),
            ("tool_cache", path(&self.place.tools)),
            ("environment", Value::text("self-hosted")),
        ];
        if self.assignment.is_debug {
            entries.push(("debug", Value::text("1")));
        }
        Value::object(entries)
    }
}

fn object(texts: &BTreeMap<String, String>) -> Value {
    Value::object(texts.iter().map(|(name, value)| (name.as_str(), Value::text(value.as_str()))))
}

impl Surroundings for View<'_> {
    fn context(&self, name: ContextName) -> Value {
        match name {
            ContextName::Github => self.github(),
            ContextName::Env => object(self.env),
            ContextName::Steps => self.steps.context(),
            ContextName::Job => Value::object([("status", Value::text(self.steps.status().name()))]),
            ContextName::Runner => self.runner(),
            ContextName::Secrets => object(&self.assignment.secrets),
            name => self.assignment.plan.context(name),
        }
    }

    fn status(&self, function: Function, _: &[Arc<str>]) -> bool {
        self.steps.holds(function)
    }

    /// The hash of each file's hash, in the order of the paths; nothing where no file matches.
    fn hash_files(&self, patterns: &[Arc<str>]) -> Result<String, String> {
        let patterns = Patterns::new(&self.place.workspace, patterns.iter().flat_map(|pattern| pattern.lines()));
        let files = patterns.files().map_err(|error| error.to_string())?;
        let mut all = Sha256::new();
        let mut is_any = false;
        // As at GitHub, what isn't in the workspace isn't hashed.
        for file in files.iter().filter(|file| file.starts_with(patterns.root()) && file.is_file()) {
            all.update(hash(file).map_err(|error| format!("{}: {error}", file.display()))?);
            is_any = true;
        }
        Ok(if is_any { hex(&all.finalize()) } else { String::new() })
    }
}

fn hash(file: &std::path::Path) -> std::io::Result<Vec<u8>> {
    digest(std::fs::File::open(file)?)
}

/// The SHA-256 of all that can be read.
pub fn digest(mut reader: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let len = reader.read(&mut buffer)?;
        if len == 0 {
            return Ok(hash.finalize().to_vec());
        }
        hash.update(&buffer[..len]);
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a text doesn't fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
