//! Kept e-mails hold invitations.

use crate::harness::Server;

#[tokio::test]
async fn a_web_page_that_names_itself_this_server_reads_no_kept_emails() {
    let server = Server::start().await;
    for host in ["evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
        server.operator().get("/kept").header("host", host).send().await.expect(403);
    }
    for host in ["127.0.0.1", "127.0.0.1:9464", "localhost:9464", "[::1]:9464", "10.1.2.3"] {
        server.operator().get("/kept").header("host", host).send().await.expect(200);
    }
}
