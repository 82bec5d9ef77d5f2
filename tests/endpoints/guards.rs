//! Every endpoint, called by those who may not call it and with what it can't take.

use super::{
    cast::Cast,
    sent::Described,
    table::{Row, Takes, Who, rows},
};
use crate::harness::{Answer, Client};

/// Calls every endpoint that `picked` picks, without a body, as each client that it names; `check` looks at the answer.
async fn drive<'c>(cast: &'c Cast, picked: impl Fn(&Row) -> Vec<&'c Client>, check: impl Fn(&Row, Answer)) {
    let described = Described::of(cast).await;
    for row in rows() {
        for client in picked(row) {
            check(row, described.answer(row, row.call(cast, client)).await);
        }
    }
}

fn is_open(row: &Row) -> bool {
    row.who.is_open()
}

/// A stream has no end that could be waited for, and a job is taken by asking for it.
fn has_no_head(row: &Row) -> bool {
    matches!(row.path, "/console/live" | "/v1/runner/job")
}

fn takes_json(row: &Row) -> bool {
    matches!(row.takes, Takes::Json(..))
}

fn is_in_organization(row: &Row) -> bool {
    matches!(row.who, Who::Member | Who::Scope(_))
}

fn is_iphones(row: &Row) -> bool {
    matches!(row.who, Who::IphoneApp(_))
}

#[tokio::test]
async fn nobody_reads_401() {
    let cast = Cast::new().await;
    let nobodies = [cast.nobody.clone(), cast.nobody.with_token("trp_p_made_up"), cast.nobody.with_token("")];
    let picked = |row: &Row| if is_open(row) { Vec::new() } else { nobodies.iter().collect() };
    drive(&cast, picked, |row, answer| {
        if let Who::Git(_) = row.who {
            assert_eq!((answer.status, answer.text.as_str()), (401, "Sign in to continue.\n"));
            assert!(answer.header("www-authenticate").is_some_and(|how| how.starts_with("Basic")));
            return;
        }
        let answer = answer.expect_error(401, "unauthenticated", "Sign in to continue.");
        assert!(answer.header("www-authenticate").is_some_and(|how| how.starts_with("Bearer")));
        let asks_lfs = answer.header("lfs-authenticate").is_some_and(|how| how.starts_with("Basic"));
        assert_eq!(asks_lfs, matches!(row.who, Who::GitLfs(_)));
    })
    .await;
}

#[tokio::test]
async fn git_serves_the_command_line_and_keys_whoever_has_a_part_and_the_scope() {
    let cast = Cast::new().await;
    for row in rows() {
        let (Who::Git(scope) | Who::GitLfs(scope)) = row.who else { continue };
        let refusals = [
            (&cast.owner, 403, "Git takes keys, and sign-ins on the command line.".to_owned()),
            (&cast.strange_key, 404, "Repository not found".to_owned()),
            (&cast.key, 403, format!("This needs the {scope} permission.")),
        ];
        for (client, status, message) in refusals {
            let service = if scope == "git:read" { "git-upload-pack" } else { "git-receive-pack" };
            let path = format!("{}?service={service}", cast.path(row));
            let answer = client.request(row.method.parse().unwrap(), &path).send().await;
            let said = if let Who::Git(_) = row.who { answer.text.trim_end() } else { answer.str("/message") };
            assert_eq!((answer.status, said), (status, message.as_str()), "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_socket_without_a_ticket_does_not_open() {
    let cast = Cast::new().await;
    let picked = |row: &Row| if row.who == Who::TicketHolder { vec![&cast.nobody, &cast.owner] } else { Vec::new() };
    drive(&cast, picked, |_, answer| assert!(matches!(answer.status, 400 | 401), "{}", answer.text)).await;
}

#[tokio::test]
async fn an_address_that_was_not_signed_here_opens_nothing() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows().filter(|row| row.who == Who::AddressHolder) {
        for client in [&cast.nobody, &cast.owner] {
            described.answer(row, row.call(&cast, client).body("application/octet-stream", "bytes")).await.expect(400);
            let made_up = format!("{}?expires=9999999999999&size=5&signature=made-up", cast.path(row));
            let call = client.request(row.method.parse().unwrap(), &made_up).body("application/octet-stream", "bytes");
            described.answer(row, call).await.expect(403);
        }
    }
}

#[tokio::test]
async fn an_address_with_a_made_up_secret_does_not_exist() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    let with_secret = |row: &&Row| row.who == Who::SecretHolder && row.path.contains("{token}");
    for row in rows().filter(with_secret) {
        for client in [&cast.nobody, &cast.owner] {
            described.answer(row, row.call(&cast, client).raw("{}")).await.expect(404);
        }
    }
}

#[tokio::test]
async fn a_form_that_is_none_is_415() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows().filter(|row| row.takes == Takes::Form && !row.path.contains("{token}")) {
        let answer = described.answer(row, row.call(&cast, &cast.nobody).raw("{}")).await.expect(415);
        assert_eq!(answer.json["code"], "unsupported_media_type");
    }
}

