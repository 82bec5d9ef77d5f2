//! Everything that leaves the process, each behind a small trait
