//! Merging the layers, and remembering which of them set a key.

use std::{collections::BTreeMap, fs, path::PathBuf};

use store::{Faults, FaultsError};
use toml::{Table, Value};

use super::Config;

const DEFAULTS: &str = include_str!("../../config/default.toml");
/// What the environment variables of settings start with.
const ENV_PREFIX: &str = "TROUPE_";
/// What stands between section and key in an environment variable.
const ENV_SEPARATOR: &str = "__";
/// What a test has go wrong; not a setting.
const FAULTS_VARIABLE: &str = "TROUPE_FAULTS";
/// The file that is read when no other is named.
const FILE_BY_DEFAULT: &str = "troupe.toml";

/// Why the configuration can't be used. Prints as sentences that name the key and who set it.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("The configuration file {path} can't be read: {source}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("The configuration file {path} is not valid TOML: {reason}")]
    Syntax {
        /// The file.
        path: String,
        /// Where and why.
        reason: String,
    },
    /// A key that does not exist.
    #[error("There is no setting `{key}` (set by {origin}).{hint}")]
    UnknownKey {
        /// Its path.
        key: String,
        /// Who set it.
        origin: String,
        /// The nearest existing key.
        hint: String,
    },
    /// A value that can't be used.
    #[error("The setting `{key}` (set by {origin}) can't be used: {reason}")]
    Value {
        /// Its path.
        key: String,
        /// Who set it.
        origin: String,
        /// Why not.
        reason: String,
    },
    /// Faults that can't be had.
    #[error("`TROUPE_FAULTS` can't be used: {0}.")]
    Faults(#[from] FaultsError),
    /// `--set` without `=`.
    #[error("`--set {0}` has no `=`; write --set section.key=value.")]
    SetSyntax(String),
    /// Settings that contradict each other.
    #[error("These settings contradict each other:\n  - {}", .0.join("\n  - "))]
    Contradictions(Vec<String>),
}

/// Where settings come from, beside the defaults.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file that was named, if one was.
    pub file: Option<PathBuf>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// `section.key=value` from flags, weakest first.
    pub flags: Vec<String>,
}

struct Merged {
    table: Table,
    origins: BTreeMap<String, String>,
}

impl Config {
    /// Reads all layers and checks them.
    ///
    /// # Errors
    /// Unreadable or malformed files, unknown keys, bad values, and contradictions.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut merged = Merged { table: parse("config/default.toml", DEFAULTS)?, origins: BTreeMap::new() };
        if let Some((name, text)) = read_file(sources)? {
            let layer = parse(&name, &text)?;
            merged.lay(&layer, &name)?;
        }
        for (name, value) in &sources.environment {
            if let Some(key) = env_key(name) {
                merged.set(&key, value, &format!("the environment variable {name}"))?;
            }
        }
        for flag in &sources.flags {
            let (key, value) = flag.split_once('=').ok_or_else(|| ConfigError::SetSyntax(flag.clone()))?;
            merged.set(key.trim(), value, "a flag")?;
        }
        let mut config = merged.read()?;
        if let Some((_, value)) = sources.environment.iter().find(|(name, _)| name == FAULTS_VARIABLE) {
            config.faults = Faults::from_environment(value)?;
        }
        config.check()?;
        Ok(config)
    }
}

fn read_file(sources: &Sources) -> Result<Option<(String, String)>, ConfigError> {
    let (path, must_exist) = match &sources.file {
        Some(path) => (path.clone(), true),
        None => (PathBuf::from(FILE_BY_DEFAULT), false),
    };
    let name = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some((name, text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(source) => Err(ConfigError::File { path: name, source }),
    }
}

fn parse(name: &str, text: &str) -> Result<Table, ConfigError> {
    text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax { path: name.into(), reason: error.to_string() })
}

/// `TROUPE_SERVER__LISTEN` is `server.listen`; names without a section belong to others (tests, the shell).
fn env_key(name: &str) -> Option<String> {
    let rest = name.strip_prefix(ENV_PREFIX)?;
    let (section, key) = rest.split_once(ENV_SEPARATOR)?;
    Some(format!("{}.{}", section.to_lowercase(), key.to_lowercase()))
}

fn list(text: &str) -> Vec<Value> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect()
}

