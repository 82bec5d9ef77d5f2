//! The servers, and how they are reached.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Command,
};

use serde_json::json;

use super::history::{git, well};
use crate::{
    load::Request,
    report::Result,
    server::{
        Program, Server, call,
        program::{Org, Person},
    },
};

/// What `fcgiwrap` has answer requests at the same time.
const WORKERS: &str = "4";

/// A server of repositories.
pub struct Side {
    pub name: &'static str,
    pub server: Server,
    /// What stands behind nginx, with workers that don't end by themselves.
    behind: Option<Server>,
    /// What the paths of its repositories begin with.
    path: String,
    /// The header that says who asks.
    credential: Option<String>,
}

impl Side {
    /// Troupe, with an organization's repositories.
    pub fn troupe(program: &Program, repositories: &[&str]) -> Result<Self> {
        let server = program.start()?;
        let org = Org::new(&server, Person::sign_in(&server, "ada")?)?;
        let ask = |target: &str, body: serde_json::Value| {
            call(server.address(), org.request("POST", target).json(body.to_string().into_bytes()))?.success()
        };
        let mut path = String::new();
        for name in repositories {
            let made = ask("repos", json!({ "name": name }))?;
            let url = made["repository"]["cloneUrl"].as_str().ok_or("a repository without an address")?.to_owned();
            let from = url.splitn(4, '/').nth(3).ok_or("an address without a path")?;
            path = format!("/{}", from.rsplit_once('/').ok_or("an address without a repository")?.0);
        }
        let key = ask("keys", json!({ "name": "bench", "kind": "api", "scopes": ["git:read", "git:write"] }))?;
        let key = key["secret"].as_str().ok_or("a key without a secret")?;
        let credential = Some(format!("Authorization: Bearer {key}"));
        Ok(Self { name: "troupe", server, behind: None, path, credential })
    }

    /// `git http-backend` behind nginx, with empty repositories that anybody may push to.
    pub fn http_backend(folder: &Path, repositories: &[&str]) -> Result<Self> {
        let folder = folder.join("http-backend");
        for name in repositories {
            let place = folder.join("repositories").join(format!("{name}.git"));
            fs::create_dir_all(&place)?;
            well(git(&place).args(["init", "--quiet", "--bare", "--initial-branch=main", "."]))?;
            for setting in
                ["http.receivepack=true", "uploadpack.allowAnySHA1InWant=true", "uploadpack.allowFilter=true"]
            {
                let (name, value) = setting.split_once('=').unwrap_or_default();
                well(git(&place).args(["config", name, value]))?;
            }
        }
        let (address, gateway) = (free_address()?, free_address()?);
        let mut command = Command::new("fcgiwrap");
        let behind = Server::listening(command.args(["-c", WORKERS, "-s", &format!("tcp:{gateway}")]), gateway)?;
        let program = format!("{}/git-http-backend", well(git(&folder).arg("--exec-path"))?);
        let configuration = folder.join("nginx.conf");
        fs::write(&configuration, configured(&folder, &program, address, gateway)?)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(&folder).arg("-e").arg("stderr").arg("-c").arg(&configuration);
        let server = Server::listening(&mut command, address)?;
        Ok(Self { name: "http_backend", server, behind: Some(behind), path: String::new(), credential: None })
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Git in a folder, with the credential.
    pub fn git(&self, folder: &Path) -> Command {
        let mut command = git(folder);
        if let Some(credential) = &self.credential {
            command.args(["-c", &format!("http.extraHeader={credential}")]);
        }
        command
    }

    pub fn url(&self, repository: &str) -> String {
        format!("http://{}{}/{repository}.git", self.address(), self.path)
    }

    /// A request below a repository, over a connection of its own.
    pub fn request(&self, method: &str, repository: &str, rest: &str) -> Request {
        let request = Request::new(method, &format!("{}/{repository}.git/{rest}", self.path));
        let request = request.header("Connection", "close");
        match self.credential.as_ref().and_then(|line| line.split_once(": ")) {
            Some((name, value)) => request.header(name, value),
            None => request,
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let Some(behind) = self.behind.take() else { return };
        let process = behind.process();
        let workers = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        // Whatever starts them anew goes first. Those that have ended already are as good.
        drop(behind);
        drop(Command::new("kill").args(workers.split_whitespace()).output());
    }
}

/// As its package configures it, but for no log, a process that isn't a daemon, and folders of its own.
fn configured(folder: &Path, program: &str, address: SocketAddr, gateway: SocketAddr) -> Result<String> {
    let place = folder.to_str().ok_or("a folder's name is no text")?;
    Ok(format!(
        "user root;\ndaemon off;\nworker_processes auto;\npid {place}/nginx.pid;\nevents {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  client_max_body_size 0;\n  \
         client_body_temp_path {place}/body;\n  proxy_temp_path {place}/proxy;\n  fastcgi_temp_path {place}/fastcgi;\n  \
         uwsgi_temp_path {place}/uwsgi;\n  scgi_temp_path {place}/scgi;\n  server {{\n    listen {address};\n    \
         location / {{\n      fastcgi_pass {gateway};\n      include /etc/nginx/fastcgi_params;\n      \
         fastcgi_param SCRIPT_FILENAME {program};\n      fastcgi_param GIT_PROJECT_ROOT {place}/repositories;\n      \
         fastcgi_param GIT_HTTP_EXPORT_ALL 1;\n      fastcgi_param GIT_PROTOCOL $http_git_protocol;\n      \
         fastcgi_param PATH_INFO $uri;\n      fastcgi_param HOME {place};\n    }}\n  }}\n}}\n"
    ))
}

/// An address that nobody has at this moment.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}
