//! The rules for what a server lists besides tools: prompts, resources, resource templates.

use trueform_schema::{Prompt, Resource, ResourceTemplate};

use super::{Effect, Finding, clients::clients};

/// Largest size of a resource, in bytes, whose content every known client reads.
const LARGE: i64 = 1_000_000;

/// Largest size of a resource, in bytes, whose content fits a message of 10 MiB as base64.
const HUGE: i64 = 10 * 1024 * 1024 / 4 * 3;

/// Returns the properties of `prompt` that known clients do not support. The pointers are into the prompt.
///
/// ```
/// use trueform::{lint::lint_prompt, schema::Prompt};
///
/// let prompt = Prompt::new("Review my code").with_description("Reviews code.");
/// let codes: Vec<_> = lint_prompt(&prompt).iter().map(|finding| finding.code).collect();
/// assert_eq!(codes, ["prompt-name"]);
/// ```
#[must_use]
pub fn lint_prompt(prompt: &Prompt) -> Vec<Finding> {
    let mut all = Vec::new();
    if prompt.name.contains(char::is_whitespace) {
        all.push(finding(
            "prompt-name",
            "/name",
            Effect::LosesItem,
            "the name has a space, and clients make a command of it that ends there",
        ));
    }
    if is_blank(prompt.description.as_deref()) {
        all.push(finding(
            "no-description",
            "/description",
            Effect::Noise,
            "nothing says what the prompt is for, and people choose it by that",
        ));
    }
    let arguments = prompt.arguments.as_deref().unwrap_or_default();
    for (at, argument) in arguments.iter().enumerate() {
        if argument.name.is_empty() || argument.name.contains('=') {
            all.push(finding(
                "argument-name",
                &format!("/arguments/{at}/name"),
                Effect::LosesItem,
                "no value can be given to an argument whose name is empty or has a `=`",
            ));
        }
        let is_required = argument.required == Some(true);
        let mut before = arguments[..at].iter();
        let optional = before.rfind(|other| other.required != Some(true));
        if let Some(optional) = optional.filter(|_| is_required) {
            all.push(finding(
                "argument-order",
                &format!("/arguments/{at}"),
                Effect::LosesItem,
                &format!(
                    "the required argument `{}` comes after the optional `{}`, which gets its value where values are given in order",
                    argument.name, optional.name
                ),
            ));
        }
    }
    all
}

/// Returns the properties of `resource` that known clients do not support. The pointers are into the resource.
#[must_use]
pub fn lint_resource(resource: &Resource) -> Vec<Finding> {
    let mut all = uri("/uri", &resource.uri);
    let size = resource.size.unwrap_or(0);
    for (code, limit, shown) in [
        ("large-content", LARGE, "1 MB"),
        ("huge-content", HUGE, "10 MiB as base64"),
    ] {
        if limit < size {
            all.push(finding(
                code,
                "/size",
                Effect::LosesItem,
                &format!("the content has {size} bytes, more than {shown}"),
            ));
        }
    }
    all
}

/// Returns the properties of `template` that known clients do not support. The pointers are into the template.
#[must_use]
pub fn lint_resource_template(template: &ResourceTemplate) -> Vec<Finding> {
    let mut all = uri("/uriTemplate", &template.uri_template);
    if is_blank(template.description.as_deref()) {
        all.push(finding(
            "no-description",
            "/description",
            Effect::Noise,
            "nothing says what the variables stand for, and people and models fill them in by that",
        ));
    }
    all
}

/// Returns the findings about a URI or a template of URIs.
fn uri(pointer: &str, uri: &str) -> Vec<Finding> {
    let Some((scheme, _)) = uri.split_once(':') else {
        return Vec::new();
    };
    let mut all = Vec::new();
    if scheme.contains(|letter: char| letter.is_ascii_uppercase()) {
        all.push(finding(
            "uri-case",
            pointer,
            Effect::LosesItem,
            &format!(
                "the scheme `{scheme}` has capital letters: a client that sends it in its normal form asks for another URI"
            ),
        ));
    }
    // J-10
    if scheme.eq_ignore_ascii_case("https") {
        all.push(finding(
            "web-uri",
            pointer,
            Effect::LosesItem,
            "clients read `https` URIs from the web themselves: use another scheme unless they can do that",
        ));
    }
    all
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(|text| text.trim().is_empty())
}

