//! Exporting a mailbox, as a job: a ZIP with an mbox for each box, written piece by piece into a content. Each message is in it once,
//! with its labels in a field beside its own.

use std::io::{self, Write};

use actors_base::{
    Services,
    work::job::{Halt, Handler, Job, Topic},
};
use bytes::Bytes;
use domain::{
    Tenant,
    id::{MailExportId, MailMessageId},
    mail::{EXPORT_BYTES_MAX, MailBox, MailExport, MailExportState, TRANSFER_KEPT, mbox_entry, mbox_fields},
};
use futures::{StreamExt, stream};
use kernel::{Cpu, CpuKind};
use store::{
    Change, NewWork, Permits, Store, StoreError,
    blobs::contents::{ContentError, ContentSource},
    mail::ExportedMail,
};
use zip::{
    CompressionMethod, ZipWriter,
    write::{SimpleFileOptions, StreamWriter},
};

use crate::transfer_ends::{MAIL_TRANSFER_ENDS, TransferEnd};

/// The job that exports a mailbox.
pub const MAIL_EXPORT: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("mail.export") };

/// Messages that are listed at once.
const AT_ONCE: u32 = 100;
/// Bytes of messages that are packed at once, beside those of the first.
const BYTES_AT_ONCE: usize = 1024 * 1024;
/// The files of an export, with the box that each is of.
const FILES: [(&str, MailBox); 7] = [
    ("Inbox.mbox", MailBox::Inbox),
    ("Archive.mbox", MailBox::Archive),
    ("Sent.mbox", MailBox::Sent),
    ("Drafts.mbox", MailBox::Drafts),
    ("Scheduled.mbox", MailBox::Scheduled),
    ("Spam.mbox", MailBox::Spam),
    ("Trash.mbox", MailBox::Trash),
];

/// Exports mailboxes.
#[derive(Clone)]
pub struct MailExporter {
    services: Services,
    cpu: Cpu,
}

impl MailExporter {
    /// With where messages are packed.
    pub const fn new(services: Services, cpu: Cpu) -> Self {
        Self { services, cpu }
    }
}

impl Handler for MailExporter {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, mut change) = (job.store(), Change::new());
        let Some(export) = running(job).await? else { return Ok(change) };
        job.step(Change::new(), &()).await?;
        let packing = Packing::begin(&self.services.store, &self.cpu, &export);
        let counted = packing.counted.clone();
        let pieces = stream::try_unfold(Some(packing), next).boxed();
        let source = ContentSource { size: None, limit: EXPORT_BYTES_MAX };
        let written = Box::pin(store.content_write(export.org_id, source, pieces)).await;
        let content = written.map_err(|error| match error {
            ContentError::Source(error) => error,
            ContentError::TooLong { .. } => Halt::Refused("the export is too large".to_owned()),
            ContentError::Store(error) => error.into(),
            other => Halt::Later(other.to_string()),
        })?;
        let (now, messages) = (store.now(), *counted.lock());
        change.mail_export_end(export.id, Some((&content, messages)), now);
        thrown_away_later(&mut change, &export, now);
        Ok(change)
    }

    async fn cancelled(&self, job: &Job) -> Result<Change, Halt> {
        failed(job).await
    }

    async fn given_up(&self, job: &Job) -> Result<Change, Halt> {
        failed(job).await
    }
}

/// The export of the job, as long as it is under way.
async fn running(job: &Job) -> Result<Option<MailExport>, Halt> {
    let id: MailExportId = job.payload()?;
    Ok(job.store().mail_export(id).await?.filter(|it| it.state == MailExportState::Running))
}

async fn failed(job: &Job) -> Result<Change, Halt> {
    let (mut change, now) = (Change::new(), job.store().now());
    if let Some(export) = running(job).await? {
        change.mail_export_end(export.id, None, now);
        thrown_away_later(&mut change, &export, now);
    }
    Ok(change)
}

fn thrown_away_later(change: &mut Change, export: &MailExport, now: domain::Timestamp) {
    let work = NewWork::new(MAIL_TRANSFER_ENDS.name, export.org_id, &TransferEnd::Export(export.id));
    change.work_add(now, work.with_key(export.id.to_string()).not_before(now.after(TRANSFER_KEPT)));
}

