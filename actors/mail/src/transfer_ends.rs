//! What nobody started is given up, and what was exported is thrown away, a week later, as a job.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    id::{MailExportId, MailImportId},
    mail::{MailExportState, MailImportState},
};
use serde::{Deserialize, Serialize};
use store::{Change, Permits};

/// The job that ends what waits, and throws away what was exported.
pub(crate) const MAIL_TRANSFER_ENDS: Topic =
    Topic { permits: Permits::with_spare(1, 3), ..Topic::new("mail.transfer_ends") };

/// What the job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TransferEnd {
    /// An import that still waits.
    Import(MailImportId),
    /// An export.
    Export(MailExportId),
}

/// Ends what waits, and throws away what was exported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferEnds;

impl Handler for TransferEnds {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, mut change) = (job.store(), Change::new());
        match job.payload::<TransferEnd>()? {
            TransferEnd::Import(id) => {
                let found = store.mail_import(id).await?;
                if let Some(import) = found.filter(|it| it.state == MailImportState::Waiting) {
                    change.mail_import_end(&import, MailImportState::Cancelled, None, store.now());
                }
            }
            TransferEnd::Export(id) => {
                let found = store.mail_export(id).await?;
                if let Some(export) = found.filter(|it| it.state != MailExportState::Running) {
                    change.mail_export_remove(&export, store.now());
                }
            }
        }
        Ok(change)
    }
}
