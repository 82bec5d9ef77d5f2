//! dynalite, over DynamoDB's protocol. It takes any signature.

use std::{fs, path::Path, thread, time::Duration};

use serde_json::{Value, json};

use super::items::{Dialect, Place, QUERIED, Requests, partition};
use crate::{
    load::Request,
    peers::Peers,
    report::Result,
    server::{Server, call},
};

const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, \
     SignedHeaders=host;x-amz-date;x-amz-target, Signature=0";
/// How long a table takes to become one that can be used, with room.
const CREATED_AFTER: Duration = Duration::from_millis(300);

struct Dynalite;

/// Starts it with a table that has all items, in a folder of its own below `folder`.
pub fn start(peers: &Peers, folder: &Path) -> Result<(Server, Requests)> {
    let folder = folder.join("dynalite");
    fs::create_dir(&folder)?;
    let server = peers.start("dynalite.mjs", &[&folder])?;
    let table = json!({
        "TableName": "Bench", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }, { "AttributeName": "sk", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
    });
    call(server.address(), ask("CreateTable", &table))?.success()?;
    thread::sleep(CREATED_AFTER);
    for place in Place::all() {
        call(server.address(), Dynalite.put(place, 0, 0)?)?.success()?;
    }
    Ok((server, Requests::new(&Dynalite)?))
}

fn ask(operation: &str, body: &Value) -> Request {
    Request::new("POST", "/")
        .header("X-Amz-Target", &format!("DynamoDB_20120810.{operation}"))
        .header("X-Amz-Date", "20260101T000000Z")
        .header("Authorization", AUTHORIZATION)
        .body("application/x-amz-json-1.0", body.to_string().into_bytes())
}

impl Dialect for Dynalite {
    fn get(&self, place: Place) -> Result<Request> {
        Ok(ask("GetItem", &json!({ "TableName": "Bench", "Key": place.key(), "ConsistentRead": true })))
    }

    /// Whatever is there.
    fn put(&self, place: Place, _: usize, to: usize) -> Result<Request> {
        Ok(ask("PutItem", &json!({ "TableName": "Bench", "Item": place.item(to) })))
    }

    fn query(&self, number: usize) -> Result<Request> {
        let values = json!({ ":p": partition(number) });
        Ok(ask(
            "Query",
            &json!({
                "TableName": "Bench", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values,
                "Limit": QUERIED, "ConsistentRead": true,
            }),
        ))
    }
}
