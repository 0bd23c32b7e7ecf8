//! The URI of a resource, as far as it can be checked before types are known. The runtime checks the rest when the server starts.

#[cfg(test)]
mod tests;

use syn::{LitStr, Type};

use crate::{diagnostics::Diagnostics, parameter::Parameter, text::near_miss};

/// A URI, or a URI template if it has variables.
pub(crate) struct Uri {
    pub(crate) text: LitStr,
    variables: Vec<String>,
}

impl Uri {
    /// Checks the scheme and the braces. Returns `None` if a fault was reported.
    pub(crate) fn lower(text: LitStr, diag: &mut Diagnostics) -> Option<Self> {
        let uri = text.value();
        if uri.is_empty() {
            diag.error(&text, "the URI is empty");
            return None;
        }
        if !has_scheme(&uri) {
            diag.error(
                &text,
                format_args!("`{uri}` does not begin with a scheme and a colon, such as `notes:`"),
            );
            return None;
        }
        match variables(&uri) {
            Ok(variables) => Some(Self { text, variables }),
            Err(fault) => {
                diag.error(&text, format_args!("`{uri}` {fault}"));
                None
            }
        }
    }

    pub(crate) fn is_template(&self) -> bool {
        !self.variables.is_empty()
    }
}

/// Returns whether `uri` begins with a letter, then letters, digits, `+`, `-` and `.` up to a colon (RFC 3986, section 3.1).
fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else {
        return false;
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Returns the names of the variables, without operators and modifiers.
fn variables(uri: &str) -> Result<Vec<String>, &'static str> {
    let mut variables = Vec::new();
    let mut rest = uri;
    while let Some(at) = rest.find(['{', '}']) {
        let inner = rest[at..]
            .strip_prefix('{')
            .ok_or("has a `}` that no `{` opens")?;
        let (inner, after) = inner
            .split_once('}')
            .filter(|(inner, _)| !inner.contains('{'))
            .ok_or("has a `{` that no `}` closes")?;
        let names = inner.strip_prefix(|first| "+#./;?&".contains(first));
        for name in names.unwrap_or(inner).split(',') {
            let name = name.split(['*', ':']).next().unwrap_or_default();
            if name.is_empty() {
                return Err("has a variable without a name");
            }
            variables.push(name.to_owned());
        }
        rest = after;
    }
    Ok(variables)
}

/// Reports variables that are not parameters, and completions of parameters that are not variables.
pub(crate) fn check_variables(uri: &Uri, parameters: &[Parameter], diag: &mut Diagnostics) {
    let names: Vec<String> = parameters
        .iter()
        .filter_map(Parameter::argument_name)
        .collect();
    for parameter in parameters {
        if let (Some(completion), Some(name)) = (&parameter.completion, parameter.argument_name())
            && !uri.variables.contains(&name)
        {
            diag.error_at(
                completion.at,
                format_args!(
                    "`{name}` is not a variable of `{}`, and clients complete variables only",
                    uri.text.value()
                ),
            );
        }
    }
    if parameters
        .iter()
        .any(|parameter| may_be_all(parameter, uri))
        && !parameters.iter().any(is_plain)
    {
        return; // The variables may be the fields of an `Args`, which only its type says.
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for variable in &uri.variables {
        if names.contains(&variable.as_str()) {
            continue;
        }
        let hint = match near_miss(variable, &names) {
            Some(name) => format!("; did you mean `{name}`?"),
            None => format!(": add it, for example `{variable}: String`"),
        };
        diag.error(
            &uri.text,
            format_args!("the variable `{variable}` is not a parameter of the function{hint}"),
        );
    }
}

/// Returns whether `parameter` may be an `Args`: its type decides, and may be an alias.
fn may_be_all(parameter: &Parameter, uri: &Uri) -> bool {
    let is_variable = parameter
        .argument_name()
        .is_some_and(|name| uri.variables.contains(&name));
    !is_variable || last_name(&parameter.ty).is_some_and(|name| name == "Args")
}

/// Returns whether `parameter` is certainly one argument. `Args` cannot be combined with one.
fn is_plain(parameter: &Parameter) -> bool {
    const PLAIN: [&str; 18] = [
        "String", "Option", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128",
        "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    ];
    let plain = || last_name(&parameter.ty).is_some_and(|name| PLAIN.contains(&name.as_str()));
    parameter.ident.is_some() && (parameter.completion.is_some() || plain())
}

fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}
