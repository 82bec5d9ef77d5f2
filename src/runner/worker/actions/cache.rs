//! `cache`: files of earlier runs come back, and new ones are kept at the end of the job.
//!
//! A name in a cache's zip begins with the number of the path that it was found by, so that a file comes back to where it was on
//! this machine, in the workspace or outside of it, and nowhere else.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::{
    Call, Done, Outcome,
    archive::{Entry, pack, unpack},
    transfer,
};
use crate::runner::{
    words::Files,
    worker::{glob::Patterns, view::hex},
};

/// The server's answer to a question for a cache (contract C 4.1).
#[derive(Deserialize)]
struct Restored {
    hit: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    url: String,
}

/// The server's answer to an offer.
#[derive(Deserialize)]
struct Saving {
    #[serde(default)]
    exists: bool,
    #[serde(default)]
    url: String,
}

/// How caches are packed: another way makes other versions.
const FORMAT: &str = "zip-1";
/// Where the first part leaves what the last one needs.
const EXACT_STATE: &str = "exact";

impl Call {
    /// Brings the files back.
    pub(super) async fn cache_restore(&self) -> Outcome {
        let (key, paths) = self.key_and_paths()?;
        let (hit, matched) = match &self.files {
            Files::Here { .. } => ("none".to_owned(), String::new()),
            Files::Server { token } => {
                let body = json!({
                    "key": key, "restoreKeys": self.lines("restore-keys"), "version": version(&paths),
                });
                let restored: Restored = self
                    .server(token)?
                    .post("/v1/runner/cache/restore", &body)
                    .await
                    .map_err(|error| error.to_string())?;
                if restored.hit != "none" && !self.is_true("lookup-only") {
                    self.bring_back(&restored.url, &paths).await?;
                }
                (restored.hit, restored.key)
            }
        };
        match hit.as_str() {
            "none" if self.is_true("fail-on-cache-miss") => return Err(format!("There is no cache for {key}.")),
            "none" => self.output.say(&format!("There is no cache for {key}")),
            _ => self.output.say(&format!("Cache restored from key: {matched}")),
        }
        let is_exact = hit == "exact";
        let outputs = [
            ("cache-hit", is_exact.to_string()),
            ("cache-primary-key", key.to_owned()),
            ("cache-matched-key", matched),
        ];
        Ok(Done {
            outputs: outputs.map(|(name, value)| (name.to_owned(), value)).into(),
            state: vec![(EXACT_STATE.to_owned(), is_exact.to_string())],
        })
    }

    /// Keeps the files, unless they came from the same key. A job whose cache can't be kept goes on.
    pub(super) async fn cache_save(&self) -> Outcome {
        let is_exact = self.state.get(EXACT_STATE).is_some_and(|exact| exact == "true");
        let Files::Server { token } = &self.files else { return Ok(Done::default()) };
        if !is_exact && let Err(why) = self.keep(token).await {
            self.output.warning(&format!("The cache wasn't kept: {why}"));
        }
        Ok(Done::default())
    }

    fn key_and_paths(&self) -> Outcome<(&str, Vec<String>)> {
        let key = self.input("key").ok_or("The cache needs a key.")?;
        let paths = self.lines("path");
        if paths.is_empty() { Err("The cache needs a path.".to_owned()) } else { Ok((key, paths)) }
    }

    async fn bring_back(&self, url: &str, paths: &[String]) -> Outcome<()> {
        let zip = self.place.temp.join(format!("_runner/cache-{}.zip", std::process::id()));
        transfer::get(url, &zip).await?;
        let bases = self.bases(paths);
        let unpacked = spawn_blocking({
            let zip = zip.clone();
            move || unpack(&zip, |name| placed(&bases, name))
        });
        let unpacked = unpacked.await.map_err(|error| error.to_string())?;
        drop(fs::remove_file(&zip));
        unpacked.map(drop).map_err(|error| error.to_string())
    }

