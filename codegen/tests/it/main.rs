//! Tests of the generator as its users meet it: the committed schemas, the command line, the library.

mod cli;
mod diff;
mod import;
mod made_up;
mod proof;
mod regenerate;
mod support;
mod values;
