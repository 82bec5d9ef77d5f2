//! How a plan is played, and what must hold at its end.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use yrs::{Any, Map, Text, Transact};

use super::{
    nodes::Nodes,
    plan::{Plan, Step},
};
use crate::harness::{Client, Coeditor};

/// A shared map that holds a key for every insertion that was made: `client.number`.
const MARKS: &str = "marks";
/// How long documents may take to become equal once everybody is online.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);

/// A plan under way.
struct Play<'a> {
    plan: &'a Plan,
    nodes: &'a mut Nodes,
    pages: Vec<String>,
    clients: Vec<Editor>,
    /// By document: marks that must be there in the end, although whoever made them is gone.
    kept: Vec<BTreeSet<String>>,
    /// How many marks were made.
    marks: u32,
}

struct Editor {
    coeditor: Coeditor,
    /// Where it is or was online last.
    node: usize,
    /// Marks that this client has made, and those of them that the server has answered for.
    made: BTreeSet<String>,
    confirmed: BTreeSet<String>,
}

/// Plays a plan; panics where the end isn't as it must be. All nodes run afterwards.
pub async fn play(plan: &Plan, nodes: &mut Nodes) {
    nodes.start_all().await;
    let mut pages = Vec::new();
    for _ in 0..plan.documents {
        pages.push(nodes.page().await);
    }
    let clients = (0..plan.clients).map(|client| Editor::new(nodes, &pages[client % plan.documents])).collect();
    let kept = vec![BTreeSet::new(); plan.documents];
    let mut game = Play { plan, nodes, pages, clients, kept, marks: 0 };
    for step in &plan.steps {
        game.step(step).await;
    }
    game.settle().await;
    game.examine().await;
}

impl Editor {
    fn new(nodes: &Nodes, page: &str) -> Self {
        let coeditor = Coeditor::new(&nodes.owner, &nodes.org, page);
        Self { coeditor, node: 0, made: BTreeSet::new(), confirmed: BTreeSet::new() }
    }

    async fn confirm(&mut self) -> bool {
        let confirmed = self.coeditor.is_online() && self.coeditor.confirm().await;
        if confirmed {
            self.confirmed.clone_from(&self.made);
        }
        confirmed
    }

