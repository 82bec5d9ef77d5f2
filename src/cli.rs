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
