//! The program itself: built, started with its own data, and people who are signed in to it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Server, call};
use crate::{load::Request, report::Result};

/// Settings that differ from a fresh installation: free ports, open registration, cheap passwords, and no rate limit
/// in the way of the load.
const SETTINGS: &[&str] = &[
    "server.listen=127.0.0.1:0",
    "operators.listen=127.0.0.1:0",
    "s3.listen=127.0.0.1:0",
    "accounts.registration=open",
    "accounts.argon2_memory_kib=8",
    "accounts.argon2_passes=1",
    "server.requests_per_minute=1000000000",
    "server.anonymous_requests_per_minute=1000000000",
    "log.level=warn",
];
/// The last line of the program's start.
const READY: &str = "Press Ctrl-C to stop";
const PASSWORD: &str = "correct horse battery staple";

/// The program with a data folder, to be started as often as one likes.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    data: TempDir,
    arguments: Vec<String>,
}

impl Program {
    /// The program beside this one, built first where cargo runs this one; `arguments` follow those that it needs.
    pub fn new(arguments: &[String]) -> Result<Self> {
        let path = env::current_exe()?.with_file_name(format!("troupe{}", env::consts::EXE_SUFFIX));
        if let (Some(cargo), Some(package)) = (env::var_os("CARGO"), env::var_os("CARGO_MANIFEST_DIR")) {
            println!("building the program");
            let mut build = Command::new(cargo);
            // Both packages are named so that cargo finds the crates of this program, which it has compiled already.
            build.args(["build", "--quiet", "--package", "troupe", "--package", "troupe-bench", "--bin", "troupe"]);
            build.current_dir(Path::new(&package).join(".."));
            if !cfg!(debug_assertions) {
                build.arg("--release");
            }
            if !build.status()?.success() {
                return Err("the program can't be built".into());
            }
        }
        if !path.is_file() {
            return Err(format!("there is no program {}", path.display()).into());
        }
        Ok(Self { path, data: tempfile::tempdir()?, arguments: arguments.to_vec() })
    }

    /// The executable file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its data lies.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Starts it on what the data folder holds.
    pub fn start(&self) -> Result<Server> {
        let mut command = Command::new(&self.path);
        command.arg("--data").arg(self.data.path()).current_dir(self.data.path());
        for setting in SETTINGS {
            command.args(["--set", setting]);
        }
        Server::start(command.args(&self.arguments), READY)
    }
}

/// Somebody who is signed in to the authenticator app on a phone.
#[derive(Clone, Debug)]
pub struct Person {
    /// The credential.
    pub token: String,
}

impl Person {
    /// Registers and signs in; `name` is unique on this server.
    pub fn sign_in(server: &Server, name: &str) -> Result<Self> {
        let email = format!("{name}@example.com");
        let register = json!({ "email": email, "password": PASSWORD, "name": name });
        post(server, "/v1/auth/register", &register)?;
        let sign_in = json!({ "email": email, "password": PASSWORD, "app": "authenticator", "platform": "ios" });
        let answer = post(server, "/v1/auth/sign-in", &sign_in)?;
        let token = answer["token"].as_str().ok_or("a sign-in without a token")?;
        Ok(Self { token: token.to_owned() })
    }

    /// As many people as there are connections.
    pub fn crowd(server: &Server, count: usize) -> Result<Vec<Self>> {
        (0..count).map(|number| Self::sign_in(server, &format!("person-{number}"))).collect()
    }

    /// A `GET` of theirs.
    pub fn get(&self, target: &str) -> Request {
        Request::new("GET", target).bearer(&self.token)
    }
}

/// Somebody's organization.
#[derive(Clone, Debug)]
pub struct Org {
    person: Person,
    id: String,
}

impl Org {
    /// Makes an organization for this person.
    pub fn new(server: &Server, person: Person) -> Result<Self> {
        let body = json!({ "name": "Bench" }).to_string().into_bytes();
        let request = Request::new("POST", "/v1/orgs").bearer(&person.token).json(body);
        let answer = call(server.address(), request)?.success()?;
        let id = answer["org"]["orgId"].as_str().ok_or("an organization without an id")?.to_owned();
        Ok(Self { person, id })
    }

    /// A request of the person's, for what lies below the organization's own path.
    pub fn request(&self, method: &str, target: &str) -> Request {
        Request::new(method, &format!("/v1/orgs/{}/{target}", self.id)).bearer(&self.person.token)
    }
}

fn post(server: &Server, target: &str, body: &Value) -> Result<Value> {
    call(server.address(), Request::new("POST", target).json(body.to_string().into_bytes()))?.success()
}
