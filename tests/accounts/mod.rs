//! People, organizations and credentials (`docs/decisions/accounts.md`).

mod access_keys;
mod app_passwords;
mod audit;
pub mod invites;
mod keys;
mod lock_out;
mod me;
mod members;
mod new_sign_in;
mod orgs;
mod otp;
mod password;
mod races;
mod register;
mod sign_in;
mod sign_ins;
mod teams;

use domain::otp::OtpSecret;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Person, Server};

/// The message of every refused sign-in.
const WRONG: &str = "That email or password is wrong.";

/// The body of a sign-in on the web.
fn credentials(email: &str, password: &str) -> Value {
    json!({ "email": email, "password": password, "app": "account", "platform": "web" })
}

/// Tries to sign in.
pub async fn try_sign_in(client: &Client, email: &str, password: &str) -> Answer {
    client.nobody().post("/v1/auth/sign-in").json(&credentials(email, password)).send().await
}

/// Whether the token still counts.
async fn is_alive(client: &Client) -> bool {
    let status = client.get("/v1/me").send().await.status;
    assert!(status == 200 || status == 401, "{status}");
    status == 200
}

/// The e-mail to `to` whose subject starts so, once it is there.
pub async fn letter(server: &Server, to: &str, subject: &str) -> String {
    let path = format!("/kept?to={to}");
    server
        .eventually("an e-mail", async || {
            let kept = server.operator().get(&path).send().await.expect(200);
            let mut found = kept
                .list("/messages")
                .iter()
                .filter(|message| message["subject"].as_str().is_some_and(|line| line.starts_with(subject)));
            found.next().map(|message| message["body"].as_str().unwrap().to_owned())
        })
        .await
}

/// How many e-mails to `to` have a subject that starts so, now.
pub async fn letters(server: &Server, to: &str, subject: &str) -> usize {
    let kept = server.operator().get(&format!("/kept?to={to}")).send().await.expect(200);
    let messages = kept.list("/messages").iter();
    messages.filter(|message| message["subject"].as_str().is_some_and(|line| line.starts_with(subject))).count()
}

/// An organization of `owner`; its address.
pub async fn org(owner: &Person, name: &str) -> String {
    format!("/v1/orgs/{}", owner.client.org(name).await)
}

/// Makes `person` a member.
pub async fn join(owner: &Person, org: &str, person: &Person, role: &str) {
    let body = json!({ "userId": person.user_id, "role": role });
    owner.client.post(&format!("{org}/members")).json(&body).send().await.expect(201);
}

/// A person's authenticator app.
pub struct App {
    secret: OtpSecret,
    pub recovery_codes: Vec<String>,
}

impl App {
    /// Enrols the person, whose clock then moves on so that the next code is another one.
    pub async fn enrol(server: &Server, person: &Person) -> Self {
        let enrolment = person.client.post("/v1/me/otp").send().await.expect(200);
        let mut app = Self { secret: secret(enrolment.str("/secret")), recovery_codes: Vec::new() };
        let body = json!({ "otp": app.code(server) });
        let confirmed = person.client.post("/v1/me/otp/confirm").json(&body).send().await.expect(200);
        let codes = confirmed.list("/recoveryCodes").iter();
        app.recovery_codes = codes.map(|code| code.as_str().unwrap().to_owned()).collect();
        server.clock.advance(STEP);
        app
    }

    /// The code that it shows now.
    pub fn code(&self, server: &Server) -> String {
        self.secret.code_at(server.clock.now()).unwrap()
    }

    /// A code that is wrong now, and was and will be.
    pub fn wrong_code(&self, server: &Server) -> String {
        let now = server.clock.now();
        let near: Vec<String> =
            [now.before(STEP), now, now.after(STEP)].map(|at| self.secret.code_at(at).unwrap()).to_vec();
        (0..1_000_000).map(|number| format!("{number:06}")).find(|code| !near.contains(code)).unwrap()
    }
}

/// How long one code is shown.
const STEP: std::time::Duration = std::time::Duration::from_secs(30);

/// Reads a secret as an app does whose owner typed it.
fn secret(base32: &str) -> OtpSecret {
    let mut bits = base32.bytes().flat_map(|letter| {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == letter).unwrap();
        (0..5).rev().map(move |place| u8::from(value >> place & 1 == 1))
    });
    let bytes = (0..20).map(|_| bits.by_ref().take(8).fold(0, |byte, bit| byte << 1 | bit)).collect::<Vec<u8>>();
    OtpSecret::from_bytes(&bytes).unwrap()
}
