//! The server's secret, which signs addresses of blobs.

use std::{fs, io, io::Write, path::Path};

use crate::config::Config;

/// Its name in the data folder.
const FILE_NAME: &str = "secret";
/// Random bytes of a secret that is made here.
const SECRET_LEN: usize = 32;

/// The configured secret, or the one in the data folder, which is made when it is missing.
///
/// # Errors
/// When the data folder can't be read or written, or there is no randomness.
pub fn read_or_make(config: &Config) -> io::Result<Vec<u8>> {
    if !config.server.secret.is_empty() {
        return Ok(config.server.secret.clone().into_bytes());
    }
    let path = config.data.dir.join(FILE_NAME);
    match fs::read(&path) {
        Ok(secret) if secret.len() == SECRET_LEN => Ok(secret),
        Ok(_) => Err(io::Error::other(format!("{} is damaged: it should have {SECRET_LEN} bytes", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
        Err(error) => Err(error),
    }
}

fn make(path: &Path) -> io::Result<Vec<u8>> {
    let mut secret = vec![0; SECRET_LEN];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(&secret)?;
    file.sync_all()?;
    Ok(secret)
}
