//! That a schema written for clients that read little accepts what it accepted before.

#[path = "../../check/src/tests/generator.rs"]
mod generator;

use proptest::{collection::vec, prelude::*};
use trueform::{
    check::{CompileOptions, Schema},
    lint::portable,
};

use self::generator::{runner, schema, value};

#[test]
fn portable_schemas_accept_the_same() {
    let run = runner(800).run(&(schema(), vec(value(), 4)), |(schema, values)| {
        let options = CompileOptions::default();
        let rewritten = portable(&schema);
        let before = Schema::compile(&schema, options)
            .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"));
        let after = Schema::compile(&rewritten, options)
            .unwrap_or_else(|errors| panic!("{rewritten}: {errors:?}"));
        for value in values {
            prop_assert_eq!(
                before.accepts(&value),
                after.accepts(&value),
                "{} and {} on {}",
                schema,
                rewritten,
                value
            );
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
