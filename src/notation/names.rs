//! Names of the variants of an enumeration in JSON.

/// Implements `name`, serialization as the name, and the schema with all names. The names and the match have the same
/// entries, so that none lacks.
macro_rules! names {
    ($type:ident { $($variant:pat => $name:literal,)* }) => {
        impl $type {
            /// All names.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// The name in JSON.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($variant => $name,)*
                }
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::NAMES })
            }
        }
    };
}

pub(crate) use names;
