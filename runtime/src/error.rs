//! Why a server could not be built or could not continue. Not what a tool returns: see [`ToolError`](crate::ToolError).

use std::{error::Error as StdError, fmt, io};

/// The result of building or running a server.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a server could not be built or could not continue.
///
/// Registration problems are collected, so that all of them are reported at once, each with the places that it concerns.
pub struct Error(Box<Kind>);

const _: () = assert!(
    size_of::<Result>() == size_of::<usize>(),
    "an error is one pointer wide"
);

#[derive(Debug)]
enum Kind {
    Registration(Vec<String>),
    Arguments(String),
    Io { doing: String, source: io::Error },
    Other(Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// Returns an error for something outside Trueform that ends the server, such as a database that cannot be reached.
    pub fn other(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(Kind::Other(source.into())))
    }

    pub(crate) fn registration(problems: Vec<String>) -> Self {
        Self(Box::new(Kind::Registration(problems)))
    }

    pub(crate) fn arguments(problem: impl Into<String>) -> Self {
        Self(Box::new(Kind::Arguments(problem.into())))
    }

    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self(Box::new(Kind::Io {
            doing: doing.into(),
            source,
        }))
    }

    /// Returns the problems of what was registered, one sentence each. Empty for other errors.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        match &*self.0 {
            Kind::Registration(problems) => problems,
            Kind::Arguments(_) | Kind::Io { .. } | Kind::Other(_) => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Registration(problems) if problems.len() == 1 => f.write_str(&problems[0]),
            Kind::Registration(problems) => {
                write!(f, "{} problems with what was registered:", problems.len())?;
                problems
                    .iter()
                    .try_for_each(|problem| write!(f, "\n- {problem}"))
            }
            Kind::Arguments(problem) => f.write_str(problem),
            Kind::Io { doing, source } => write!(f, "{doing}: {source}"),
            Kind::Other(source) => source.fmt(f),
        }
    }
}

/// Like [`Display`](fmt::Display), with the causes of an [`other`](Error::other) error. A `main` that returns the error prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kind::Other(other) = &*self.0 else {
            return fmt::Display::fmt(self, f);
        };
        let mut text = other.to_string();
        for cause in std::iter::successors(other.source(), |&cause| cause.source()) {
            let cause = cause.to_string();
            // Many errors repeat their cause.
            if !text.ends_with(&cause) {
                text.push_str(": ");
                text.push_str(&cause);
            }
        }
        f.write_str(&text)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            Kind::Io { source, .. } => Some(source),
            Kind::Other(source) => source.source(),
            Kind::Registration(_) | Kind::Arguments(_) => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::other(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error with a cause.
    #[derive(Debug)]
    struct Above {
        text: &'static str,
        cause: Option<Box<Above>>,
    }

    impl fmt::Display for Above {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.text)
        }
    }

    impl StdError for Above {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(self.cause.as_deref()?)
        }
    }

    fn above(text: &'static str, cause: Option<Above>) -> Above {
        let cause = cause.map(Box::new);
        Above { text, cause }
    }

    #[test]
    fn what_main_prints() {
        let lowest = || above("no such file", None);
        for (error, expected) in [
            (lowest(), "no such file"),
            (
                above("cannot open the notes", Some(lowest())),
                "cannot open the notes: no such file",
            ),
            (
                above("notes: no such file", Some(lowest())),
                "notes: no such file",
            ),
            (
                above(
                    "cannot start",
                    Some(above("cannot open the notes", Some(lowest()))),
                ),
                "cannot start: cannot open the notes: no such file",
            ),
        ] {
            let shown = error.text;
            let error = Error::other(error);
            assert_eq!(format!("{error:?}"), expected);
            assert_eq!(error.to_string(), shown);
        }
    }
}
