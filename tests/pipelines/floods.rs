//! Those who ask too often: jobs count by themselves, not by the address that many runners stand behind.

use std::time::Duration;

use serde_json::json;

use super::sent::{Job, Sent};
use crate::harness::Answer;

/// Requests a minute of a job, and of an address that shows no good token.
const OF_JOB: usize = 120;
const OF_ADDRESS: usize = 40;

async fn status(job: &Job) -> Answer {
    job.ask("status", json!({ "steps": [] })).await
}

#[tokio::test]
async fn a_job_that_floods_waits_and_no_other_does() {
    let of_job = format!("server.requests_per_minute={OF_JOB}");
    let of_address = format!("server.anonymous_requests_per_minute={OF_ADDRESS}");
    let sent = Sent::with(&[&of_job, &of_address]).await;
    let (job, other) = (sent.job("refs/heads/main").await, sent.job("refs/heads/main").await);
    for number in 0..OF_JOB {
        assert_eq!(status(&job).await.status, 200, "{number}");
    }
    let refused = status(&job).await.expect(429);
    assert!(refused.header("retry-after").is_some());
    status(&other).await.expect(200);
    sent.server.clock.advance(Duration::from_mins(1));
    status(&job).await.expect(200);

    let nobody = async || {
        let client = sent.server.client();
        client.post("/v1/runner/status").header("x-service-job", "trp_j_made-up").json(&json!({})).send().await.status
    };
    for _ in 0..OF_ADDRESS {
        assert!(matches!(nobody().await, 400 | 401));
    }
    assert_eq!(nobody().await, 429);
    status(&job).await.expect(200);
}
