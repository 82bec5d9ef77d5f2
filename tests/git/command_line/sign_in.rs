//! `troupe login` and what is kept of it.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    thread,
    time::Duration,
};

use serde_json::json;

use super::Machine;
use crate::{
    accounts::App,
    harness::{Client, Server},
};

/// Everything that is in the folders of a machine.
fn texts(machine: &Machine) -> String {
    let files = fs::read_dir(machine.file().parent().unwrap()).unwrap();
    files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn a_sign_in_is_the_command_lines_and_only_its_person_reads_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let machine = Machine::new(&server.url);
    let signed_in = machine.login(&ada, None).expect_success();
    assert_eq!(signed_in.output, format!("You are signed in at {} as {}.\n", server.url, ada.email));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(machine.file()), mode(machine.file().parent().unwrap().to_owned())), (0o600, 0o700));
    assert!(!texts(&machine).contains(&ada.password));
    let cli = ada.client.with_token(machine.token().as_str().unwrap());
    let listed = cli.get("/v1/me/sign-ins").send().await.expect(200);
    let this = listed.list("/signIns").iter().find(|sign_in| sign_in["current"] == true).unwrap();
    assert_eq!((&this["app"], &this["platform"]), (&json!("account"), &json!("cli")));
    let id = machine.kept()["machineId"].clone();
    machine.troupe(&["logout", &server.url], "").expect_success();
    cli.get("/v1/me").send().await.expect(401);
    machine.login(&ada, None).expect_success();
    assert_eq!(machine.kept()["machineId"], id, "a machine stays the same");
}

#[tokio::test]
async fn a_wrong_password_is_the_servers_sentence_and_leaves_nothing() {
    let server = Server::start().await;
    let mut ada = server.person("ada").await;
    ada.password = "correct horse carthorse".to_owned();
    let machine = Machine::new(&server.url);
    let refused = machine.login(&ada, None).expect_failure();
    assert_eq!(refused.output, "troupe: That email or password is wrong.\n");
    assert_eq!(machine.kept()["servers"], json!({}));
    let odd = machine.troupe(&["login", &server.url, "--email", "ada", "--password-stdin"], "p\n").expect_failure();
    assert!(odd.output.contains("email: "), "{}", odd.output);
}

#[tokio::test]
async fn a_second_factor_is_asked_for_after_the_password() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let app = App::enrol(&server, &ada).await;
    let machine = Machine::new(&server.url);
    let nobody = machine.login(&ada, None).expect_failure();
    assert!(nobody.output.starts_with("troupe: There is no terminal to ask at."), "{}", nobody.output);
    let wrong = machine.login(&ada, Some(&app.wrong_code(&server))).expect_failure();
    assert_eq!(wrong.output, "troupe: That code is wrong.\n");
    machine.login(&ada, Some(&app.code(&server))).expect_success();
    machine.troupe(&["logout"], "").expect_success();
    machine.login(&ada, Some(&app.recovery_codes[0])).expect_success();
}

#[tokio::test]
async fn a_sign_in_that_was_ended_elsewhere_is_told_of_and_can_be_forgotten() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    ada.client.org("Acme").await;
    let machine = Machine::new(&server.url);
    machine.login(&ada, None).expect_success();
    let cli = ada.client.with_token(machine.token().as_str().unwrap());
    cli.post("/v1/auth/sign-out").send().await.expect(200);
    let ended = machine.troupe(&["git", "setup"], "").expect_failure();
    assert!(ended.output.contains("has ended. Run `troupe login http://"), "{}", ended.output);
    machine.troupe(&["logout"], "").expect_success();
}

#[tokio::test]
async fn signing_out_forgets_even_where_the_server_is_gone() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let machine = Machine::new(&server.url);
    machine.login(&ada, None).expect_success();
    server.stop().await;
    let untold = machine.troupe(&["logout"], "").expect_failure();
    assert!(untold.output.contains("is forgotten here, but was not told"), "{}", untold.output);
    assert_eq!(machine.kept()["servers"], json!({}));
}

#[test]
fn passwords_do_not_cross_a_network_unencrypted() {
    let machine = Machine::new("http://troupe.invalid");
    let arguments = ["login", &machine.url, "--email", "ada@example.org", "--password-stdin"];
    let refused = machine.troupe(&arguments, "secret\n").expect_failure();
    assert!(refused.output.contains("--insecure-http"), "{}", refused.output);
    assert!(!machine.file().exists());
    // Nobody has this name, and it was tried.
    let tried = machine.troupe(&[&arguments[..], &["--insecure-http"]].concat(), "secret\n").expect_failure();
    assert!(tried.output.contains("can't be reached"), "{}", tried.output);
    let bad = machine.troupe(&["login", "https://ada:secret@troupe.invalid"], "").expect_failure();
    assert!(!bad.output.contains("secret"), "{}", bad.output);
}

