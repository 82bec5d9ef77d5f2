//! A runner whose disk fails every write. A limit of the system stands in for the disk, as for the server's (`tests/outages/disk.rs`).

use std::process::{Command, Stdio};

use super::{
    Machine, Runner, Works,
    lines::{numbered, written},
};
use crate::runner::TROUPE;

impl Machine {
    /// Starts a runner that isn't killed by the system for a file that may not grow: the write fails.
    fn start_for_limits(&mut self) {
        // What a shell ignores, a program that takes its place does too.
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", TROUPE, "runner", "run", "--folder"]);
        shell.arg(self.home.path()).args(&self.arguments).current_dir(self.home.path());
        let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.runner = Some(Runner(child));
    }

    /// Has every write of the runner's to a file fail from now on, or none any more.
    fn disk(&self, limit: &str) -> bool {
        let id = self.runner.as_ref().unwrap().0.id().to_string();
        let limited = Command::new("prlimit").args(["--pid", &id, &format!("--fsize={limit}:unlimited")]).status();
        limited.is_ok_and(|status| status.success())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_log_can_not_be_kept_fails_and_says_so_and_the_runner_goes_on() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let mut machine = works.idle_machine("", &[]).await;
    machine.start_for_limits();
    let (run, job) = written(&repository, 60.0).await;
    if !machine.disk("0") {
        return eprintln!("skipped: nothing here limits a program's files");
    }
    let detail = repository.ended(&run).await;
    assert_eq!(detail["run"]["conclusion"], "failure");
    let told = repository.job(&run, &job).await;
    assert!(told["error"].as_str().unwrap().starts_with("The job's log can't be kept: "), "{told}");
    assert!(numbered(&repository, &run, &job).await > 0, "what was kept is there");
    // With a disk that is full from the start a job fails at once, too.
    let run = repository.start(SHORT).await;
    assert_eq!(repository.ended(&run).await["run"]["conclusion"], "failure");
    assert!(machine.disk("unlimited"));
    let run = repository.start(&SHORT.replace("done", "done again")).await;
    assert_eq!(repository.ended(&run).await["run"]["conclusion"], "success");
}

const SHORT: &str = "on: push\njobs:\n  a:\n    runs-on: linux\n    steps:\n      - run: echo done\n";
