//! Importing mail, as a job: a file of any size is read some messages at a time, and the mailbox files these in a commit that also
//! notes how far the file was read. Whoever goes on behind a crash begins there.

mod container;
mod source;
mod tar;

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::{
    Services,
    work::job::{Halt, Handler, Job, Topic},
};
use bytes::Bytes;
use domain::{
    Context, Error, Origin, Timestamp,
    id::{MailImportId, OrgId},
    mail::{MailContent, MailImport, MailImportState, MailWords, RawId, received_at},
};
use futures::{StreamExt, TryStreamExt, stream};
use kernel::{Cpu, CpuKind, Registry};
use store::{Change, Permits, Store, StoreError, mail::NewRaw};

use self::source::{Batch, Found, Source};
use crate::mailbox::{Imported, MailImportEnd, MailImportFile, MailboxOwner};

/// The job that imports mail.
pub const MAIL_IMPORT: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("mail.import") };

/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_mins(1);
/// Messages whose bytes are written at once.
const WRITTEN_AT_ONCE: usize = 4;
/// What people read of an import that failed for reasons of the server's.
const GIVEN_UP: &str = "The import failed; whoever runs the server can have it go on.";

/// Imports mail.
#[derive(Clone)]
pub struct MailImporter {
    services: Services,
    mailboxes: Registry<MailboxOwner>,
    cpu: Cpu,
}

/// What the reader makes of a message.
struct ReadAs {
    content: MailContent,
    words: MailWords,
    is_unparsed: bool,
}

impl MailImporter {
    /// With the owners of mailboxes, and where messages are read.
    pub const fn new(services: Services, cpu: Cpu, mailboxes: Registry<MailboxOwner>) -> Self {
        Self { services, mailboxes, cpu }
    }
}

impl Handler for MailImporter {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Some(mut import) = running(job).await? else { return Ok(Change::new()) };
        let Some(file) = self.file(job, &import).await? else {
            return self.end(&import, Some("The upload was lost; import it again.".to_owned())).await;
        };
        let (kind, place, read) = (import.kind, import.place, import.counts.read);
        let opening = move || Source::open(file, kind, place, read);
        let mut source = match self.cpu.run(job.tenant(), CpuKind::Archive, opening).await? {
            Ok(source) => source,
            Err(error) => return self.unreadable(&import, &error).await,
        };
        loop {
            let reading = move || {
                let batch = source.batch();
                (source, batch)
            };
            let (went_on, mut batch) = self.cpu.run(job.tenant(), CpuKind::Archive, reading).await?;
            source = went_on;
            let (is_last, broken) = (batch.is_last, batch.broken.take());
            if !batch.messages.is_empty() || !batch.faults.is_empty() {
                import = self.file_batch(job, &import, batch).await?;
                job.step(Change::new(), &import.counts.read).await?;
            }
            if let Some(error) = broken {
                return self.unreadable(&import, &error).await;
            }
            if is_last {
                return self.end(&import, None).await;
            }
        }
    }

    async fn cancelled(&self, job: &Job) -> Result<Change, Halt> {
        over(job, MailImportState::Cancelled, None).await
    }

    async fn given_up(&self, job: &Job) -> Result<Change, Halt> {
        over(job, MailImportState::Failed, Some(GIVEN_UP)).await
    }
}

/// The import of the job, as long as it runs.
async fn running(job: &Job) -> Result<Option<MailImport>, Halt> {
    let id: MailImportId = job.payload()?;
    Ok(job.store().mail_import(id).await?.filter(|it| it.state == MailImportState::Running))
}

/// Ends the import of a job that goes on no more, unless it is over.
async fn over(job: &Job, state: MailImportState, error: Option<&str>) -> Result<Change, Halt> {
    let mut change = Change::new();
    if let Some(import) = running(job).await? {
        change.mail_import_end(&import, state, error, job.store().now());
    }
    Ok(change)
}

impl MailImporter {
    /// The import's file, which has no name any more when this returns; none where it is gone.
    async fn file(&self, job: &Job, import: &MailImport) -> Result<Option<File>, Halt> {
        let Some(content) = import.content else { return Ok(None) };
        let (folder, name) = (self.services.settings.spool.clone(), format!("mail-{}", import.id));
        let place = folder.join(name);
        let making = move || std::fs::create_dir_all(folder);
        self.cpu.run(job.tenant(), CpuKind::Archive, making).await?.map_err(|error| later(&error))?;
        if !job.store().content_to_file(import.org_id, content, &place).await? {
            return Ok(None);
        }
        let opening = move || unnamed(&place);
        let file = self.cpu.run(job.tenant(), CpuKind::Archive, opening).await?;
        file.map(Some).map_err(|error| later(&error))
    }

