//! The actions that the runner knows: `checkout`, `cache`, `upload-artifact` and `download-artifact`.

mod archive;
mod artifacts;
mod cache;
mod checkout;
mod transfer;

use std::{collections::BTreeMap, fs::File};

use domain::pipelines::{
    job::{JobLimits, Part},
    workflow::Action,
};

use super::{environment::Place, folder::Reach, output::Output};
use crate::runner::{
    server::{JOB_HEADER, Server},
    words::Files,
};

/// An action whose turn has come.
pub struct Call {
    /// The action's name in the plan.
    pub name: String,
    /// Which part of it.
    pub part: Part,
    /// What it is given.
    pub with: BTreeMap<String, String>,
    /// Where the job works.
    pub place: Place,
    /// Where lines go that people read.
    pub output: Output,
    /// Where files come from and go to.
    pub files: Files,
    /// Where the server is.
    pub server_url: String,
    /// A command before each program that a step starts.
    pub wrapper: Vec<String>,
    /// How much the job may make.
    pub limits: JobLimits,
    /// What the first part left for the last one.
    pub state: BTreeMap<String, String>,
}

/// What an action leaves.
#[derive(Debug, Default)]
pub struct Done {
    /// Outputs of the step.
    pub outputs: Vec<(String, String)>,
    /// Values for the action's last part.
    pub state: Vec<(String, String)>,
}

/// What an action comes to; why it failed, where it did.
type Outcome<T = Done> = Result<T, String>;

impl Call {
    /// Does it.
    pub async fn run(self) -> Outcome {
        match (Action::named(&self.name), self.part) {
            (Some(Action::Checkout), Part::Main) => self.checkout().await,
            (Some(Action::Checkout), Part::Post) => self.forget_credential().await,
            (Some(Action::Cache), Part::Main) => self.cache_restore().await,
            (Some(Action::Cache), Part::Post) => self.cache_save().await,
            (Some(Action::UploadArtifact), Part::Main) => self.artifact_upload().await,
            (Some(Action::DownloadArtifact), Part::Main) => self.artifact_download().await,
            (Some(_), Part::Post) => Ok(Done::default()),
            (None, _) => Err(format!("This runner knows no action '{}'; a newer one may.", self.name)),
        }
    }

    /// What the action was given under a name, where it isn't empty.
    fn input(&self, name: &str) -> Option<&str> {
        let found = self.with.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn is_true(&self, name: &str) -> bool {
        self.input(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// The lines of what the action was given under a name.
    fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.input(name).unwrap_or_default().lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// A file for what goes to the server or comes from it, and what may go into it or come out of it.
    fn transfer(&self) -> Outcome<(File, Reach)> {
        let file = self.place.transfer_file().and_then(|file| Ok((file, self.place.reach()?.clone())));
        file.map_err(|error| format!("The archive can't be made: {error}"))
    }

    fn server(&self, token: &str) -> Outcome<Server> {
        Server::new(&self.server_url, JOB_HEADER, token).map_err(|error| error.to_string())
    }
}
