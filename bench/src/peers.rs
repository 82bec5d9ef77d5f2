//! The servers that others make, installed from npm in the versions that `peers/package-lock.json` pins.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{report::Result, server::Server};

/// Everything that the set-up consists of.
const FILES: &[(&str, &str)] = &[
    ("package.json", include_str!("../peers/package.json")),
    ("package-lock.json", include_str!("../peers/package-lock.json")),
    ("attend.mjs", include_str!("../peers/attend.mjs")),
    ("dynalite.mjs", include_str!("../peers/dynalite.mjs")),
    ("hocuspocus.mjs", include_str!("../peers/hocuspocus.mjs")),
    ("s3rver.mjs", include_str!("../peers/s3rver.mjs")),
    ("y-websocket.mjs", include_str!("../peers/y-websocket.mjs")),
];
/// Written last: a folder with it is whole.
const INSTALLED: &str = "installed";

/// The peers' folder, with their own Node.js in it.
pub struct Peers(PathBuf);

impl Peers {
    /// Installs them beside this program, unless they are there already. Needs npm and its registry the first time.
    pub fn install() -> Result<Self> {
        let folder = env::current_exe()?.with_file_name("bench-peers");
        let wanted = FILES.iter().map(|(_, text)| *text).collect::<String>();
        if fs::read_to_string(folder.join(INSTALLED)).is_ok_and(|there| there == wanted) {
            return Ok(Self(folder));
        }
        println!("installing the peers from npm");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for (name, text) in FILES {
            fs::write(folder.join(name), text)?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&folder);
        if !npm.status().map_err(|error| format!("npm: {error}"))?.success() {
            return Err("the peers can't be installed".into());
        }
        fs::write(folder.join(INSTALLED), wanted)?;
        Ok(Self(folder))
    }

    /// Starts one of them; `arguments` are for its script.
    pub fn start(&self, script: &str, arguments: &[&Path]) -> Result<Server> {
        let node = self.0.join("node_modules").join(Path::new(".bin/node"));
        let mut command = Command::new(node);
        command.env("NODE_ENV", "production").arg("--expose-gc").arg(self.0.join(script)).args(arguments);
        Server::start(&mut command, "API")
    }
}
