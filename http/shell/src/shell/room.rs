//! The room that a request takes while it waits for its answer.

use actix_web::{dev::ServiceRequest, http::header::HeaderMap};

use crate::state::State;

/// Has a request that is answered late take no more room than it needs, before it is answered: thousands wait at the same time.
pub fn save_room(state: &State, request: &mut ServiceRequest) {
    let found = state.router.find(request.method(), request.path());
    if found.is_ok_and(|(endpoint, _)| endpoint.facts.streams) {
        keep_what_came(request.headers_mut());
    }
}

/// Gives back what is held ready for more headers than came, which is some 5 KB.
fn keep_what_came(headers: &mut HeaderMap) {
    let came = std::mem::take(headers);
    let mut kept = HeaderMap::with_capacity(came.len_keys());
    for (name, value) in came {
        kept.append(name, value);
    }
    *headers = kept;
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HOST, HeaderValue, VIA};

    use super::*;

    #[test]
    fn headers_stay_as_they_came_in_the_room_that_they_take() {
        let mut headers = HeaderMap::with_capacity(16);
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(VIA, HeaderValue::from_static("one"));
        headers.append(VIA, HeaderValue::from_static("two"));
        let before = headers.capacity();
        keep_what_came(&mut headers);
        let via: Vec<_> = headers.get_all(VIA).map(HeaderValue::as_bytes).collect();
        assert_eq!((via, headers.len()), (vec![b"one".as_slice(), b"two"], 3));
        assert_eq!(headers.get(HOST).unwrap(), "localhost");
        assert!(headers.capacity() < before, "{} of {before}", headers.capacity());
    }
}
