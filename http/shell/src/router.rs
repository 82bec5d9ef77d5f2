//! Finds the endpoint for a method and a path.

use std::{collections::BTreeMap, sync::Arc};

use actix_web::http::Method;

use crate::{
    endpoint::Endpoint,
    error::{ApiError, Result},
};

/// The endpoints by path, as a radix tree: finding one takes as long as its path is, however many there are.
pub struct Router {
    paths: matchit::Router<Vec<Arc<Endpoint>>>,
    endpoints: Vec<Arc<Endpoint>>,
}

/// Two paths of the URL tree stand in each other's way.
pub use matchit::InsertError as Unroutable;

/// An endpoint, and the values of its path's parameters, decoded.
pub type Found = (Arc<Endpoint>, Vec<String>);

impl Router {
    /// Lays the tree. Two paths that stand in each other's way are a defect of the page that lists them.
    pub fn new(endpoints: Vec<Endpoint>) -> Result<Self, Unroutable> {
        let endpoints: Vec<Arc<Endpoint>> = endpoints.into_iter().map(Arc::new).collect();
        let mut by_path: BTreeMap<&str, Vec<Arc<Endpoint>>> = BTreeMap::new();
        for endpoint in &endpoints {
            by_path.entry(endpoint.path).or_default().push(Arc::clone(endpoint));
        }
        let mut paths = matchit::Router::new();
        for (path, endpoints) in by_path {
            paths.insert(path, endpoints)?;
        }
        Ok(Self { paths, endpoints })
    }

    /// Every endpoint, in the order of the page.
    pub fn endpoints(&self) -> &[Arc<Endpoint>] {
        &self.endpoints
    }

    /// The endpoint for a method and a path; `HEAD` asks the one for `GET`.
    pub fn find(&self, method: &Method, path: &str) -> Result<Found> {
        let found = self.paths.at(path).map_err(|_| ApiError::NoRoute)?;
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        let endpoint = found.value.iter().find(|endpoint| endpoint.method == *wanted);
        let Some(endpoint) = endpoint else {
            return Err(ApiError::WrongMethod(found.value.iter().map(|endpoint| endpoint.method.clone()).collect()));
        };
        let values = found.params.iter().map(|(_, value)| decoded(value)).collect::<Result<_>>()?;
        Ok((Arc::clone(endpoint), values))
    }
}

/// A path segment without its percent signs. One that is no UTF-8 names nothing.
fn decoded(segment: &str) -> Result<String> {
    let text = percent_encoding::percent_decode_str(segment).decode_utf8().map_err(|_| ApiError::NoRoute)?;
    Ok(text.into_owned())
}
