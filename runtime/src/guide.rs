//! The guide: one chapter for each task.
//!
//! Start with [`tools`] and [`results`]; [`testing`] and [`http`] come next for most servers. The tests compile and run the snippets,
//! which assert what they return. There are two exceptions. Snippets of [`client`] and [`http`] that need a process or a network are
//! compiled, but not run. Snippets of [`extensions`] and [`logging`] that need another crate are not compiled.
//!
//! | to | read |
//! | --- | --- |
//! | write tools | [`tools`], [`results`], [`state`], [`progress`] |
//! | offer more than tools | [`prompts_and_resources`], [`asking`], [`extensions`] |
//! | compose servers, limit and log calls, hide tools from callers | [`tools`](tools#large-servers-parts-layers-visibility) |
//! | test | [`testing`] |
//! | serve | [`http`], [`deploying`], [`logging`], [`limits`] |
//! | serve the clients of your users | [`clients`], [`revisions`], [`checks`] |
//! | write a client | [`client`] |
//! | find out why something fails | [`errors`] |
//! | come from another framework | [`from_rmcp`], [`from_fastmcp`] |
//! | know what a call costs | [`speed`] |
//! | work on Trueform itself | [`regenerating`] |

#[doc = include_str!("guide/tools.md")]
pub mod tools {}

#[doc = include_str!("guide/results.md")]
pub mod results {}

#[doc = include_str!("guide/state.md")]
pub mod state {}

#[doc = include_str!("guide/progress.md")]
pub mod progress {}

#[doc = include_str!("guide/prompts_and_resources.md")]
pub mod prompts_and_resources {}

#[doc = include_str!("guide/asking.md")]
pub mod asking {}

#[doc = include_str!("guide/testing.md")]
pub mod testing {}

#[doc = include_str!("guide/http.md")]
pub mod http {}

#[doc = include_str!("guide/clients.md")]
pub mod clients {}

#[doc = include_str!("guide/revisions.md")]
pub mod revisions {}

#[doc = include_str!("guide/checks.md")]
pub mod checks {}

#[doc = include_str!("guide/limits.md")]
pub mod limits {}

#[doc = include_str!("guide/logging.md")]
pub mod logging {}

#[doc = include_str!("guide/deploying.md")]
pub mod deploying {}

#[doc = include_str!("guide/extensions.md")]
pub mod extensions {}

#[doc = include_str!("guide/client.md")]
pub mod client {}

#[doc = include_str!("guide/errors.md")]
pub mod errors {}

#[doc = include_str!("guide/from_rmcp.md")]
pub mod from_rmcp {}

#[doc = include_str!("guide/from_fastmcp.md")]
pub mod from_fastmcp {}

#[doc = include_str!("guide/speed.md")]
pub mod speed {}

#[doc = include_str!("guide/regenerating.md")]
pub mod regenerating {}
