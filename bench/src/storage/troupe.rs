//! The program. Over REST files are written with a person's credential, and read over addresses that the program signs; over
//! S3 both are presigned requests with an access key.

use std::{net::SocketAddr, rc::Rc};

use serde_json::{Value, json};

use super::{
    Dialect, Side,
    presigned::{AccessKey, BUCKET},
};
use crate::{
    load::Request,
    report::Result,
    server::{
        Program, Server, call,
        program::{Org, Person},
    },
};

/// Somebody's bucket.
struct Bucket {
    org: Org,
    id: String,
    /// The server, for addresses of files.
    address: SocketAddr,
}

/// Starts the program, which speaks S3 at `s3`, with a bucket that has all files.
pub fn start(program: &Program, s3: SocketAddr) -> Result<[Side; 2]> {
    let server = Rc::new(program.start()?);
    let bucket = Bucket::new(&server)?;
    let key = bucket.access_key()?;
    let address = bucket.address;
    Ok([Side::filled("rest", Rc::clone(&server), address, &bucket)?, Side::filled("s3", server, s3, &key)?])
}

impl Bucket {
    fn new(server: &Server) -> Result<Self> {
        let org = Org::new(server, Person::sign_in(server, "writer")?)?;
        let draft = json!({ "name": BUCKET }).to_string().into_bytes();
        let made = call(server.address(), org.request("POST", "storage").json(draft))?.success()?;
        let id = made["bucket"]["resourceId"].as_str().ok_or("a bucket without an id")?.to_owned();
        Ok(Self { org, id, address: server.address() })
    }

    fn access_key(&self) -> Result<AccessKey> {
        let draft = json!({ "name": "bench", "access": "write" }).to_string().into_bytes();
        let made = call(self.address, self.org.request("POST", "access-keys").json(draft))?.success()?;
        let text = |pointer: &str| made.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let id = text("/accessKey/accessKeyId").ok_or("an access key without an id")?;
        Ok(AccessKey { id, secret: text("/secretAccessKey").ok_or("an access key without a secret")? })
    }
}

impl Dialect for Bucket {
    fn put(&self, name: &str) -> Request {
        self.org.request("PUT", &format!("storage/{}/object?key={name}&overwrite=1", self.id))
    }

    fn get(&self, name: &str) -> Result<Request> {
        let asked = self.org.request("GET", &format!("storage/{}/download?key={name}", self.id));
        let answer = call(self.address, asked)?.success()?;
        let url = answer["url"].as_str().ok_or("a download without an address")?;
        let path = url.splitn(4, '/').nth(3).ok_or("an address without a path")?;
        Ok(Request::new("GET", &format!("/{path}")))
    }
}
