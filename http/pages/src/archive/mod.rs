//! Pages as a ZIP of Markdown files, there and back.

mod export;
mod import;
mod imports;

pub(crate) use self::{export::*, import::*, imports::*};
