use proptest::prelude::*;

use super::*;
use crate::token::{ALPHABET, Token, TokenKind, random_base62};

const REPOSITORY: &str = "res_01h455vb4pex5vsknk084sn02q";

fn scanner() -> SecretScanner {
    SecretScanner::new(b"the server's").unwrap()
}

fn found(text: &[u8]) -> Vec<FoundSecret> {
    let mut all = Vec::new();
    let ended = scanner().scan(REPOSITORY.parse().unwrap(), text, |secret, token| {
        assert_eq!(token.is_some(), secret.rule == SecretRule::ServiceToken);
        all.push(secret);
        ControlFlow::Continue(())
    });
    assert!(ended.is_continue());
    all
}

fn rules(text: &str) -> Vec<SecretRule> {
    found(text.as_bytes()).into_iter().map(|secret| secret.rule).collect()
}

fn random(len: usize) -> String {
    random_base62(len).unwrap()
}

fn upper(len: usize) -> String {
    random(len).to_uppercase()
}

/// Random, and with every kind of character that a key of AWS has in all but one of a thousand cases.
fn aws_secret() -> String {
    format!("{}/{}+aZ7", random(20), random(15))
}

fn github(prefix: &str, len: usize) -> String {
    let body = random(len);
    let sum = u64::from(crc32fast::hash(body.as_bytes()));
    let digit = |place: u32| char::from(ALPHABET[usize::try_from(sum / 62_u64.pow(place) % 62).unwrap()]);
    format!("{prefix}{body}{}", (0..6).rev().map(digit).collect::<String>())
}

fn pem(kind: &str, lines: usize) -> String {
    let body: String = (0..lines).flat_map(|_| [random(64), "\n".to_owned()]).collect();
    format!("-----BEGIN {kind}-----\n{body}-----END {kind}-----\n")
}

#[test]
fn planted_secrets_of_every_rule_are_found() {
    for _ in 0..10 {
        let (id, secret, token) = (upper(16), aws_secret(), Token::generate(TokenKind::Key).unwrap());
        for (text, rule) in [
            (format!("id = \"AKIA{id}\""), SecretRule::AwsAccessKey),
            (format!("export AWS_ACCESS_KEY_ID=ASIA{id}\n"), SecretRule::AwsAccessKey),
            (format!("aws_secret_access_key = {secret}"), SecretRule::AwsSecretKey),
            (format!("{{\"SecretAccessKey\": \"{secret}\"}}"), SecretRule::AwsSecretKey),
            (format!("key: {secret} # of AWS"), SecretRule::AwsSecretKey),
            (format!("STRIPE=sk_live_{}", random(24)), SecretRule::StripeKey),
            (format!("'rk_live_{}'", random(99)), SecretRule::StripeKey),
            (pem("PRIVATE KEY", 26), SecretRule::PrivateKey),
            (pem("OPENSSH PRIVATE KEY", 5), SecretRule::PrivateKey),
            (pem("PRIVATE KEY", 1), SecretRule::PrivateKey),
            (pem("RSA PRIVATE KEY", 26).replace('\n', "\\n"), SecretRule::PrivateKey),
            (pem("EC PRIVATE KEY", 3).replace('\n', "\\n\" +\n    \""), SecretRule::PrivateKey),
            (format!("token={}\n", token.reveal()), SecretRule::ServiceToken),
            (format!("https://x:{}@example.com", github("ghp_", 30)), SecretRule::GithubToken),
            (github("ghr_", 70), SecretRule::GithubToken),
            (format!("github_pat_{}_{}", random(22), random(59)), SecretRule::GithubToken),
        ] {
            assert_eq!(rules(&text), [rule], "{text}");
        }
    }
}

