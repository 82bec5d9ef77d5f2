//! The well-known failures of servers for co-editing, each as a test.

use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use serde_json::json;
use store::{
    Change, PageFold, Store,
    testing::{DATABASE_URL_VARIABLE, Scratch},
};
use tokio::process::Command;

use crate::{
    ALLOCATOR,
    harness::{Client, Coeditor, Launch, Process, Server, Ticket},
};

/// How often something that follows a moment later is looked for, and how long between.
const LOOKS: u32 = 6_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// More than a page that nobody has open stays in memory.
const IDLE: Duration = Duration::from_secs(31);
const OPENERS: usize = 16;
const DOCUMENTS: usize = 20;
const DOCUMENT_LEN: usize = 300_000;

/// Somebody's page.
struct Page {
    owner: Client,
    org: String,
    id: String,
}

impl Page {
    async fn new(owner: &Client) -> Self {
        let org = owner.org("Pages").await;
        Self::another(owner, &org).await
    }

    async fn another(owner: &Client, org: &str) -> Self {
        let body = json!({ "parentId": "root", "title": "A page", "kind": "doc" });
        let answer = owner.post(&format!("/v1/orgs/{org}/pages")).json(&body).send().await.expect(201);
        Self { owner: owner.clone(), org: org.to_owned(), id: answer.str("/page/pageId").to_owned() }
    }

    fn path(&self) -> String {
        format!("/v1/orgs/{}/pages/{}", self.org, self.id)
    }

    fn coeditor(&self) -> Coeditor {
        Coeditor::new(&self.owner, &self.org, &self.id)
    }

    async fn online(&self) -> Coeditor {
        let mut coeditor = self.coeditor();
        coeditor.connect().await;
        coeditor
    }

    /// The same page on a program that was started again.
    fn at(self, process: &Process) -> Self {
        Self { owner: self.owner.at(&process.url), ..self }
    }

    async fn ticket(&self) -> Ticket {
        let answer = self.owner.get(&format!("{}/collab?ticket=1", self.path())).send().await.expect(200);
        Ticket { url: answer.str("/socket/url").into(), ticket: answer.str("/socket/ticket").into() }
    }

    async fn markdown(&self) -> String {
        self.owner.get(&self.path()).send().await.expect(200).str("/content/markdown").to_owned()
    }

