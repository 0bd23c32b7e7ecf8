//! The page of what is known of clients.

use std::fmt::Write as _;

use expect_test::expect_file;
use trueform::lint::FACTS;

const HEAD: &str = "\
Known problems of clients with the schemas of tools, and with prompts, resources and resource templates: clients that drop the
tool, clients that drop the whole list, and why.

The facts come from reports about those clients, and hold for the day of the report. A finding does not mean that the schema or the
definition is wrong. [`Service::lint`](crate::Service::lint) applies the rules to all that a server lists, [`lint`](fn@lint) to one schema,
[`lint_prompt`], [`lint_resource`] and [`lint_resource_template`] to one definition. The rules `form-…` concern what functions ask
clients for. A `$ref` to the document's own `$id`, as that is
written, is not a finding.

A test writes the rows from [`FACTS`]. A source is an issue or a pull request on GitHub.

| rule | client | limit | date | source |
| --- | --- | --- | --- | --- |
";

/// `UPDATE_EXPECT=1` rewrites the page.
#[test]
fn the_page_has_every_fact() {
    let mut page = HEAD.to_owned();
    for fact in FACTS {
        let (code, client, limit) = (fact.code, fact.client, fact.limit);
        let (date, source) = (fact.date, fact.source);
        _ = writeln!(
            page,
            "| `{code}` | {client} | {limit} | {date} | {source} |"
        );
    }
    expect_file!["../../src/lint/clients.md"].assert_eq(&page);
}

#[test]
fn dates_and_sources_are_complete() {
    for fact in FACTS {
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let parts: Vec<&str> = fact.date.split('-').collect();
        assert!(
            matches!(parts[..], [year, month, day]
                if year.len() == 4 && month.len() == 2 && day.len() == 2 && [year, month, day].into_iter().all(digits)),
            "{fact:?}"
        );
        let is_report = fact
            .source
            .split_once('#')
            .is_some_and(|(name, number)| name.split('/').count() == 2 && digits(number));
        assert!(
            is_report || fact.source.starts_with("specification, "),
            "{fact:?}"
        );
    }
}
