//! What came back.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// Status, headers and body of an answer; the body is `null` when there is none or it is no JSON.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    /// The same as text, as far as it is one.
    pub text: String,
    pub json: Value,
    asked: String,
}

impl Answer {
    pub async fn read(asked: String, response: reqwest::Response) -> Self {
        Self::try_read(asked, response).await.expect("the whole answer")
    }

    /// `None` when the connection broke before the whole answer had come.
    pub async fn try_read(asked: String, response: reqwest::Response) -> Option<Self> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await.ok()?.to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Some(Self { status, headers, bytes, text, json, asked })
    }

    /// The same answer, when it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{} answered {}", self.asked, self.text);
        self
    }

    /// The same answer, when it says that it was done.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert!((200..300).contains(&self.status), "{} answered {} {}", self.asked, self.status, self.text);
        self
    }

    /// The same answer, when it is an error of this status, code and message.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str, message: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.json["code"], code, "{} answered {}", answer.asked, answer.text);
        assert_eq!(answer.json["error"], message, "{} answered {}", answer.asked, answer.text);
        answer
    }

    /// The same answer, when it is a 400 `invalid` with a problem at each of these paths, and no other.
    #[track_caller]
    pub fn expect_problems(self, paths: &[&str]) -> Self {
        let answer = self.expect(400);
        assert_eq!(answer.json["code"], "invalid", "{} answered {}", answer.asked, answer.text);
        let mut found: Vec<_> = answer.json["problems"]
            .as_array()
            .expect("problems")
            .iter()
            .map(|problem| problem["path"].as_str().expect("a path"))
            .collect();
        let mut wanted = paths.to_vec();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{} answered {}", answer.asked, answer.text);
        answer
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A string of the body, by JSON pointer.
    #[track_caller]
    pub fn str(&self, pointer: &str) -> &str {
        self.json
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{} has no string {pointer}: {}", self.asked, self.text))
    }

    /// A whole number of the body, by JSON pointer.
    #[track_caller]
    pub fn int(&self, pointer: &str) -> i64 {
        self.json
            .pointer(pointer)
            .and_then(Value::as_i64)
            .unwrap_or_else(|| panic!("{} has no number {pointer}: {}", self.asked, self.text))
    }

    /// A list of the body, by JSON pointer.
    #[track_caller]
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.json
            .pointer(pointer)
            .and_then(Value::as_array)
            .unwrap_or_else(|| panic!("{} has no list {pointer}: {}", self.asked, self.text))
    }
}
