//! Requests as the bytes that go over the wire.

use super::Bytes;

/// A request that is being put together.
#[derive(Clone, Debug)]
pub struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    /// `target` is the path with its query.
    pub fn new(method: &str, target: &str) -> Self {
        Self { head: format!("{method} {target} HTTP/1.1\r\nHost: bench\r\n"), body: Vec::new() }
    }

    /// With the credential of a caller.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head.extend([name, ": ", value, "\r\n"]);
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: Vec<u8>) -> Self {
        self.body("application/json", body)
    }

    /// With a body of this type.
    #[must_use]
    pub fn body(self, content_type: &str, body: Vec<u8>) -> Self {
        let length = body.len().to_string();
        let with = self.header("Content-Type", content_type).header("Content-Length", &length);
        Self { body, ..with }
    }

    /// The whole request.
    pub fn bytes(&self) -> Bytes {
        [self.head.as_bytes(), b"\r\n", &self.body].concat().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_its_head_an_empty_line_and_its_body() {
        let request = Request::new("POST", "/v1/x?y=1").bearer("t").json(b"{}".to_vec());
        assert_eq!(
            request.bytes().as_ref(),
            b"POST /v1/x?y=1 HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\n\
              Content-Length: 2\r\n\r\n{}"
        );
    }
}
