//! `upload-artifact` and `download-artifact`: files for people and for later jobs.

use std::{
    fs::{self, File},
    io::{self, Seek},
    path::{Path, PathBuf},
};

use domain::pipelines::artifacts::ArtifactName;
use serde::Deserialize;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::{
    Call, Done, Outcome,
    archive::{Entry, Level, Names, pack, unpack},
    transfer,
};
use crate::runner::{
    words::Files,
    worker::{
        folder::Reach,
        glob::{Patterns, common_folder},
        names::NamePattern,
        view::{digest, hex},
    },
};

/// The name of an artifact that has none, as at GitHub.
const DEFAULT_NAME: &str = "artifact";
/// Days that an artifact is kept, at most (contract C 4.1).
const RETENTION_DAYS_MAX: u32 = 400;

/// The server's answer to an offer (contract C 4.1).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Upload {
    #[serde(default)]
    artifact_id: Option<String>,
    url: String,
}

/// Files that are to be an artifact.
struct Wanted {
    paths: Vec<String>,
    /// Whether files are taken whose names, or whose folders' names, begin with a dot.
    is_hidden_taken: bool,
    level: Level,
}

/// Files as an artifact.
struct Packed {
    files: usize,
    size: u64,
    /// The SHA-256 of the zip, in hexadecimal digits.
    digest: String,
}

/// What is done where no files are found.
#[derive(Clone, Copy)]
enum Missing {
    Warn,
    Fail,
    Ignore,
}

/// Artifacts that there are.
#[derive(Deserialize)]
struct Found {
    artifacts: Vec<Artifact>,
}

#[derive(Deserialize)]
struct Artifact {
    name: String,
    url: String,
}

impl Call {
    /// Hands files on.
    pub(super) async fn artifact_upload(&self) -> Outcome {
        let name = self.input("name").unwrap_or(DEFAULT_NAME);
        if ArtifactName::parse("name", name).is_err() {
            return Err(format!("An artifact can't have the name {name:?}."));
        }
        let (wanted, missing, days) = (self.wanted()?, self.missing()?, self.retention_days()?);
        let (zip, reach) = self.transfer()?;
        let (workspace, target) = (self.place.workspace.clone(), zip.try_clone().map_err(|error| error.to_string())?);
        let packed = spawn_blocking(move || pack_all(&workspace, &wanted, &target, &reach)).await;
        let packed = packed.map_err(|error| error.to_string())??;
        if packed.files == 0 {
            return self.nothing_found(missing);
        }
        let id = match &self.files {
            Files::Here { kept, .. } => keep(kept, name, &zip).map(|()| None)?,
            Files::Server { token } => self.send(token, name, (&zip, &packed), days).await?,
        };
        let Packed { files, size, digest } = packed;
        self.output.say(&format!("Artifact {name} has been uploaded: {files} files, {size} bytes"));
        let outputs = id.map(|id| ("artifact-id".to_owned(), id));
        let outputs = outputs.into_iter().chain([("artifact-digest".to_owned(), digest)]).collect();
        Ok(Done { outputs, state: Vec::new() })
    }

    /// Which files are to be handed on.
    fn wanted(&self) -> Outcome<Wanted> {
        let paths = self.lines("path");
        if paths.is_empty() {
            return Err("An artifact needs a path.".to_owned());
        }
        let level = self.input("compression-level").map_or(Some(Level::default()), Level::read);
        let level = level.ok_or("compression-level is a whole number from 0 to 9.")?;
        Ok(Wanted { paths, is_hidden_taken: self.is_true("include-hidden-files"), level })
    }

    /// What is done where there are none.
    fn missing(&self) -> Outcome<Missing> {
        match self.input("if-no-files-found") {
            None | Some("warn") => Ok(Missing::Warn),
            Some("error") => Ok(Missing::Fail),
            Some("ignore") => Ok(Missing::Ignore),
            Some(_) => Err("if-no-files-found is warn, error or ignore.".to_owned()),
        }
    }

    fn nothing_found(&self, missing: Missing) -> Outcome {
        let why = "No files were found with the provided path. No artifacts will be uploaded.";
        match missing {
            Missing::Fail => return Err(why.to_owned()),
            Missing::Warn => self.output.warning(why),
            Missing::Ignore => {}
        }
        Ok(Done::default())
    }

    /// Days that the artifact is kept, where that is said.
    fn retention_days(&self) -> Outcome<Option<u32>> {
        let Some(days) = self.input("retention-days").filter(|days| *days != "0") else { return Ok(None) };
        let days = days.parse::<u32>().ok().filter(|days| (1..=RETENTION_DAYS_MAX).contains(days));
        days.map(Some).ok_or_else(|| format!("retention-days is a number from 1 to {RETENTION_DAYS_MAX}."))
    }

    /// Sends an artifact, and answers its id where the server says it.
    async fn send(
        &self,
        token: &str,
        name: &str,
        (zip, packed): (&File, &Packed),
        days: Option<u32>,
    ) -> Outcome<Option<String>> {
        let Packed { files, size, .. } = packed;
        if *size > self.limits.artifact_bytes {
            return Err(format!("An artifact has at most {} bytes, and this one {size}.", self.limits.artifact_bytes));
        }
        let body = json!({ "name": name, "size": size, "files": files });
        let mut offer = body.clone();
        if let Some(days) = days {
            offer["retentionDays"] = days.into();
        }
        let server = self.server(token)?;
        let upload: Upload =
            server.post("/v1/runner/artifacts/upload", &offer).await.map_err(|error| error.to_string())?;
        transfer::put(&upload.url, zip).await?;
        let _: serde_json::Value =
            server.post("/v1/runner/artifacts/commit", &body).await.map_err(|error| error.to_string())?;
        Ok(upload.artifact_id)
    }

