//! Parameters of the path.

mod names;

use std::ops::Deref;

pub use self::names::{AliasAddress, ConversationId, DatabaseId, DraftFileId, DraftId, FilePart, SenderAddress};
use crate::{argument::Argument, call::Call, error::Result, facts::Facts};

/// A type that is read from a parameter of the path. What it can't be read from does not exist: 404.
pub trait PathParameter: Sized {
    /// The parameter's name between the braces of the path.
    const NAME: &'static str;
    /// What it names.
    const DESCRIPTION: &'static str;
    /// One such.
    const EXAMPLE: &'static str;
    /// The message of the 404 for one that can't be.
    const NOT_FOUND: &'static str;

    /// Reads it; `None` for a text that names nothing.
    fn read(text: &str) -> Option<Self>;
}

/// The parameter of the path that `T` names, or the pair that two name.
pub struct Path<T>(pub T);

impl<T> Deref for Path<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: PathParameter> Argument for Path<T> {
    fn describe(facts: &mut Facts) {
        facts.path_parameter(T::NAME, T::DESCRIPTION, T::EXAMPLE);
        facts.error(404, T::NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let text = call.path_value(T::NAME)?;
        Ok(Self(T::read(text).ok_or_else(|| domain::Error::not_found(T::NOT_FOUND))?))
    }
}

macro_rules! id_parameters {
    ($($id:ty = $name:literal, $description:literal, $not_found:expr;)*) => {$(
        impl PathParameter for $id {
            const NAME: &'static str = $name;
            const DESCRIPTION: &'static str = $description;
            const EXAMPLE: &'static str = concat_example(<$id>::PREFIX);
            const NOT_FOUND: &'static str = $not_found;

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

/// An id with this prefix, for the document.
pub const fn concat_example(prefix: &'static str) -> &'static str {
    match prefix.as_bytes() {
        b"usr" => "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"sgn" => "sgn_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"org" => "org_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"inv" => "inv_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"tea" => "tea_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"esc" => "esc_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"ahk" => "ahk_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"apw" => "apw_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"key" => "key_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"nte" => "nte_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"ptc" => "ptc_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"rot" => "rot_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"rov" => "rov_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"doc" => "doc_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"imp" => "imp_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"res" => "res_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"rul" => "rul_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"prv" => "prv_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"pth" => "pth_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"pcm" => "pcm_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"run" => "run_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"job" => "job_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"rnr" => "rnr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"mbx" => "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"cal" => "cal_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"evt" => "evt_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"thr" => "thr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"exp" => "exp_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"msg" => "msg_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"flt" => "flt_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"iss" => "iss_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"icm" => "icm_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"apv" => "apv_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"cmp" => "cmp_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"ver" => "ver_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"spr" => "spr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"brd" => "brd_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"ijb" => "ijb_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"imh" => "imh_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"ifl" => "ifl_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"ilk" => "ilk_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"att" => "att_01jd7rt4m5e9fv2w8x3c6k0hqz",
        b"pgc" => "pgc_01jd7rt4m5e9fv2w8x3c6k0hqz",
        _ => "01jd7rt4m5e9fv2w8x3c6k0hqz",
    }
}

id_parameters! {
    domain::id::UserId = "userId", "A person.", "Person not found.";
    domain::id::SignInId = "signInId", "A sign-in.", "Sign-in not found.";
    domain::id::AppPasswordId = "appPasswordId", "An app password.", domain::app_password::APP_PASSWORD_NOT_FOUND;
    domain::id::TeamId = "teamId", "A team.", "Team not found.";
    domain::id::InviteId = "inviteId", "An invitation.", "Invitation not found.";
    domain::id::EscalationId = "escalationId", "An escalation.", "Escalation not found.";
    domain::id::AlarmHookId = "hookId", "A hook for alarms.", "Hook not found.";
    domain::id::KeyId = "keyId", "An API key.", "Key not found.";
    domain::id::NoticeId = "noticeId", "A notice.", "Notice not found.";
    domain::id::ProtocolId = "protocolId", "A notification protocol.", "Protocol not found.";
    domain::id::RotaId = "rotaId", "An on-call rota.", "Rota not found.";
    domain::id::PageId = "pageId", "A notes page.", "Page not found";
    domain::id::PageImportId = "importId", "An import of notes pages.", "Import not found.";
    domain::id::PageCommentId = "commentId", "A comment on a notes page.", "Comment not found.";
    domain::id::BranchRuleId = "ruleId", "A rule of a repository.", "Rule not found";
    domain::id::PullReviewId = "reviewId", "A review of the pull request.", "Review not found";
    domain::id::PullThreadId = "threadId", "A thread of the pull request.", "Thread not found";
    domain::id::PullCommentId = "pullCommentId", "A comment of the thread.", "Comment not found";
    domain::id::RunId = "runId", "A run of a workflow.", domain::pipelines::RUN_NOT_FOUND;
    domain::id::JobId = "jobId", "A job of a run.", domain::pipelines::JOB_NOT_FOUND;
    domain::id::RunnerId = "runnerId", "A runner.", domain::pipelines::RUNNER_NOT_FOUND;
    domain::id::MailboxId = "mailboxId", "A mailbox.", domain::mail::MAILBOX_NOT_FOUND;
    domain::id::CalendarId = "calendarId", "A calendar of the mailbox.", domain::calendar::CALENDAR_NOT_FOUND;
    domain::id::EventId = "eventId", "An event of the mailbox.", domain::calendar::EVENT_NOT_FOUND;
    domain::id::MailThreadId = "mailThreadId", "A conversation in the mailbox.", domain::calendar::MESSAGE_NOT_FOUND;
    domain::id::MailFilterId = "mailFilterId", "A filter of the mailbox.", domain::mail::FILTER_NOT_FOUND;
    domain::id::MailLabelId = "labelId", "A label of the mailbox.", domain::mail::LABEL_NOT_FOUND;
    domain::id::MailImportId = "mailImportId", "An import of mail.", domain::mail::MAIL_IMPORT_NOT_FOUND;
    domain::id::MailExportId = "mailExportId", "An export of the mailbox.", domain::mail::MAIL_EXPORT_NOT_FOUND;
    domain::id::MailMessageId = "messageId", "A message of the conversation.", domain::calendar::MESSAGE_NOT_FOUND;
    domain::id::IssueId = "issueId", "An issue, by its id.", domain::issues::limits::ISSUE_NOT_FOUND;
    domain::id::IssueCommentId = "issueCommentId", "A comment on the issue.", domain::issues::limits::COMMENT_NOT_FOUND;
    domain::id::ApprovalId = "approvalId", "An approval of the issue.", domain::issues::approval::APPROVAL_NOT_FOUND;
    domain::id::IssueComponentId = "componentId", "A component of the space.", domain::issues::limits::COMPONENT_NOT_FOUND;
    domain::id::IssueVersionId = "versionId", "A version of the space.", domain::issues::limits::VERSION_NOT_FOUND;
    domain::id::SprintId = "sprintId", "A sprint of the space.", domain::issues::limits::SPRINT_NOT_FOUND;
    domain::id::BoardId = "boardId", "A board of the space.", domain::issues::limits::BOARD_NOT_FOUND;
    domain::id::IssueJobId = "issueJobId", "A change of many issues.", domain::issues::bulk::ISSUE_JOB_NOT_FOUND;
    domain::id::IssueMailHookId = "mailHookId", "A hook by which mail comes to a desk.", domain::issues::mailing::MAIL_HOOK_NOT_FOUND;
    domain::id::IssueLinkId = "linkId", "A link of the issue.", domain::issues::limits::LINK_NOT_FOUND;
    domain::id::RotaOverrideId = "overrideId", "An override of a rota.", "Override not found.";
}
