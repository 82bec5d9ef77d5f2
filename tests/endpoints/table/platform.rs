//! Endpoints of the operators' console.

use crate::endpoints::row::Takes::{Json, Nothing};
use crate::endpoints::row::Who::{Anyone, Console};
use crate::endpoints::row::{INFRA, KB, Row, TOO_LARGE};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/platform/actors"                            INFRA, Nothing;
    GET    "/v1/platform/actors/{kind}"                     INFRA, Nothing;
    GET    "/v1/platform/actors/{kind}/{actorKey}"          INFRA, Nothing;
    POST   "/v1/platform/actors/{kind}/{actorKey}/{act}"    INFRA, Nothing;
    GET    "/v1/platform/crashes"                           INFRA, Nothing;
    GET    "/v1/platform/slow"                              INFRA, Nothing;
    GET    "/v1/platform/nodes"                             INFRA, Nothing;
    GET    "/v1/platform/timers"                            INFRA, Nothing;
    GET    "/v1/platform/outbox"                            INFRA, Nothing;
    GET    "/v1/platform/deliveries"                        INFRA, Nothing;
    GET    "/v1/platform/dead-letters"                      INFRA, Nothing;
    POST   "/v1/platform/dead-letters/{deadLetterSeq}/repeat" INFRA, Nothing;
    POST   "/v1/platform/dead-letters/{deadLetterSeq}/drop" INFRA, Nothing;
    GET    "/v1/platform/jobs"                              INFRA, Nothing;
    POST   "/v1/platform/jobs/{jobSeq}/cancel"              INFRA, Nothing;

    GET    "/console"                                       Anyone, Nothing;
    GET    "/console/files/{file}"                          Anyone, Nothing;
    GET    "/console/session"                               Console, Nothing;
    POST   "/console/session"                               Anyone, Json(16 * KB, TOO_LARGE);
    DELETE "/console/session"                               Console, Nothing;
    GET    "/console/live"                                  Console, Nothing;
    GET    "/console/api/{path}"                            Console, Nothing;
    POST   "/console/api/{path}"                            Console, Nothing;
};