impl Merged {
    fn lay(&mut self, layer: &Table, origin: &str) -> Result<(), ConfigError> {
        for (section, keys) in layer {
            let Value::Table(keys) = keys else {
                return Err(self.unknown(section, origin));
            };
            for (key, value) in keys {
                let path = format!("{section}.{key}");
                *self.slot(&path, origin)? = value.clone();
                self.origins.insert(path, origin.to_owned());
            }
        }
        Ok(())
    }

    /// Sets a key from text, read as the kind of value that its default has.
    fn set(&mut self, path: &str, text: &str, origin: &str) -> Result<(), ConfigError> {
        let slot = self.slot(path, origin)?;
        let bad = |expected: &str| ConfigError::Value {
            key: path.to_owned(),
            origin: origin.to_owned(),
            reason: format!("expected {expected}, got `{text}`"),
        };
        *slot = match slot {
            Value::Integer(_) => Value::Integer(text.trim().parse().map_err(|_| bad("a whole number"))?),
            Value::Float(_) => Value::Float(text.trim().parse().map_err(|_| bad("a number"))?),
            Value::Boolean(_) => Value::Boolean(text.trim().parse().map_err(|_| bad("true or false"))?),
            Value::Array(_) => Value::Array(list(text)),
            _ => Value::String(text.to_owned()),
        };
        self.origins.insert(path.to_owned(), origin.to_owned());
        Ok(())
    }

    fn slot(&mut self, path: &str, origin: &str) -> Result<&mut Value, ConfigError> {
        let known = path
            .split_once('.')
            .is_some_and(|(section, key)| self.table.get(section).and_then(|keys| keys.get(key)).is_some());
        if !known {
            return Err(self.unknown(path, origin));
        }
        let (section, key) = path.split_once('.').unwrap_or((path, ""));
        self.table.get_mut(section).and_then(|keys| keys.get_mut(key)).ok_or_else(|| ConfigError::UnknownKey {
            key: path.into(),
            origin: origin.into(),
            hint: String::new(),
        })
    }

    fn unknown(&self, path: &str, origin: &str) -> ConfigError {
        let last = path.rsplit('.').next().unwrap_or(path);
        let alike = self
            .table
            .iter()
            .flat_map(|(section, keys)| keys.as_table().into_iter().flatten().map(move |(key, _)| (section, key)));
        let hint = alike
            .filter(|(section, key)| {
                *key == last
                    || path.starts_with(section.as_str()) && key.starts_with(&last[..last.floor_char_boundary(3)])
            })
            .map(|(section, key)| format!("`{section}.{key}`"))
            .collect::<Vec<_>>();
        let hint = if hint.is_empty() { String::new() } else { format!(" Did you mean {}?", hint.join(" or ")) };
        ConfigError::UnknownKey { key: path.into(), origin: origin.into(), hint }
    }

    fn read(self) -> Result<Config, ConfigError> {
        let Self { table, origins } = self;
        serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
            let key = error.path().to_string();
            let set_by = |path: &str| origins.iter().find(|(known, _)| path.starts_with(known.as_str()));
            let origin = set_by(&key).map_or_else(|| "the defaults".to_owned(), |(_, origin)| origin.clone());
            ConfigError::Value { key, origin, reason: error.inner().to_string().trim().to_owned() }
        })
    }
}

/// A file and, in lines that begin as their names do, environment variables, for fuzzing. What is wrong is said in sentences
/// that don't break off.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(text: &str) {
    let (variables, file): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with(ENV_PREFIX));
    let read = || {
        let mut merged = Merged { table: parse("config/default.toml", DEFAULTS)?, origins: BTreeMap::new() };
        merged.lay(&parse("troupe.toml", &file.join("\n"))?, "troupe.toml")?;
        for (name, value) in variables.iter().filter_map(|line| line.split_once('=')) {
            if let Some(key) = env_key(name) {
                merged.set(&key, value, "the environment")?;
            }
        }
        let config = merged.read()?;
        config.check().map(|()| config)
    };
    match read() {
        Ok(config) => {
            let _ = (config.database_url(), config.blob_folder(), config.operators_listen());
            assert!(!config.public_url(config.server.listen).ends_with('/'));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
