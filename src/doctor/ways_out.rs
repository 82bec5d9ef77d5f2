//! Whether e-mails, texts, calls and push messages can leave.

use domain::notify::PushPlatform;
use gateways::{Mailer, Pusher, Texter};
use store::Clock;

use super::{Findings, Verdict, bad, good};
use crate::config::Config;

/// What is said of a service that is not configured.
const NOT_SET: &str = "is set; they are kept, and operators see them under /kept";
/// The platforms of push messages, with the setting that switches each on and how to mend what is wrong.
const PLATFORMS: [(PushPlatform, &str, &str); 3] = [
    (
        PushPlatform::Ios,
        "push to iPhones",
        "Check `apns.key_file`, `apns.key_id`, `apns.team_id` and `apns.topic` against the developer account, and that \
         the server's clock is right.",
    ),
    (
        PushPlatform::Android,
        "push to Android",
        "Check `fcm.service_account_file`: make a new key of the service account, and allow it to send messages.",
    ),
    (
        PushPlatform::Web,
        "push to browsers",
        "Check `web_push.key_file`: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 makes a key.",
    ),
];

pub(super) async fn examine(config: &Config, findings: &mut Findings) {
    findings.note("mail", mail(config).await);
    findings.note("texts and calls", texts(config).await);
    push(config, findings).await;
}

async fn mail(config: &Config) -> Verdict {
    let mailer = match Mailer::new(&config.mail_options()) {
        Ok(mailer) => mailer,
        Err(error) => return bad(error, "Correct `mail.*`."),
    };
    match mailer.check().await {
        Ok(()) if mailer.is_console() => {
            Verdict::Doubtful("no mail server is set; e-mails are kept, and operators see them under /kept".into())
        }
        Ok(()) => good("the mail server answers and takes the sign-in"),
        Err(error) => bad(error, "Check `mail.host`, `mail.port`, `mail.tls`, `mail.username` and `mail.password`."),
    }
}

async fn texts(config: &Config) -> Verdict {
    let texter = match Texter::new(&config.texter_options()) {
        Ok(texter) => texter,
        Err(error) => return bad(error, "Correct `texts.*`."),
    };
    match texter.check().await {
        Ok(()) if texter.is_console() => good(format!("no provider {NOT_SET}")),
        Ok(()) => good("the provider answers and takes the sign-in"),
        Err(error) => bad(error, "Check `texts.base_url`, `texts.account_sid` and `texts.auth_token`."),
    }
}

async fn push(config: &Config, findings: &mut Findings) {
    let options = match config.push_options() {
        Ok(options) => options,
        Err(error) => {
            findings.note("push", bad(error, "Name a file that the server's own user may read."));
            return;
        }
    };
    let pusher = match Pusher::new(&options) {
        Ok(pusher) => pusher,
        Err(error) => {
            findings.note("push", bad(error, "Correct `apns.*`, `fcm.*` or `web_push.*`."));
            return;
        }
    };
    for (platform, part, mend) in PLATFORMS {
        let verdict = match pusher.check(platform, Clock::system().now()).await {
            Ok(()) if pusher.is_console(platform) => good(format!("no key {NOT_SET}")),
            Ok(()) if platform == PushPlatform::Web => good("the key can be used"),
            Ok(()) => good("the service answers and takes the sign-in"),
            Err(error) => bad(error, mend),
        };
        findings.note(part, verdict);
    }
}
