//! The live messages of one person, heard after each crash from where they were last heard.

use crate::harness::{Client, Socket};

/// How far the person's devices have heard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feed {
    seq: i64,
    revision: i64,
}

impl Feed {
    /// Hears on until the vault's revision `revision` was told: no message is missing, none comes twice or out of turn.
    pub async fn hear(&mut self, client: &Client, revision: i64, whose: &str) {
        if self.revision == revision {
            return;
        }
        let mut socket = Socket::live(client, self.seq).await;
        while self.revision < revision {
            let message = socket.message().await;
            assert_eq!(message["seq"], self.seq + 1, "{whose}: {message} after number {}", self.seq);
            self.seq += 1;
            // Other changes than those of items leave the revision as it is.
            if message["type"] == "vault.changed" && message["revision"] != self.revision {
                assert_eq!(
                    message["revision"],
                    self.revision + 1,
                    "{whose}: {message} after revision {}",
                    self.revision
                );
                self.revision += 1;
            }
        }
    }
}
