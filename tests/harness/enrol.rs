//! Becoming somebody: registration and sign-in, where registration is open.

use serde_json::json;

use super::Client;

/// Everybody's password.
pub const PASSWORD: &str = "correct horse battery";

impl Client {
    /// Registers a person of this name; their e-mail address.
    pub async fn register(&self, name: &str) -> String {
        let email = format!("{name}@example.com");
        let body = json!({ "email": email, "password": PASSWORD, "name": name });
        self.nobody().post("/v1/auth/register").json(&body).send().await.expect(201);
        email
    }

    /// The person with this address, through a new sign-in.
    pub async fn sign_in(&self, email: &str, app: &str, platform: &str) -> Self {
        let body = json!({ "email": email, "password": PASSWORD, "app": app, "platform": platform });
        let answer = self.nobody().post("/v1/auth/sign-in").json(&body).send().await.expect(200);
        self.with_token(answer.str("/token"))
    }

    /// A new person on the authenticator app's own sign-in.
    pub async fn with_authenticator(&self, name: &str) -> Self {
        let email = self.register(name).await;
        self.sign_in(&email, "authenticator", "ios").await
    }

    /// Makes an organization that this person owns; its id.
    pub async fn org(&self, name: &str) -> String {
        let answer = self.post("/v1/orgs").json(&json!({ "name": name })).send().await.expect(201);
        answer.str("/org/orgId").to_owned()
    }
}
