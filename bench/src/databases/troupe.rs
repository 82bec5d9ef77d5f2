//! The program: its table, and what is asked of it.

use std::collections::HashMap;

use domain::databases::ItemTag;
use serde_json::{Value, json};

use super::items::{Dialect, PARTITIONS, Place, QUERIED, Requests, partition};
use crate::{
    load::Request,
    report::Result,
    server::{
        Program, Server, call,
        program::{Org, Person},
    },
};

/// Items of one import.
const IMPORTED: usize = 100;

/// Somebody's table.
pub struct Table {
    org: Org,
    id: String,
}

/// Starts the program with a table that has all items.
pub fn start(program: &Program) -> Result<(Server, Table)> {
    let server = program.start()?;
    let org = Org::new(&server, Person::sign_in(&server, "writer")?)?;
    let draft = json!({
        "name": "Bench", "partitionKey": { "name": "pk", "type": "S" }, "sortKey": { "name": "sk", "type": "S" },
    });
    let made =
        call(server.address(), org.request("POST", "databases").json(draft.to_string().into_bytes()))?.success()?;
    let id =
        made["database"]["resourceId"].as_str().ok_or_else(|| format!("a table without an id: {made}"))?.to_owned();
    let table = Table { org, id };
    let items: Vec<_> = Place::all().map(|place| place.item(0)).collect();
    for items in items.chunks(IMPORTED) {
        call(server.address(), table.ask("POST", "items/import", &json!({ "items": items })))?.success()?;
    }
    Ok((server, table))
}

/// Whether each item that was put is there as it was put last, and the others are as they were made.
pub fn check(server: &Server, table: &Table, requests: &Requests) -> Result<()> {
    let put: HashMap<_, _> = requests.put().map(|(place, turn)| (place.key().to_string(), turn)).collect();
    for number in 0..PARTITIONS {
        let answer = call(server.address(), table.query(number)?)?.success()?;
        let items = answer["items"].as_array().filter(|items| items.len() == QUERIED).ok_or("items are missing")?;
        for item in items {
            let key = json!({ "pk": item["pk"], "sk": item["sk"] }).to_string();
            let turn = put.get(&key).copied().unwrap_or(0);
            if item["turn"]["N"].as_str() != Some(turn.to_string().as_str()) {
                return Err(format!("{key} is not there as it was put").into());
            }
        }
    }
    Ok(())
}

impl Table {
    fn ask(&self, method: &str, target: &str, body: &Value) -> Request {
        let target = format!("databases/{}/{target}", self.id);
        self.org.request(method, &target).json(body.to_string().into_bytes())
    }

    pub fn requests(&self) -> Result<Requests> {
        Requests::new(self)
    }
}

impl Dialect for Table {
    fn get(&self, place: Place) -> Result<Request> {
        Ok(self.ask("POST", "items/get", &json!({ "key": place.key() })))
    }

    fn put(&self, place: Place, from: usize, to: usize) -> Result<Request> {
        let tag = ItemTag::of(&place.kept(from)?).to_string();
        let target = format!("databases/{}/items", self.id);
        let body = json!({ "item": place.item(to) }).to_string().into_bytes();
        Ok(self.org.request("PUT", &target).header("If-Match", &tag).json(body))
    }

    fn query(&self, number: usize) -> Result<Request> {
        Ok(self.ask("POST", "query", &json!({ "partition": partition(number), "limit": QUERIED })))
    }
}
