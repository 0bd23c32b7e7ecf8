//! What is worth remembering of a server between connections.

use serde::{Deserialize, Serialize};
use trueform_schema::Revision;

/// What a client found out about a server. When the client connects again with it, a server of the legacy era gets no probe by
/// `server/discover`.
///
/// Serialises to an object with the member `protocolVersion`, so that it can be stored beside the server's entry in a configuration. A
/// version that this release does not know is ignored.
///
/// ```
/// # use trueform::prelude::*;
/// use trueform::client::{ClientOptions, Negotiation, ServerProfile};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let service = Server::new("calc", "1.0.0").build()?;
/// let client = service.connect_as(ClientOptions::new().negotiation(Negotiation::Offer(Revision::V2025_11_25))).await?;
/// let stored = serde_json::to_string(&client.profile())?;
/// assert_eq!(stored, r#"{"protocolVersion":"2025-11-25"}"#);
///
/// let profile: ServerProfile = serde_json::from_str(&stored)?;
/// let again = service.connect_as(ClientOptions::new().profile(profile)).await?;
/// assert_eq!(again.revision(), Revision::V2025_11_25);
/// # Ok(())
/// # }
/// ```
// D-10
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerProfile {
    /// The revision that was spoken, such as `2025-11-25`.
    pub protocol_version: String,
}

impl ServerProfile {
    /// A server that speaks `revision`.
    #[must_use]
    pub fn new(revision: Revision) -> Self {
        Self {
            protocol_version: revision.as_str().to_owned(),
        }
    }

    /// The revision that was spoken, if this release knows it.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        Revision::from_wire(&self.protocol_version)
    }
}
