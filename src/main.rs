//! The program: reads the command line, and does what it says.

use std::process::ExitCode;

use clap::Parser;
use troupe::cli::CommandLine;

/// What is given back goes back to the system, and what waits takes less room: `bench/README.md` has it measured.
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
