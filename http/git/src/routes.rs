//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    access, branches, commits, contents, credentials, differences, files, lfs, live, pulls, pushes, repositories,
    rules, secret_findings, statuses, web_commits, web_uploads, wire,
};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Git repositories" {
            GET    "/v1/orgs/{orgId}/git-credentials"     => credentials::git_credentials_list;
            POST   "/v1/orgs/{orgId}/git-credentials"     => credentials::git_credentials_create;
            DELETE "/v1/orgs/{orgId}/git-credentials/{keyId}" => credentials::git_credentials_delete;
            GET    "/v1/orgs/{orgId}/repos"               => repositories::repositories_list;
            POST   "/v1/orgs/{orgId}/repos"               => repositories::repository_create, creates();
            GET    "/v1/orgs/{orgId}/repos/{name}"        => repositories::repository_get;
            PATCH  "/v1/orgs/{orgId}/repos/{name}"        => repositories::repository_patch;
            DELETE "/v1/orgs/{orgId}/repos/{name}"        => repositories::repository_delete;
            POST   "/v1/orgs/{orgId}/repos/{name}/restore" => repositories::repository_restore;
            GET    "/v1/orgs/{orgId}/repos/{name}/access" => access::repository_access_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/access/{principal}" => access::repository_access_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/access/{principal}" => access::repository_access_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pushes" => pushes::pushes_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/branches" => branches::branches_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/branches/divergence" => branches::branches_divergence;
            POST   "/v1/orgs/{orgId}/repos/{name}/branches" => branches::branch_create;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/branches" => branches::branch_rename;
            DELETE "/v1/orgs/{orgId}/repos/{name}/branches" => branches::branch_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/tags"   => branches::tags_list;
            DELETE "/v1/orgs/{orgId}/repos/{name}/tags"   => branches::tag_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/commits" => commits::commits_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/commits/{sha}" => commits::commit_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/compare" => differences::compare_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/diff"   => differences::diff_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/tree"   => contents::tree_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/file"   => files::file_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/blame"  => files::blame_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/contents/raw" => contents::contents_raw;
            POST   "/v1/orgs/{orgId}/repos/{name}/contents/archive" => contents::contents_archive;
            POST   "/v1/orgs/{orgId}/repos/{name}/contents" => web_commits::contents_commit, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/contents/uploads" => web_uploads::contents_upload_create, creates();
            GET    "/v1/repos/files/{resourceId}"         => contents::repository_file_get;
            PUT    "/v1/repos/files/{resourceId}"         => web_uploads::repository_file_put;
            GET    "/v1/orgs/{orgId}/repos/{name}/rules"  => rules::rules_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/rules"  => rules::rule_create, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/rules/explain" => rules::rules_explain;
            GET    "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}" => rules::rule_get;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}" => rules::rule_patch;
            DELETE "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}" => rules::rule_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/secret-findings" => secret_findings::secret_findings_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow" => secret_findings::secret_finding_allow;
            DELETE "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow" => secret_findings::secret_finding_withdraw;
            GET    "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses" => statuses::commit_statuses_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses" => statuses::commit_status_set;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls"  => pulls::pulls_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls"  => pulls::pull_create, creates();
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}" => pulls::pull_get;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/pulls/{number}" => pulls::pull_patch;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/commits" => pulls::pull_commits_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/files" => pulls::pull_files_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers" => pulls::pull_reviewers_list;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers" => pulls::pull_reviewers_put;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews" => pulls::pull_reviews_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews" => pulls::pull_review_create, creates();
            PUT    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews/{reviewId}/dismissal" => pulls::pull_review_dismiss;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads" => pulls::pull_threads_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads" => pulls::pull_thread_create, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/replies" => pulls::pull_thread_reply, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve" => pulls::pull_thread_resolve;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve" => pulls::pull_thread_unresolve;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}" => pulls::pull_comment_patch;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}" => pulls::pull_comment_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/timeline" => pulls::pull_timeline_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/mergeability" => pulls::pull_mergeability_get;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/merge" => pulls::pull_merge;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/merge" => pulls::pull_merge_stop;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/update" => pulls::pull_update;
            GET    "/v1/orgs/{orgId}/repos/{name}/live"  => live::repository_live;
            GET    "/v1/sockets/repositories/{repositoryId}" => live::repository_live_socket;
            GET    "/git/{owner}/{repository}/info/refs"  => wire::git_info_refs;
            POST   "/git/{owner}/{repository}/git-upload-pack" => wire::git_upload_pack;
            POST   "/git/{owner}/{repository}/git-receive-pack" => wire::git_receive_pack;
            POST   "/git/{owner}/{repository}/info/lfs/objects/batch" => lfs::lfs_batch;
            GET    "/v1/repos/lfs/{resourceId}"           => lfs::lfs_object_get;
            PUT    "/v1/repos/lfs/{resourceId}"           => lfs::lfs_object_put;
            GET    "/git/{owner}/{repository}/info/lfs/locks" => lfs::lfs_locks_list;
            POST   "/git/{owner}/{repository}/info/lfs/locks" => lfs::lfs_lock_create;
            POST   "/git/{owner}/{repository}/info/lfs/locks/verify" => lfs::lfs_locks_verify;
            POST   "/git/{owner}/{repository}/info/lfs/locks/{lockId}/unlock" => lfs::lfs_unlock;
        }
    }
}
