//! nginx, which serves the same files from a folder.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use super::{Dialect, Side, content, free_address, names};
use crate::{load::Request, report::Result, server::Server};

struct Nginx;

/// Writes all files to a folder below `folder`, and has nginx serve them.
pub fn start(folder: &Path) -> Result<Side> {
    let folder = folder.join("nginx");
    let files = folder.join("files");
    fs::create_dir_all(&files)?;
    for is_small in [true, false] {
        for name in names(is_small) {
            fs::write(files.join(name), content(is_small))?;
        }
    }
    let address = free_address()?;
    let place = folder.to_str().ok_or("a folder's name is no text")?;
    let configuration = folder.join("nginx.conf");
    fs::write(&configuration, configured(place, address))?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&folder).arg("-e").arg("stderr").arg("-c").arg(&configuration);
    Side::reading("nginx", Server::listening(&mut command, address)?, &Nginx)
}

/// As its package configures it, but for no log, a process that isn't a daemon, folders of its own, and workers that may read
/// them where it is started by root.
fn configured(place: &str, address: SocketAddr) -> String {
    format!(
        "user root;\ndaemon off;\nworker_processes auto;\npid {place}/nginx.pid;\nevents {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  \
         client_body_temp_path {place}/body;\n  proxy_temp_path {place}/proxy;\n  fastcgi_temp_path {place}/fastcgi;\n  \
         uwsgi_temp_path {place}/uwsgi;\n  scgi_temp_path {place}/scgi;\n  \
         server {{ listen {address}; root {place}/files; }}\n}}\n"
    )
}

impl Dialect for Nginx {
    fn put(&self, name: &str) -> Request {
        Request::new("PUT", &format!("/{name}"))
    }

    fn get(&self, name: &str) -> Result<Request> {
        Ok(Request::new("GET", &format!("/{name}")))
    }
}
