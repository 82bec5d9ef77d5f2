//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{approvals, articles, attachments, centers, comments, files, participants, rating, requests};

/// Requests to add a participant from one address a minute: who guesses addresses shall not get far.
const PARTICIPANTS_PER_ADDRESS: u32 = 30;

/// The lines. The contract leaves the beginning of the attachments' paths out; both readings of it are served.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Help center" {
            GET    "/v1/portal/issues/{org}"              => centers::help_centers_list;
            GET    "/v1/portal/issues/{org}/{spaceKey}"   => centers::help_center_get;
            GET    "/v1/portal/issues/{org}/{spaceKey}/requests" => requests::help_requests_list;
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests" => requests::help_request_create, creates();
            GET    "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}" => requests::help_request_get;
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/comments" => comments::help_comment_create, creates();
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/participants" => participants::help_participant_add, per_address(PARTICIPANTS_PER_ADDRESS);
            DELETE "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/participants/{who}" => participants::help_participant_remove;
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/rating" => rating::help_request_rate;
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/approvals/{approvalId}" => approvals::help_approval_decide;
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments" => attachments::help_attachment_create, creates();
            POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments/{attachmentId}/complete" => attachments::help_attachment_complete;
            GET    "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments/{attachmentId}" => attachments::help_attachment_get;
            POST   "/v1/portal/issues/{org}/{spaceKey}/attachments/{attachmentId}/complete" => attachments::help_file_complete;
            GET    "/v1/portal/issues/{org}/{spaceKey}/attachments/{attachmentId}" => attachments::help_file_get;
            GET    "/v1/portal/issues/{org}/{spaceKey}/articles" => articles::help_articles_list;
            GET    "/v1/portal/issues/{org}/{spaceKey}/articles/{pageId}" => articles::help_article_get;
            GET    "/v1/issues/files/{attachmentId}"      => files::issue_file_get;
            PUT    "/v1/issues/files/{attachmentId}"      => files::issue_file_put;
        }
    }
}
