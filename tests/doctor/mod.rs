//! What operators do at the command line: `troupe doctor`, `migrate`, `backup`, `restore`, `admin`, and a first start.

mod admin;
mod copies;
mod examination;
mod start;

use crate::harness::Launch;

/// A launch in an empty folder, which is gone when the test is over.
fn launch() -> (tempfile::TempDir, Launch) {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = Launch::in_folder(folder.path());
    (folder, launch)
}

/// An address of this machine where nobody listens.
fn nobody_listens() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address")
}
