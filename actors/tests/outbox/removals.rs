//! The jobs that delete what is left of pages and organizations that are gone.

use std::{collections::BTreeMap, time::Duration};

use actors::{
    organization::ORGANIZATION_REMOVAL,
    pages::tree::{PAGES_REMOVAL, PagesRemoval},
    work::{
        Dispatcher,
        clearing::Cleared,
        job::{self, Halt, Handler, Job},
    },
};
use domain::{
    Role, Timestamp,
    id::{OrgId, PageId, PageImportId, UserId},
};
use store::{
    Change, NewWork, Work,
    pages::{StagedPage, Staging},
};

use crate::node::{Node, START};

async fn commit(node: &Node, fill: impl FnOnce(&mut Change)) {
    let mut change = Change::new();
    fill(&mut change);
    node.services.store.commit(change).await.expect("a commit");
}

/// Words of so many pages that the import staged.
fn stage(change: &mut Change, org_id: OrgId, import_id: PageImportId, pages: usize) {
    let staging = Staging { org_id, by: UserId::new(START), now: START, import_id };
    let page = |_| StagedPage { id: PageId::new(START), title: "A page".to_owned(), content: None };
    change.pages_stage(staging, &(0..pages).map(page).collect::<Vec<_>>());
}

/// The removal of what an import staged that came to nothing.
fn removal(org_id: OrgId, import_id: PageImportId) -> NewWork {
    NewWork::new(PAGES_REMOVAL.name, org_id, &import_id)
}

async fn has_remains(node: &Node, org_id: OrgId) -> bool {
    node.services.store.page_remains_next(org_id).await.expect("a read").is_some()
}

async fn left(node: &Node, topic: &str) -> Vec<Work> {
    node.services.store.work_listed(&[topic], 10).await.expect("a read")
}

fn cleared(work: &Work) -> Cleared {
    serde_json::from_str(work.progress.as_deref().expect("a step")).expect("its progress")
}

#[tokio::test]
async fn the_members_of_an_organization_that_is_gone_are_deleted_behind_what_was_done_already() {
    let node = Node::new().await;
    let org_id = OrgId::new(START);
    commit(&node, |change| {
        (0..2_500).for_each(|_| change.member_add(START, org_id, UserId::new(START), Role::Viewer));
        change.work_add(START, NewWork::new(ORGANIZATION_REMOVAL.name, org_id, &()));
    })
    .await;
    node.services.store.faults().set("commit:organization.removal=fail;after=2;times=1").expect("rules");
    node.dispatcher().work_due().await.expect("works");
    let [put_off] = &left(&node, ORGANIZATION_REMOVAL.name).await[..] else { panic!("one job") };
    let rows = BTreeMap::from([("members".to_owned(), 2_000)]);
    assert_eq!(cleared(put_off), Cleared { steps: 2, rows });
    assert_eq!(node.services.store.members_count(org_id).await.expect("a count"), 500);
    node.clock.advance(Duration::from_mins(1));
    node.dispatcher().work_due().await.expect("works");
    assert_eq!(node.services.store.members_count(org_id).await.expect("a count"), 0);
    assert!(left(&node, ORGANIZATION_REMOVAL.name).await.is_empty());
}

#[tokio::test]
async fn what_an_import_staged_that_came_to_nothing_is_deleted_and_nothing_else() {
    let node = Node::new().await;
    let (org_id, other) = (OrgId::new(START), OrgId::new(START));
    let [failed, under_way, elsewhere] = [(); 3].map(|()| PageImportId::new(START));
    commit(&node, |change| {
        stage(change, org_id, failed, 1_120);
        stage(change, org_id, under_way, 1);
        stage(change, other, elsewhere, 1);
        change.work_add(START, removal(org_id, failed));
    })
    .await;
    node.dispatcher().work_due().await.expect("works");
    let store = &node.services.store;
    let has_staged = async |import_id| store.page_import_has_staged(import_id).await.expect("a read");
    assert_eq!(
        (has_staged(failed).await, has_staged(under_way).await, has_staged(elsewhere).await),
        (false, true, true)
    );
    assert_eq!(store.page_remains_next(org_id).await.expect("a read"), Some(Timestamp(i64::MAX)), "the other import's");
    assert!(left(&node, PAGES_REMOVAL.name).await.is_empty());
    commit(&node, |change| change.work_add(START, removal(org_id, under_way))).await;
    node.dispatcher().work_due().await.expect("works");
    assert_eq!((has_remains(&node, org_id).await, has_remains(&node, other).await), (false, true));
}

/// Deletes what is left; something else goes when it is done with that and has not ended yet.
struct Overtaken {
    org_id: OrgId,
    first: i64,
}

impl Handler for Overtaken {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let end = PagesRemoval.run(job).await?;
        if job.work().seq == self.first {
            let (mut change, import_id) = (Change::new(), PageImportId::new(START));
            stage(&mut change, self.org_id, import_id, 1);
            change.work_add(START, removal(self.org_id, import_id));
            job.store().commit(change).await?;
        }
        Ok(end)
    }
}

#[tokio::test]
async fn a_removal_that_is_committed_while_the_job_before_it_ends_is_done_too() {
    let node = Node::new().await;
    let (store, org_id, import_id) = (&node.services.store, OrgId::new(START), PageImportId::new(START));
    commit(&node, |change| {
        stage(change, org_id, import_id, 1);
        change.work_add(START, removal(org_id, import_id));
    })
    .await;
    let first = left(&node, PAGES_REMOVAL.name).await[0].seq;
    let lane = job::lane(store.clone(), PAGES_REMOVAL, Overtaken { org_id, first });
    Dispatcher::new(store.clone(), vec![lane]).work_due().await.expect("works");
    assert!(!has_remains(&node, org_id).await);
    assert!(left(&node, PAGES_REMOVAL.name).await.is_empty());
}
