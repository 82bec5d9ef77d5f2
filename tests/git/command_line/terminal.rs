//! What somebody types at a terminal, which `script` gives the program.

use std::{
    io::{Read, Write},
    process::{Child, Stdio},
    time::Duration,
};

use super::{Machine, machine::TROUPE};
use crate::{accounts::App, harness::Server};

/// A program at a terminal of its own.
struct Terminal {
    child: Child,
    /// Everything that the terminal has shown.
    shown: String,
}

impl Terminal {
    fn open(machine: &Machine, arguments: &str) -> Self {
        let command = format!("'{TROUPE}' {arguments}");
        let mut script = machine.command("script");
        script.args(["--quiet", "--return", "--echo", "always", "--command", &command, "/dev/null"]);
        let child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { child, shown: String::new() }
    }

    /// Types a line once this is shown.
    fn answer(&mut self, prompt: &str, line: &str) {
        let seen = self.shown.len();
        let mut letter = [0];
        while !self.shown[seen..].contains(prompt) {
            let read = self.child.stdout.as_mut().unwrap().read(&mut letter).unwrap();
            assert_eq!(read, 1, "{}", self.shown);
            self.shown.push(char::from(letter[0]));
        }
        self.child.stdin.as_mut().unwrap().write_all(format!("{line}\r").as_bytes()).unwrap();
    }

    /// Everything that was shown, and whether the program did what it should.
    fn end(mut self) -> (String, bool) {
        let mut rest = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        (self.shown + &rest, self.child.wait().unwrap().success())
    }
}

#[tokio::test]
async fn what_is_missing_is_asked_for_and_secrets_are_not_shown() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let machine = Machine::new(&server.url);
    let mut terminal = Terminal::open(&machine, &format!("login {}", server.url));
    terminal.answer("E-mail: ", &ada.email);
    terminal.answer("Password: ", &format!("wrong\u{15}{}x\u{7f}", ada.password));
    let (wrong, right) = (app.wrong_code(&server), app.code(&server));
    terminal.answer("authenticator app: ", &wrong);
    terminal.answer("authenticator app: ", &right);
    let (shown, is_success) = terminal.end();
    assert!(is_success && shown.contains("You are signed in at"), "{shown}");
    assert!(shown.contains("That code is wrong."), "{shown}");
    assert!(shown.contains(&ada.email), "what is no secret is shown: {shown}");
    for secret in [&ada.password, &wrong, &right] {
        assert!(!shown.contains(secret.as_str()), "{shown}");
    }
    ada.client.org("Acme").await;
    server.clock.advance(Duration::from_mins(10));
    let mut terminal = Terminal::open(&machine, "git setup");
    terminal.answer("authenticator app: ", &app.code(&server));
    let (shown, is_success) = terminal.end();
    assert!(is_success && shown.contains("for 90 days"), "{shown}");
}

#[tokio::test]
async fn whoever_stops_typing_is_not_signed_in() {
    let server = Server::start().await;
    let machine = Machine::new(&server.url);
    let mut terminal = Terminal::open(&machine, &format!("login {} --email ada@example.org", server.url));
    terminal.answer("Password: ", "secret\u{3}");
    let (shown, is_success) = terminal.end();
    assert!(!is_success && shown.contains("troupe: Nothing was done."), "{shown}");
}
