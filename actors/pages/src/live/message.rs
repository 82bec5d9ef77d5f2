//! What happened to a tree of pages, as sockets send it.

use domain::{
    id::{OrgId, PageId, UserId},
    pages::Page,
};
use gateways::Hub;
use serde::Serialize;

use super::{channel, wire::Wire};

/// Ids that one message carries; a change of more pages tells clients to read the tree anew.
const PAGE_IDS_MAX: usize = 1_000;

/// One commit of a tree's owner, told after it: `{type, revision, by, …}`.
#[derive(Clone, Debug, Serialize)]
pub struct TreeMessage {
    /// The tree's revision with this commit in it; it grows by one with each, so that a client knows of one it missed.
    pub revision: i64,
    /// Who asked for it; none where nobody did, as when the trash is emptied.
    pub by: Option<UserId>,
    /// What happened.
    #[serde(flatten)]
    pub change: TreeChange,
}

impl TreeMessage {
    /// Tells everybody who looks at the organization's pages, on every node. To be called after the commit.
    pub fn publish(mut self, hub: &Hub, org_id: OrgId) {
        if let TreeChange::Archived { page_ids } | TreeChange::Restored { page_ids } | TreeChange::Deleted { page_ids } =
            &self.change
            && page_ids.len() > PAGE_IDS_MAX
        {
            self.change = TreeChange::Reset;
        }
        match serde_json::to_string(&self) {
            Ok(text) => {
                hub.publish(&channel(org_id), Wire::Tree { revision: self.revision, text: text.into() }.to_bytes());
            }
            Err(error) => tracing::error!(%error, "a message of the tree can't be written"),
        }
    }
}

/// What a commit did to the tree. Where it did several things, the later of these says it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum TreeChange {
    /// There is a new page.
    #[serde(rename = "page.created")]
    Created {
        /// It.
        page: TreePage,
    },
    /// Its title, icon, width, schema, views or properties changed, and not its place.
    #[serde(rename = "page.changed")]
    Changed {
        /// As it is now.
        page: TreePage,
    },
    /// It has another parent or another position, and perhaps another title too.
    #[serde(rename = "page.moved")]
    Moved {
        /// As it is now.
        page: TreePage,
    },
    /// They went to the trash.
    #[serde(rename = "page.archived")]
    Archived {
        /// The page that was archived, then those that it took along.
        page_ids: Vec<PageId>,
    },
    /// They came back from the trash.
    #[serde(rename = "page.restored")]
    Restored {
        /// The page that was restored, then those that it brought along.
        page_ids: Vec<PageId>,
    },
    /// They are gone for good.
    #[serde(rename = "page.deleted")]
    Deleted {
        /// Whatever was under them is among them.
        page_ids: Vec<PageId>,
    },
    /// Too much to list: an import, or positions that were numbered anew. Read the tree again.
    #[serde(rename = "reset")]
    Reset,
}

/// What a tree shows of a page.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreePage {
    /// Its id.
    pub page_id: PageId,
    /// The id of what it is under, or `root`.
    pub parent_id: String,
    /// `doc` or `database`.
    pub kind: &'static str,
    /// Its title.
    pub title: String,
    /// Its icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Its place among its siblings.
    pub position: f64,
}

impl From<&Page> for TreePage {
    fn from(page: &Page) -> Self {
        Self {
            page_id: page.id,
            parent_id: page.parent_text(),
            kind: page.kind.as_str(),
            title: page.title.clone(),
            icon: page.icon.clone(),
            position: page.position,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    fn heard(change: TreeChange) -> Value {
        let hub = Hub::in_process();
        let org_id = OrgId::new(Timestamp(0));
        let mut listener = futures::executor::block_on(hub.subscribe(&channel(org_id)));
        TreeMessage { revision: 7, by: None, change }.publish(&hub, org_id);
        let Some(gateways::Signal::Message(bytes)) = listener.try_next() else { panic!("nothing was published") };
        let Some(Wire::Tree { revision: 7, text }) = Wire::from_bytes(&bytes) else { panic!("{bytes:?}") };
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn a_message_is_flat() {
        let page_id = PageId::new(Timestamp(0));
        let page = TreePage {
            page_id,
            parent_id: "root".into(),
            kind: "doc",
            title: "Plans".into(),
            icon: None,
            position: 1.5,
        };
        let page_json =
            json!({"pageId": page_id, "parentId": "root", "kind": "doc", "title": "Plans", "position": 1.5});
        assert_eq!(
            heard(TreeChange::Created { page }),
            json!({"type": "page.created", "revision": 7, "by": null, "page": page_json})
        );
        assert_eq!(
            heard(TreeChange::Deleted { page_ids: vec![page_id] }),
            json!({"type": "page.deleted", "revision": 7, "by": null, "pageIds": [page_id]})
        );
    }

    #[test]
    fn what_is_too_much_to_list_is_a_reset() {
        let page_ids = |len| vec![PageId::new(Timestamp(0)); len];
        assert_eq!(heard(TreeChange::Archived { page_ids: page_ids(PAGE_IDS_MAX - 1) })["type"], "page.archived");
        assert_eq!(heard(TreeChange::Archived { page_ids: page_ids(PAGE_IDS_MAX) })["type"], "page.archived");
        assert_eq!(
            heard(TreeChange::Archived { page_ids: page_ids(PAGE_IDS_MAX + 1) }),
            json!({"type": "reset", "revision": 7, "by": null})
        );
    }
}
