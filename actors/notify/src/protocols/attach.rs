//! What a protocol is attached to.

use domain::{
    Error, Result,
    id::ProtocolId,
    notify::{Attachment, Protocol, ResourceType, protocol::ATTACHMENTS_MAX},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;

use super::{Protocols, WriteContext, full, protocol, target};

/// Attaches a protocol to something, or calls that something by another name.
#[derive(Clone, Debug)]
pub struct AttachProtocol {
    /// Which.
    pub protocol_id: ProtocolId,
    /// To what.
    pub attachment: Attachment,
}

/// Detaches a protocol from something. What runs already goes on.
#[derive(Clone, Debug)]
pub struct DetachProtocol {
    /// Which.
    pub protocol_id: ProtocolId,
    /// From what kind of thing.
    pub resource_type: ResourceType,
    /// Its id.
    pub resource_id: String,
}

impl Command for AttachProtocol {
    type Reply = Protocol;

    const NAME: &'static str = "attach_protocol";
}

impl Handle<AttachProtocol> for Protocols {
    async fn handle(&mut self, command: &AttachProtocol, turn: &mut Turn<'_, Self>) -> Result<Protocol> {
        let context = WriteContext::open_to_people(turn).await?;
        let before = protocol(turn, command.protocol_id).await?;
        let attachment = &command.attachment;
        let is_it = |known: &Attachment| known.is_of(attachment.resource_type, &attachment.resource_id);
        let mut after = before.clone();
        match before.attachments.iter().position(is_it) {
            Some(place) if before.attachments[place] == *attachment => return Ok(before),
            Some(place) => after.attachments[place].clone_from(attachment),
            None if before.attachments.len() >= ATTACHMENTS_MAX => {
                return Err(full("A protocol", ATTACHMENTS_MAX, "attachments"));
            }
            None => after.attachments.push(attachment.clone()),
        }
        after.updated_at = turn.now();
        let mut change = context.write(turn, "protocol.attached", target(&after), Some(json!(attachment)));
        change.protocol_set(&after);
        change.protocol_attach(turn.now(), after.org_id, after.id, attachment);
        turn.commit(change).await?;
        Ok(after)
    }
}

impl Command for DetachProtocol {
    type Reply = Protocol;

    const NAME: &'static str = "detach_protocol";
}

impl Handle<DetachProtocol> for Protocols {
    async fn handle(&mut self, command: &DetachProtocol, turn: &mut Turn<'_, Self>) -> Result<Protocol> {
        let context = WriteContext::open_to_people(turn).await?;
        let DetachProtocol { protocol_id, resource_type, resource_id } = command;
        let mut after = protocol(turn, *protocol_id).await?;
        let before = after.attachments.len();
        after.attachments.retain(|known| !known.is_of(*resource_type, resource_id));
        if after.attachments.len() == before {
            return Err(Error::not_found("The protocol is not attached to this."));
        }
        after.updated_at = turn.now();
        let about = json!({ "resourceType": resource_type, "resourceId": resource_id });
        let mut change = context.write(turn, "protocol.detached", target(&after), Some(about));
        change.protocol_set(&after);
        change.protocol_detach(*protocol_id, *resource_type, resource_id);
        turn.commit(change).await?;
        Ok(after)
    }
}
