//! Mails to the people of requests. They leave from the desk's address where its domain may send, through the queue of the
//! organization's mail; otherwise from the operators' address, with the desk's as where answers go.

use std::time::Duration;

use actors_base::{
    NotHandedOver, Services, WrittenMail, hand_over,
    work::job::{Halt, Handler, Job, Topic},
};
use domain::{
    Email, Timestamp,
    id::MailMessageId,
    issues::{
        issue::Issue,
        mailing::{MAILS_COUNTED_FOR, MAILS_MAX, MARKER, tagged},
        space::Space,
    },
    mail::{Correspondent, DomainName, Generated, Leaving, OrgDomain, TRIED_FOR, domain_of, generated},
};
use store::{
    Change, NewWork, Permits,
    issues::{ISSUES_MAILING, IssueMailBox, IssueMessage, IssuesMailing, MailTo, StoredIssue},
    mail::NewRaw,
};

/// The job that writes to the people of requests.
pub const ISSUE_MAILING: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("The people of a request must be told."),
    ..Topic::new(ISSUES_MAILING)
};

/// How much longer than it is tried the bytes of a message are kept.
const KEPT_MARGIN: Duration = Duration::from_hours(24);
/// What stands before the `@` of the sender where there is no mail server.
const NOBODY: &str = "no-reply";

/// Writes to the people of requests.
#[derive(Clone)]
pub struct DeskMailing(pub Services);

/// A mail that is to be written.
struct Mailing<'m> {
    issue: &'m Issue,
    space: &'m Space,
    found: Option<&'m IssueMailBox>,
    to: Email,
    body: &'m str,
    message_id: String,
    now: Timestamp,
}

impl Handler for DeskMailing {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let store = job.store();
        let (org_id, issue_id, to, body) = match job.payload::<IssuesMailing>()? {
            IssuesMailing::Write { org_id, issue_id, to, body } => (org_id, issue_id, to, body),
            IssuesMailing::Release { raw_id } => {
                let mut change = Change::new();
                change.mail_raw_release(store.now(), [raw_id]);
                return Ok(change);
            }
        };
        let Some(StoredIssue { issue, .. }) = store.issue(org_id, issue_id).await? else { return Ok(Change::new()) };
        let Some(space) = store.issue_space(org_id, issue.space_id).await? else { return Ok(Change::new()) };
        let Some(to) = self.address_of(to).await? else { return Ok(Change::new()) };
        let now = store.now();
        if store.issue_messages_sent(issue_id, to.as_str(), now.before(MAILS_COUNTED_FOR)).await? >= MAILS_MAX {
            // Two programs may be answering each other.
            return Ok(Change::new());
        }
        let found = store.issue_mail_box_of(space.space_id).await?;
        let host = found.as_ref().and_then(|it| it.address.as_ref()).map(domain_of);
        let host = host.unwrap_or(&self.0.settings.mail_host.name);
        let message_id =
            format!("{}@{host}", store.issue_message_id(issue_id, (job.work().seq, job.work().created_at)));
        let (issue, space, found) = (&issue, &space, found.as_ref());
        self.send(&Mailing { issue, space, found, to, body: &body, message_id, now }).await
    }
}

impl DeskMailing {
    async fn address_of(&self, to: MailTo) -> Result<Option<Email>, Halt> {
        match to {
            MailTo::Person(person) => Ok(self.0.store.person(person).await?.map(|person| person.email)),
            MailTo::Address(address) => Ok(address.parse().ok()),
        }
    }

    async fn send(&self, it: &Mailing<'_>) -> Result<Change, Halt> {
        let store = &self.0.store;
        let address = it.found.and_then(|found| found.address.as_ref());
        let seal = store.issue_mail_seal(it.issue.issue_id);
        let reply_to = address.map(|address| tagged(address, it.issue.number, seal).unwrap_or_else(|| address.clone()));
        let references = store.issue_messages_with(it.issue.issue_id, it.to.as_str()).await?;
        let own = match address {
            Some(address) if self.may_send(it.space, address).await? => Some(address),
            _ => None,
        };
        let email = own.map_or_else(|| self.house(), ToString::to_string);
        let title =
            it.space.config.servicedesk.as_ref().map(|desk| desk.portal.title.trim()).filter(|it| !it.is_empty());
        let from = Correspondent { name: Some(title.unwrap_or(&it.space.name).to_owned()), email };
        let (subject, text) =
            (format!("[{}] {}", it.issue.key, it.issue.summary), format!("{MARKER}\n\n{}\n", it.body));
        let bytes = generated(&Generated {
            from: &from,
            to: it.to.as_str(),
            reply_to: reply_to.as_ref().map(Email::as_str),
            subject: &subject,
            text: &text,
            message_id: &it.message_id,
            references: &references,
            host: &self.0.settings.mail_host.name,
            at: it.now,
        });
        let mut change = Change::new();
        change.issue_message_add(&it.message());
        if let (Some(sender), Some(found)) = (own, it.found) {
            let raw = store.mail_raw_write(it.issue.org_id, bytes.into()).await?;
            it.queue(&mut change, (found, sender), &raw);
            return Ok(change);
        }
        let mail = WrittenMail { to: it.to.as_str(), subject: &subject, text: &text, bytes: &bytes };
        match hand_over(&self.0, mail).await {
            Ok(kept) => {
                if let Some(kept) = kept {
                    change.kept_add(kept);
                }
                Ok(change)
            }
            Err(NotHandedOver::Later(error)) => Err(Halt::Later(error)),
            Err(NotHandedOver::Never(error)) => Err(Halt::Refused(error)),
        }
    }

    /// Whether mail may leave from the desk's address: receivers find the key that it is signed with, or the platform lends the domain.
    async fn may_send(&self, space: &Space, address: &Email) -> Result<bool, Halt> {
        let Ok(name) = domain_of(address).parse::<DomainName>() else { return Ok(false) };
        let found = self.0.store.org_domain(space.org_id, &name, &self.0.settings.platform_domain).await?;
        Ok(found.is_some_and(|domain| match domain {
            OrgDomain::Lent { .. } => true,
            OrgDomain::Claimed(domain) => domain.sending_check().is_ok(),
        }))
    }

    /// The operators' address.
    fn house(&self) -> String {
        self.0.mailer.sender().unwrap_or_else(|| format!("{NOBODY}@{}", self.0.settings.mail_host.name))
    }
}

impl Mailing<'_> {
    fn message(&self) -> IssueMessage {
        IssueMessage {
            issue_id: self.issue.issue_id,
            org_id: self.issue.org_id,
            space_id: self.space.space_id,
            message_id: self.message_id.clone(),
            address: self.to.to_string(),
            is_out: true,
            comment_id: None,
            at: self.now,
        }
    }

    /// Has the message leave from the desk's letterbox. Nothing names its bytes once it left, so they are let go later.
    fn queue(&self, change: &mut Change, (found, sender): (&IssueMailBox, &Email), raw: &NewRaw) {
        change.mail_raw_name(self.now, raw);
        let (org_id, mailbox_id, message_id) = (self.issue.org_id, found.mailbox_id, MailMessageId::new(self.now));
        let leaving = Leaving { org_id, mailbox_id, message_id, raw_id: raw.id(), sender };
        change.mail_outgoing_add(self.now, &[leaving.to(&self.to, self.now)]);
        let release = IssuesMailing::Release { raw_id: raw.id() };
        let due = self.now.after(TRIED_FOR + KEPT_MARGIN);
        change.work_add(self.now, NewWork::new(ISSUES_MAILING, self.issue.org_id, &release).not_before(due));
    }
}
