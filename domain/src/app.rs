//! The apps and platforms that a sign-in is bound to (contract A 6, "App identifiers").

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $kind {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant,)*
        }

        impl $kind {
            /// Every one, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The contract's name for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use names;

names! {
    /// An app identifier.
    App {
        Admin = "admin", Authenticator = "authenticator", Cloud = "cloud", Git = "git", Mail = "mail", Maps = "maps",
        Drive = "drive", Photos = "photos", Tenant = "tenant", Health = "health", Weather = "weather",
        Marketing = "marketing", Food = "food", Vehicles = "vehicles", Home = "home", Messaging = "messaging",
        Account = "account", Assistant = "assistant", Brain = "brain", Tasks = "tasks", Docs = "docs",
    }
}

names! {
    /// What the app runs on.
    Platform { Web = "web", Ios = "ios", Android = "android", Cli = "cli", }
}

impl Platform {
    /// Whether a sign-in on this platform is "the mobile app" of the contract.
    pub const fn is_mobile(self) -> bool {
        matches!(self, Self::Ios | Self::Android)
    }
}
