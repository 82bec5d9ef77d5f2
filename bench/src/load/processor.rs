//! Processor time and memory of processes, as Linux tells them.

use std::{fs, time::Duration};

use crate::report::Result;

/// Linux counts processor time in ticks of a hundredth of a second, whatever the kernel's own clock.
const TICK_MS: u64 = 10;
/// The first of the two fields (user and system time) in `/proc/PID/stat`, counted behind the program's name.
const TIME_FIELD: usize = 11;

/// Processor time that a process has taken since its start, with that of the processes which it has started; this one,
/// and no other, where none is named.
pub fn processor_time(process: Option<u32>) -> Result<Duration> {
    let mut time = own_time(process)?;
    if let Some(process) = process {
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
        for child in children.split_whitespace() {
            time += own_time(Some(child.parse()?))?;
        }
    }
    Ok(time)
}

fn own_time(process: Option<u32>) -> Result<Duration> {
    let stat = fs::read_to_string(path(process, "stat"))?;
    // The program's name stands in parentheses and may hold anything.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(TIME_FIELD).take(2).map(str::parse::<u64>).sum::<std::result::Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * TICK_MS))
}

/// Memory of a process that is in RAM, in bytes.
pub fn resident_bytes(process: u32) -> Result<u64> {
    let status = fs::read_to_string(path(Some(process), "status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS in the status")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1_024)
}

fn path(process: Option<u32>, file: &str) -> String {
    process.map_or_else(|| format!("/proc/self/{file}"), |id| format!("/proc/{id}/{file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_time_and_memory() {
        processor_time(None).expect("a time");
        assert!(resident_bytes(std::process::id()).expect("a size") > 100_000);
    }
}
