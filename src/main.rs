//! The program: reads the command line, and does what it says.

use std::process::ExitCode;

use clap::Parser;
use troupe::cli::CommandLine;

/// Requests that wait take less room than with the system's, and reads are faster (`bench/README.md`).
#[cfg(all(unix, feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match troupe::run(CommandLine::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("troupe: {error}");
            ExitCode::FAILURE
        }
    }
}