#[test]
fn what_only_looks_like_a_secret_is_not_found() {
    let (secret, id) = (aws_secret(), upper(16));
    let mut token = Token::generate(TokenKind::Key).unwrap().reveal().to_owned();
    let last = if token.pop() == Some('0') { '1' } else { '0' };
    token.push(last);
    for text in [
        // The keys of AWS's own documents.
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE".to_owned(),
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
        "aws ASIA4ZP5EXAMPLETOKEN".to_owned(),
        "AKIA0000000000000000".to_owned(),
        format!("akia{id}"),
        format!("AKIA{id}0"),
        format!("xAKIA{id}"),
        // Nothing near speaks of AWS, or not near enough.
        format!("key = {secret}"),
        format!("secret{}{secret}", " ".repeat(AWS_FAR)),
        format!("secret = {secret}=="),
        format!("secret = x{secret}"),
        format!("https://docs.aws.amazon.{secret}"),
        "aws commit da39a3ee5e6b4b0d3255bfef95601890afd80709".to_owned(),
        "import com/amazonaws/secretsmanager/model/Describer".to_owned(),
        "aws: AbstractSingletonProxyFactoryBeanProvider".to_owned(),
        "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        format!("sk_test_{}", random(24)),
        "sk_live_short".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(),
        pem("PUBLIC KEY", 4),
        pem("CERTIFICATE", 20),
        pem("PRIVATE KEY", 26).replace("-----END", "-----ende"),
        "the text begins with -----BEGIN PRIVATE KEY----- and has what is secret behind it -----END".to_owned(),
        token,
        format!("ghp_{}", "a".repeat(36)),
        github("ghp_", 30).replace("ghp_", "ghx_"),
        github("ghp_", 30) + "x",
        format!("github_pat_{}", random(40)),
    ] {
        assert_eq!(rules(&text), [], "{text}");
    }
}

/// Beyond what is near.
const AWS_FAR: usize = 41;

#[test]
fn a_secret_key_is_found_forty_characters_from_its_word() {
    let secret = aws_secret();
    assert_eq!(rules(&format!("secret{}{secret}", " ".repeat(AWS_FAR - 1))), [SecretRule::AwsSecretKey]);
    assert_eq!(rules(&format!("{secret}{}secret", " ".repeat(AWS_FAR - 1))), [SecretRule::AwsSecretKey]);
    assert_eq!(rules(&format!("{secret}{}secret", " ".repeat(AWS_FAR))), []);
    // Between two words it is one.
    assert_eq!(rules(&format!("aws {secret} secret")), [SecretRule::AwsSecretKey]);
}

#[test]
fn a_finding_names_the_line_that_the_secret_begins_in() {
    let text = format!("\n{}a\n\nkey sk_live_{}\nAKIA{}", pem("PRIVATE KEY", 3), random(24), upper(16));
    let lines: Vec<_> = found(text.as_bytes()).iter().map(|secret| (secret.rule, secret.line)).collect();
    let expected = [(SecretRule::PrivateKey, 2), (SecretRule::StripeKey, 9), (SecretRule::AwsAccessKey, 10)];
    assert_eq!(lines, expected);
}

#[test]
fn a_private_key_is_the_same_however_it_is_written() {
    let key = pem("PRIVATE KEY", 4);
    let one = found(key.as_bytes())[0].fingerprint;
    assert_eq!(found(key.replace('\n', "\\n").as_bytes())[0].fingerprint, one);
    assert_eq!(found(key.replace('\n', "\r\n").as_bytes())[0].fingerprint, one);
}

#[test]
fn a_preview_shows_eight_characters_of_a_secret() {
    let secret = format!("sk_live_{}", random(24));
    let preview = &found(secret.as_bytes())[0].preview;
    assert_eq!(*preview, format!("{}…{}", &secret[..4], &secret[28..]));
}

#[test]
fn a_file_of_nothing_but_hints_takes_no_longer_than_others() {
    for piece in
        ["aws", "secret ", "-----BEGIN PRIVATE KEY-----\n", "sk_live_", "ghp_0", "AKIA", "github_pat_", "trp_k_"]
    {
        let text = piece.repeat((1 << 19) / piece.len());
        let started = std::time::Instant::now();
        assert_eq!(found(text.as_bytes()), []);
        // Even unoptimized: what takes time by the square of the bytes takes many minutes.
        assert!(started.elapsed().as_secs() < 30, "{piece}");
    }
}

proptest! {
    #[test]
    fn whatever_a_file_has_in_it_is_scanned(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(HINTS.map(|(word, _)| word.as_bytes().to_vec()).to_vec()),
                prop::collection::vec(any::<u8>(), 0..60),
                "[A-Za-z0-9+/]{30,50}".prop_map(String::into_bytes),
            ],
            0..30,
        )
    ) {
        let text = parts.concat();
        let lines = u32::try_from(memchr::memchr_iter(b'\n', &text).count()).unwrap() + 1;
        for secret in found(&text) {
            prop_assert!((1..=lines).contains(&secret.line));
            prop_assert!(secret.preview.chars().count() <= 9);
        }
    }
}
