//! What an endpoint asks for and answers, gathered from the types of its arguments and of its answer.

use domain::{Error, Scope};
use serde_json::json;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Content, Ref, RefOr, Required, ResponseBuilder, Schema,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn},
        request_body::RequestBodyBuilder,
        schema::{ArrayBuilder, ObjectBuilder, Type},
        security::SecurityRequirement,
    },
};

use crate::error::{ErrorBody, LFS_TYPE, LfsErrorBody};

/// The name of the bearer scheme in the document.
pub const BEARER: &str = "bearer";

/// The name of the scheme of the operators' console.
pub const CONSOLE: &str = "console";

/// What any endpoint may answer instead.
const ANY_OTHER: &str = "Any other error: 429 (too often) and 503 (busy; safe to repeat with the same \
                         `Idempotency-Key`) with `Retry-After`, 500.";

/// Whom an endpoint answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// No argument has said so far. An endpoint that stays so does not start.
    #[default]
    Unstated,
    /// Anyone; the address is rate-limited.
    Open,
    /// Callers with a valid credential; the caller is rate-limited.
    SignedIn,
}

/// The description of one endpoint, as it grows.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, which one argument states")]
pub struct Facts {
    /// Its part of the OpenAPI document.
    pub operation: Operation,
    /// The schemas that its types refer to.
    pub schemas: Vec<(String, RefOr<Schema>)>,
    /// Whom it answers.
    pub access: Access,
    /// The permissions that it needs.
    pub scopes: Vec<Scope>,
    /// Whom it lets in among people.
    pub doors: Vec<&'static str>,
    /// Whether the caller needs a part in the organization of the path.
    pub in_organization: bool,
    /// Whether it is in a repository, and so open to the keys of machines (contract C 4.3).
    pub in_repository: bool,
    /// What holds for its JSON body; `None` when it reads none.
    pub body: Option<BodyRule>,
    /// Whether it reads or writes a body as it comes, for as long as that takes.
    pub streams: bool,
    /// Who asks it.
    pub asked_by: AskedBy,
    /// Whether runners show a token of their own, which its argument counts.
    pub shows_token: bool,
}

/// Who asks an endpoint, and so how they show a credential and read what is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskedBy {
    /// Clients of the API: `Bearer`, and JSON.
    #[default]
    Clients,
    /// Git: the password of `Basic`, too, and texts, which it shows.
    Git,
    /// Git LFS: the same credentials, and JSON of its own.
    GitLfs,
}

impl AskedBy {
    /// Whether the password of `Basic` is a credential.
    pub const fn shows_password(self) -> bool {
        matches!(self, Self::Git | Self::GitLfs)
    }
}

/// What holds for a JSON body.
#[derive(Clone, Copy, Debug)]
pub struct BodyRule {
    /// How large it may be, in bytes.
    pub len_max: usize,
    /// The message of the 413 above that.
    pub too_large: &'static str,
}

impl Facts {
    pub(crate) fn new(operation: Operation) -> Self {
        Self {
            operation,
            schemas: Vec::new(),
            access: Access::default(),
            scopes: Vec::new(),
            doors: Vec::new(),
            in_organization: false,
            in_repository: false,
            body: None,
            streams: false,
            asked_by: AskedBy::default(),
            shows_token: false,
        }
    }

    /// The endpoint answers anyone.
    pub fn open(&mut self) {
        if self.access == Access::Unstated {
            self.access = Access::Open;
        }
    }

    /// The endpoint needs a valid credential.
    pub fn signed_in(&mut self) {
        if self.access != Access::SignedIn {
            self.access = Access::SignedIn;
            self.operation.security = Some(vec![SecurityRequirement::new(BEARER, Vec::<String>::new())]);
            self.error(401, "Sign in to continue.");
        }
    }

    /// The endpoint needs a sign-in to the operators' console.
    pub fn console(&mut self) {
        self.access = Access::SignedIn;
        self.operation.security = Some(vec![SecurityRequirement::new(CONSOLE, Vec::<String>::new())]);
        self.error(401, "Sign in to continue.");
    }