    /// Brings what other jobs handed on.
    pub(super) async fn artifact_download(&self) -> Outcome {
        let name = self.input("name");
        let folder = self.place.workspace.join(self.input("path").unwrap_or("."));
        // A name goes before a pattern.
        let pattern = self.input("pattern").filter(|_| name.is_none());
        let like = pattern.map(NamePattern::new).transpose()?;
        let mut found: Vec<(String, String)> = match &self.files {
            Files::Here { kept, .. } => found_here(kept, name),
            Files::Server { token } => {
                let body = name.map_or_else(|| json!({}), |name| json!({ "name": name }));
                let found: Found = self
                    .server(token)?
                    .post("/v1/runner/artifacts/download", &body)
                    .await
                    .map_err(|error| error.to_string())?;
                found.artifacts.into_iter().map(|artifact| (artifact.name, artifact.url)).collect()
            }
        };
        if let Some(name) = name.filter(|_| found.is_empty()) {
            return Err(format!("Artifact not found for name: {name}"));
        }
        // As at GitHub, a pattern that no artifact is like brings nothing.
        if let (Some(pattern), Some(like)) = (pattern, &like) {
            found.retain(|(artifact, _)| like.takes(artifact));
            self.output.say(&format!("Artifacts that are like {pattern}: {}", found.len()));
        }
        for (artifact, from) in &found {
            let is_alone = name.is_some() || self.is_true("merge-multiple");
            let is_plain = Path::new(artifact).file_name().is_some_and(|last| last == artifact.as_str());
            if !is_plain {
                return Err(format!("An artifact can't have the name {artifact:?}."));
            }
            let target = if is_alone { folder.clone() } else { folder.join(artifact) };
            let count = self.bring(from, &target).await?;
            self.output.say(&format!("Artifact {artifact} has been downloaded: {count} files"));
        }
        let path = folder.to_string_lossy().into_owned();
        Ok(Done { outputs: vec![("download-path".to_owned(), path)], state: Vec::new() })
    }

    async fn bring(&self, from: &str, target: &Path) -> Outcome<usize> {
        let (mut zip, reach) = self.transfer()?;
        match &self.files {
            Files::Here { .. } => zip = File::open(from).map_err(|error| error.to_string())?,
            Files::Server { .. } => transfer::get(from, &zip).await?,
        }
        // An artifact without files makes its folder, too.
        self.place.folder(target).map_err(|error| error.to_string())?;
        let bases = [target.to_owned()];
        let unpacked = spawn_blocking(move || unpack(&zip, &bases, Names::Whole, &reach)).await;
        unpacked.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

fn pack_all(workspace: &Path, wanted: &Wanted, zip: &File, reach: &Reach) -> Outcome<Packed> {
    let Wanted { paths, is_hidden_taken, level } = wanted;
    let patterns = Patterns::new(workspace, paths.iter().map(String::as_str));
    let mut files = patterns.files().map_err(|error| error.to_string())?;
    let root = match paths.as_slice() {
        [only] => Patterns::new(workspace, [only.as_str()]).base(),
        _ => common_folder(&files),
    };
    let is_hidden = |path: &Path| path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    files.retain(|file| *is_hidden_taken || !file.strip_prefix(&root).is_ok_and(is_hidden));
    let entry = |path: PathBuf| Some(Entry { name: path.strip_prefix(&root).ok()?.to_str()?.to_owned(), path });
    let entries: Vec<Entry> = files.into_iter().filter_map(entry).collect();
    packed(zip, &entries, *level, reach).map_err(|error| error.to_string())
}

fn packed(mut zip: &File, entries: &[Entry], level: Level, reach: &Reach) -> io::Result<Packed> {
    let files = pack(zip, entries, (Names::Whole, level), reach)?;
    zip.rewind()?;
    Ok(Packed { files, size: zip.metadata()?.len(), digest: hex(&digest(zip)?) })
}

fn keep(kept: &Path, name: &str, zip: &File) -> Outcome<()> {
    let target = kept.join(format!("{name}.zip"));
    if target.exists() {
        return Err(format!("There is an artifact of the name {name} already."));
    }
    let copy = || {
        let mut zip = zip;
        zip.rewind()?;
        fs::create_dir_all(kept)?;
        io::copy(&mut zip, &mut File::create_new(&target)?).map(drop)
    };
    copy().map_err(|error| error.to_string())
}

fn found_here(kept: &Path, name: Option<&str>) -> Vec<(String, String)> {
    let entries = fs::read_dir(kept).into_iter().flatten().flatten();
    let artifact = |entry: fs::DirEntry| {
        let path = entry.path();
        let found = path.file_name()?.to_str()?.strip_suffix(".zip")?.to_owned();
        name.is_none_or(|name| name == found).then(|| (found, path.to_string_lossy().into_owned()))
    };
    let mut found: Vec<_> = entries.filter_map(artifact).collect();
    found.sort();
    found
}
