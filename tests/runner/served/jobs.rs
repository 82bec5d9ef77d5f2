//! Jobs from a push to their end, and what comes back of them.

use serde_json::{Value, json};

use super::{Works, until};
use crate::runner::git;

/// A file, an output, an artifact and a cache go from one job to the next.
const BUILD: &str = r##"name: Build
on: push
jobs:
  build:
    runs-on: linux
    environment:
      name: staging
      url: https://staging.example.com/${{ steps.version.outputs.version }}
    outputs:
      version: ${{ steps.version.outputs.version }}
    steps:
      - uses: actions/checkout@v4
        with: {repository: "${{ inputs.repo || github.repository }}", github-server-url: "${{ github.server_url }}/"}
      - id: version
        run: |
          echo "version=$(cat VERSION)" >> "$GITHUB_OUTPUT"
          echo "# Built" >> "$GITHUB_STEP_SUMMARY"
          mkdir out && cp VERSION out/version.txt
          echo "::warning file=VERSION,line=1::old"
      - {id: sent, uses: actions/upload-artifact@v4, with: {name: out, path: out}}
      - run: echo "sent ${{ steps.sent.outputs.artifact-id }}"
      - {uses: actions/cache/save@v4, with: {path: out, key: "out-${{ github.run_attempt }}"}}
      - {id: kept, uses: actions/cache@v4, with: {path: kept, key: "kept-${{ hashFiles('VERSION') }}"}}
      - if: steps.kept.outputs.cache-hit != 'true'
        run: mkdir kept && echo made > kept/file && echo "nothing was kept"
      - run: cat kept/file
  test:
    needs: build
    runs-on: [linux, strong]
    strategy: {matrix: {n: [1, 2]}}
    steps:
      - {uses: actions/download-artifact@v4, with: {name: out, path: in, run-id: "${{ format('{0}', github.run_id) }}"}}
      - run: echo "${{ matrix.n }} has $(cat in/version.txt) and ${{ needs.build.outputs.version }}"
      - {id: looked, uses: actions/cache/restore@v4, with: {path: out, key: none, restore-keys: out-, lookup-only: true}}
      - run: test ! -e out
      - id: found
        uses: actions/cache/restore@v4
        with: {path: out, key: "out-${{ github.run_attempt }}", fail-on-cache-miss: true}
      - run: |
          echo "looked up ${{ steps.looked.outputs.cache-matched-key }} ${{ steps.looked.outputs.cache-hit }}"
          echo "found $(cat out/version.txt) ${{ steps.found.outputs.cache-matched-key }} ${{ steps.found.outputs.cache-hit }}"
"##;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_is_done_and_comes_back() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let _machine = works.machine("strong", &["--jobs", "2"]).await;
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    git(work, &["init", "--quiet"]);
    std::fs::create_dir_all(work.join(".service/workflows")).unwrap();
    std::fs::write(work.join(".service/workflows/build.yml"), BUILD).unwrap();
    std::fs::write(work.join("VERSION"), "1.2.3\n").unwrap();
    git(work, &["add", "."]);
    git(work, &["commit", "--quiet", "-m", "Begin"]);
    let key = json!({ "name": "Git", "kind": "api", "scopes": ["git:read", "git:write"] });
    let key = works.stage.client.post(&format!("{}/keys", works.stage.org)).json(&key).send().await.expect(201);
    let base = works.stage.client.base().replace("http://", &format!("http://ada:{}@", key.str("/secret")));
    let url = format!("{base}/git/{}/web.git", works.stage.org.rsplit('/').next().unwrap());
    git(work, &["push", "--quiet", &url, "HEAD:main"]);

    let run = until("a run", async || repository.runs().await.first().cloned()).await;
    let run = run["runId"].as_str().unwrap();
    let detail = repository.ended(run).await;
    let build = repository.job_id(run, "build").await;
    let lines = repository.lines(run, &build).await;
    assert_eq!(detail["run"]["conclusion"], "success", "{lines:#?}");
    for line in ["nothing was kept", "made", "##[warning]old"] {
        assert!(lines.iter().any(|it| it == line), "{line}: {lines:#?}");
    }
    for n in ["1", "2"] {
        let lines = repository.lines(run, &repository.job_id(run, &format!("test ({n})")).await).await;
        let had = format!("{n} has 1.2.3 and 1.2.3");
        for line in [had.as_str(), "looked up out-1 false", "found 1.2.3 out-1 true"] {
            assert!(lines.iter().any(|it| it == line), "{line}: {lines:#?}");
        }
    }
    assert_eq!(detail["jobs"][0]["environmentUrl"], "https://staging.example.com/1.2.3");
    let job = repository.job(run, &build).await;
    assert_eq!(job["summary"].as_str().unwrap().trim_end(), "# Built");
    assert_eq!((&job["annotations"][0]["message"], &job["annotations"][0]["file"]), (&json!("old"), &json!("VERSION")));
    let conclusions: Vec<&Value> = job["steps"].as_array().unwrap().iter().map(|step| &step["conclusion"]).collect();
    assert!(conclusions.iter().all(|conclusion| **conclusion == json!("success")), "{conclusions:?}");
    let artifacts = repository.get(&format!("runs/{run}/artifacts")).await;
    assert_eq!((artifacts.list("/artifacts").len(), artifacts.str("/artifacts/0/name")), (1, "out"));
    assert!(lines.contains(&format!("sent {}", artifacts.str("/artifacts/0/artifactId"))), "{lines:#?}");
    assert_eq!(repository.get("caches").await.list("/caches").len(), 2);

    repository.post(&format!("runs/{run}/rerun"), json!({ "jobs": "all" })).await.expect(201);
    let again = repository.ended(run).await;
    assert_eq!((&again["run"]["attempt"], &again["run"]["conclusion"]), (&json!(2), &json!("success")));
    let second = repository.job_id(run, "build").await;
    assert_ne!(second, build);
    let lines = repository.lines(run, &second).await;
    assert!(
        lines.iter().any(|line| line == "made") && !lines.iter().any(|line| line == "nothing was kept"),
        "{lines:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_cancelled_in_a_step_and_one_that_takes_too_long_ends() {
    let works = Works::new().await;
    let (slow, endless) = (works.repository("slow").await, works.repository("endless").await);
    let _machine = works.machine("", &["--jobs", "2", "--minute-ms", "3000"]).await;
    let long = "on: push\njobs:\n  a: {runs-on: linux, timeout-minutes: 1, steps: [{run: sleep 600}, {run: echo cleaned, if: always()}]}\n";
    let cancelled = slow.start(&long.replace(" timeout-minutes: 1,", "")).await;
    let timed_out = endless.start(long).await;
    let job = slow.job_id(&cancelled, "a").await;
    slow.running(&cancelled, &job, 0).await;
    slow.post(&format!("runs/{cancelled}/cancel"), json!({})).await.expect(200);
    for (repository, run, conclusion) in [(&slow, &cancelled, "cancelled"), (&endless, &timed_out, "timed_out")] {
        let detail = repository.ended(run).await;
        assert_eq!(
            (&detail["run"]["conclusion"], &detail["jobs"][0]["conclusion"]),
            (&json!(conclusion), &json!(conclusion))
        );
        let job = repository.job_id(run, "a").await;
        let told = repository.job(run, &job).await;
        assert_eq!(told["steps"][0]["conclusion"], "cancelled", "{told}");
        assert_eq!(told["steps"][1]["conclusion"], "success", "{told}");
        assert!(repository.lines(run, &job).await.contains(&"cleaned".to_owned()));
    }
}
