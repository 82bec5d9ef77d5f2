//! The command line.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};

use crate::config::Sources;

/// One self-hosted program for a company's vault, alerts, issues, pages, mail, pipelines and the rest.
#[derive(Debug, Parser)]
#[command(name = "troupe", version, about)]
pub struct CommandLine {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do; `serve` when nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Where settings come from.
#[derive(Debug, Args)]
pub struct Global {
    /// The configuration file (default: ./troupe.toml, when there is one).
    #[arg(long, global = true, env = "TROUPE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Sets one setting, such as `--set vault.max_items=500`; may be given again.
    #[arg(long, global = true, value_name = "SECTION.KEY=VALUE")]
    pub set: Vec<String>,
    /// The folder of the database, blobs and the server's secrets (`data.dir`).
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where clients connect (`server.listen`).
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
}

impl Global {
    /// The layers above the defaults, with the environment of this process.
    pub fn sources(&self) -> Sources {
        let mut flags = self.set.clone();
        flags.extend(self.data.iter().map(|dir| format!("data.dir={}", dir.display())));
        flags.extend(self.listen.iter().map(|address| format!("server.listen={address}")));
        Sources { file: self.config.clone(), environment: std::env::vars().collect(), flags }
    }
}

/// What the program does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs the server (the default).
    Serve,
    /// Applies outstanding migrations of the database and ends.
    Migrate,
    /// Checks configuration, database, Redis, blobs and gateways, and says how to mend what is wrong.
    Doctor,
    /// Copies database, blobs and secrets into a new folder, while the server runs.
    Backup {
        /// The folder; it must not exist, or be empty.
        folder: PathBuf,
    },
    /// Puts a copy that `backup` made into an empty data folder.
    Restore {
        /// The folder that `backup` made.
        folder: PathBuf,
    },
    /// What operators do to accounts, without a running server or beside one.
    #[command(subcommand)]
    Admin(Admin),
    /// Does the jobs of pipelines on this machine.
    #[command(subcommand)]
    Runner(RunnerCommand),
    /// Looks at workflow files.
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// What people do at their own machine.
    #[command(flatten)]
    Client(ClientCommand),
}

/// What a machine does with jobs.
#[derive(Debug, Subcommand)]
pub enum RunnerCommand {
    /// Makes this machine a runner of an organization.
    Register {
        /// The server's address; without a scheme it is https.
        url: String,
        /// The token of one registration, which an administrator made.
        token: String,
        /// The runner's name; the machine's, when nothing is said.
        #[arg(long)]
        name: Option<String>,
        /// Labels that jobs ask for, beside `self-hosted`, the system and the kind of machine.
        #[arg(long, value_delimiter = ',')]
        labels: Vec<String>,
        /// Lets secrets go to another machine unencrypted, over http.
        #[arg(long)]
        insecure_http: bool,
        /// The runner's folder (default: troupe/runner in the folder of the person's data).
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Does jobs of the organization, until it is ended.
    Run {
        /// Jobs at the same time.
        #[arg(long, value_name = "N", default_value_t = 1)]
        jobs: usize,
        /// Ends after one job.
        #[arg(long)]
        ephemeral: bool,
        /// A command before each step's, such as one that locks it in.
        #[arg(long, value_name = "COMMAND")]
        wrapper: Option<String>,
        /// The runner's folder (default: troupe/runner in the folder of the person's data).
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// How long a minute is, for tests of what takes too long.
        #[arg(long, hide = true, default_value_t = 60_000)]
        minute_ms: u64,
    },
    /// Does a workflow's jobs here, without a server.
    Exec(ExecOptions),
    /// Does one job; the runner starts this itself.
    #[command(hide = true)]
    Worker,
}

/// How a workflow's jobs are done here.
#[derive(Debug, Args)]
pub struct ExecOptions {
    /// The workflow file.
    pub file: PathBuf,
    /// Does this job, and all that it needs.
    #[arg(long, value_name = "JOB")]
    pub job: Option<String>,
    /// Jobs that run at the same time.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The event that the run is said to be started by.
    #[arg(long, default_value = "push")]
    pub event: String,
    /// An input; may be given again.
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// A variable of the context `vars`; may be given again.
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub vars: Vec<String>,
    /// A secret, whose value is that of the environment variable of the same name; may be given again.
    #[arg(long = "secret", value_name = "NAME")]
    pub secrets: Vec<String>,
    /// A command before each step's, such as one that locks it in.
    #[arg(long, value_name = "COMMAND")]
    pub wrapper: Option<String>,
    /// Shows lines for whoever looks for mistakes.
    #[arg(long)]
    pub debug: bool,
    /// Prints a line of JSON for each thing that happens.
    #[arg(long)]
    pub json: bool,
    /// How long a minute is, for tests of what takes too long.
    #[arg(long, hide = true, default_value_t = 60_000)]
    pub minute_ms: u64,
}

/// What is asked of workflow files.
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// Says what is wrong with a file, and where.
    Check {
        /// The file.
        file: PathBuf,
    },
}