    /// A text parameter of the path.
    pub fn path_parameter(&mut self, name: &str, description: &str, example: &str) {
        self.parameter(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Path)
                .required(Required::True)
                .description(Some(description))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .example(Some(json!(example)))
                .build(),
        );
    }

    /// A parameter of the query that may stand there up to `count_max` times.
    pub fn query_list(&mut self, name: &str, description: &str, count_max: usize, example: &str) {
        let items = ObjectBuilder::new().schema_type(Type::String);
        self.parameter(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(ArrayBuilder::new().items(items).max_items(Some(count_max))))
                .example(Some(json!([example])))
                .build(),
        );
    }

    /// A header of the request.
    pub fn header(&mut self, name: &str, description: &str, required: bool) {
        self.parameter(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Header)
                .required(if required { Required::True } else { Required::False })
                .description(Some(description))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .build(),
        );
    }

    /// Any parameter; one of the same name and place takes the place of an earlier one. Those of the path come first.
    pub fn parameter(&mut self, parameter: Parameter) {
        let parameters = self.operation.parameters.get_or_insert_default();
        parameters.retain(|known| match known {
            RefOr::T(known) => known.name != parameter.name || known.parameter_in != parameter.parameter_in,
            RefOr::Ref(_) => true,
        });
        let is_of_path = |known: &RefOr<Parameter>| match known {
            RefOr::T(known) => known.parameter_in == ParameterIn::Path,
            RefOr::Ref(_) => false,
        };
        let place = match parameter.parameter_in {
            ParameterIn::Path => parameters.iter().rposition(is_of_path).map_or(0, |last| last + 1),
            _ => parameters.len(),
        };
        parameters.insert(place, RefOr::T(parameter));
    }

    /// A JSON body of type `T`.
    pub fn body<T: ToSchema>(&mut self, rule: BodyRule) {
        let content = Content::new(Some(self.reference::<T>()));
        self.body = Some(rule);
        self.operation.request_body = Some(RefOr::T(
            RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build(),
        ));
    }

    /// A body that is read as it comes.
    pub fn stream(&mut self, content_types: &[&str]) {
        self.streams = true;
        let body = content_types.iter().fold(RequestBodyBuilder::new(), |body, content_type| {
            let bytes = ObjectBuilder::new().schema_type(Type::String).build();
            body.content(*content_type, Content::new(Some(Schema::from(bytes))))
        });
        self.operation.request_body = Some(RefOr::T(body.required(Some(Required::True)).build()));
    }

    /// A form.
    pub fn form(&mut self, content_type: &str) {
        let fields = ObjectBuilder::new().schema_type(Type::Object).build();
        self.operation.request_body = Some(RefOr::T(
            RequestBodyBuilder::new()
                .content(content_type, Content::new(Some(Schema::from(fields))))
                .required(Some(Required::True))
                .build(),
        ));
    }

    /// An answer with a JSON body of type `T`. What the endpoint's own attribute says of the status is kept.
    pub fn answer<T: ToSchema>(&mut self, status: u16, description: &str) {
        let content = Content::new(Some(self.reference::<T>()));
        let response = self.response(status, description);
        if response.content.is_empty() {
            response.content.insert("application/json".to_owned(), RefOr::T(content));
        }
    }

    /// An answer without a body.
    pub fn empty_answer(&mut self, status: u16, description: &str) {
        self.response(status, description);
    }

    /// An error that may come instead. Several of one status stand one under another.
    pub fn error(&mut self, status: u16, message: &str) {
        let response = self.response(status, "");
        if !response.description.contains(message) {
            if !response.description.is_empty() {
                response.description.push_str("\n\n");
            }
            response.description.push_str(message);
        }
    }

    /// A door that lets in `who`; the others read `refusal`.
    pub fn door(&mut self, who: &'static str, refusal: &str) {
        self.error(403, refusal);
        self.doors.push(who);
    }

    /// A permission that the caller needs in the organization of the path.
    pub fn scope(&mut self, scope: Scope) {
        self.error(403, &Error::MissingScope(scope).to_string());
        self.scopes.push(scope);
    }

    /// Gives each error without content the common body, and says what else may come.
    pub(crate) fn complete(&mut self) {
        let text = || Content::new(Some(Schema::from(ObjectBuilder::new().schema_type(Type::String).build())));
        let (content_type, content) = match self.asked_by {
            AskedBy::Git => ("text/plain", text()),
            AskedBy::GitLfs => (LFS_TYPE, Content::new(Some(self.reference::<LfsErrorBody>()))),
            AskedBy::Clients => ("application/json", Content::new(Some(self.reference::<ErrorBody>()))),
        };
        let responses = &mut self.operation.responses.responses;
        responses.insert("default".to_owned(), RefOr::T(ResponseBuilder::new().description(ANY_OTHER).build()));
        for (status, response) in responses {
            if let RefOr::T(response) = response
                && (status == "default" || status.starts_with(['4', '5']))
                && response.content.is_empty()
            {
                response.content.insert(content_type.to_owned(), RefOr::T(content.clone()));
            }
        }
    }

    fn response(&mut self, status: u16, description: &str) -> &mut utoipa::openapi::Response {
        let response = self
            .operation
            .responses
            .responses
            .entry(status.to_string())
            .or_insert_with(|| RefOr::T(ResponseBuilder::new().description(description).build()));
        if let RefOr::Ref(_) = response {
            *response = RefOr::T(ResponseBuilder::new().description(description).build());
        }
        match response {
            RefOr::T(response) => response,
            RefOr::Ref(_) => unreachable!("a reference was replaced above"),
        }
    }

    fn reference<T: ToSchema>(&mut self) -> RefOr<Schema> {
        let name = T::name();
        self.schemas.push((name.to_string(), <T as PartialSchema>::schema()));
        T::schemas(&mut self.schemas);
        RefOr::Ref(Ref::from_schema_name(name))
    }
}
