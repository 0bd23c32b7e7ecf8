//! What another crate can add to a server.

use trueform_schema::JsonObject;

use super::Server;
use crate::feature::extension::RegisteredExtension;

/// Something that adds to a server: features, extensions, settings.
///
/// Crates implement it so that their features can be added with one line, [`Server::with`].
///
/// ```
/// use trueform::{Plugin, prelude::*};
///
/// /// Says how the server is.
/// #[tool]
/// fn health() -> &'static str {
///     "fine"
/// }
///
/// struct Health;
///
/// impl Plugin for Health {
///     fn add_to(self, server: Server) -> Server {
///         server.tools(tools![health])
///     }
/// }
///
/// let server = Server::new("shop", "1.0.0").with(Health);
/// # assert!(server.build().is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added to a server",
    label = "not a plugin",
    note = "`Server::tools`, `Server::prompts` and `Server::resources` take features"
)]
pub trait Plugin {
    /// Returns the server with the additions. Problems are reported with [`Server::problem`].
    fn add_to(self, server: Server) -> Server;
}

impl Server {
    /// Adds the features of `plugin`.
    ///
    /// ```
    /// use trueform::{Plugin, prelude::*};
    ///
    /// /// Instructions that all servers of one house have.
    /// struct House;
    ///
    /// impl Plugin for House {
    ///     fn add_to(self, server: Server) -> Server {
    ///         server.instructions("Answer in English.")
    ///     }
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0").with(House);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn with(self, plugin: impl Plugin) -> Self {
        plugin.add_to(self)
    }

    /// Adds a problem, which [`build`](Self::build) then reports with all others. This is for [plugins](Plugin) that detect a problem while
    /// they are added.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("shop", "1.0.0").problem("there is no folder `goods`");
    /// assert!(server.build().unwrap_err().to_string().contains("there is no folder `goods`"));
    /// ```
    pub fn problem(mut self, problem: impl Into<String>) -> Self {
        self.problems.push(problem.into());
        self
    }

    /// Announces an extension without methods: it is declared at every revision that can have extensions, with the settings that it
    /// defines. Use [`extension`](Self::extension) for extensions with methods.
    ///
    /// [`build`](Self::build) refuses an identifier without a prefix, and one that is already registered.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::JsonObject};
    ///
    /// let server = Server::new("shop", "1.0.0").announce_extension("com.example/prices", JsonObject::empty());
    /// # assert!(server.build().is_ok());
    /// ```
    // C-14, GAP-12
    pub fn announce_extension(mut self, identifier: &'static str, settings: JsonObject) -> Self {
        self.extensions
            .push(RegisteredExtension::without_methods(identifier, settings));
        self
    }
}
