//! Templates that authors expand to get the URIs of their resources for links.

use std::{error::Error, fmt, fmt::Display, str::FromStr};

use trueform_schema::conform::is_uri;

use super::template::Template;

/// A URI template with the syntax of `#[resource]`, which creates URIs from values: the inverse of a read.
///
/// The expressions are those of [`resource`](mod@crate::resource#templates). Values are encoded as RFC 6570 requires: in `{name}`,
/// everything except letters, digits, `-`, `.`, `_` and `~` is encoded; in `{+path}`, reserved characters are not encoded either. There are
/// two differences, so that a read of the URI returns the same value: a `%` in the value of `{+path}` is encoded; and if the result with
/// `{+path}` would not be a valid URI, all reserved characters except `/` are encoded.
///
/// ```
/// use trueform::{prelude::*, resource::UriTemplate, schema::ResourceLink};
///
/// const ARTICLE: &str = "shop://articles/{id}";
///
/// /// The page of an article.
/// #[resource("shop://articles/{id}")]
/// fn article(id: String) -> String {
///     format!("This is {id}.")
/// }
///
/// /// Finds an article.
/// #[tool]
/// fn find(name: String) -> Result<ContentBlock, ToolError> {
///     let uri = UriTemplate::parse(ARTICLE)?.expand([("id", &name)])?;
///     Ok(ResourceLink::new(name, uri).into())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let template = UriTemplate::parse(ARTICLE)?;
/// assert_eq!(template.expand([("id", "7/8 inch")])?, "shop://articles/7%2F8%20inch");
/// assert_eq!(template.values("shop://articles/7%2F8%20inch"), Some(vec!["7/8 inch".to_owned()]));
/// # Ok(())
/// # }
/// ```
// J-9
#[derive(Clone, Debug)]
pub struct UriTemplate(Template);

impl UriTemplate {
    /// Parses `text`.
    ///
    /// # Errors
    /// The text is not a template, or resources do not support it.
    pub fn parse(text: &str) -> Result<Self, UriTemplateError> {
        match Template::parse(text) {
            Ok(template) => Ok(Self(template)),
            Err(problem) => Err(UriTemplateError(format!("`{text}` {problem}"))),
        }
    }

    /// Returns the names of the variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.names()
    }

    /// Returns the URI in which each variable has its value: a read of the URI passes exactly these values to the function.
    ///
    /// # Errors
    /// A variable has no value or two, a name is not the name of a variable, or a read would not return the same value: the value is empty,
    /// contains the text between two variables, or leaves its folder with the scheme `file`.
    pub fn expand<N: AsRef<str>, V: Display>(
        &self,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<String, UriTemplateError> {
        let names: Vec<&str> = self.variables().collect();
        let mut given: Vec<Option<String>> = vec![None; names.len()];
        for (name, value) in values {
            let name = name.as_ref();
            let Some(at) = names.iter().position(|own| *own == name) else {
                return Err(UriTemplateError(format!("there is no variable `{name}`")));
            };
            if given[at].replace(value.to_string()).is_some() {
                return Err(UriTemplateError(format!("`{name}` has two values")));
            }
        }
        if let Some(at) = given.iter().position(Option::is_none) {
            return Err(UriTemplateError(format!("`{}` has no value", names[at])));
        }
        let given: Vec<String> = given.into_iter().flatten().collect();
        if let Some(at) = given.iter().position(String::is_empty) {
            let name = names[at];
            return Err(UriTemplateError(format!("the value of `{name}` is empty")));
        }
        let values: Vec<&str> = given.iter().map(String::as_str).collect();
        let mut uri = self.0.expanded(&values);
        if !is_uri(&uri) || self.values(&uri).as_ref() != Some(&given) {
            uri = self.0.expanded_strictly(&values);
        }
        match self.0.values(&uri) {
            Some(Err(mismatch)) => Err(UriTemplateError(mismatch.to_string())),
            Some(Ok(back)) if back == given && is_uri(&uri) => Ok(uri),
            _ => Err(UriTemplateError(format!(
                "`{uri}` would not give the values back: one of them has the text that stands between two variables"
            ))),
        }
    }

    /// Returns the values of the variables in `uri`, in order, percent-decoded; `None` if `uri` does not match the template, or a value has
    /// a malformed escape, is not UTF-8, or leaves its folder with the scheme `file`.
    #[must_use]
    pub fn values(&self, uri: &str) -> Option<Vec<String>> {
        let values = self.0.values(uri)?.ok()?;
        Some(values.into_iter().map(Into::into).collect())
    }
}

impl FromStr for UriTemplate {
    type Err = UriTemplateError;

