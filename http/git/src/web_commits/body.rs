//! What is to be committed, as it is sent.

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    Error, Result,
    git::{
        BranchName, ObjectId,
        objects::RepositoryPath,
        web::{
            WEB_COMMIT_BODY_MAX, WEB_COMMIT_CHANGES_MAX, WEB_COMMIT_TOO_LARGE, WebChange, WebChanges, WebUploadId,
            WrittenBytes, commit_message, upload_required, web_commit_too_large,
        },
    },
    problems::Problems,
};
use http_shell::body::RequestBody;
use serde::Deserialize;
use utoipa::ToSchema;

/// A change of a file.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"op": "put", "path": "README.md", "content": "SGVsbG8K"}))]
pub(crate) struct WebChangeBody {
    /// `put` writes a file, `move` gives a file or a folder another path, `delete` takes one away.
    op: String,
    /// What is written or deleted.
    path: Option<String>,
    /// What is moved.
    from: Option<String>,
    /// Where it is moved to; nothing is there yet.
    to: Option<String>,
    /// The bytes of the file, as base64.
    content: Option<String>,
    /// The number of an uploaded file, whose bytes these are, instead.
    upload: Option<u64>,
    /// Whether the file can be run; as before where that isn't said.
    executable: Option<bool>,
}

/// What is to be committed.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "branch": "main", "parentCommitId": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "message": "Say hello",
    "changes": [{"op": "put", "path": "README.md", "content": "SGVsbG8K"}]
}))]
pub(crate) struct WebCommitCreate {
    /// The upload of which files are taken: 32 hexadecimal digits.
    upload_id: Option<String>,
    /// The branch: 1 to 256 characters.
    branch: String,
    /// The commit that the changes are for: 40 hexadecimal digits. Not needed in an empty repository only.
    parent_commit_id: Option<String>,
    /// What the commit says in its first line: 1 to 1,000 characters.
    message: String,
    /// What it says below that: up to 20,000 characters.
    description: Option<String>,
    /// A branch that is to be made for the commit, which begins at `parentCommitId`: up to 256 characters.
    new_branch: Option<String>,
    /// 1 to 1,000 changes, with up to 52,428,800 bytes of files.
    changes: Vec<WebChangeBody>,
}

impl RequestBody for WebCommitCreate {
    const LIMIT: usize = WEB_COMMIT_BODY_MAX;
    const TOO_LARGE: &'static str = WEB_COMMIT_TOO_LARGE;
    const TAKES_LONG: bool = true;
}

/// What is to be committed.
pub(super) struct Draft {
    /// The branch whose files are changed.
    pub branch: BranchName,
    /// The branch that is made for it.
    pub new_branch: Option<BranchName>,
    /// The commit that it follows.
    pub parent: Option<ObjectId>,
    /// What it says.
    pub message: String,
    /// What it changes.
    pub changes: WebChanges,
    /// The upload of which it takes files.
    pub upload: Option<WebUploadId>,
}

impl WebCommitCreate {
    /// Checks all that can be checked before the repository is looked at.
    pub(super) fn draft(self) -> Result<Draft> {
        if self.changes.len() > WEB_COMMIT_CHANGES_MAX {
            return Err(web_commit_too_large());
        }
        let mut problems = Problems::new();
        let branch = problems.keep(BranchName::parse("branch", &self.branch))?;
        let named = self.new_branch.as_deref().filter(|name| !name.trim().is_empty());
        let new_branch = problems.keep(named.map(|name| BranchName::parse("newBranch", name)).transpose())?;
        let parent = problems.keep(self.parent_commit_id.as_deref().map(commit_of).transpose())?;
        let message = problems.keep(commit_message(&self.message, self.description.as_deref()))?;
        let upload = self.upload_id.as_deref().map(str::parse::<WebUploadId>).transpose()?;
        let mut changes = Vec::with_capacity(self.changes.len());
        for (at, change) in self.changes.into_iter().enumerate() {
            changes.extend(problems.keep(change.read(&format!("changes[{at}]")))?);
        }
        let (Some(branch), Some(new_branch), Some(parent), Some(message), true) =
            (branch, new_branch, parent, message, problems.is_empty())
        else {
            return Err(problems.into_error());
        };
        let changes = WebChanges::new(changes)?;
        if upload.is_none() && changes.uploaded().next().is_some() {
            return Err(upload_required());
        }
        Ok(Draft { branch, new_branch, parent, message, changes, upload })
    }
}

fn commit_of(text: &str) -> Result<ObjectId> {
    text.parse().map_err(|_| Error::invalid("parentCommitId", "Use 40 hexadecimal digits."))
}

impl WebChangeBody {
    /// The change, which stands at `place` in the request.
    fn read(self, place: &str) -> Result<WebChange> {
        let Self { op, path, from, to, content, upload, executable } = self;
        let required = |name: &str, value: Option<String>| {
            value.ok_or_else(|| Error::invalid(format!("{place}.{name}"), "This field is required."))
        };
        // What is there may have any path.
        let known = |name: &str, value: Option<String>| {
            RepositoryPath::parse(&format!("{place}.{name}"), &required(name, value)?)
        };
        match op.as_str() {
            "put" => {
                let path = RepositoryPath::parse_written(&required("path", path)?)?;
                let bytes = match (content, upload) {
                    (Some(content), None) => WrittenBytes::Sent(decoded(place, &content)?),
                    (None, Some(index)) => WrittenBytes::Uploaded(index),
                    _ => return Err(Error::invalid(format!("{place}.content"), "Use either content or upload.")),
                };
                Ok(WebChange::Put { path, bytes, executable })
            }
            "move" => {
                let (from, to) = (known("from", from)?, required("to", to)?);
                Ok(WebChange::Move { from, to: RepositoryPath::parse_written(&to)? })
            }
            "delete" => Ok(WebChange::Delete { path: known("path", path)? }),
            _ => Err(Error::invalid(format!("{place}.op"), "Use one of: put, move, delete.")),
        }
    }
}

fn decoded(place: &str, content: &str) -> Result<Vec<u8>> {
    let refused =
        || Error::invalid(format!("{place}.content"), "Must be base64: the standard alphabet, padded with =.");
    STANDARD.decode(content).map_err(|_| refused())
}
