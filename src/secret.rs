//! What the server keeps secret itself: what signs addresses of blobs, and the keys that seal secrets in the database.

use std::{fs, io, io::Write, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use store::{SecretKeys, secrets::KEY_LEN};

use crate::config::Config;

/// The name of the server's secret in the data folder.
pub(crate) const SECRET_FILE: &str = "secret";
/// The name of the keys in the data folder.
pub(crate) const KEYS_FILE: &str = "secrets.keys";
/// Random bytes of a secret that is made here.
const SECRET_LEN: usize = 32;

/// What a store is opened with.
pub struct Secrets {
    /// What signs addresses.
    pub signing: Vec<u8>,
    /// What seals and opens secrets.
    pub keys: SecretKeys,
}

/// The configured secrets, or those in the data folder, which are made where they are missing.
///
/// # Errors
/// When the data folder can't be read or written, a file in it is damaged, or there is no randomness.
pub fn read_or_make(config: &Config) -> io::Result<Secrets> {
    Ok(Secrets { signing: signing_secret(config)?, keys: secret_keys(config)? })
}

fn signing_secret(config: &Config) -> io::Result<Vec<u8>> {
    if !config.server.secret.is_empty() {
        return Ok(config.server.secret.clone().into_bytes());
    }
    let path = config.data.dir.join(SECRET_FILE);
    let secret = read_or_write(&path, || random().map(Vec::from))?;
    if secret.len() == SECRET_LEN {
        return Ok(secret);
    }
    Err(io::Error::other(format!("{} is damaged: it should have {SECRET_LEN} bytes", path.display())))
}

fn secret_keys(config: &Config) -> io::Result<SecretKeys> {
    if !config.secrets.keys.is_empty() {
        let keys = parse_keys(config.secrets.keys.iter().map(String::as_str));
        return keys.ok_or_else(|| io::Error::other("`secrets.keys` has an entry that is no key"));
    }
    let path = config.data.dir.join(KEYS_FILE);
    let text = read_or_write(&path, || Ok(format!("{}\n", STANDARD.encode(random()?)).into_bytes()))?;
    let text = String::from_utf8_lossy(&text);
    let keys = parse_keys(text.lines().map(str::trim).filter(|line| !line.is_empty()));
    let damaged = || format!("{} is damaged: each line should be {KEY_LEN} bytes in base64", path.display());
    keys.ok_or_else(|| io::Error::other(damaged()))
}

/// The keys that these texts name, if there are any and each is one.
pub(crate) fn parse_keys<'a>(texts: impl Iterator<Item = &'a str>) -> Option<SecretKeys> {
    let key = |text: &str| STANDARD.decode(text).ok()?.try_into().ok();
    let keys: Vec<[u8; KEY_LEN]> = texts.map(key).collect::<Option<_>>()?;
    SecretKeys::new(&keys)
}

fn random() -> io::Result<[u8; SECRET_LEN]> {
    let mut bytes = [0; SECRET_LEN];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// What is in the file, which is made when it is missing.
fn read_or_write(path: &Path, make: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        outcome => return outcome,
    }
    let bytes = make()?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = match options.open(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return fs::read(path),
        file => file?,
    };
    file.write_all(&bytes)?;
    file.sync_all()?;
    Ok(bytes)
}
