//! The baseline of a sync: rows of SQLite written out as JSON by hand, by a bare actix-web server in a process of its own,
//! without a credential, a check or a model between.

use std::{env, fmt::Write, path::Path, process::Command};

use actix_web::{App, HttpResponse, HttpServer, web};
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::{
    report::Result,
    server::{self, Server},
};

/// The hidden argument with which this program serves instead of measuring; the database's file follows.
pub const ARGUMENT: &str = "vault-rows";

const INDEX: &str = "SELECT item_id, revision, deleted FROM vault_items WHERE user_id = ?1 ORDER BY item_id";
const ITEMS: &str = "SELECT item_id, revision, deleted, key, overview, details, created_at, updated_at \
     FROM vault_items WHERE user_id = ? AND item_id IN (";

/// Starts the server on the program's database.
pub fn start(file: &Path) -> Result<Server> {
    Server::start(Command::new(env::current_exe()?).arg(ARGUMENT).arg(file), "API")
}

/// Serves until standard input ends.
pub fn serve() -> Result<()> {
    server::end_with_standard_input();
    let file = env::args().nth(2).ok_or("which database?")?;
    actix_web::rt::System::new().block_on(async {
        let server = HttpServer::new(move || {
            // One for each worker.
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&file, flags).ok().map(Mutex::new);
            App::new()
                .app_data(web::Data::new(connection))
                .route("/{user}/index", web::get().to(index))
                .route("/{user}/items/{ids}", web::get().to(items))
        });
        let server = server.tcp_nodelay(true).bind(("127.0.0.1", 0))?;
        for address in server.addrs() {
            println!("API http://{address}/");
        }
        Ok(server.run().await?)
    })
}

type Database = web::Data<Option<Mutex<Connection>>>;

async fn index(database: Database, user: web::Path<String>) -> HttpResponse {
    answer(&database, |connection| index_json(connection, &user))
}

async fn items(database: Database, path: web::Path<(String, String)>) -> HttpResponse {
    answer(&database, |connection| items_json(connection, &path.0, &path.1))
}

fn answer(database: &Database, read: impl FnOnce(&Connection) -> Result<String>) -> HttpResponse {
    match database.as_ref().as_ref().map(|connection| read(&connection.lock())) {
        Some(Ok(json)) => HttpResponse::Ok().content_type("application/json").body(json),
        _ => HttpResponse::InternalServerError().finish(),
    }
}

fn index_json(connection: &Connection, user: &str) -> Result<String> {
    let mut statement = connection.prepare_cached(INDEX)?;
    let mut rows = statement.query([user])?;
    let mut json = String::from(r#"{"items":["#);
    while let Some(row) = rows.next()? {
        let separator = if json.ends_with('[') { "" } else { "," };
        let (id, revision) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_i64()?);
        let deleted = row.get_ref(2)?.as_i64()? != 0;
        write!(json, r#"{separator}{{"itemId":"{id}","revision":{revision},"deleted":{deleted}}}"#)?;
    }
    json.push_str("]}");
    Ok(json)
}

fn items_json(connection: &Connection, user: &str, ids: &str) -> Result<String> {
    let ids: Vec<_> = ids.split(',').collect();
    let places = vec!["?"; ids.len()].join(",");
    let mut statement = connection.prepare_cached(&format!("{ITEMS}{places}) ORDER BY item_id"))?;
    let mut rows = statement.query(params_from_iter(std::iter::once(user).chain(ids)))?;
    let mut json = String::from(r#"{"items":["#);
    while let Some(row) = rows.next()? {
        let separator = if json.ends_with('[') { "" } else { "," };
        let (id, revision) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_i64()?);
        let deleted = row.get_ref(2)?.as_i64()? != 0;
        let [key, overview, details] = [row.get_ref(3)?, row.get_ref(4)?, row.get_ref(5)?];
        let (key, overview, details) = (key.as_str()?, overview.as_str()?, details.as_str()?);
        let (created_at, updated_at) = (row.get_ref(6)?.as_i64()?, row.get_ref(7)?.as_i64()?);
        write!(json, r#"{separator}{{"itemId":"{id}","revision":{revision},"deleted":{deleted},"key":{key},"#)?;
        write!(
            json,
            r#""overview":{overview},"details":{details},"createdAt":{created_at},"updatedAt":{updated_at}}}"#
        )?;
    }
    json.push_str("]}");
    Ok(json)
}
