//! What git says over HTTP (gitprotocol-v2, gitprotocol-pack), but for packs and their negotiation, which git's own programs do.

mod advertisement;
mod fetch;
mod ls_refs;
mod packet;
mod receive;
mod report;

pub(super) use self::receive::ALLOWED_IN_OPTION;
pub use self::{
    advertisement::{AGENT, Listing, Service, fetch_advertisement, push_advertisement, v2_advertisement},
    fetch::{AnswerName, FollowsFrom, PackRequest, is_clone, tags_digest},
    ls_refs::{LsRefs, v2_command},
    packet::{FLUSH, PACKET_MAX, Packet, WireError, packet, packets},
    receive::{COMMANDS_MAX, PushCommand, PushRequest, PushRequestReader},
    report::PushReport,
};
