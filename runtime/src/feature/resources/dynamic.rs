//! Resources and templates that are known only at run time.

use std::{fmt, future::Future, panic::Location, sync::Arc, time::Duration};

use trueform_schema::{Annotations, Icon, Json};

use super::{
    contents::IntoResourceResult,
    draft::{DraftCode, ResourceDraft, Shown},
    set::{IntoResources, ResourceSet},
};
use crate::{
    exchange::Context,
    feature::{
        caching::Caching,
        callable::{Step, Timeout},
        completion::{CompletionFunction, macro_support::completer},
        form::{self, Askable},
        function::Place,
    },
    needs::RequiredCapabilities,
};

/// A resource that is known only at run time, such as one row of a table or one document of a list.
///
/// ```
/// use trueform::prelude::*;
///
/// let greeting = DynamicResource::new("text://greeting", "greeting")
///     .mime_type("text/plain")
///     .handler(|_context| async { "hello" });
/// let server = Server::new("greeter", "1.0.0").resources(greeting);
/// # assert!(server.build().is_ok());
/// ```
#[must_use = "a resource does nothing until it is registered"]
pub struct DynamicResource(ResourceDraft);

/// A template of resources that is known only at run time. It has the same syntax as [templates on
/// functions](mod@crate::resource#templates).
///
/// ```
/// use trueform::prelude::*;
///
/// let rows = DynamicTemplate::new("db://{table}/{id}", "row")
///     .handler(|_context, variables| async move {
///         format!("row {} of {}", &variables["id"], &variables["table"])
///     });
/// let server = Server::new("database", "1.0.0").resources(rows);
/// # assert!(server.build().is_ok());
/// ```
#[must_use = "a template does nothing until it is registered"]
pub struct DynamicTemplate(ResourceDraft);

/// The variables of a template with their decoded values, and the URI that contains them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    uri: String,
    values: Vec<(Box<str>, String)>,
}

impl Variables {
    /// Returns the value of the variable `name`. `None` if the template has no such variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.values.iter();
        let found = values.find(|(own, _)| **own == *name);
        found.map(|(_, value)| &**value)
    }

    /// Returns the variables and their values, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the URI that is read.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

/// # Panics
/// The template has no variable of that name.
impl std::ops::Index<&str> for Variables {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.get(name) {
            Some(value) => value,
            None => panic!("the template has no variable `{name}`"),
        }
    }
}

macro_rules! settings {
    ($ty:ident) => {
        impl $ty {
            /// Sets the description of the content, for the model. A second call replaces the first, as for the other settings here.
            ///
            /// ```
            /// use trueform::prelude::*;
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.0.shown.description = Some(description.into());
                self
            }

            /// Sets the name that clients show to people.
            ///
            /// ```
            /// use trueform::prelude::*;
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .title("Index")
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.0.shown.title = Some(title.into());
                self
            }

            /// Sets the media type; for a template, the media type of all its resources. Contents without their own media type get it.
            ///
            /// ```
            /// use trueform::prelude::*;
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .mime_type("text/csv")
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.0.shown.mime_type = Some(mime_type.into());
                self
            }

            /// Sets the hints on audience, importance and age.
            ///
            /// ```
            /// use trueform::{prelude::*, schema::Annotations};
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .annotations(Annotations::new().with_priority(1.0))
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn annotations(mut self, annotations: Annotations) -> Self {
                self.0.shown.annotations = Some(annotations);
                self
            }

            /// Sets the icons.
            ///
            /// ```
            /// use trueform::{prelude::*, schema::Icon};
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .icons([Icon::new("https://example.com/book.png")])
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
                self.0.shown.icons = Some(icons.into_iter().collect());
                self
            }

            /// Adds a member to `_meta`.
            ///
            /// ```
            /// use serde_json::json;
            /// use trueform::prelude::*;
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .meta("example.com/shelf", json!(7))
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn meta(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
                let meta = self.0.shown.meta.get_or_insert_default();
                meta.insert(key.into(), value.into());
                self
            }

            /// Sets how long a read may take.
            ///
            /// ```
            /// use std::time::Duration;
            /// use trueform::prelude::*;
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .timeout(Duration::from_secs(5))
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn timeout(mut self, limit: Duration) -> Self {
                self.0.timeout = Some(Timeout::of(limit));
                self
            }

            /// Sets the required capabilities of the client.
            ///
            /// ```
            /// use trueform::{RequiredCapabilities, prelude::*};
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .needs(RequiredCapabilities::ROOTS)
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn needs(mut self, needs: RequiredCapabilities) -> Self {
                self.0.needs = needs;
                self
            }

            /// Declares that the code asks clients for a `T` with [`Context::ask`]. Then a form that no served revision can express is an
            /// error when the server starts, and [`Service::lint`](crate::Service::lint) lists what some revisions lose of it. Each call
            /// adds one type.
            ///
            /// ```
            /// use trueform::prelude::*;
            ///
            /// /// A shelf.
            /// #[derive(Deserialize, JsonSchema)]
            /// struct Shelf {
            ///     number: u8,
            /// }
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .asks::<Shelf>()
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            // R-4
            pub fn asks<T: Askable>(mut self) -> Self {
                self.0.asks.push(form::macro_support::form::<T>);
                self
            }

            /// Sets how long clients may cache the result. Default: not at all.
            ///
            /// ```
            /// use std::time::Duration;
            /// use trueform::{prelude::*, resource::Caching};
            ///
            /// let index = DynamicResource::new("library://index", "index")
            ///     .description("All books.")
            ///     .caching(Caching::public(Duration::from_secs(60)))
            ///     .handler(|_context| async { "A, B, C" });
            /// let server = Server::new("library", "1.0.0").resources(index);
            /// # assert!(server.build().is_ok());
            /// ```
            pub fn caching(mut self, caching: Caching) -> Self {
                self.0.caching = caching;
                self
            }
        }

        impl IntoResources for $ty {
            fn into_resources(self) -> ResourceSet {
                ResourceSet(vec![self.0.with_asked_forms()])
            }
        }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($ty)).field(&self.0).finish()
            }
        }
    };
}

