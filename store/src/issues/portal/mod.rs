//! What help centers know of issues (contract B 2.4): which are requests, who takes part in them, their files, and articles.

mod addresses;
mod articles;
mod attachments;
mod participants;
mod requests;

pub use self::{
    addresses::{AttachmentAct, AttachmentAddress, AttachmentQuery},
    articles::{Article, ArticleHit},
    attachments::Attachment,
    requests::{PortalRequest, RequestPlace, RequestState, RequestsAsked},
};
