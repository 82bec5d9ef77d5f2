//! `mail`: messages accepted a second, each on the disk when it is acknowledged, against postfix that delivers to a maildir; how
//! long an acknowledgement takes, and how long until what was acknowledged is listed. `mail store` imports a large mbox, with the
//! program killed twice on the way, and reads the mailbox that it becomes.

mod accept;
mod postfix;
mod silent_dns;
mod smtp;
mod store;

use std::net::{SocketAddr, TcpListener};

use serde_json::{Value, json};

use crate::{
    load::Request,
    report::{Report, Result},
    server::{
        Server, call,
        program::{Org, Person},
    },
};

/// What this server calls itself.
const HOST: &str = "mx.bench.example";

/// Measures, on the program with these arguments, which may be behind `store`.
pub fn run(arguments: &[String]) -> Result<Report> {
    match arguments {
        [name, rest @ ..] if name == "store" => store::run(rest),
        rest => accept::run(rest),
    }
}

/// Settings of mail, as arguments of the program.
fn settings(smtp: SocketAddr, resolver: SocketAddr) -> Vec<String> {
    let pairs = [
        format!("mail_server.smtp_listen={smtp}"),
        format!("mail_server.hostname={HOST}"),
        format!("mail_server.resolver={resolver}"),
    ];
    pairs.into_iter().flat_map(|pair| ["--set".to_owned(), pair]).collect()
}

/// An address that nobody has at this moment.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

/// Somebody's mailbox.
struct Mailbox {
    org: Org,
    id: String,
    /// Where mail is sent to it.
    address: String,
}

impl Mailbox {
    fn new(server: &Server) -> Result<Self> {
        let person = Person::sign_in(server, "reader")?;
        let me = call(server.address(), person.get("/v1/me"))?.success()?;
        let org = Org::new(server, person)?;
        let domains = call(server.address(), org.request("GET", "mail/domains"))?.success()?;
        let domain = text(&domains, "/domains/0/domain")?;
        let body = json!({ "localPart": "reader", "domain": domain, "members": [text(&me, "/user/userId")?] });
        let request = org.request("POST", "mail/admin/mailboxes").json(body.to_string().into_bytes());
        let made = call(server.address(), request)?.success()?;
        let (id, address) = (text(&made, "/mailbox/mailboxId")?, text(&made, "/mailbox/address")?);
        Ok(Self { org, id, address })
    }

    /// A request for what lies below the mailbox.
    fn request(&self, method: &str, target: &str) -> Request {
        self.org.request(method, &format!("mail/mailboxes/{}/{target}", self.id))
    }

    /// How many conversations of the inbox have something unread.
    fn counted(&self, server: &Server) -> Result<u64> {
        let counts = call(server.address(), self.request("GET", "counts"))?.success()?;
        Ok(counts["counts"]["primary"].as_u64().ok_or("no count")?)
    }
}

fn text(answer: &Value, path: &str) -> Result<String> {
    let found = answer.pointer(path).and_then(Value::as_str);
    Ok(found.ok_or_else(|| format!("an answer without {path}: {answer}"))?.to_owned())
}