    /// Waits until everybody has left and everything that was written is folded.
    async fn is_closed(&self, store: &Store) {
        let page_id = self.id.parse().unwrap();
        for _ in 0..LOOKS {
            let document = store.page_document(page_id).await.unwrap().expect("a shared history");
            if store.page_updates(page_id, &document.epoch).await.unwrap().is_empty() {
                return;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        panic!("a document that nobody has open was not folded");
    }
}

/// Puts these bytes in the place of the folded document; what was there.
async fn replace_snapshot(store: &Store, page: &Page, snapshot: Vec<u8>) -> Vec<u8> {
    let page_id = page.id.parse().unwrap();
    let document = store.page_document(page_id).await.unwrap().expect("a shared history");
    let mut change = Change::new();
    let (epoch, folds) = (document.epoch.as_str(), document.folds);
    change.page_document_fold(PageFold { page_id, epoch, folds, snapshot, rows: &[] });
    store.commit(change).await.unwrap();
    document.snapshot
}

/// Lets time pass until no page is in memory.
async fn left_memory(server: &Server) {
    let none = "troupe_actor_resident{kind=\"page_session\"} 0\n";
    let is_empty = async || {
        // Again and again: whoever leaves just now wants the page until then.
        server.clock.advance(IDLE);
        server.operator().get("/metrics").send().await.text.contains(none).then_some(())
    };
    server.eventually("that pages leave memory", is_empty).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_fails_overwrites_nothing_with_a_blank_document() {
    let server = Server::start().await;
    let (store, page) = (server.store().await, Page::new(&server.person("ann").await.client).await);
    let mut writer = page.online().await;
    writer.insert(0, "the real text").await;
    assert!(writer.confirm().await);
    writer.disconnect();
    page.is_closed(&store).await;
    left_memory(&server).await;
    let ticket = page.ticket().await;

    let damage = b"no document at all".to_vec();
    let whole = replace_snapshot(&store, &page, damage.clone()).await;
    // Refused, or closed with an error; in no case shown an empty document.
    let mut victim = page.coeditor();
    if victim.open(&ticket, "").await.is_ok() {
        victim.insert(0, "typed into a blank").await;
        assert!(!victim.confirm().await, "a document that can't be read was shown as {:?}", victim.written());
        assert_eq!(victim.closed, Some(1011));
    }
    let asked = page.owner.get(&format!("{}/collab", page.path())).send().await;
    assert!(asked.status >= 500, "a document that can't be read was answered: {}", asked.text);
    assert_eq!(page.markdown().await, "the real text");
    assert_eq!(replace_snapshot(&store, &page, whole).await, damage, "what was stored was overwritten");
    assert_eq!(page.online().await.written(), "the real text");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_loses_nothing_that_somebody_has_seen() {
    let scratch = Scratch::new().await.unwrap();
    let launch =
        Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url())).set("shutdown.grace=60s");
    let process = launch.start();
    let page = Page::new(&process.client().with_authenticator("ann").await).await;
    let (mut writer, mut reader) = (page.online().await, page.online().await);
    for number in 0..200 {
        writer.insert(0, &format!("{number} ")).await;
    }
    let written = writer.written();
    assert!(reader.listen(|reader| reader.written() == written).await);
    assert_eq!(process.terminate(), Some(0));
    assert_eq!(writer.closed().await, Some(1012));

    let process = launch.start();
    let page = page.at(&process);
    assert_eq!(page.markdown().await, written);
    assert_eq!(page.online().await.written(), written);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_before_a_crash_becomes_the_content_although_nobody_opens_the_page_again() {
    let scratch = Scratch::new().await.unwrap();
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()));
    let process = launch.start();
    let page = Page::new(&process.client().with_authenticator("ann").await).await;
    let mut writer = page.online().await;
    writer.insert(0, "kept").await;
    assert!(writer.confirm().await);
    process.kill();

    let process = launch.start();
    let page = page.at(&process);
    for _ in 0..LOOKS {
        if page.markdown().await == "kept" {
            return;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    panic!("a row that a dead process left was not folded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_racing_first_open_makes_one_live_document() {
    let server = Server::start().await;
    let page = Page::new(&server.person("ann").await.client).await;
    open_at_once(&page, std::slice::from_ref(&page.owner)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_racing_first_open_on_two_nodes_makes_one_document() {
    let Ok(redis) = std::env::var("TROUPE_TEST_REDIS_URL") else { return eprintln!("skipped: there is no Redis") };
    let Ok(database) = std::env::var(DATABASE_URL_VARIABLE) else {
        return eprintln!("skipped: {DATABASE_URL_VARIABLE} names no PostgreSQL");
    };
    let scratch = Scratch::postgres(&database).await.unwrap();
    let prefix = scratch.folder().file_name().unwrap().to_string_lossy().into_owned();
    let launch = Launch::in_folder(scratch.folder())
        .set(format!("database.url={}", scratch.url()))
        .set(format!("redis.url={redis}"))
        .set(format!("redis.prefix={prefix}"));
    let processes = [launch.start(), launch.start()];
    let owner = processes[0].client().with_authenticator("ann").await;
    let page = Page::new(&owner).await;
    open_at_once(&page, &[owner.clone(), owner.at(&processes[1].url)]).await;
}

/// Everybody opens a page that nobody has had open, writes a line, and in the end sees the same: what the page said, once,
/// and everybody's line, once.
async fn open_at_once(page: &Page, nodes: &[Client]) {
    let body = json!({ "blocks": null, "markdown": "what it said\n", "baseVersion": 0 });
    page.owner.put(&format!("{}/content", page.path())).json(&body).send().await.expect(200);
    let openers = (0..OPENERS).map(|number| async move {
        let (mut coeditor, node) = (page.coeditor(), &nodes[number % nodes.len()]);
        assert!(coeditor.try_connect(node).await);
        assert!(coeditor.confirm().await, "closed with {:?}", coeditor.closed);
        coeditor.insert(u32::try_from(coeditor.written().len()).unwrap(), &format!("line {number}\n")).await;
        assert!(coeditor.confirm().await, "closed with {:?}", coeditor.closed);
        coeditor
    });
    let mut expected: BTreeSet<_> = (0..OPENERS).map(|number| format!("line {number}")).collect();
    expected.insert("what it said".to_owned());
    let mut texts = BTreeSet::new();
    for mut coeditor in join_all(openers).await {
        let all = |coeditor: &Coeditor| coeditor.written().lines().count() >= expected.len();
        assert!(coeditor.listen(all).await, "closed with {:?}", coeditor.closed);
        texts.insert(coeditor.written());
    }
    let text = texts.pop_first().expect("a text");
    assert!(texts.is_empty(), "two documents: {text:?} and {texts:?}");
    assert_eq!(text.lines().count(), expected.len(), "{text:?}");
    assert_eq!(text.lines().map(str::to_owned).collect::<BTreeSet<_>>(), expected);
}

/// Set in the process of its own in which memory is measured, so that no other test takes any.
const MEASURE: &str = "TROUPE_TEST_MEASURES_MEMORY";

#[tokio::test(flavor = "multi_thread")]
async fn memory_does_not_grow_with_closed_documents() {
    if std::env::var_os(MEASURE).is_some() {
        return close_documents_and_measure().await;
    }
    let mut alone = Command::new(std::env::current_exe().unwrap());
    alone.args(["--exact", "--nocapture", "pages::failures::memory_does_not_grow_with_closed_documents"]);
    let output = alone.env(MEASURE, "1").output().await.expect("this program runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

async fn close_documents_and_measure() {
    let server = Server::start().await;
    let owner = server.person("ann").await.client;
    let org = owner.org("Pages").await;
    // What the first documents bring along, such as caches, stays.
    after_documents(&server, &owner, &org).await;
    let first = settled(0, LOOKS / 20).await;
    after_documents(&server, &owner, &org).await;
    after_documents(&server, &owner, &org).await;
    let documents = 2 * DOCUMENTS * DOCUMENT_LEN;
    let grown = settled(first + documents / 20, LOOKS).await.saturating_sub(first);
    eprintln!("{documents} bytes of documents were closed, and {grown} bytes of memory are left");
    assert!(grown < documents / 20, "{documents} bytes of documents were closed, and {grown} bytes of memory are left");
}

/// The memory in use: the first look at less than `enough`, or the least of so many. Who left may be giving it back still.
async fn settled(enough: usize, looks: u32) -> usize {
    let mut least = ALLOCATOR.allocated();
    for _ in 0..looks {
        if least < enough {
            break;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
        least = least.min(ALLOCATOR.allocated());
    }
    least
}

/// Opens documents, writes each full of text, and closes them, until they have left memory.
async fn after_documents(server: &Server, owner: &Client, org: &str) {
    let (store, text) =
        (server.store().await, "All work and no play makes Jack a dull boy.\n".repeat(DOCUMENT_LEN / 44));
    let text = &text;
    let writers = (0..DOCUMENTS).map(|_| async move {
        let page = Page::another(owner, org).await;
        let mut writer = page.online().await;
        writer.insert(0, text).await;
        assert!(writer.confirm().await);
        page
    });
    // The writers' own documents are gone with them.
    for page in join_all(writers).await {
        page.is_closed(&store).await;
    }
    left_memory(server).await;
}
