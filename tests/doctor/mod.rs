//! What operators do at the command line: `troupe doctor`, `migrate`, `backup`, `restore`, `admin`, and a first start.

mod admin;
mod copies;
mod examination;
mod secrets;
mod start;

use crate::harness::Launch;

/// A launch in an empty folder, which is gone when the test is over.
fn launch() -> (tempfile::TempDir, Launch) {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = Launch::in_folder(folder.path());
    (folder, launch)
}

/// An address of this machine where nobody listens: a port that no other test is given as a free one.
fn nobody_listens() -> std::net::SocketAddr {
    std::net::SocketAddr::from(([127, 0, 0, 1], 1))
}