    async fn keep(&self, token: &str) -> Outcome<()> {
        let (key, paths) = self.key_and_paths()?;
        let zip = self.place.temp.join(format!("_runner/cache-{}.zip", std::process::id()));
        let (workspace, target, given) = (self.place.workspace.clone(), zip.clone(), paths.clone());
        let packed = spawn_blocking(move || pack_all(&workspace, &given, &target)).await;
        let count = packed.map_err(|error| error.to_string())??;
        if count == 0 {
            return Err("there is no file".to_owned());
        }
        let size = fs::metadata(&zip).map_err(|error| error.to_string())?.len();
        if size > self.limits.cache_bytes {
            return Err(format!("it has {size} bytes, and {} are allowed", self.limits.cache_bytes));
        }
        let (server, version) = (self.server(token)?, version(&paths));
        let body = json!({ "key": key, "version": version, "size": size });
        let saving: Saving = server.post("/v1/runner/cache/save", &body).await.map_err(|error| error.to_string())?;
        if !saving.exists {
            transfer::put(&saving.url, &zip).await?;
            let _: serde_json::Value =
                server.post("/v1/runner/cache/commit", &body).await.map_err(|error| error.to_string())?;
            self.output.say(&format!("Cache saved with key: {key}"));
        }
        drop(fs::remove_file(&zip));
        Ok(())
    }

    /// The folder to which each path's names are relative.
    fn bases(&self, paths: &[String]) -> Vec<PathBuf> {
        bases(&self.place.workspace, paths)
    }
}

fn bases(workspace: &Path, paths: &[String]) -> Vec<PathBuf> {
    paths.iter().map(|path| Patterns::new(workspace, [path.as_str()]).base_of_missing()).collect()
}

fn pack_all(workspace: &Path, paths: &[String], zip: &Path) -> Outcome<usize> {
    let files = Patterns::new(workspace, paths.iter().map(String::as_str)).files();
    let bases = bases(workspace, paths);
    let entry = |path: PathBuf| {
        let (number, name) = bases
            .iter()
            .enumerate()
            .find_map(|(number, base)| Some((number, path.strip_prefix(base).ok()?.to_str()?.to_owned())))?;
        Some(Entry { name: format!("{number}/{name}"), path })
    };
    let entries: Vec<Entry> = files.map_err(|error| error.to_string())?.into_iter().filter_map(entry).collect();
    pack(zip, &entries).map_err(|error| error.to_string())
}

/// Where a name of a cache's zip comes to.
fn placed(bases: &[PathBuf], name: &Path) -> Option<PathBuf> {
    let mut parts = name.components();
    let number: usize = parts.next()?.as_os_str().to_str()?.parse().ok()?;
    let rest = parts.as_path();
    (!rest.as_os_str().is_empty()).then_some(())?;
    Some(bases.get(number)?.join(rest))
}

/// The same paths, packed the same way, have the same version.
fn version(paths: &[String]) -> String {
    hex(&Sha256::digest(format!("{}\n{FORMAT}", paths.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_to_the_path_that_they_were_found_by() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (workspace, home) = (root.join("work"), root.join("home"));
        fs::create_dir_all(workspace.join("target/x")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(workspace.join("target/x/a"), "a").unwrap();
        fs::write(home.join("b.lock"), "b").unwrap();
        let paths = vec!["target".to_owned(), format!("{}/*.lock", home.display())];
        let zip = root.join("c.zip");
        assert_eq!(pack_all(&workspace, &paths, &zip), Ok(2));
        fs::remove_dir_all(workspace.join("target")).unwrap();
        fs::remove_file(home.join("b.lock")).unwrap();
        let bases = bases(&workspace, &paths);
        unpack(&zip, |name| placed(&bases, name)).unwrap();
        assert_eq!(fs::read_to_string(workspace.join("target/x/a")).unwrap(), "a");
        assert_eq!(fs::read_to_string(home.join("b.lock")).unwrap(), "b");
        for name in ["2/a", "x/a", "0"] {
            assert_eq!(placed(&bases, Path::new(name)), None, "{name}");
        }
        assert_ne!(version(&paths), version(&paths[..1]));
        assert_eq!(version(&paths).len(), 64);
    }
}
