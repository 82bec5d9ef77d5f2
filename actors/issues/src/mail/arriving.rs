//! What came for a desk: a job of each letterbox reads message after message and has each become a request or a comment.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::{
    desk_mail_count,
    work::job::{Halt, Handler, Job, Topic},
};
use domain::{
    Context, Email, Error, Origin, Tenant,
    id::IssueId,
    issues::{
        mailing::{Letter, MailRefusal, keys_in, tag_of},
        portal::{ATTACHMENTS_MAX, AttachmentAsked, COUNTED_FOR, NewAttachment, REQUESTS_PER_HOUR, ServiceDesk},
        space::Space,
    },
    mail::{Arrival, MessageIdHash, Placed, file_bytes, without_tag},
};
use futures::stream;
use kernel::{Cpu, CpuKind, Registry};
use store::{
    Change, Permits, Store, StoreError,
    blobs::contents::{ContentError, ContentSource},
    issues::{ISSUES_MAIL, IssueMailBox, IssuesMail},
};

use super::{
    AnswerByMail, Answered, Copies, DeskLetter, LetterFile, RaiseByMail,
    author::{Author, account_of},
};
use crate::{issue::IssueOwner, space::IssueSpace};

/// The job that empties the letterbox of a desk.
pub const ISSUE_MAIL: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("What was taken in for a desk must become a request."),
    ..Topic::new(ISSUES_MAIL)
};

/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_secs(30);
/// Messages that are looked at in a row.
const AT_ONCE: u64 = 16;
/// After so many failures a message is set aside.
const TRIES_MAX: u32 = 3;
/// Addresses of a message whose people are looked up.
const COPIES_MAX: usize = 50;
/// What a file is called that has no name.
const NAMELESS: &str = "attachment";

/// Has what came for desks become requests and comments.
#[derive(Clone)]
pub struct DeskMail {
    /// The issues.
    pub issues: Registry<IssueOwner>,
    /// The spaces.
    pub spaces: Registry<IssueSpace>,
    /// Where messages are read.
    pub cpu: Cpu,
}

/// What is to become of a message.
enum Weighed {
    /// Nothing.
    Refused(MailRefusal),
    /// Nothing: it came before.
    Double,
    /// A request, or a comment on one, which it named so.
    Taken(Author, Option<(IssueId, &'static str)>),
}

impl Handler for DeskMail {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let what: IssuesMail = job.payload()?;
        let (mut done, mut is_last_look) = (0_u64, false);
        loop {
            let arrivals = job.store().mail_arrivals(what.mailbox_id, AT_ONCE).await?;
            if arrivals.is_empty() && is_last_look {
                return Ok(Change::new());
            }
            if arrivals.is_empty() {
                // Until here, no other job looks into the same letterbox; what comes from now on has one of its own.
                let mut begun = Change::new();
                begun.work_begun(job.work());
                job.step(begun, &done).await?;
                is_last_look = true;
                continue;
            }
            for arrival in arrivals {
                done += 1;
                if arrival.tries >= TRIES_MAX {
                    set_aside(job, &arrival, done).await?;
                    continue;
                }
                if let Err(error) = Box::pin(self.take(job, what, &arrival, done)).await {
                    return Err(failed(job.store(), &arrival, error).await?);
                }
            }
        }
    }
}

/// Why a message came to nothing for now.
enum Failed {
    /// The message may be at fault.
    Here(Error),
    /// It isn't.
    Elsewhere(Halt),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Elsewhere(error.into())
    }
}

impl From<Halt> for Failed {
    fn from(halt: Halt) -> Self {
        Self::Elsewhere(halt)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let is_its_own = matches!(
            error,
            Error::Internal { .. } | Error::Invalid { .. } | Error::BadRequest { .. } | Error::Conflict { .. }
        );
        if is_its_own { Self::Here(error) } else { Self::Elsewhere(error.into()) }
    }
}

/// Counts the failure where the message may be at fault, and tells why the job ends.
async fn failed(store: &Store, arrival: &Arrival, failed: Failed) -> Result<Halt, Halt> {
    match failed {
        Failed::Elsewhere(halt) => Ok(halt),
        Failed::Here(error) => {
            let mut change = Change::new();
            change.mail_arrivals_failed([arrival.id]);
            store.commit(change).await?;
            Ok(error.into())
        }
    }
}

