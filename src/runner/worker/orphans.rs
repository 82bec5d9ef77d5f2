//! Processes that steps left behind: the worker adopts them, and ends them with its job.

use std::fs;

use rustix::process::{self, Pid, Signal, WaitOptions};

/// Rounds of ending what is left, at most: each round meets what the one before it left without parent.
const ROUNDS_MAX: usize = 1_000;

/// Has processes whose parents ended become the worker's.
pub fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = process::set_child_subreaper(Some(process::getpid()));
}

/// Ends all that the worker has started and adopted, and waits for each.
pub fn end() {
    for _ in 0..ROUNDS_MAX {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            let _ = process::kill_process(child, Signal::KILL);
            let _ = process::waitpid(Some(child), WaitOptions::empty());
        }
    }
}

/// The processes whose parent the worker is.
fn children() -> Vec<Pid> {
    let own = process::getpid().as_raw_nonzero().get();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of the program may hold anything, parentheses too.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
        parent == Some(own)
    };
    entries.flatten().filter_map(pid).filter(is_child).filter_map(Pid::from_raw).collect()
}
