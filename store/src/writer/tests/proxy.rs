//! A way to the database that can be cut.

use std::{net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

pub struct Proxy {
    url: String,
    address: SocketAddr,
    target: String,
    serving: Mutex<Option<JoinHandle<()>>>,
}

impl Proxy {
    /// In front of the server of `url`.
    pub async fn start(url: &str) -> Self {
        let after_user = url.find('@').expect("the URL names a user") + 1;
        let target = url[after_user..].split('/').next().expect("the URL names a host").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("has an address");
        let url = url.replacen(&target, &address.to_string(), 1);
        let proxy = Self { url, address, target, serving: Mutex::new(None) };
        proxy.serve(listener);
        proxy
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    fn serve(&self, listener: TcpListener) {
        let target: Arc<str> = self.target.as_str().into();
        let serving = tokio::spawn(async move {
            // Connections end with the task, because the set does.
            let mut connections = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                let target = Arc::clone(&target);
                connections.spawn(async move {
                    let mut far = TcpStream::connect(&*target).await?;
                    tokio::io::copy_bidirectional(&mut near, &mut far).await
                });
            }
        });
        *self.serving.lock() = Some(serving);
    }

    /// Breaks every connection, and refuses new ones.
    pub async fn cut(&self) {
        let serving = self.serving.lock().take();
        if let Some(serving) = serving {
            serving.abort();
            let _ = serving.await;
        }
    }

    /// Lets connections through again.
    pub async fn mend(&self) {
        self.serve(TcpListener::bind(self.address).await.expect("binds again"));
    }
}