impl DeskMail {
    async fn take(&self, job: &Job, what: IssuesMail, arrival: &Arrival, done: u64) -> Result<(), Failed> {
        let store = job.store();
        let found = store.issue_mail_box(what.mailbox_id).await?;
        let space = match &found {
            Some(found) => store.issue_space(found.org_id, found.space_id).await?,
            None => None,
        };
        let (Some(found), Some(space)) = (found, space) else { return drop_it(job, (arrival, None), done).await };
        let raw = store.mail_raw_bytes(arrival.raw_id).await?;
        let raw = raw.ok_or_else(|| Halt::Later(format!("the bytes of a message {} are not there", arrival.raw_id)))?;
        let (parsed, envelope_from) = (raw.clone(), arrival.envelope_from.clone());
        let reading = move || Letter::read(&parsed, &envelope_from);
        let letter = self.cpu.run(Tenant::Org(what.org_id), CpuKind::Document, reading).await?;
        let from = letter.from.as_ref().map(|from| from.email.clone()).unwrap_or_default();
        let place = (space.org_id, space.space_id);
        match weigh(store, (&found, &space), (arrival, &letter)).await? {
            Weighed::Double => drop_it(job, (arrival, None), done).await,
            Weighed::Refused(why) => drop_it(job, (arrival, Some((place, why, &from))), done).await,
            Weighed::Taken(author, about) => {
                let room = match about {
                    Some((id, _)) => ATTACHMENTS_MAX.saturating_sub(store.issue_attachments_count(id).await?),
                    None => ATTACHMENTS_MAX,
                };
                let files = self.files(store, &space, (raw, &letter), room).await?;
                let left_out = letter.files.len() - files.len();
                let copies = copies(store, (&found, &space), (&author, &letter)).await?;
                let letter = Arc::new(DeskLetter {
                    org_id: space.org_id,
                    space_id: space.space_id,
                    arrival: arrival.clone(),
                    letter,
                    author,
                    files,
                    left_out,
                    copies,
                });
                match self.bring(&letter, about).await? {
                    None => Ok(job.step(Change::new(), &done).await?),
                    Some(why) => drop_it(job, (arrival, Some((place, why, &from))), done).await,
                }
            }
        }
    }

