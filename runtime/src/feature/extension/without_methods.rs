//! Extensions that consist only of metadata.

use std::sync::Arc;

use trueform_schema::{
    DecodeError, JsonObject, Revision,
    methods::{Decoded, Methods, Response, Rules},
};

use super::RegisteredExtension;
use crate::exchange::Context;

/// Takes the place of the methods for the extension with this identifier, which defines no methods.
struct WithoutMethods(&'static str);

impl RegisteredExtension {
    /// Creates the extension `identifier`, which has no methods.
    pub(crate) fn without_methods(identifier: &'static str, settings: JsonObject) -> Self {
        Self {
            identifier,
            methods: Arc::new(WithoutMethods(identifier)),
            settings,
        }
    }
}

impl Methods<Context> for WithoutMethods {
    fn identifier(&self) -> Option<&'static str> {
        Some(self.0)
    }

    fn names(&self) -> &'static [&'static str] {
        &[]
    }

    fn rules(&self, _: &str, _: Revision) -> Option<&'static Rules> {
        None
    }

    fn request(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, Response>, DecodeError> {
        Err(self.has_no(method))
    }

    fn notification(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, ()>, DecodeError> {
        Err(self.has_no(method))
    }
}

impl WithoutMethods {
    fn has_no(&self, method: &str) -> DecodeError {
        let problem = format!("the extension `{}` has no method `{method}`", self.0);
        DecodeError::new("", problem)
    }
}
