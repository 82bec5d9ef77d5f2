//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{actors, console, dead_letters, jobs, nodes, queues, trouble};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Platform" {
            GET    "/v1/platform/actors"                  => actors::actors_get;
            GET    "/v1/platform/actors/{kind}"           => actors::actors_list;
            GET    "/v1/platform/actors/{kind}/{actorKey}" => actors::actor_get;
            POST   "/v1/platform/actors/{kind}/{actorKey}/{act}" => actors::actor_act;
            GET    "/v1/platform/crashes"                 => trouble::crashes_list;
            GET    "/v1/platform/slow"                    => trouble::slow_list;
            GET    "/v1/platform/nodes"                   => nodes::nodes_list;
            GET    "/v1/platform/timers"                  => queues::timers_get;
            GET    "/v1/platform/outbox"                  => queues::outbox_get;
            GET    "/v1/platform/deliveries"              => queues::deliveries_get;
            GET    "/v1/platform/dead-letters"            => dead_letters::dead_letters_get;
            POST   "/v1/platform/dead-letters/{deadLetterSeq}/repeat" => dead_letters::dead_letter_repeat;
            POST   "/v1/platform/dead-letters/{deadLetterSeq}/drop" => dead_letters::dead_letter_drop;
            GET    "/v1/platform/jobs"                    => jobs::jobs_get;
            POST   "/v1/platform/jobs/{jobSeq}/cancel"    => jobs::job_cancel;
        }
        "Console" {
            GET    "/console"                             => console::console_get;
            GET    "/console/files/{file}"                => console::console_file;
            GET    "/console/session"                     => console::console_session;
            POST   "/console/session"                     => console::console_sign_in, per_address(120);
            DELETE "/console/session"                     => console::console_sign_out;
            GET    "/console/live"                        => console::console_live;
            GET    "/console/api/{*path}"                 => console::console_read;
            POST   "/console/api/{*path}"                 => console::console_act;
        }
    }
}