    /// Brings a message to where it belongs; why it came to nothing.
    async fn bring(
        &self,
        letter: &Arc<DeskLetter>,
        about: Option<(IssueId, &'static str)>,
    ) -> Result<Option<MailRefusal>, Failed> {
        let context = || Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        let mut follows = None;
        if let Some((id, how)) = about {
            match self.issues.ask(&id, AnswerByMail(Arc::clone(letter)), context()).await? {
                Answered::Written => {
                    desk_mail_count(how);
                    return Ok(None);
                }
                Answered::Full => return Ok(Some(MailRefusal::Full)),
                Answered::Over(_) if letter.letter.is_automatic => return Ok(Some(MailRefusal::Automatic)),
                Answered::Over(key) => follows = key,
            }
        }
        let command = RaiseByMail { letter: Arc::clone(letter), follows };
        self.spaces.ask(&letter.space_id, command, context()).await?;
        desk_mail_count("request");
        Ok(None)
    }

    /// The files of a message as contents, as many as there is room for.
    async fn files(
        &self,
        store: &Store,
        space: &Space,
        (raw, letter): (impl AsRef<[u8]> + Clone + Send + 'static, &Letter),
        room: u64,
    ) -> Result<Vec<LetterFile>, Failed> {
        let mut files = Vec::new();
        for found in
            letter.files.iter().filter(|found| found.size > 0).take(usize::try_from(room).unwrap_or(usize::MAX))
        {
            let (raw, part) = (raw.clone(), found.part);
            let reading = move || file_bytes(raw.as_ref(), part);
            let bytes = self.cpu.run(Tenant::Org(space.org_id), CpuKind::Document, reading).await?;
            let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else { continue };
            let size = bytes.len() as u64;
            let asked = |name: &str, content_type: Option<String>| {
                NewAttachment::check(&AttachmentAsked { name: name.to_owned(), size, content_type })
            };
            let file = asked(&found.name, Some(found.content_type.clone()));
            let file = file.or_else(|_| asked(&found.name, None)).or_else(|_| asked(NAMELESS, None));
            let Ok(file) = file else { continue };
            let source = ContentSource { size: Some(size), limit: size };
            let written = store.content_write(space.org_id, source, stream::iter([Ok::<_, StoreError>(bytes.into())]));
            let content = written.await.map_err(|error| match error {
                ContentError::Store(error) | ContentError::Source(error) => Failed::from(error),
                other => Failed::Elsewhere(Halt::Later(other.to_string())),
            })?;
            files.push(LetterFile { file, content });
        }
        Ok(files)
    }
}

/// What is to become of a message.
async fn weigh(
    store: &Store,
    (found, space): (&IssueMailBox, &Space),
    (arrival, letter): (&Arrival, &Letter),
) -> Result<Weighed, Failed> {
    let desk = space.config.servicedesk.as_ref().filter(|desk| desk.email.is_some() && !space.archived);
    let Some(desk) = desk else { return Ok(Weighed::Refused(MailRefusal::Closed)) };
    if arrival.verdict.placed == Placed::Spam {
        return Ok(Weighed::Refused(MailRefusal::Spam));
    }
    let email: Option<Email> = letter.from.as_ref().and_then(|from| from.email.parse().ok());
    let Some(email) = email else { return Ok(Weighed::Refused(MailRefusal::NoSender)) };
    let own = MessageIdHash::of(&letter.message_id);
    let known = store.issue_message_known(space.space_id, space.org_id, &own).await?;
    if known == Some(true) || found.address.as_ref() == Some(&without_tag(&email)) {
        return Ok(Weighed::Refused(MailRefusal::Loop));
    }
    if known.is_some() {
        return Ok(Weighed::Double);
    }
    let visitor = account_of(store, space.org_id, &email).await?;
    let author = Author::new(desk, &email, visitor.as_ref(), &arrival.verdict);
    let is_customer = desk.takes_mail_of(&author.email, visitor.as_ref());
    if let Some((id, how, takes_part)) = threaded(store, space, (arrival, letter), &author).await? {
        let is_heard = is_customer || takes_part || letter.is_automatic;
        return Ok(if is_heard {
            Weighed::Taken(author, Some((id, how)))
        } else {
            Weighed::Refused(MailRefusal::Stranger)
        });
    }
    if letter.is_automatic {
        return Ok(Weighed::Refused(MailRefusal::Automatic));
    }
    if !is_customer {
        return Ok(Weighed::Refused(MailRefusal::Stranger));
    }
    let since = store.now().before(COUNTED_FOR);
    if store.issue_messages_came(space.space_id, &author.email, since).await? >= REQUESTS_PER_HOUR {
        return Ok(Weighed::Refused(MailRefusal::TooMany));
    }
    Ok(Weighed::Taken(author, None))
}

/// The request that a message is about, by which of its signs, and whether its sender takes part: by the messages that it names, by the
/// tag of an address, by a key in its subject where its sender takes part.
async fn threaded(
    store: &Store,
    space: &Space,
    (arrival, letter): (&Arrival, &Letter),
    author: &Author,
) -> Result<Option<(IssueId, &'static str, bool)>, Failed> {
    let org_id = space.org_id;
    if let Some(id) = store.issue_of_messages(org_id, &letter.names).await?
        && let Some(stored) = store.issue(org_id, id).await?
    {
        return Ok(Some((id, "reference", author.takes_part(&stored.issue))));
    }
    for address in std::iter::once(&arrival.envelope_to).chain(&letter.to) {
        let Some((number, seal)) = tag_of(address) else { continue };
        let found = store.issue_named(org_id, &format!("{}-{number}", space.key)).await?;
        if let Some(stored) = found.filter(|it| store.issue_mail_seal_is(it.issue.issue_id, seal)) {
            return Ok(Some((stored.issue.issue_id, "tag", author.takes_part(&stored.issue))));
        }
    }
    for key in keys_in(&letter.subject).take(COPIES_MAX) {
        let found = store.issue_named(org_id, &key.to_string()).await?;
        let is_its =
            |it: &store::issues::StoredIssue| it.issue.space_id == space.space_id && author.takes_part(&it.issue);
        if let Some(stored) = found.filter(is_its) {
            return Ok(Some((stored.issue.issue_id, "subject", true)));
        }
    }
    Ok(None)
}

/// Who else gets the message, of those who may take part; nobody where anybody could have written it.
async fn copies(
    store: &Store,
    (found, space): (&IssueMailBox, &Space),
    (author, letter): (&Author, &Letter),
) -> Result<Copies, Failed> {
    let mut copies = Copies::default();
    let desk: Option<&ServiceDesk> = space.config.servicedesk.as_ref();
    let Some(desk) = desk.filter(|_| author.is_verified && !letter.is_automatic) else { return Ok(copies) };
    for address in letter.to.iter().take(COPIES_MAX) {
        let Ok(email) = address.parse::<Email>() else { continue };
        if found.address.as_ref() == Some(&without_tag(&email)) || email.as_str() == author.email {
            continue;
        }
        let visitor = account_of(store, space.org_id, &email).await?;
        let is_let_in = visitor.as_ref().is_some_and(|it| domain::issues::portal::is_let_in(desk, it));
        match visitor.filter(|_| is_let_in) {
            Some(visitor) => copies.people.push(visitor.user_id),
            None if desk.takes_mail_of(email.as_str(), None) => copies.addresses.push(email.to_string()),
            None => {}
        }
    }
    Ok(copies)
}

/// What a message that comes to nothing leaves: for what it did, whose space counts it, and who says that they wrote it.
type Dropped<'d> = (&'d Arrival, Option<((domain::id::OrgId, domain::id::SpaceId), MailRefusal, &'d str)>);

/// Lets a message go. Nobody is told: whoever it says to be of may not have written it.
async fn drop_it(job: &Job, (arrival, why): Dropped<'_>, done: u64) -> Result<(), Failed> {
    let now = job.store().now();
    let mut change = Change::new();
    change.mail_arrivals_remove([arrival.id]);
    change.mail_raw_release(now, [arrival.raw_id]);
    if let Some((place, why, from)) = why {
        change.issue_mail_refuse(place, (why, from), now);
        desk_mail_count(why.as_str());
    }
    Ok(job.step(change, &done).await?)
}

/// Has operators look at a message that nothing can be made of, and goes on without it.
async fn set_aside(job: &Job, arrival: &Arrival, done: u64) -> Result<(), Halt> {
    let error = job.work().last_error.as_deref().unwrap_or("unknown");
    let error = format!("Nothing could be made of the message {} in {} tries: {error}", arrival.raw_id, arrival.tries);
    let mut change = Change::new();
    change.mail_arrival_set_aside(job.store().now(), arrival, &error);
    job.step(change, &done).await
}
