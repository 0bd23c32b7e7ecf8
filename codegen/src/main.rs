//! The command line of the generator: argument parsing, output and exit codes. All work is in the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