#[tokio::test]
async fn a_stranger_reads_404_for_what_is_in_an_organization_as_if_it_did_not_exist() {
    let cast = Cast::new().await;
    let strangers = [&cast.stranger, &cast.strange_key];
    let picked = |row: &Row| if is_in_organization(row) { strangers.to_vec() } else { Vec::new() };
    drive(&cast, picked, |_, answer| {
        answer.expect_error(404, "not_found", "Organization not found.");
    })
    .await;
}

#[tokio::test]
async fn only_the_authenticator_apps_own_sign_in_opens_what_is_its() {
    let cast = Cast::new().await;
    let person = cast.server.person("ada").await;
    let sign_ins = [("authenticator", "web"), ("authenticator", "cli"), ("mail", "ios"), ("account", "android")];
    let mut others = vec![cast.owner.clone(), cast.key.clone()];
    for (app, platform) in sign_ins {
        others.push(person.sign_in(app, platform).await);
    }
    let picked =
        |row: &Row| if matches!(row.who, Who::Authenticator(_)) { others.iter().collect() } else { Vec::new() };
    drive(&cast, picked, |row, answer| {
        let Who::Authenticator(message) = row.who else { unreachable!("picked above") };
        assert_eq!((answer.status, answer.json["error"].as_str()), (403, Some(message)), "{}", answer.text);
    })
    .await;
}

#[tokio::test]
async fn only_the_command_line_makes_git_credentials() {
    let cast = Cast::new().await;
    let picked = |row: &Row| match row.who {
        Who::CommandLine(_) => vec![&cast.owner, &cast.key, &cast.stranger, &cast.iphone],
        _ => Vec::new(),
    };
    drive(&cast, picked, |row, answer| {
        let Who::CommandLine(message) = row.who else { unreachable!("picked above") };
        answer.expect_error(403, "command_line_only", message);
    })
    .await;
}

#[tokio::test]
async fn what_phones_register_is_refused_from_elsewhere() {
    let cast = Cast::new().await;
    let person = cast.server.person("ada").await;
    let (cli, android) = (person.sign_in("maps", "cli").await, person.sign_in("maps", "android").await);
    let picked = |row: &Row| match row.who {
        Who::MobileApp(_) => vec![&cast.owner, &cli],
        Who::IphoneApp(_) => vec![&android],
        _ => Vec::new(),
    };
    drive(&cast, picked, |row, answer| {
        let (Who::MobileApp(message) | Who::IphoneApp(message)) = row.who else { unreachable!("picked above") };
        assert_eq!((answer.status, answer.json["error"].as_str()), (403, Some(message)), "{}", answer.text);
    })
    .await;
    let picked = |row: &Row| if is_iphones(row) { vec![&cast.owner, &cli] } else { Vec::new() };
    drive(&cast, picked, |_, answer| {
        answer.expect_error(403, "mobile_app_only", "Register devices from the mobile app.");
    })
    .await;
}

#[tokio::test]
async fn a_key_is_no_person() {
    let cast = Cast::new().await;
    let picked = |row: &Row| {
        let is_peoples = row.who == Who::Person || is_iphones(row) || matches!(row.who, Who::MobileApp(_));
        if is_peoples { vec![&cast.key] } else { Vec::new() }
    };
    drive(&cast, picked, |_, answer| {
        assert_eq!(answer.expect(403).json["code"], "people_only");
    })
    .await;
}

