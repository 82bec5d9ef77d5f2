//! Writing a ZIP piece by piece.

use std::{
    io::{self, Write},
    sync::Arc,
};

use bytes::Bytes;
use domain::pages::archive::ArchiveFile;
use parking_lot::Mutex;
use zip::{
    CompressionMethod, ZipWriter,
    result::ZipResult,
    write::{SimpleFileOptions, StreamWriter},
};

/// What was written and not yet sent.
#[derive(Clone, Default)]
struct Unsent(Arc<Mutex<Vec<u8>>>);

impl Write for Unsent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A ZIP under way. Only its table of contents is kept in memory.
pub struct Packer {
    zip: ZipWriter<StreamWriter<Unsent>>,
    unsent: Unsent,
}

impl Packer {
    /// An empty one.
    pub fn begin() -> Self {
        let unsent = Unsent::default();
        Self { zip: ZipWriter::new_stream(unsent.clone()), unsent }
    }

    /// Adds files; what can be sent now.
    pub fn add(&mut self, files: Vec<ArchiveFile>) -> ZipResult<Bytes> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for file in files {
            self.zip.start_file(file.name, options)?;
            self.zip.write_all(&file.bytes)?;
        }
        Ok(self.take())
    }

    /// The rest.
    pub fn finish(self) -> ZipResult<Bytes> {
        self.zip.finish()?;
        Ok(Bytes::from(std::mem::take(&mut *self.unsent.0.lock())))
    }

    fn take(&self) -> Bytes {
        Bytes::from(std::mem::take(&mut *self.unsent.0.lock()))
    }
}
