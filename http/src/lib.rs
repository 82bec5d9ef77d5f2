//! HTTP and sockets: routes, wire types, sign-in, OpenAPI, the operators' listener
