//! What an open document costs in memory: many clients with a document each, less as many with one for all.

use std::{thread, time::Duration};

use super::{crowd::Crowd, host::Host, stage::count};
use crate::{load::resident_bytes, report::Result};

/// Documents, with a client each.
const DOCUMENTS: usize = 2_000;
/// A page of text that is pasted, in bytes, and what is typed behind it, key by key.
const PASTED_BYTES: usize = 2_000;
const KEYS: u32 = 20;
/// How long a server may take to come to rest.
const REST: Duration = Duration::from_secs(3);

/// Memory of a server, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Of an open document, without its client.
    pub document: f64,
    /// Of an open document with its one client.
    pub document_and_client: f64,
}

/// Measures with two fresh servers.
pub fn measure(start: impl Fn() -> Result<Host>) -> Result<Memory> {
    let many = grown(&start()?, DOCUMENTS, 0)?;
    let one = grown(&start()?, 1, DOCUMENTS - 1)?;
    let documents = count(DOCUMENTS as u64);
    Ok(Memory { document: (many - one) / (documents - 1.0), document_and_client: many / documents })
}

/// Bytes by which a server grows for so many documents with text, each opened by its author and by `readers` more.
fn grown(host: &Host, documents: usize, readers: usize) -> Result<f64> {
    // What the first document and the first client cost once is not what each of them costs.
    drop(with_text(host, host.new_documents(1)?)?);
    // That there are documents costs no memory yet; that they are open does.
    let documents = host.new_documents(documents)?;
    let before = at_rest(host)?;
    let authors = with_text(host, documents)?;
    let readers = Crowd::open_again(host, authors.documents().to_vec(), readers)?;
    let after = at_rest(host)?;
    drop((authors, readers));
    Ok(count(after) - count(before))
}

fn with_text(host: &Host, documents: Vec<String>) -> Result<Crowd<'_>> {
    let mut authors = Crowd::open_again(host, documents, 1)?;
    authors.write_a_little(&"x".repeat(PASTED_BYTES), KEYS)?;
    Ok(authors)
}

fn at_rest(host: &Host) -> Result<u64> {
    thread::sleep(REST);
    host.collect_garbage()?;
    thread::sleep(REST / 3);
    resident_bytes(host.process())
}