#[tokio::test]
async fn who_lacks_the_scope_reads_which() {
    let cast = Cast::new().await;
    let viewer_has =
        |scope: &str| scope.ends_with(":read") && !matches!(scope, "audit:read" | "keys:read" | "env:read");
    let picked = |row: &Row| match row.who {
        Who::Scope(scope) if viewer_has(scope) => vec![&cast.key],
        Who::Scope(_) => vec![&cast.key, &cast.viewer],
        Who::Platform(_) => vec![&cast.owner, &cast.viewer, &cast.key, &cast.stranger, &cast.strange_key],
        _ => Vec::new(),
    };
    drive(&cast, picked, |row, answer| {
        let (Who::Scope(scope) | Who::Platform(scope)) = row.who else { unreachable!("picked above") };
        let answer = answer.expect_error(403, "missing_scope", &format!("This needs the {scope} permission."));
        assert_eq!(answer.json["scope"], scope);
    })
    .await;
}

#[tokio::test]
async fn a_malformed_body_is_400() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows().filter(|row| takes_json(row)) {
        for body in ["{\"a\":", "", "nonsense"] {
            let answer = described.answer(row, row.call(&cast, cast.entitled(row)).raw(body)).await;
            assert_eq!(
                (answer.status, answer.json["code"].as_str()),
                (400, Some("malformed")),
                "{row:?}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test]
async fn json_of_another_shape_is_400_and_says_where() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows().filter(|row| takes_json(row)) {
        let answer = described.answer(row, row.call(&cast, cast.entitled(row)).raw("[1]")).await;
        assert_eq!((answer.status, answer.json["code"].as_str()), (400, Some("invalid")), "{row:?}: {}", answer.text);
        assert!(!answer.list("/problems").is_empty());
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_415() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows().filter(|row| takes_json(row)) {
        let call = row.call(&cast, cast.entitled(row)).body("text/plain", "{}");
        let answer = described.answer(row, call).await.expect(415);
        assert_eq!(answer.json["code"], "unsupported_media_type");
    }
}

#[tokio::test]
async fn a_body_over_its_limit_is_413_and_one_at_its_limit_is_read() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows() {
        let Takes::Json(limit, message) = row.takes else { continue };
        let call = |length: usize| row.call(&cast, cast.entitled(row)).raw(" ".repeat(length));
        described.answer(row, call(limit + 1)).await.expect_error(413, "too_large", message);
        let read = described.answer(row, call(limit)).await.expect(400);
        assert_eq!(read.json["code"], "malformed", "{row:?}");
    }
}

#[tokio::test]
async fn a_stranger_learns_nothing_from_a_malformed_body() {
    let cast = Cast::new().await;
    let described = Described::of(&cast).await;
    for row in rows().filter(|row| takes_json(row) && !is_open(row)) {
        described.answer(row, row.call(&cast, &cast.nobody).raw("{")).await.expect(401);
        if is_in_organization(row) {
            described.answer(row, row.call(&cast, &cast.stranger).raw("{")).await.expect(404);
        }
        if matches!(row.who, Who::Scope(_)) {
            described.answer(row, row.call(&cast, &cast.key).raw("{")).await.expect(403);
        }
        if matches!(row.who, Who::Authenticator(_) | Who::CommandLine(_)) {
            described.answer(row, row.call(&cast, &cast.owner).raw("{")).await.expect(403);
        }
        if matches!(row.who, Who::MobileApp(_) | Who::IphoneApp(_)) {
            described.answer(row, row.call(&cast, &cast.owner).raw("{")).await.expect(403);
        }
    }
}

#[tokio::test]
async fn head_answers_as_get_does_without_a_body_wherever_there_is_a_get() {
    let cast = Cast::new().await;
    for row in rows().filter(|row| row.method == "GET" && !has_no_head(row)) {
        let (path, client) = (cast.path(row), cast.entitled(row));
        let get = client.get(&path).send().await;
        let head = client.request(reqwest::Method::HEAD, &path).send().await;
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{row:?} {}", get.text);
        assert_eq!(head.header("content-type"), get.header("content-type"), "{row:?}");
    }
    for path in ["/metrics", "/healthz", "/readyz", "/kept"] {
        let head = cast.server.operator().request(reqwest::Method::HEAD, path).send().await.expect(200);
        assert_eq!(head.text, "", "{path}");
    }
}
