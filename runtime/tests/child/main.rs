//! Servers as child processes of a client: real pipes, exits and signals (D-5, D-6, D-10, E-3 to E-5).
//!
//! Without a test harness, because the harness would print to the standard output that is the protocol's: this program is
//! both sides. Started as it is, it runs the cases; with `TRUEFORM_TEST_CHILD` set, it is a server that behaves as that says.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![allow(
    clippy::print_stdout,
    reason = "there is no harness, and what servers print is what is tested"
)]

mod servers;

#[cfg(unix)]
mod cases;
#[cfg(unix)]
mod connecting;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod many;
#[cfg(unix)]
mod support;

fn main() {
    if let Ok(behaviour) = std::env::var(servers::BEHAVIOUR) {
        return servers::run(&behaviour);
    }
    #[cfg(unix)]
    cases::run();
    #[cfg(not(unix))]
    println!("the cases are about processes of Unix; nothing was tested");
}
