//! Who comes in: people; of these, for some things, the mobile app; of these, for some, the iPhone app.

use domain::{
    Context, Platform,
    id::{SignInId, UserId},
    notify::{is_install_id, not_the_iphone_app, not_the_mobile_app},
};
use http_shell::{
    argument::Argument,
    call::Call,
    caller::{Door, Person},
    error::Result,
    facts::Facts,
};

/// Notifications open to people (contract A 4.3).
pub(crate) struct NotifyDoor;

impl Door for NotifyDoor {
    const WHO: &'static str = "people";
    const REFUSAL: &'static str = "Notifications belong to people.";
}

/// A person.
pub(crate) type NotifyPerson = Person<NotifyDoor>;

/// A person in the iPhone app.
pub(crate) struct IphonePerson(NotifyPerson);

impl IphonePerson {
    pub(super) const fn user_id(&self) -> UserId {
        self.0.user_id()
    }

    pub(super) const fn sign_in_id(&self) -> SignInId {
        self.0.sign_in_id()
    }

    pub(super) const fn app(&self) -> domain::App {
        self.0.caller().app
    }

    pub(super) fn context(&self) -> Context {
        self.0.context()
    }
}

impl Argument for IphonePerson {
    fn describe(facts: &mut Facts) {
        NotifyPerson::describe(facts);
        facts.door("the mobile app", &not_the_mobile_app().to_string());
        facts.door("the iPhone app", &not_the_iphone_app().to_string());
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let person = NotifyPerson::take(call).await?;
        match person.caller().platform {
            Platform::Ios => Ok(Self(person)),
            platform if platform.is_mobile() => Err(not_the_iphone_app().into()),
            _ => Err(not_the_mobile_app().into()),
        }
    }
}

/// A parameter of the path that names what a phone made an id for; what can't be one is a 400 with a message of its own.
macro_rules! made_ids {
    ($($(#[$doc:meta])* $name:ident = $parameter:literal, $description:literal, $refusal:literal;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) String);

        impl $name {
            /// The parameter's name between the braces of the path.
            pub(super) const NAME: &'static str = $parameter;

            /// Describes the parameter.
            pub(super) fn describe_parameter(facts: &mut Facts) {
                facts.path_parameter(Self::NAME, $description, "6F9619FF-8B86-D011-B42D-00C04FC964FF");
            }

            /// Reads one that stands elsewhere than in the path.
            pub(super) fn parse(text: &str) -> domain::Result<Self> {
                if is_install_id(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(domain::Error::bad_request("invalid_id", $refusal))
                }
            }
        }

        impl Argument for $name {
            fn describe(facts: &mut Facts) {
                Self::describe_parameter(facts);
                facts.error(400, $refusal);
            }

            async fn take(call: &mut Call) -> Result<Self> {
                Ok(Self::parse(call.path_value(Self::NAME)?)?)
            }
        }
    )*};
}

made_ids! {
    /// The install id that a device registers under.
    NewDeviceId = "deviceId", "The install id of the phone or browser.", "Invalid device ID";
    /// The install id that a live activity is registered under.
    InstallId = "installId", "The install id of the phone.", "Invalid install ID";
    /// The id of a live activity.
    ActivityId = "activityId", "The activity that runs on the phone.", "Invalid activity ID";
}
