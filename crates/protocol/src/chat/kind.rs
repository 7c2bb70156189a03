//! What sorts of chats and of content there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stored code.
            pub const fn code(self) -> i64 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Reads the stored code.
            pub const fn from_code(code: i64) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// The wire name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

coded! {
    /// What sort of chat it is.
    ChatType {
        /// Two people, or one person's notes.
        Direct = 0 "direct",
        /// Several people.
        Group = 1 "group",
        /// Few speak, many read.
        Channel = 2 "channel",
    }
}

coded! {
    /// What a message of a chat holds.
    ContentType {
        /// Words.
        Text = 0 "text",
        /// A picture.
        Image = 1 "image",
        /// A film.
        Video = 2 "video",
        /// Music or another sound file.
        Audio = 3 "audio",
        /// A voice message.
        Voice = 4 "voice",
        /// A file.
        File = 5 "file",
        /// A sticker.
        Sticker = 6 "sticker",
        /// A place.
        Location = 7 "location",
        /// Somebody's address.
        Contact = 8 "contact",
        /// A question with choices.
        Poll = 9 "poll",
        /// A call.
        Call = 10 "call",
        /// The service's own word: somebody joined, a title changed.
        Service = 11 "service",
        /// Something this hub does not know; `extra` says what the source called it.
        Other = 12 "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_survive() {
        for kind in ContentType::ALL {
            assert_eq!(ContentType::from_code(kind.code()), Some(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        for kind in ChatType::ALL {
            assert_eq!(ChatType::from_code(kind.code()), Some(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
