//! A ticket is one ticket, whichever node issued it.

use super::Pair;
use crate::harness::Ticket;

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_of_one_node_opens_a_socket_on_the_other_and_is_spent_on_both() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [left, right] = pair.clients();
    let ada = left.with_authenticator("ada").await;
    for (issuer, opener) in [(&left, &right), (&right, &left)] {
        let ticket = Ticket::issue(&ada.at(issuer.base())).await;
        let socket = ticket.at(opener).open().await;
        assert!(socket.is_ok(), "{:?}", socket.err());
        assert_eq!(ticket.at(issuer).open().await.err(), Some(401));
        assert_eq!(ticket.at(opener).open().await.err(), Some(401));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_spend_a_ticket_at_once_on_both_nodes_one_gets_in() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let clients = pair.clients();
    let ada = clients[0].with_authenticator("ada").await;
    let ticket = Ticket::issue(&ada).await;
    let attempts = (0..16).map(|number| {
        let ticket = ticket.at(&clients[number % 2]);
        tokio::spawn(async move { ticket.open().await })
    });
    let attempts = futures::future::join_all(attempts.collect::<Vec<_>>()).await;
    assert_eq!(attempts.iter().filter(|attempt| attempt.as_ref().unwrap().is_ok()).count(), 1);
}