    /// Has the mailbox file messages; the import as it is then.
    async fn file_batch(&self, job: &Job, import: &MailImport, batch: Batch) -> Result<MailImport, Halt> {
        let Batch { messages, faults, place, .. } = batch;
        let messages = Arc::new(self.read(job, import, messages).await?);
        let command = MailImportFile { id: import.id, commits: import.commits, place, faults, messages };
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        Ok(self.mailboxes.ask(&import.mailbox_id, command, context).await?)
    }

    /// Reads messages, and has those bytes be on the disk that the mailbox doesn't have.
    async fn read(&self, job: &Job, import: &MailImport, mut messages: Vec<Found>) -> Result<Vec<Imported>, Halt> {
        let (store, now) = (job.store(), job.store().now());
        let bytes: Vec<Bytes> =
            messages.iter_mut().map(|found| Bytes::from(std::mem::take(&mut found.bytes))).collect();
        let sizes: Vec<u64> = bytes.iter().map(|bytes| bytes.len() as u64).collect();
        let parsed = bytes.clone();
        let naming = move || {
            let ids: Vec<RawId> = parsed.iter().map(|bytes| RawId::of(bytes)).collect();
            let dates: Vec<_> = parsed.iter().map(|bytes| received_at(bytes)).collect();
            (ids, dates)
        };
        let (ids, dates) = self.cpu.run(job.tenant(), CpuKind::Document, naming).await?;
        let known = store.mail_threads_of_raw(import.mailbox_id, &ids).await?;
        let read_as = self.read_all(job, &bytes).await?;
        let unknown = ids.iter().zip(bytes).map(|(id, bytes)| (!known.contains_key(id)).then_some(bytes));
        let writing = unknown.map(|bytes| written(store.clone(), import.org_id, bytes)).collect::<Vec<_>>();
        let raws: Vec<Option<NewRaw>> = stream::iter(writing).buffered(WRITTEN_AT_ONCE).try_collect().await?;
        let all = messages.into_iter().zip(ids).zip(dates).zip(read_as).zip(raws).zip(sizes);
        let imported = all.map(|(((((found, raw_id), date), read_as), raw), size)| {
            let came = [found.received, date, read_as.content.sent_at, found.came_at].into_iter().flatten().next();
            Imported {
                raw_id,
                raw,
                size,
                at: came.unwrap_or(now).clamp(Timestamp(0), now),
                filed: found.filed,
                content: read_as.content,
                words: read_as.words,
                is_unparsed: read_as.is_unparsed,
            }
        });
        Ok(imported.collect())
    }

    /// Reads messages all at once; one by one where one of them makes the reader panic, which is filed as it came.
    async fn read_all(&self, job: &Job, bytes: &[Bytes]) -> Result<Vec<ReadAs>, Halt> {
        let all = bytes.to_vec();
        let reading = move || all.iter().map(|bytes| read_as(bytes)).collect::<Vec<_>>();
        match self.cpu.run(job.tenant(), CpuKind::Document, reading).await {
            Ok(read) => return Ok(read),
            Err(Error::Internal { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut read = Vec::with_capacity(bytes.len());
        for bytes in bytes {
            let one = bytes.clone();
            match self.cpu.run(job.tenant(), CpuKind::Document, move || read_as(&one)).await {
                Ok(it) => read.push(it),
                Err(Error::Internal { .. }) => {
                    let content = MailContent::unparsed(bytes);
                    read.push(ReadAs { words: MailWords::of(&content), content, is_unparsed: true });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(read)
    }

    /// Ends an import whose file can't be read; what the disk fails to give may come later.
    async fn unreadable(&self, import: &MailImport, error: &io::Error) -> Result<Change, Halt> {
        if error.raw_os_error().is_some() {
            return Err(later(error));
        }
        let reason = match error.kind() {
            io::ErrorKind::InvalidData => error.to_string(),
            _ => "The file is damaged.".to_owned(),
        };
        self.end(import, Some(reason)).await
    }

    async fn end(&self, import: &MailImport, error: Option<String>) -> Result<Change, Halt> {
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        self.mailboxes.ask(&import.mailbox_id, MailImportEnd { id: import.id, error }, context).await?;
        Ok(Change::new())
    }
}

fn later(error: &io::Error) -> Halt {
    Halt::Later(format!("the file of an import can't be read: {error}"))
}

/// Has bytes be on the disk.
async fn written(store: Store, org_id: OrgId, bytes: Option<Bytes>) -> Result<Option<NewRaw>, StoreError> {
    match bytes {
        Some(bytes) => store.mail_raw_write(org_id, bytes).await.map(Some),
        None => Ok(None),
    }
}

/// Opens a file and takes its name away.
fn unnamed(place: &PathBuf) -> io::Result<File> {
    let file = File::open(place)?;
    std::fs::remove_file(place)?;
    Ok(file)
}

fn read_as(bytes: &[u8]) -> ReadAs {
    let content = MailContent::read(bytes);
    ReadAs { words: MailWords::of(&content), content, is_unparsed: false }
}