/// Answers whoever connects first; what they said.
fn answer_once(listener: &TcpListener, answer: &str) -> String {
    let (mut stream, _): (TcpStream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut heard = vec![0; 8192];
    let read = stream.read(&mut heard).unwrap_or_default();
    drop(stream.write_all(answer.as_bytes()));
    String::from_utf8_lossy(&heard[..read]).into_owned()
}

#[test]
fn a_server_that_is_none_of_troupes_is_told_from_one() {
    for (answer, words) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>", "something else than it was asked for"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", "something else than it was asked for"),
        ("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 2\r\n\r\n{}", "status 502"),
        ("HTTP/1.1 301 Moved\r\nlocation: https://b.example/\r\ncontent-length: 0\r\n\r\n", "to https://b.example/"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "can't be reached"),
        ("", "can't be reached"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let machine = Machine::new(&format!("http://{}", listener.local_addr().unwrap()));
        let answering = thread::spawn(move || answer_once(&listener, answer));
        let arguments = ["login", &machine.url, "--email", "ada@example.org", "--password-stdin"];
        let refused = machine.troupe(&arguments, "secret\n").expect_failure();
        assert!(refused.output.contains(words), "{answer:?}: {}", refused.output);
        assert!(answering.join().unwrap().starts_with("POST /v1/auth/sign-in HTTP/1.1\r\n"));
    }
}

#[test]
fn a_servers_sentence_does_not_steer_the_terminal() {
    let body = r#"{"error": "No.\u001b[2J\nYes.", "code": "no"}"#;
    let answer = format!("HTTP/1.1 403 Forbidden\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let machine = Machine::new(&format!("http://{}", listener.local_addr().unwrap()));
    let answering = thread::spawn(move || answer_once(&listener, &answer));
    let arguments = ["login", &machine.url, "--email", "ada@example.org", "--password-stdin"];
    let refused = machine.troupe(&arguments, "secret\n").expect_failure();
    assert_eq!(refused.output, "troupe: No. [2J Yes.\n");
    answering.join().unwrap();
}

#[test]
fn git_is_answered_from_what_is_kept_wherever_it_asks() {
    let machine = Machine::new("https://troupe.example.com");
    fs::create_dir_all(machine.file().parent().unwrap()).unwrap();
    let key = json!({ "slug": "acme", "keyId": "key_1", "key": "trp_k_1", "expiresAt": null });
    let sign_in = json!({ "userId": "usr_1", "token": "trp_p_1", "keys": { "org_1": key } });
    let kept = json!({ "machineId": "0123456789abcdef", "servers": { &machine.url: sign_in } });
    fs::write(machine.file(), kept.to_string()).unwrap();
    // The settings of somebody's server are no business of git's.
    fs::write(machine.folder().join("troupe.toml"), "no = [toml").unwrap();
    let question = machine.question("git/acme/web.git");
    let ask = |operation: &str, question: &str| machine.troupe(&["git", "credential", operation], question);
    let answer = ask("get", &format!("capability[]=authtype\n{question}wwwauth[]=Basic realm=\"Troupe\"\n\n"));
    assert_eq!(answer.expect_success().output, "username=troupe\npassword=trp_k_1\n");
    for operation in ["store", "capability", "anything"] {
        assert_eq!(ask(operation, &question).expect_success().output, "");
    }
    let elsewhere = question.replace("troupe.example.com", "git.example.com");
    for other in ["", "\n", "no line", "protocol=https\nhost=troupe.example.com\n", &elsewhere] {
        assert_eq!(ask("get", other).expect_success().output, "", "{other:?}");
    }
    fs::write(machine.file(), "{\"servers\": \"trp_p_1\"}").unwrap();
    let damaged = ask("get", &question).expect_failure();
    assert!(damaged.output.contains("is damaged in line 1") && !damaged.output.contains("trp_"), "{}", damaged.output);
}

#[tokio::test]
async fn two_servers_are_kept_side_by_side() {
    let (one, other) = (Server::start().await, Server::start().await);
    let (ada, eve) = (one.person("ada").await, other.person("eve").await);
    let machine = Machine::new(&one.url);
    machine.login(&ada, None).expect_success();
    let arguments = ["login", &other.url, "--email", &eve.email, "--password-stdin"];
    machine.troupe(&arguments, &eve.password).expect_success();
    let which = machine.troupe(&["logout"], "").expect_failure();
    assert!(which.output.starts_with("troupe: Say which server: http://"), "{}", which.output);
    machine.troupe(&["logout", &other.url], "").expect_success();
    let cli = Client::new(&one.url).with_token(machine.token().as_str().unwrap());
    cli.get("/v1/me").send().await.expect(200);
}
