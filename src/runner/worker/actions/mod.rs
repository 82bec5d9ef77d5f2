//! The actions that the runner knows: `checkout`, `cache` and its halves, `upload-artifact` and `download-artifact`.

mod archive;
mod artifacts;
mod cache;
mod checkout;
mod transfer;

use std::{collections::BTreeMap, fs::File};

use domain::pipelines::{
    expressions::Template,
    job::{JobLimits, Part},
    workflow::{Action, InputFault, OF_STEP, OwnRun},
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
    /// The same as the workflow says it, with expressions.
    pub given: BTreeMap<String, String>,
    /// Where the job works.
    pub place: Place,
    /// Where lines go that people read.
    pub output: Output,
    /// Where files come from and go to.
    pub files: Files,
    /// Where the server is.
    pub server_url: String,
    /// What of the run inputs may name.
    pub run: OwnRun,
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
        let Some(action) = Action::named(&self.name) else {
            return Err(format!("This runner knows no action '{}'; a newer one may.", self.name));
        };
        match self.part {
            Part::Main => {
                self.inputs_check(action)?;
                self.begin(action).await
            }
            Part::Post => self.end(action).await,
        }
    }

    /// What the action does when its turn comes.
    async fn begin(&self, action: Action) -> Outcome {
        match action {
            Action::Checkout => self.checkout().await,
            Action::Cache | Action::CacheRestore => self.cache_restore().await,
            Action::CacheSave => self.cache_save().await,
            Action::UploadArtifact => self.artifact_upload().await,
            Action::DownloadArtifact => self.artifact_download().await,
        }
    }

    /// What the action does once the steps are over.
    async fn end(&self, action: Action) -> Outcome {
        match action {
            Action::Checkout => self.forget_credential().await,
            Action::Cache => self.cache_save_restored().await,
            _ => Ok(Done::default()),
        }
    }

    /// Warns of inputs that do nothing, and refuses those without which the action would do something else than they say.
    fn inputs_check(&self, action: Action) -> Outcome<()> {
        let mut faults: Vec<(InputFault, Vec<&str>)> = Vec::new();
        for (name, value) in &self.with {
            let Some(fault) = self.input_fault(action, name, value) else { continue };
            match faults.iter_mut().find(|(known, _)| *known == fault) {
                Some((_, names)) => names.push(name.as_str()),
                None => faults.push((fault, vec![name.as_str()])),
            }
        }
        for (fault, names) in faults {
            let message = fault.message(action, &names);
            if matches!(fault, InputFault::Foreign(_) | InputFault::Impossible(_)) {
                return Err(message);
            }
            self.output.warning(&message);
        }
        Ok(())
    }

    /// Why an input isn't followed, unless its text or its value says what holds in any case.
    fn input_fault(&self, action: Action, name: &str, value: &str) -> Option<InputFault> {
        let given = self.given.get(name).and_then(|text| Template::parse(text, &OF_STEP).ok());
        let fault = action.value_fault(name, value, &self.run)?;
        given.is_none_or(|given| action.input_fault(name, &given).is_some()).then_some(fault)
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
