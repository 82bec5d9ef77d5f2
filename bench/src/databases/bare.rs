//! The baseline: rows of SQLite, read and written by hand, by a bare actix-web server in a process of its own, without a
//! credential or a check of what is put.
//!
//! It works on a copy of the program's database and writes what the program writes: the item where it is there in the version
//! that was read, the count of its slot, an entry of the audit trail. Whatever waits is one transaction, with
//! `synchronous=FULL`.

use std::{
    env,
    path::Path,
    process::Command,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use actix_web::{App, HttpResponse, HttpServer, web};
use domain::databases::{KeyAttribute, KeySchema, KeyType, RowKey};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Transaction, params, params_from_iter, types::Value};
use tokio::sync::oneshot;

use super::items::{Dialect, Place, Requests};
use crate::{
    load::Request,
    report::Result,
    server::{self, Server},
};

/// The hidden argument with which this program serves instead of measuring; the database's file follows.
pub const ARGUMENT: &str = "databases-rows";

const GET: &str = "SELECT item, version FROM kv_items WHERE table_no = 1 AND pk = ?1 AND sk = ?2";
const QUERY: &str = "SELECT item FROM kv_items WHERE table_no = 1 AND pk = ?1 ORDER BY sk LIMIT 20";
const PUT: &str = "UPDATE kv_items SET version = ?4, size = ?5, expires_at = NULL, item = ?6 \
                   WHERE table_no = 1 AND pk = ?1 AND sk = ?2 AND version = ?3";
const COUNT: &str = "UPDATE kv_slots SET items = items + 0, bytes = bytes + ?2 WHERE table_no = 1 AND slot = ?1";
/// An entry like the one that the program made of an import; its id and its time are others.
const ENTRY: &str = "SELECT * FROM audit WHERE action = 'item.imported' LIMIT 1";

/// Starts the server on a copy of the program's database.
pub fn start(file: &Path) -> Result<(Server, Requests)> {
    let copy = file.with_extension("bare");
    Connection::open(file)?.execute("VACUUM INTO ?1", [copy.to_str().ok_or("a folder's name is no text")?])?;
    let server = Server::start(Command::new(env::current_exe()?).arg(ARGUMENT).arg(copy), "API")?;
    Ok((server, Requests::new(&Rows::new())?))
}

/// Requests that name rows.
struct Rows(KeySchema);

impl Rows {
    fn new() -> Self {
        let attribute = |name: &str| KeyAttribute { name: name.to_owned(), key_type: KeyType::S };
        Self(KeySchema { partition: attribute("pk"), sort: Some(attribute("sk")) })
    }

    fn row(&self, place: Place) -> Result<RowKey> {
        let item = place.kept(0)?;
        Ok(self.0.key_of(&item).map_err(|error| error.to_string())?.row())
    }
}

impl Dialect for Rows {
    fn get(&self, place: Place) -> Result<Request> {
        let RowKey { pk, sk } = self.row(place)?;
        Ok(Request::new("GET", &format!("/items/{}/{}", hex(&pk), hex(&sk))))
    }

    fn put(&self, place: Place, _: usize, to: usize) -> Result<Request> {
        let RowKey { pk, sk } = self.row(place)?;
        let target = format!("/items/{}/{}", hex(&pk), hex(&sk));
        Ok(Request::new("PUT", &target).json(place.kept(to)?.to_text().into_bytes()))
    }

