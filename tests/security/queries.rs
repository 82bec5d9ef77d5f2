//! What a database can't hold is the asker's mistake, not the server's.

use crate::{accounts::org, harness::Server};

#[tokio::test]
async fn a_query_with_a_nul_in_it_is_refused_on_either_database() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for field in ["actor", "target", "action"] {
        ada.client.get(&format!("{acme}/audit?{field}=a%00b")).send().await.expect_problems(&[field]);
    }
}
