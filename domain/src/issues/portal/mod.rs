//! Help centers (contract B 2.4, 4.4): what a desk offers, who may come in, what follows of what they do.
//!
//! A request is an issue of a space with a desk that has a request type. Nothing of an issue is shown through this door but what is
//! named here: comments that are public, files that are public, and the fields of a request.

mod attachment;
mod desk;
mod door;
mod limits;
mod queues;
mod request;

pub use self::{
    attachment::{AttachmentAsked, NewAttachment},
    desk::{Articles, FormField, FormFieldId, Portal, PortalAccess, RequestType, ServiceDesk},
    door::{Visitor, admits, is_let_in},
    limits::*,
    queues::{CANNED_MAX, CannedResponse, QUEUE_COUNTED_MAX, QUEUE_NOT_FOUND, QUEUES_MAX, Queue},
    request::{answered_status, rating_check, reply, takes_part, waits_for},
};
