//! s3rver, over presigned requests.

use std::{fs, path::Path, rc::Rc};

use super::{Side, presigned::AccessKey};
use crate::{peers::Peers, report::Result};

/// Starts it on a folder of its own below `folder`.
pub fn start(peers: &Peers, folder: &Path) -> Result<Side> {
    let folder = folder.join("s3rver");
    fs::create_dir(&folder)?;
    let server = peers.start("s3rver.mjs", &[&folder])?;
    // The only key that it has.
    let key = AccessKey { id: "S3RVER".to_owned(), secret: "S3RVER".to_owned() };
    let address = server.address();
    Side::filled("s3rver", Rc::new(server), address, &key)
}
