//! The servers that are measured, and how each lets a client in to a document.

use std::{cell::Cell, net::SocketAddr};

use serde_json::{Value, json};

use super::wire::{Reader, put_bytes};
use crate::{
    report::Result,
    server::{Server, call, program::Org},
};

/// What Hocuspocus calls a message that says who one is, and the part of it that carries a token.
const HOCUSPOCUS_TOKEN: [u8; 2] = [2, 0];

/// A running server with a name.
pub struct Host {
    name: &'static str,
    server: Server,
    kind: Kind,
    documents_made: Cell<u32>,
}

/// How a server names and opens documents.
pub enum Kind {
    /// The y-websocket protocol; the path is the document's name.
    YWebsocket,
    /// The same messages behind the document's name; a client says who it is first.
    Hocuspocus,
    /// The y-websocket protocol; documents are pages, and a ticket opens each.
    Troupe(Org),
}

/// How a client gets in.
pub struct Entrance {
    /// The socket's path, with its query.
    pub target: String,
    /// What stands before each message, in both directions.
    pub prefix: Vec<u8>,
    /// What the client says first.
    pub greeting: Option<Vec<u8>>,
}

impl Host {
    pub const fn new(name: &'static str, server: Server, kind: Kind) -> Self {
        Self { name, server, kind, documents_made: Cell::new(0) }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn process(&self) -> u32 {
        self.server.process()
    }

    /// Frees what it need not keep, where the server offers that.
    pub fn collect_garbage(&self) -> Result<()> {
        match self.kind {
            Kind::Troupe(_) => Ok(()),
            Kind::YWebsocket | Kind::Hocuspocus => self.server.tell("gc"),
        }
    }

    /// So many [new documents](Self::new_document).
    pub fn new_documents(&self, count: usize) -> Result<Vec<String>> {
        (0..count).map(|_| self.new_document()).collect()
    }

    /// The name of a document that is empty and that nobody else has.
    pub fn new_document(&self) -> Result<String> {
        let Kind::Troupe(org) = &self.kind else {
            let number = self.documents_made.get();
            self.documents_made.set(number + 1);
            return Ok(format!("document-{number}"));
        };
        let body = json!({ "parentId": "root", "title": "A page", "kind": "doc" });
        let answer =
            call(self.address(), org.request("POST", "pages").json(body.to_string().into_bytes()))?.success()?;
        Ok(text(&answer, "/page/pageId")?.to_owned())
    }

    /// The way in to a document, for one client.
    pub fn entrance(&self, document: &str) -> Result<Entrance> {
        Ok(match &self.kind {
            Kind::YWebsocket => Entrance { target: format!("/{document}"), prefix: Vec::new(), greeting: None },
            Kind::Hocuspocus => {
                let mut greeting = HOCUSPOCUS_TOKEN.to_vec();
                put_bytes(&mut greeting, b"token");
                let mut prefix = Vec::new();
                put_bytes(&mut prefix, document.as_bytes());
                Entrance { target: "/".into(), prefix, greeting: Some(greeting) }
            }
            Kind::Troupe(org) => {
                let asked = org.request("GET", &format!("pages/{document}/collab?ticket=1"));
                let answer = call(self.address(), asked)?.success()?;
                let (url, ticket) = (text(&answer, "/socket/url")?, text(&answer, "/socket/ticket")?);
                let path = url.splitn(4, '/').nth(3).ok_or("a socket without a path")?;
                Entrance { target: format!("/{path}?ticket={ticket}"), prefix: Vec::new(), greeting: None }
            }
        })
    }

    /// What a message says behind its prefix.
    pub fn without_prefix<'m>(&self, message: &'m [u8]) -> Result<&'m [u8]> {
        let mut reader = Reader(message);
        if matches!(self.kind, Kind::Hocuspocus) {
            reader.bytes()?;
        }
        Ok(reader.0)
    }
}

fn text<'a>(answer: &'a Value, pointer: &str) -> Result<&'a str> {
    answer.pointer(pointer).and_then(Value::as_str).ok_or_else(|| format!("an answer without {pointer}").into())
}
