//! Pages as a ZIP of Markdown files, there and back.

mod export;
mod import;
mod pack;
mod unpack;

pub(crate) use self::{export::*, import::*};
