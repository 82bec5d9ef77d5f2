//! A call of an endpoint of the table, whose answer must be one that the description tells of.

use reqwest::Method;
use serde_json::Value;

use super::{
    cast::Cast,
    table::{Row, Who},
};
use crate::harness::{Answer, Client, Request};

/// The description that the server serves.
pub struct Described(pub Value);

impl Described {
    pub async fn of(cast: &Cast) -> Self {
        Self(cast.nobody.get("/v1/openapi.json").send().await.expect(200).json)
    }

    /// What it says of the row's endpoint.
    pub fn operation(&self, row: &Row) -> &Value {
        let operation = &self.0["paths"][row.path][row.method.to_lowercase()];
        assert!(operation.is_object(), "{} {} is not described", row.method, row.path);
        operation
    }

    /// The answer, which the description must tell of.
    pub async fn answer(&self, row: &Row, request: Request) -> Answer {
        let answer = request.send().await;
        let told = &self.operation(row)["responses"][answer.status.to_string()];
        assert!(
            told.is_object(),
            "{} {} answers {}, undescribed: {}",
            row.method,
            row.path,
            answer.status,
            answer.text
        );
        answer
    }
}

impl Row {
    /// A call by this client; its body is still to be given.
    pub fn call(&self, cast: &Cast, client: &Client) -> Request {
        let request = client.request(Method::from_bytes(self.method.as_bytes()).unwrap(), &cast.path(self));
        match self.who {
            Who::Runner => request.header("x-service-runner", &cast.runner),
            Who::Job => request.header("x-service-job", &cast.job),
            _ => request,
        }
    }
}
