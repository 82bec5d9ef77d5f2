//! The server dies at each point of a job: when it is reserved, started, first reported on, and ended.

use std::fs;

use super::Works;

/// Where the server is killed, each with a job of its own that then has to be done once.
const POINTS: [&str; 11] = [
    "handler:runner_pool/take_job=kill",
    "commit:runner_pool=kill",
    "commit:runner_pool=kill_after",
    "handler:run/start_job=kill",
    "commit:run=kill",
    "commit:run=kill_after",
    "handler:run/report_status=kill",
    "commit:run=kill;after=1",
    "commit:run=kill_after;after=1",
    "commit:job_log=kill_after",
    "handler:run/complete_job=kill",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_done_once_wherever_the_server_dies() {
    let mut works = Works::new().await;
    let repository = works.repository("web").await;
    // One that ends with its job leaves no question behind that a later job would be an answer to.
    let mut machine = works.idle_machine("", &["--ephemeral"]).await;
    let folder = tempfile::tempdir().unwrap();
    for (number, point) in POINTS.into_iter().enumerate() {
        let marks = folder.path().join(format!("marks-{number}"));
        let workflow = format!(
            "on: push\njobs:\n  a:\n    runs-on: linux\n    steps:\n      - run: echo once >> {}\n      - run: echo done\n",
            marks.display()
        );
        let run = repository.start(&workflow).await;
        let job = repository.job_id(&run, "a").await;
        works.stage.rule(point).await;
        machine.start();
        works.stage.killed(point).await;
        let detail = repository.ended(&run).await;
        assert_eq!(detail["run"]["conclusion"], "success", "{point}: {detail}");
        assert_eq!(fs::read_to_string(&marks).unwrap(), "once\n", "{point}");
        let lines = repository.lines(&run, &job).await;
        assert_eq!(lines.iter().filter(|line| *line == "done").count(), 1, "{point}: {lines:#?}");
        machine.kill();
    }
}
