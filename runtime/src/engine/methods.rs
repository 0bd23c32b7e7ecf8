//! Which requests a client may send: for each revision and method, its direction and whether the capability that it needs is declared.
//! Built once. The dispatch determines whether a method is served.

use serde_json::Value;
use trueform_schema::{At, ErrorObject, Method, Revision};

use crate::{
    feature::Features,
    jsonrpc,
    needs::{declares, is_request_of_client},
};

/// What the method alone says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// A client may send it. The dispatch determines whether it is served.
    Known,
    /// The capability that it needs is not declared.
    NotDeclared(&'static str),
    /// It is a notification, or only a server sends it.
    WrongDirection,
}

#[derive(Debug)]
pub(super) struct MethodTable([[Option<Availability>; Method::ALL.len()]; Revision::ALL.len()]);

impl MethodTable {
    /// Creates the table of a server that offers `features`.
    pub(super) fn new(features: &Features) -> Self {
        let mut table = [[None; Method::ALL.len()]; Revision::ALL.len()];
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

    /// Returns whether a client may send `method` at `revision`. `None` if the revision does not have it.
    pub(super) fn get(&self, method: Method, revision: Revision) -> Option<Availability> {
        self.0[revision as usize][method as usize]
    }
}

fn of(method: Method, revision: Revision, declared: &Value) -> Option<Availability> {
    let rules = method.rules(revision)?;
    if !is_request_of_client(rules) {
        return Some(Availability::WrongDirection);
    }
    Some(match rules.capability {
        Some(capability) if !declares(declared, capability) => {
            Availability::NotDeclared(capability)
        }
        _ => Availability::Known,
    })
}

impl Availability {
    /// Returns -32601 with the reason, unless the request may be sent.
    pub(super) fn check(self, name: &str) -> Result<(), ErrorObject> {
        match self {
            Self::Known => Ok(()),
            Self::NotDeclared(capability) => {
                let why = format!(
                    "needs the capability `{capability}`, which this server does not declare"
                );
                Err(jsonrpc::method_not_found(name, &why))
            }
            Self::WrongDirection => Err(jsonrpc::not_a_request_of_client(name)),
        }
    }
}
