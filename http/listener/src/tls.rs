//! A certificate, which is read again when its files change.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

/// How long the files are taken to be as they were.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(10);

/// The certificate can't be used; the text says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateError(String);

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A certificate with its key, in two files of PEM.
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    state: Mutex<State>,
}

struct State {
    acceptor: TlsAcceptor,
    changed: [Option<SystemTime>; 2],
    looked: Instant,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("chain", &self.chain).finish_non_exhaustive()
    }
}

impl Certificate {
    /// Reads the files.
    pub fn read(chain: PathBuf, key: PathBuf) -> Result<Self, CertificateError> {
        let changed = changed(&chain, &key);
        let state = State { acceptor: load(&chain, &key)?, changed, looked: Instant::now() };
        Ok(Self { chain, key, state: Mutex::new(state) })
    }

    /// Who takes connections on to TLS, with the files as they are. Files that can't be used change nothing.
    pub fn acceptor(&self) -> TlsAcceptor {
        let mut state = self.state.lock();
        if state.looked.elapsed() >= LOOKED_AT_EVERY {
            state.looked = Instant::now();
            let changed = changed(&self.chain, &self.key);
            if state.changed != changed {
                state.changed = changed;
                match load(&self.chain, &self.key) {
                    Ok(acceptor) => state.acceptor = acceptor,
                    Err(error) => tracing::error!(%error, "a certificate changed and can't be used"),
                }
            }
        }
        state.acceptor.clone()
    }
}

fn changed(chain: &Path, key: &Path) -> [Option<SystemTime>; 2] {
    [chain, key].map(|path| fs::metadata(path).and_then(|file| file.modified()).ok())
}

fn load(chain: &Path, key: &Path) -> Result<TlsAcceptor, CertificateError> {
    let unusable = |path: &Path, error: &dyn fmt::Display| CertificateError(format!("{}: {error}", path.display()));
    let certificates = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| unusable(chain, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, private);
    Ok(TlsAcceptor::from(Arc::new(config.map_err(|error| unusable(chain, &error))?)))
}