/// What was written and not yet sent.
#[derive(Clone, Default)]
struct Unsent(std::sync::Arc<parking_lot::Mutex<Vec<u8>>>);

impl Write for Unsent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An export that is being packed.
struct Packing {
    store: Store,
    cpu: Cpu,
    export: MailExport,
    zip: ZipWriter<StreamWriter<Unsent>>,
    unsent: Unsent,
    counted: std::sync::Arc<parking_lot::Mutex<u64>>,
    /// Which of the files is written.
    file: usize,
    is_begun: bool,
    after: Option<MailMessageId>,
    /// Messages of the file that were listed and are not written yet, the next one last.
    listed: Vec<ExportedMail>,
}

impl Packing {
    fn begin(store: &Store, cpu: &Cpu, export: &MailExport) -> Box<Self> {
        let unsent = Unsent::default();
        Box::new(Self {
            store: store.clone(),
            cpu: cpu.clone(),
            export: export.clone(),
            zip: ZipWriter::new_stream(unsent.clone()),
            unsent,
            counted: std::sync::Arc::default(),
            file: 0,
            is_begun: false,
            after: None,
            listed: Vec::new(),
        })
    }

    /// The next messages of the file, with their bytes.
    async fn messages(&mut self, place: MailBox) -> Result<Vec<(ExportedMail, Bytes)>, StoreError> {
        let (mut found, mut bytes) = (Vec::new(), 0);
        while bytes < BYTES_AT_ONCE {
            if self.listed.is_empty() {
                let mailbox_id = self.export.mailbox_id;
                self.listed = self.store.mail_exported(mailbox_id, place, self.after, AT_ONCE).await?;
                self.listed.reverse();
                let Some(last) = self.listed.first() else { break };
                self.after = Some(last.id);
            }
            let Some(message) = self.listed.pop() else { break };
            // What was deleted meanwhile isn't in it.
            let Some(raw) = self.store.mail_raw_bytes(message.raw_id).await? else { continue };
            bytes += raw.len();
            found.push((message, raw));
        }
        Ok(found)
    }

    /// Writes messages into the file.
    fn write(&mut self, name: &str, place: MailBox, messages: &[(ExportedMail, Bytes)]) -> io::Result<()> {
        if !self.is_begun {
            self.is_begun = true;
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
            self.zip.start_file(name, options).map_err(io::Error::other)?;
        }
        for (message, raw) in messages {
            let labels: Vec<&str> = message.labels.iter().map(String::as_str).collect();
            let fields = mbox_fields(message.at, place, &labels, message.is_unread, message.is_starred);
            self.zip.write_all(&mbox_entry(&message.envelope_from, message.at, &fields, raw))?;
        }
        *self.counted.lock() += messages.len() as u64;
        Ok(())
    }

    fn take(&self) -> Bytes {
        Bytes::from(std::mem::take(&mut *self.unsent.0.lock()))
    }
}

/// The next piece of the ZIP, and what is left to do.
async fn next(packing: Option<Box<Packing>>) -> Result<Option<(Bytes, Option<Box<Packing>>)>, Halt> {
    let Some(mut packing) = packing else { return Ok(None) };
    let Some((name, place)) = FILES.get(packing.file).copied() else {
        let unsent = packing.unsent.clone();
        packing.zip.finish().map_err(|error| Halt::Later(error.to_string()))?;
        let rest = std::mem::take(&mut *unsent.0.lock());
        return Ok(Some((rest.into(), None)));
    };
    let messages = packing.messages(place).await?;
    if messages.is_empty() {
        (packing.file, packing.is_begun, packing.after) = (packing.file + 1, false, None);
        return Ok(Some((packing.take(), Some(packing))));
    }
    let (cpu, tenant) = (packing.cpu.clone(), Tenant::Org(packing.export.org_id));
    let writing = move || {
        let written = packing.write(name, place, &messages);
        (packing, written)
    };
    let (packing, written) = cpu.run(tenant, CpuKind::Archive, writing).await?;
    written.map_err(|error| Halt::Later(error.to_string()))?;
    Ok(Some((packing.take(), Some(packing))))
}