    fn query(&self, number: usize) -> Result<Request> {
        let RowKey { pk, .. } = self.row(Place { partition: number, sort: 0 })?;
        Ok(Request::new("GET", &format!("/partitions/{}", hex(&pk))))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

/// Serves until standard input ends.
pub fn serve() -> Result<()> {
    server::end_with_standard_input();
    let file = env::args().nth(2).ok_or("which database?")?;
    let puts = write(&file)?;
    actix_web::rt::System::new().block_on(async {
        let server = HttpServer::new(move || {
            // One for each worker.
            let reader = open(&file).ok().map(Mutex::new);
            App::new()
                .app_data(web::Data::new(reader))
                .app_data(web::Data::new(puts.clone()))
                .route("/items/{pk}/{sk}", web::get().to(get))
                .route("/items/{pk}/{sk}", web::put().to(put))
                .route("/partitions/{pk}", web::get().to(query))
        });
        let server = server.tcp_nodelay(true).bind(("127.0.0.1", 0))?;
        for address in server.addrs() {
            println!("API http://{address}/");
        }
        Ok(server.run().await?)
    })
}

fn open(file: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", "on")?;
    Ok(connection)
}

type Reader = web::Data<Option<Mutex<Connection>>>;

async fn get(reader: Reader, path: web::Path<(String, String)>) -> HttpResponse {
    let (Some(pk), Some(sk), Some(reader)) = (bytes(&path.0), bytes(&path.1), reader.as_ref()) else {
        return HttpResponse::BadRequest().finish();
    };
    let connection = reader.lock();
    let read = || connection.prepare_cached(GET)?.query_row((pk, sk), |row| row.get::<_, String>(0)).optional();
    match read() {
        Ok(Some(item)) => json(format!(r#"{{"item":{item}}}"#)),
        Ok(None) => HttpResponse::NotFound().finish(),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

async fn query(reader: Reader, pk: web::Path<String>) -> HttpResponse {
    let (Some(pk), Some(reader)) = (bytes(&pk), reader.as_ref()) else { return HttpResponse::BadRequest().finish() };
    let connection = reader.lock();
    let read = || {
        let mut statement = connection.prepare_cached(QUERY)?;
        let items = statement.query_map([pk], |row| row.get::<_, String>(0))?;
        items.collect::<rusqlite::Result<Vec<_>>>()
    };
    match read() {
        Ok(items) => json(format!(r#"{{"items":[{}]}}"#, items.join(","))),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

fn json(body: String) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(body)
}

/// An item that is put.
struct Put {
    row: RowKey,
    text: String,
    done: oneshot::Sender<bool>,
}

async fn put(puts: web::Data<Sender<Put>>, path: web::Path<(String, String)>, text: String) -> HttpResponse {
    let (Some(pk), Some(sk)) = (bytes(&path.0), bytes(&path.1)) else { return HttpResponse::BadRequest().finish() };
    let (done, is_done) = oneshot::channel();
    let answer = format!(r#"{{"item":{text}}}"#);
    let sent = puts.send(Put { row: RowKey { pk, sk }, text, done });
    match (sent, is_done.await) {
        (Ok(()), Ok(true)) => json(answer),
        _ => HttpResponse::InternalServerError().finish(),
    }
}

/// Starts the thread that writes: all that waits as one transaction.
fn write(file: &str) -> Result<Sender<Put>> {
    let mut connection = open(file)?;
    let entry = connection.query_row(ENTRY, [], |row| {
        (0..row.as_ref().column_count()).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<Value>>>()
    })?;
    let (puts, waiting) = channel::<Put>();
    thread::spawn(move || {
        let mut number = 0;
        while let Some(group) = next(&waiting) {
            let outcome = commit(&mut connection, &group, &entry, &mut number);
            for put in group {
                // Nobody waits any more when the run is over.
                let _ = put.done.send(outcome.is_ok());
            }
        }
    });
    Ok(puts)
}

fn next(waiting: &Receiver<Put>) -> Option<Vec<Put>> {
    let first = waiting.recv().ok()?;
    Some(std::iter::once(first).chain(waiting.try_iter()).collect())
}

fn commit(connection: &mut Connection, group: &[Put], entry: &[Value], number: &mut i64) -> Result<()> {
    let transaction = connection.transaction()?;
    for put in group {
        *number += 1;
        put_one(&transaction, put, entry, *number)?;
    }
    Ok(transaction.commit()?)
}

fn put_one(transaction: &Transaction<'_>, put: &Put, entry: &[Value], number: i64) -> Result<()> {
    let Put { row: RowKey { pk, sk }, text, .. } = put;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
    let (before, version) = transaction.prepare_cached(GET)?.query_row((pk, sk), read)?;
    let (size, added) = (i64::try_from(text.len())?, i64::try_from(text.len())? - i64::try_from(before.len())?);
    let written = transaction.prepare_cached(PUT)?.execute(params![pk, sk, version, version + 1, size, text])?;
    if written != 1 {
        return Err("an item is not there as it was read".into());
    }
    transaction.prepare_cached(COUNT)?.execute(params![pk.first().map_or(0, |byte| byte >> 4), added])?;
    let mut entry = entry.to_vec();
    entry[0] = Value::Text(format!("aud_{number:026}"));
    let places = vec!["?"; entry.len()].join(",");
    transaction.prepare_cached(&format!("INSERT INTO audit VALUES ({places})"))?.execute(params_from_iter(entry))?;
    Ok(())
}
