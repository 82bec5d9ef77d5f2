//! Pages that people edit together (decisions, "Notes pages").

mod awareness;
mod content;
mod floods;
mod limits;
mod opening;
mod outside;
mod reads;
mod together;
mod trash;

use domain::id::PageId;
use store::pages::PageDocument;

use super::Notes;
use crate::harness::{Answer, Client, Coeditor, Person, Ticket};

/// A page, and those who edit it.
struct Room {
    notes: Notes,
    page: String,
}

impl Room {
    async fn new() -> Self {
        let notes = Notes::new().await;
        let page = notes.page("root", "Minutes").await;
        Self { notes, page }
    }

    fn editor_of(&self, client: &Client) -> Coeditor {
        let org = self.notes.path.trim_start_matches("/v1/orgs/").trim_end_matches("/pages");
        Coeditor::new(client, org, &self.page)
    }

    /// The owner, in one more window, offline.
    fn editor(&self) -> Coeditor {
        self.editor_of(&self.notes.ada.client)
    }

    /// The owner, in one more window.
    async fn joined(&self) -> Coeditor {
        let mut editor = self.editor();
        editor.connect().await;
        editor
    }

    fn collab_path(&self) -> String {
        format!("{}/collab", self.notes.at(&self.page))
    }

    async fn collab(&self) -> Answer {
        self.notes.ada.client.get(&self.collab_path()).send().await.expect(200)
    }

    async fn ticket(&self, person: &Person) -> Ticket {
        let answer = person.client.get(&format!("{}?ticket=1", self.collab_path())).send().await.expect(200);
        Ticket { url: answer.str("/socket/url").into(), ticket: answer.str("/socket/ticket").into() }
    }

    /// The history as the store has it.
    async fn stored(&self) -> Option<PageDocument> {
        let page_id: PageId = self.page.parse().unwrap();
        self.notes.server.store().await.page_document(page_id).await.unwrap()
    }
}