/// What people do at their own machine, with a server elsewhere.
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// Signs you in at a server, for the command line of this machine.
    Login {
        /// The server's address; without a scheme it is https.
        url: String,
        /// Your e-mail address; asked for when it is missing.
        #[arg(long)]
        email: Option<String>,
        /// Reads the password from the first line of standard input, and a code of the second factor from the next.
        #[arg(long)]
        password_stdin: bool,
        /// Lets passwords and keys go to another machine unencrypted, over http.
        #[arg(long)]
        insecure_http: bool,
    },
    /// Ends your sign-in at a server, and this machine's keys for git there.
    Logout {
        /// The server; may be left out where you are signed in at one only.
        url: Option<String>,
    },
    /// Has git on this machine open your repositories.
    #[command(subcommand)]
    Git(Git),
    /// Runs of pipelines.
    #[command(subcommand)]
    Run(RunCommand),
}

/// What people ask of runs.
#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Follows the logs of a run until it is over; ends with 1 where it didn't succeed.
    Watch {
        /// The organization, by its slug or id, and the repository.
        #[arg(value_name = "ORGANIZATION/REPOSITORY")]
        repository: String,
        /// The run's id; the newest, when nothing is said.
        run: Option<String>,
        /// The server; may be left out where you are signed in at one only.
        #[arg(long, value_name = "URL")]
        server: Option<String>,
    },
}

/// What git needs on somebody's machine.
#[derive(Debug, Subcommand)]
pub enum Git {
    /// Makes this machine's keys, and becomes git's credential helper for the server; again, when the keys end.
    Setup {
        /// The server; may be left out where you are signed in at one only.
        url: Option<String>,
        /// The slug or id of an organization; may be given again. All of yours, when nothing is said.
        #[arg(long = "org", value_name = "SLUG_OR_ID")]
        organizations: Vec<String>,
        /// Reads the code of the second factor from standard input.
        #[arg(long)]
        otp_stdin: bool,
    },
    /// Answers git, which runs this itself: `get`, `store` or `erase`.
    Credential {
        /// What git wants done.
        operation: String,
    },
}

/// What operators do to accounts.
#[derive(Debug, Subcommand)]
pub enum Admin {
    /// Makes a person, and prints the password.
    UserCreate {
        /// Their e-mail address.
        email: String,
        /// Their name.
        #[arg(long)]
        name: String,
    },
    /// Lists people.
    UserList,
    /// Gives a person a new password, prints it, and ends their sign-ins.
    PasswordReset {
        /// Their e-mail address.
        email: String,
    },
    /// Signs a person in on the command line, and prints the token.
    TokenCreate {
        /// Their e-mail address.
        email: String,
    },
    /// Ends every sign-in of a person, on every node within a second.
    SignOut {
        /// Their e-mail address.
        email: String,
    },
    /// Lists organizations.
    OrgList,
    /// Seals secrets that older keys sealed under the first of `secrets.keys`.
    SecretsRekey,
}
