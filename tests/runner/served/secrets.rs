//! Secrets that a job prints in all the ways in which programs do: nothing that is shown or kept has them.

use std::{fs, io::Read, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use store::testing::Scratch;

use super::{Repository, Works, until};
use crate::harness::Ticket;

const TOKEN: &str = "correct/horse battery+staple=7";
const TOKEN_IN_ADDRESS: &str = "correct%2Fhorse%20battery%2Bstaple%3D7";
const KEY: &str =
    "-----BEGIN A KEY-----\nMHcCAQEEIFirstLineOfTheKey0\nSecondLineOfTheKey1AAAA==\n-----END A KEY-----\n";
/// A secret that the job itself makes, whose text stands in no file.
const MADE: &str = "made-42-by-the-step";
/// The last line that the job prints before it waits for a file. It stands nowhere in the script, which is shown before it runs.
const LAST: &str = "all was said";

/// `GO_ON` stands for the file that is waited for.
const WORKFLOW: &str = r#"on: push
jobs:
  a:
    runs-on: linux
    env:
      TOKEN: ${{ secrets.TOKEN }}
      KEY: ${{ secrets.KEY }}
    steps:
      - name: Say ${{ secrets.TOKEN }}
        run: |
          echo "the token is $TOKEN"
          printf '%s' "$KEY"
      - name: In other forms
        run: |
          echo "base64: $(printf '%s' "$TOKEN" | base64 -w0)"
          printf '%s' "$KEY" | base64
          address=
          for ((at = 0; at < ${#TOKEN}; at++)); do
            sign=${TOKEN:at:1}
            case $sign in
              [a-zA-Z0-9]) ;;
              *) printf -v sign '%%%02X' "'$sign" ;;
            esac
            address+=$sign
          done
          echo "address: $address"
      - name: Line by line
        run: |
          printf '%s' "$KEY" > key.txt
          while read -r line; do echo "a line: $line"; done < key.txt
          cat key.txt
      - name: What else is told
        run: |
          made="made-$((6 * 7))-by-the-step"
          echo "::add-mask::$made"
          echo "made: $made"
          echo "$made and $TOKEN" >> "$GITHUB_STEP_SUMMARY"
          cat key.txt >> "$GITHUB_STEP_SUMMARY"
          echo "::warning title=$TOKEN::$TOKEN and $made"
          echo "::error file=$TOKEN::$(sed -n 2p key.txt)"
          echo "all was" said
          until [ -e GO_ON ]; do sleep 0.1; done
"#;

/// What must stand nowhere: the secrets, line by line, and the parts of their other forms that follow from them alone.
fn secrets() -> Vec<String> {
    let key = STANDARD.encode(KEY.trim_end());
    let mut secrets = vec![TOKEN.to_owned(), TOKEN_IN_ADDRESS.to_owned(), MADE.to_owned(), STANDARD.encode(TOKEN)];
    // `base64` writes lines of 76 characters.
    secrets.extend([key[..76].to_owned(), key[76..key.len() - 8].to_owned()]);
    secrets.extend(KEY.lines().map(str::to_owned));
    secrets
}

/// Wants none of the secrets in these bytes.
fn hides(place: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for secret in secrets() {
        assert!(!text.contains(&secret), "{place} has {secret}");
    }
}

/// Wants none of the secrets in the files below a folder; how many there are.
fn files_hide(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let read = |path: &Path| {
        if path.is_dir() {
            return files_hide(path);
        }
        // What is gone meanwhile is none.
        fs::read(path).map_or(0, |bytes| {
            hides(&path.display().to_string(), &bytes);
            1
        })
    };
    entries.map(|path| read(&path)).sum()
}

impl Repository {
    async fn set_secret(&self, name: &str, value: &str) {
        let path = format!("{}/pipelines/secrets/{name}", self.path);
        self.client.put(&path).json(&json!({ "value": value })).send().await.expect(200);
    }

    /// Follows a job's log to that line, and wants no secret in what is sent.
    async fn follow(&self, job: &str, last: &str) {
        let path = format!("{}/pipelines/{job}/log/live", self.path);
        let ticket = Ticket::issue_at(&self.client, &path).await.at(&self.client);
        let mut socket = ticket.open().await.expect("a socket");
        loop {
            let message = socket.raw_message().await.to_string();
            hides("the socket", message.as_bytes());
            if message.contains(last) {
                return;
            }
        }
    }

    /// Wants no secret in the texts of all logs of a run.
    async fn archive_hides(&self, run: &str) {
        let bytes = self.get(&format!("runs/{run}/logs")).await.bytes;
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let mut text = Vec::new();
        for at in 0..archive.len() {
            archive.by_index(at).unwrap().read_to_end(&mut text).unwrap();
        }
        assert!(String::from_utf8_lossy(&text).contains(LAST));
        hides("the archive", &text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_prints_of_its_secrets_is_read_nowhere() {
    let scratch = Scratch::new().await.unwrap();
    let data = scratch.folder().to_owned();
    let works = Works::on(scratch, &[]).await;
    let repository = works.repository("web").await;
    repository.set_secret("TOKEN", TOKEN).await;
    repository.set_secret("KEY", KEY).await;
    let machine = works.machine("", &[]).await;
    let go_on = machine.home.path().join("go-on");
    let run = repository.start(&WORKFLOW.replace("GO_ON", go_on.to_str().unwrap())).await;
    let id = repository.job_id(&run, "a").await;
    let said = async || Some(repository.lines(&run, &id).await).filter(|lines| lines.iter().any(|it| it == LAST));
    let lines = until("all that is said", said).await;
    for line in ["the token is ***", "base64: ***", "address: ***", "a line: ***", "made: ***"] {
        assert!(lines.iter().any(|it| it == line), "{line}: {lines:#?}");
    }
    // The job still runs: what isn't sent yet lies with the runner.
    assert!(files_hide(&machine.home.path().join("spools")) > 0);
    let job = format!("runs/{run}/jobs/{id}");
    repository.follow(&job, LAST).await;

    fs::write(&go_on, "").unwrap();
    assert_eq!(repository.ended(&run).await["run"]["conclusion"], "success");
    let told = repository.job(&run, &id).await;
    assert!(told["summary"].as_str().unwrap().starts_with("*** and ***\n"), "{told}");
    let remarks = told["annotations"].as_array().unwrap().iter().map(|it| it["message"].as_str().unwrap());
    assert_eq!(remarks.collect::<Vec<_>>(), ["*** and ***", "***"]);
    assert_eq!(told["steps"][0]["name"], "Say ***");
    for rest in [format!("runs/{run}"), job.clone(), format!("{job}/log?from=0&limit=5000"), format!("{job}/log/raw")] {
        hides(&rest, &repository.get(&rest).await.bytes);
    }
    repository.archive_hides(&run).await;
    // The database is among the files where it is SQLite's.
    assert!(files_hide(&data) > 0);
}
