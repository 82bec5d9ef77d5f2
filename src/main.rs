//! The program: reads the command line, and does what it says.

use std::process::ExitCode;

use clap::Parser;
use troupe::cli::CommandLine;

fn main() -> ExitCode {
    match troupe::run(CommandLine::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("troupe: {error}");
            ExitCode::FAILURE
        }
    }
}