    /// Connects to a node that has just come up, perhaps, until the server has answered for everything.
    async fn go_online(&mut self, node: &Client) {
        let started = Instant::now();
        while !(self.coeditor.try_connect(node).await && self.confirm().await) {
            assert!(
                started.elapsed() < SETTLED_WITHIN,
                "a client stays offline, closed with {:?}",
                self.coeditor.closed
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Where this many characters of the text end, in UTF-16 units: from the start again where it is shorter.
    fn place(&self, characters: u32) -> u32 {
        let written = self.coeditor.written();
        let count = written.chars().count() + 1;
        let before = written.chars().take(characters as usize % count);
        u32::try_from(before.map(char::len_utf16).sum::<usize>()).unwrap()
    }

    /// Place and length in UTF-16 units of at most so many characters.
    fn range(&self, at: u32, characters: u32) -> (u32, u32) {
        let from = self.place(at);
        let text = self.coeditor.written();
        let behind = text.chars().scan(0, |end, letter| {
            *end += u32::try_from(letter.len_utf16()).unwrap();
            Some(*end)
        });
        let ends: Vec<_> = behind.filter(|end| *end > from).take(characters as usize).collect();
        (from, ends.last().map_or(0, |end| end - from))
    }
}

impl Play<'_> {
    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Insert { client, at, ref text } => self.insert(client, at, text).await,
            Step::Delete { client, at, len } => self.delete(client, at, len).await,
            Step::Format { client, at, len, ref name, on } => self.format(client, (at, len), name, on).await,
            Step::Online { client, node } => {
                let editor = &mut self.clients[client];
                editor.node = node;
                editor.coeditor.disconnect();
                if let Some(node) = self.nodes.client(node) {
                    editor.coeditor.try_connect(&node).await;
                }
            }
            Step::Offline { client } => self.clients[client].coeditor.disconnect(),
            Step::Confirm { client } => drop(self.clients[client].confirm().await),
            Step::Forget { client } => self.forget(client),
            Step::Pause { ms } => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                for client in &mut self.clients {
                    client.coeditor.drain().await;
                }
            }
            Step::Kill { node } => self.nodes.kill(node),
            Step::Stop { node } => {
                // Whoever is there hears why it ends, as long as they listen; the program waits for that.
                let there = self.clients.iter_mut().filter(|editor| editor.node == node);
                tokio::join!(self.nodes.stop(node), join_all(there.map(|editor| editor.coeditor.closed())));
            }
            Step::Start { node } => self.nodes.start_again(node).await,
        }
    }

    async fn insert(&mut self, client: usize, at: u32, typed: &str) {
        let mark = format!("{client}.{}", self.marks);
        self.marks += 1;
        let editor = &mut self.clients[client];
        editor.coeditor.drain().await;
        let (at, text) = (editor.place(at), editor.coeditor.text());
        let marks = editor.coeditor.doc.get_or_insert_map(MARKS);
        editor
            .coeditor
            .edit(|tx| {
                text.insert(tx, at, typed);
                marks.insert(tx, mark.clone(), true);
            })
            .await;
        editor.made.insert(mark);
    }

    async fn delete(&mut self, client: usize, at: u32, len: u32) {
        let editor = &mut self.clients[client];
        editor.coeditor.drain().await;
        let ((at, len), text) = (editor.range(at, len), editor.coeditor.text());
        if len > 0 {
            editor.coeditor.edit(|tx| text.remove_range(tx, at, len)).await;
        }
    }

    async fn format(&mut self, client: usize, (at, len): (u32, u32), name: &str, on: bool) {
        let editor = &mut self.clients[client];
        editor.coeditor.drain().await;
        let ((at, len), text) = (editor.range(at, len), editor.coeditor.text());
        let value = if on { Any::Bool(true) } else { Any::Null };
        if len > 0 {
            let formats = HashMap::from([(Arc::from(name), value)]);
            editor.coeditor.edit(|tx| text.format(tx, at, len, formats)).await;
        }
    }

    /// What the server has answered for outlives its author.
    fn forget(&mut self, client: usize) {
        let document = client % self.plan.documents;
        let new = Editor::new(self.nodes, &self.pages[document]);
        let old = std::mem::replace(&mut self.clients[client], new);
        self.kept[document].extend(old.confirmed);
    }

    /// Brings everybody online, and waits until all documents of a page are equal.
    async fn settle(&mut self) {
        self.nodes.start_all().await;
        let nodes = self.plan.nodes;
        for (number, editor) in self.clients.iter_mut().enumerate() {
            let node = self.nodes.client(number % nodes).expect("a node that runs");
            editor.coeditor.drain().await;
            if !editor.confirm().await {
                editor.go_online(&node).await;
            }
        }
        let started = Instant::now();
        while let Some(different) = self.different() {
            assert!(started.elapsed() < SETTLED_WITHIN, "clients did not become equal:\n{different}");
            tokio::time::sleep(Duration::from_millis(2)).await;
            for (number, editor) in self.clients.iter_mut().enumerate() {
                editor.coeditor.drain().await;
                // As editors do.
                if !editor.coeditor.is_online() {
                    let node = self.nodes.client(number % nodes).expect("a node that runs");
                    editor.coeditor.try_connect(&node).await;
                }
            }
        }
    }

    /// How two clients of a document differ.
    fn different(&self) -> Option<String> {
        let documents = self.plan.documents;
        (documents..self.clients.len()).find_map(|client| {
            let [first, other] = [client % documents, client].map(|number| self.look(number));
            let closed = self.clients.iter().map(|editor| editor.coeditor.closed).collect::<Vec<_>>();
            let who = client % documents;
            (first != other).then(|| format!("client {who}:\n{first}\nclient {client}:\n{other}\nclosed: {closed:?}"))
        })
    }

    fn look(&self, client: usize) -> String {
        self.clients[client].coeditor.look(MARKS)
    }

    /// A fresh client finds the same document, every edit is in it, and the page's content is its text.
    async fn examine(&mut self) {
        for document in 0..self.plan.documents {
            let (expected, written) = (self.look(document), self.clients[document].coeditor.written());
            for node in 0..self.plan.nodes {
                let client = self.nodes.client(node).expect("a node that runs");
                let mut fresh = Editor::new(self.nodes, &self.pages[document]);
                fresh.go_online(&client).await;
                assert_eq!(fresh.coeditor.look(MARKS), expected, "a fresh client on node {node}");
                self.examine_marks(document, &fresh.coeditor);
            }
            for client in (document..self.clients.len()).step_by(self.plan.documents) {
                self.clients[client].coeditor.disconnect();
            }
            self.examine_content(document, &written).await;
        }
    }

    fn examine_marks(&self, document: usize, fresh: &Coeditor) {
        let marks = fresh.doc.get_or_insert_map(MARKS);
        let found: BTreeSet<_> = marks.keys(&fresh.doc.transact()).map(ToString::to_string).collect();
        let clients = self.clients.iter().skip(document).step_by(self.plan.documents);
        for mark in clients.flat_map(|editor| &editor.made).chain(&self.kept[document]) {
            assert!(found.contains(mark), "edit {mark} is lost");
        }
    }

    async fn examine_content(&self, document: usize, written: &str) {
        let started = Instant::now();
        loop {
            let markdown = self.nodes.markdown(&self.pages[document]).await;
            if markdown == written {
                return;
            }
            assert!(started.elapsed() < SETTLED_WITHIN, "the page says {markdown:?}, the document {written:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
