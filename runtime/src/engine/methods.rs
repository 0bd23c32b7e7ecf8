//! Which requests a client may send: for each revision and method, its direction and whether the capability that it needs is
//! declared. Built once. Which of them run an author's code. Whether a method is served, the dispatch says.

use serde_json::Value;
use trueform_schema::{At, ErrorObject, Method, Revision};

use crate::{feature::Features, jsonrpc, needs::declares};

/// What is known of a request by its method alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// A client may send it. Whether it is served, the dispatch says.
    Known,
    /// The capability that it needs is not declared.
    NotDeclared(&'static str),
    /// It is a notification, or only a server sends it.
    WrongDirection,
    /// The revision does not have it.
    Unknown,
}

#[derive(Debug)]
pub(super) struct MethodTable([[Availability; Method::ALL.len()]; Revision::ALL.len()]);

impl MethodTable {
    /// The table of a server that offers `features`.
    pub(super) fn new(features: &Features) -> Self {
        let mut table = [[Availability::Unknown; Method::ALL.len()]; Revision::ALL.len()];
        for revision in Revision::ALL {
            let declared = At::new(&features.capabilities(revision), revision)
                .to_json()
                .to_value();
            for method in Method::ALL {
                table[revision as usize][method as usize] = of(method, revision, &declared);
            }
        }
        Self(table)
    }

    /// Whether a client may send `method` at `revision`.
    pub(super) fn get(&self, method: Method, revision: Revision) -> Availability {
        self.0[revision as usize][method as usize]
    }
}

/// Whether a request runs code of the server's author, so that it counts as a call at work.
pub(super) const fn runs_code(method: Method) -> bool {
    matches!(
        method,
        Method::CallTool | Method::GetPrompt | Method::ReadResource | Method::Complete
    )
}

fn of(method: Method, revision: Revision, declared: &Value) -> Availability {
    let Some(rules) = method.rules(revision) else {
        return Availability::Unknown;
    };
    if method.is_notification() || !rules.direction.from_client() {
        return Availability::WrongDirection;
    }
    match rules.capability {
        Some(capability) if !declares(declared, capability) => {
            Availability::NotDeclared(capability)
        }
        _ => Availability::Known,
    }
}

impl Availability {
    /// -32601 with the reason, unless the request may be sent.
    pub(super) fn check(self, name: &str, revision: Revision) -> Result<(), ErrorObject> {
        let why = match self {
            Self::Known => return Ok(()),
            Self::NotDeclared(capability) => {
                format!("needs the capability `{capability}`, which this server does not declare")
            }
            Self::WrongDirection => "is not a request that a client sends".to_owned(),
            Self::Unknown => format!("is unknown at {revision}"),
        };
        Err(jsonrpc::method_not_found(name, &why))
    }
}