settings!(DynamicResource);
settings!(DynamicTemplate);

fn draft(uri: String, name: String, is_template: bool, location: &Location<'_>) -> ResourceDraft {
    let what = match is_template {
        true => "dynamic resource template",
        false => "dynamic resource",
    };
    let shown = Shown {
        uri,
        name,
        ..Shown::default()
    };
    ResourceDraft {
        is_called_template: Some(is_template),
        ..ResourceDraft::new(shown, Place::value(what, location))
    }
}

impl DynamicResource {
    /// Creates the resource `uri`, called `name`. Names need not be unique, URIs must be.
    #[track_caller]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        let location = Location::caller();
        Self(draft(uri.into(), name.into(), false, location))
    }

    /// Sets the size of the content in bytes, for clients that show it.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let index = DynamicResource::new("library://index", "index")
    ///     .description("All books.")
    ///     .size(7)
    ///     .handler(|_context| async { "A, B, C" });
    /// let server = Server::new("library", "1.0.0").resources(index);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn size(mut self, bytes: u64) -> Self {
        self.0.shown.size = Some(bytes);
        self
    }

    /// Sets the code. It may return the same types as functions marked `#[resource]`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let index = DynamicResource::new("library://index", "index")
    ///     .description("All books.")
    ///     .handler(|_context| async { "A, B, C" });
    /// let server = Server::new("library", "1.0.0").resources(index);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn handler<F, R>(mut self, handler: impl Fn(Context) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        self.0.code = Some(DraftCode::Dynamic(Arc::new(move |context, _| {
            let future = handler(context.clone());
            Step::Later(Box::pin(async move { future.await.into_resource_result() }))
        })));
        self
    }
}

impl DynamicTemplate {
    /// Creates a template called `name` for the resources whose URIs match `uri_template`.
    #[track_caller]
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        let (uri, location) = (uri_template.into(), Location::caller());
        Self(draft(uri, name.into(), true, location))
    }

    /// Marks the values of the variables as paths that stay below a folder: values that could leave the folder are refused before the
    /// handler is called. This always applies to the scheme `file`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let books = DynamicTemplate::new("library://{+path}", "book")
    ///     .description("A book.")
    ///     .file_like()
    ///     .handler(|_context, variables| async move { variables["path"].to_owned() });
    /// let server = Server::new("library", "1.0.0").resources(books);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn file_like(mut self) -> Self {
        self.0.is_file_like = true;
        self
    }

    /// Sets the function that suggests values for the variable `name`. It takes a [`CompletionQuery`](crate::completion::CompletionQuery).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let books = DynamicTemplate::new("library://{author}", "books")
    ///     .description("The books of an author.")
    ///     .complete("author", |_| ["Ada", "Alan"])
    ///     .handler(|_context, variables| async move { variables["author"].to_owned() });
    /// let server = Server::new("library", "1.0.0").resources(books);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn complete<K>(
        mut self,
        name: impl Into<String>,
        function: impl CompletionFunction<K>,
    ) -> Self {
        self.0.completers.push((name.into(), completer(function)));
        self
    }

    /// Sets the code. It gets the decoded values, and may return the same types as functions marked `#[resource]`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let books = DynamicTemplate::new("library://{author}", "books")
    ///     .description("The books of an author.")
    ///     .handler(|_context, variables| async move { format!("no books of {}", &variables["author"]) });
    /// let server = Server::new("library", "1.0.0").resources(books);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn handler<F, R>(
        mut self,
        handler: impl Fn(Context, Variables) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        self.0.code = Some(DraftCode::Dynamic(Arc::new(move |context, reading| {
            let values = reading.variables();
            let variables = Variables {
                uri: reading.uri.clone(),
                values: values
                    .map(|(name, value)| (name.into(), value.to_owned()))
                    .collect(),
            };
            let future = handler(context.clone(), variables);
            Step::Later(Box::pin(async move { future.await.into_resource_result() }))
        })));
        self
    }
}