    fn from_str(text: &str) -> Result<Self, UriTemplateError> {
        Self::parse(text)
    }
}

/// Why a text is not a template, or values do not result in a URI. `Display` describes the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplateError(String);

impl Display for UriTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UriTemplateError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template(text: &str) -> UriTemplate {
        UriTemplate::parse(text).unwrap()
    }

    // J-9: the examples of RFC 6570, section 3.2, in the subset that resources use, and the two differences.
    #[test]
    fn encodings() {
        for (text, values, uri) in [
            ("x:{var}", &[("var", "value")][..], "x:value"),
            (
                "x:{hello}",
                &[("hello", "Hello World!")],
                "x:Hello%20World%21",
            ),
            ("x:{half}", &[("half", "50%")], "x:50%25"),
            (
                "x:{+hello}",
                &[("hello", "Hello World!")],
                "x:Hello%20World!",
            ),
            ("x:{+path}/here", &[("path", "/foo/bar")], "x:/foo/bar/here"),
            ("x:{x,y}", &[("y", "768"), ("x", "1024")], "x:1024,768"),
            (
                "x:{/var,x}/here",
                &[("var", "value"), ("x", "1024")],
                "x:/value/1024/here",
            ),
            ("x:{a}", &[("a", "a/b?c#d[e]")], "x:a%2Fb%3Fc%23d%5Be%5D"),
            ("x:{a}", &[("a", "é€")], "x:%C3%A9%E2%82%AC"),
            ("x:{a}", &[("a", "-._~aZ09")], "x:-._~aZ09"),
            // RFC 6570 keeps the escape; then a read would return the value `/`.
            ("x:{+path}", &[("path", "%2F")], "x:%252F"),
            // Two fragments, and brackets in a path, are not a URI.
            (
                "x:/{+path}",
                &[("path", "C#/F#/[a].txt")],
                "x:/C%23/F%23/%5Ba%5D.txt",
            ),
            ("x:/{+path}", &[("path", "C/a?b=c")], "x:/C/a?b=c"),
            // Otherwise it would be `//` and an authority.
            ("x:{+path}", &[("path", "//[")], "x://%5B"),
        ] {
            let expanded = template(text).expand(values.iter().copied());
            assert_eq!(expanded.as_deref(), Ok(uri), "{text} {values:?}");
        }
    }

    #[test]
    fn what_makes_no_uri() {
        for (text, values, problem) in [
            ("x:{a}", &[][..], "`a` has no value"),
            (
                "x:{a}",
                &[("a", "1"), ("b", "2")],
                "there is no variable `b`",
            ),
            ("x:{a}", &[("a", "1"), ("a", "2")], "`a` has two values"),
            ("x:{a}", &[("a", "")], "the value of `a` is empty"),
            (
                "x:{a}-{b}",
                &[("a", "1-2"), ("b", "3")],
                "would not give the values back",
            ),
            (
                "file:///{+a}",
                &[("a", "b/../c")],
                "the value of `a` could leave its folder",
            ),
            (
                "file:///{a}",
                &[("a", "b/c")],
                "the value of `a` could leave its folder",
            ),
        ] {
            let error = template(text).expand(values.iter().copied()).unwrap_err();
            assert!(error.to_string().contains(problem), "{text}: {error}");
        }
        let error = UriTemplate::parse("x:{?a}").unwrap_err().to_string();
        assert!(error.starts_with("`x:{?a}` has the expression"), "{error}");
        assert_eq!(template("x:{id}").expand([("id", 7)]).unwrap(), "x:7");
    }

    proptest! {
        // J-9: an expanded text is a URI, and matching returns the values.
        #[test]
        fn matching_is_the_inverse(
            text in prop::sample::select(vec![
                "x:{a}", "x:/{+a}", "x://h/{a}/{b}", "x:{a},{b}", "x:/p/{+a}/q/{b}", "x:{a}-{b}", "x:{/a,b}?c={c}", "x:{a}7B{b}",
                "file:///{+a}",
            ]),
            values in prop::collection::vec("[ -~é€\\\\PC]{1,8}|[%/?#.A-F0-9-]{1,8}", 3),
        ) {
            let template = template(text);
            let names: Vec<String> = template.variables().map(str::to_owned).collect();
            let given = names.iter().zip(&values);
            match template.expand(given) {
                Ok(uri) => {
                    prop_assert!(is_uri(&uri), "{}", uri);
                    prop_assert_eq!(template.values(&uri), Some(values[..names.len()].to_vec()));
                }
                // A single variable may have any value.
                Err(error) => prop_assert!(!["x:{a}", "x:/{+a}"].contains(&text), "{}: {}", text, error),
            }
        }
    }
}
