//! What a job's token opens: what the job itself asks for, until it is over, and nothing else.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use super::{CI, Held, Works};
use crate::harness::Answer;

/// The headers that runners and jobs show their tokens in.
const RUNNER: &str = "x-service-runner";
const JOB: &str = "x-service-job";

/// An endpoint, as the server describes it.
struct Endpoint {
    method: Method,
    /// With names of what is there, and examples of the rest.
    path: String,
    /// Whether nobody has to be signed in.
    is_open: bool,
    /// The headers that it takes.
    headers: Vec<String>,
}

impl Works {
    /// All endpoints, with this job's names in their paths.
    async fn endpoints(&self, held: &Held) -> Vec<Endpoint> {
        let run = self.run("").await["runId"].as_str().unwrap().to_owned();
        let org = self.org.rsplit('/').next().unwrap();
        let names = [("orgId", org), ("owner", org), ("name", "web"), ("repository", "web.git")];
        let names: Vec<_> = names.into_iter().chain([("runId", run.as_str()), ("jobId", held.id.as_str())]).collect();
        let document = self.server.client().get("/v1/openapi.json").send().await.expect(200).json;
        let paths = document["paths"].as_object().unwrap().iter();
        let methods = paths.flat_map(|(path, methods)| methods.as_object().unwrap().iter().map(move |it| (path, it)));
        methods
            .map(|(path, (method, operation))| Endpoint::of((path.as_str(), method.as_str()), operation, &names))
            .collect()
    }
}

impl Endpoint {
    fn of((path, method): (&str, &str), operation: &Value, names: &[(&str, &str)]) -> Self {
        let (mut path, mut headers) = (path.to_owned(), Vec::new());
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            match parameter["in"].as_str().unwrap() {
                "path" => {
                    let known = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
                    let value = known.or(parameter["example"].as_str()).unwrap();
                    path = path.replace(&format!("{{{name}}}"), value);
                }
                "header" => headers.push(name.to_owned()),
                _ => {}
            }
        }
        let is_open = operation["security"].as_array().is_some_and(Vec::is_empty);
        Self { method: method.to_uppercase().parse().unwrap(), path, is_open, headers }
    }

    fn takes(&self, header: &str) -> bool {
        self.headers.iter().any(|it| it == header)
    }

    /// Whether it asks who is there.
    fn is_guarded(&self) -> bool {
        !self.is_open || self.takes(JOB) || self.takes(RUNNER)
    }

    fn refuses(&self, answer: &Answer) {
        let is_refusal = matches!(answer.status, 401 | 403 | 404);
        assert!(is_refusal, "{} {} answers {}: {}", self.method, self.path, answer.status, answer.text);
    }
}

#[tokio::test]
async fn a_jobs_token_opens_nothing_else_wherever_it_is_shown() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let held = works.runner("box", &[]).await.start().await;
    let (client, token) = (works.server.client(), held.token.as_str());
    let all = works.endpoints(&held).await;
    assert!(all.iter().filter(|it| it.is_guarded()).count() > 400, "{}", all.len());
    for endpoint in all.iter().filter(|it| it.is_guarded()) {
        let asked = || client.request(endpoint.method.clone(), &endpoint.path);
        endpoint.refuses(&asked().header("authorization", format!("Bearer {token}")).send().await);
        let as_runner = asked().header(RUNNER, token);
        let as_runner = if endpoint.is_open { as_runner } else { as_runner.header(JOB, token) };
        endpoint.refuses(&as_runner.send().await);
    }
    // The job goes on all the same: its token is good where it belongs.
    assert_eq!(held.status().await.expect(200).json["cancel"], false);
    // Git has a credential of its own.
    let path = |rest: &str| format!("/git/{}/web.git/{rest}", works.org.rsplit('/').next().unwrap());
    for name in ["job", "x-access-token", "ada"] {
        let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{token}")));
        for service in ["git-upload-pack", "git-receive-pack"] {
            let refs = client.get(&path(&format!("info/refs?service={service}")));
            assert_eq!(refs.header("authorization", &basic).send().await.status, 401, "{name} {service}");
        }
        let body = json!({ "operation": "download", "transfers": ["basic"], "objects": [] });
        let batch = client.post(&path("info/lfs/objects/batch")).json(&body).header("authorization", &basic);
        assert_eq!(batch.send().await.status, 401, "{name}");
    }
}

#[tokio::test]
async fn a_jobs_token_is_dead_once_the_job_is_over_but_for_lines_that_come_late() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let held = works.runner("box", &[]).await.start().await;
    let all = works.endpoints(&held).await;
    let of_job: Vec<&Endpoint> = all.iter().filter(|it| it.takes(JOB)).collect();
    assert_eq!(of_job.len(), 11);
    let ask = async |endpoint: &Endpoint| {
        let asked = works.server.client().request(endpoint.method.clone(), &endpoint.path).header(JOB, &held.token);
        match endpoint.path.as_str() {
            "/v1/runner/job" => asked.send().await,
            "/v1/runner/logs" => asked.json(&json!({ "lines": [{ "t": 7, "m": "late" }] })).send().await,
            "/v1/runner/status" => asked.json(&json!({ "steps": [] })).send().await,
            "/v1/runner/complete" => asked.json(&json!({ "conclusion": "failure" })).send().await,
            _ => asked.json(&json!({})).send().await,
        }
    };
    held.complete("success").await;
    for &endpoint in &of_job {
        let answer = ask(endpoint).await;
        if endpoint.path == "/v1/runner/logs" {
            // Lines that were under way when the job ended may still come, for a day.
            answer.expect(200);
        } else {
            answer.expect_error(409, "job_over", "This job is over.");
        }
    }
    works.server.clock.advance(Duration::from_hours(24));
    for &endpoint in &of_job {
        ask(endpoint).await.expect_error(409, "job_over", "This job is over.");
    }
}