/// Creates a finding of the rule `code`.
pub(crate) fn finding(code: &'static str, pointer: &str, effect: Effect, reason: &str) -> Finding {
    Finding {
        code,
        pointer: pointer.to_owned(),
        reason: reason.to_owned(),
        effect,
        clients: clients(code),
    }
}

#[cfg(test)]
mod tests {
    use trueform_schema::PromptArgument;

    use super::*;

    fn found(findings: &[Finding]) -> Vec<String> {
        for finding in findings {
            assert!(!finding.clients.is_empty(), "{finding}");
        }
        let shown = findings
            .iter()
            .map(|one| format!("{} {}", one.code, one.pointer));
        shown.collect()
    }

    #[test]
    fn prompts() {
        for (name, description, found_here) in [
            ("review", Some("Reviews."), &[][..]),
            ("Review it", Some("Reviews."), &["prompt-name /name"]),
            ("review\tit", Some("Reviews."), &["prompt-name /name"]),
            ("prüfe", Some("Reviews."), &[]),
            ("review", None, &["no-description /description"]),
            ("review", Some(" \n"), &["no-description /description"]),
        ] {
            let mut prompt = Prompt::new(name);
            prompt.description = description.map(str::to_owned);
            assert_eq!(found(&lint_prompt(&prompt)), found_here, "{name}");
        }
    }

    #[test]
    fn arguments() {
        for (arguments, found_here) in [
            (&[("a", Some(true)), ("b", None)][..], &[][..]),
            (&[("a", None), ("b", Some(false))], &[]),
            (
                &[("a", Some(false)), ("b", None), ("c", Some(true))],
                &["argument-order /arguments/2"],
            ),
            (
                &[("a=b", Some(true)), ("", None)],
                &[
                    "argument-name /arguments/0/name",
                    "argument-name /arguments/1/name",
                ],
            ),
        ] {
            let arguments = arguments.iter().map(|(name, required)| {
                let mut argument = PromptArgument::new(*name);
                argument.required = *required;
                argument
            });
            let prompt = Prompt::new("p").with_description("d");
            let prompt = prompt.with_arguments(arguments.collect::<Vec<_>>());
            assert_eq!(found(&lint_prompt(&prompt)), found_here);
        }
    }

    // J-10
    #[test]
    fn resources() {
        for (uri, size, found_here) in [
            ("notes://a", None, &[][..]),
            ("notes://A", Some(LARGE), &[]),
            ("Notes://a", None, &["uri-case /uri"]),
            ("https://example.com/a", None, &["web-uri /uri"]),
            ("http://example.com/a", None, &[]),
            ("file:///https:a", None, &[]),
            ("a:b", Some(LARGE + 1), &["large-content /size"]),
            ("a:b", Some(HUGE), &["large-content /size"]),
            (
                "a:b",
                Some(HUGE + 1),
                &["large-content /size", "huge-content /size"],
            ),
        ] {
            let mut resource = Resource::new("a", uri);
            resource.size = size;
            assert_eq!(found(&lint_resource(&resource)), found_here, "{uri}");
        }
    }

    #[test]
    fn templates() {
        for (uri, description, found_here) in [
            ("notes://{a}", Some("A note."), &[][..]),
            ("notes://{a}", None, &["no-description /description"]),
            ("N:{a}", Some("A note."), &["uri-case /uriTemplate"]),
            (
                "HTTPS://example.com/{+a}",
                Some("A page."),
                &["uri-case /uriTemplate", "web-uri /uriTemplate"],
            ),
        ] {
            let mut template = ResourceTemplate::new("a", uri);
            template.description = description.map(str::to_owned);
            let findings = lint_resource_template(&template);
            assert_eq!(found(&findings), found_here, "{uri}");
        }
    }
}
