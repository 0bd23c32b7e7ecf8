use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn template(text: &str) -> Template {
    Template::parse(text).unwrap_or_else(|problem| panic!("`{text}` {problem}"))
}

fn values(text: &str, uri: &str) -> Option<Result<Vec<String>, String>> {
    let template = template(text);
    let values = template.values(uri)?;
    Some(match values {
        Ok(values) => Ok(values.into_iter().map(Cow::into_owned).collect()),
        Err(mismatch) => Err(mismatch.to_string()),
    })
}

// J-9
#[test]
fn malformed_templates() {
    for (text, problem) in [
        ("notes://{", "a `{` that no `}` closes"),
        ("notes://{a", "a `{` that no `}` closes"),
        ("notes://a}", "a `}` that no `{` opens"),
        (
            "notes://{a{b}}",
            "where the name of a variable was expected",
        ),
        ("notes://{}", "where the name of a variable was expected"),
        ("notes://{a b}", "where the name of a variable was expected"),
        ("notes://{a,}", "where the name of a variable was expected"),
        ("notes://{?q}", "whose operator `?` is not supported"),
        ("notes://a{#b}", "whose operator `#` is not supported"),
        ("notes://{a*}", "a modifier in `{a*}`"),
        ("notes://{a:3}", "a modifier in `{a:3}`"),
        ("notes://{a}/{a}", "the variable `a` twice"),
        (
            "notes://{a}{b}",
            "no text between the variables `a` and `b`",
        ),
        (
            "notes://{a}{+b}",
            "no text between the variables `a` and `b`",
        ),
        ("notes://{+a}/{+b}", "only one may hold slashes"),
        ("notes://{+a,b}", "only one may hold slashes"),
        ("notes/{a}", "does not begin with a scheme"),
        ("{scheme}://a", "does not begin with a scheme"),
        ("1notes://{a}", "makes no URI"),
        ("notes://a b/{c}", "white space"),
        ("notes://%zz/{a}", "makes no URI"),
        ("notes://[{a}]", "makes no URI"),
    ] {
        let parsed = Template::parse(text);
        let found = parsed.expect_err(text);
        assert!(found.contains(problem), "{text}: {found}");
    }
}

// J-9
#[test]
fn matches() {
    let cases: &[(&str, &str, Option<&[&str]>)] = &[
        ("notes://{name}", "notes://a", Some(&["a"])),
        ("notes://{name}", "notes://", None),
        ("notes://{name}", "notes://a/b", None),
        ("notes://{name}", "notes://a?b", None),
        ("notes://{name}", "notes://a#b", None),
        ("notes://{name}", "other://a", None),
        ("notes://{name}", "notes:/", None),
        ("notes://{name}", "notes://a%2Fb", Some(&["a/b"])),
        // The digits of an escape do not match letters of a template.
        ("x:{a}B{b}", "x:1%7BqB2", Some(&["1{q", "2"])),
        ("x:{a}7B{b}", "x:1%7B7B2", Some(&["1{", "2"])),
        ("x:{+p}B{b}", "x:1/B%7B2", Some(&["1/", "{2"])),
        ("x:{a}B", "x:%7B", None),
        ("x:{a}B", "x:%7BB", Some(&["{"])),
        ("x:{a}B{b}", "x:1%7B2", None),
        ("notes://{name}", "notes://a%2fb", Some(&["a/b"])),
        ("notes://{name}", "notes://%C3%A9t%C3%a9", Some(&["été"])),
        ("notes://{name}", "notes://a+b", Some(&["a+b"])),
        ("notes://{name}", "notes://a:b@c,d", Some(&["a:b@c,d"])),
        ("notes://{name}", "notes://%2525", Some(&["%25"])),
        ("notes://{name}", "notes://..", Some(&[".."])),
        ("notes://all", "notes://all", Some(&[])),
        ("notes://all", "notes://all/", None),
        ("notes://été/{a}", "notes://%C3%A9t%C3%A9/x", Some(&["x"])),
        ("db://{table}/{id}", "db://users/7", Some(&["users", "7"])),
        ("db://{table}/{id}", "db:///7", None),
        ("db://{table}/{id}", "db://users/", None),
        ("db://{table}/{id}", "db://users/7/8", None),
        ("db://{table}/{id}/rows", "db://t/7/rows", Some(&["t", "7"])),
        ("db://{table}/{id}/rows", "db://t/7/row", None),
        ("x:{a,b}", "x:1,2", Some(&["1", "2"])),
        ("x:{a,b}", "x:1,2,3", Some(&["1", "2,3"])),
        ("x:{a,b}", "x:1%2C2,3", Some(&["1,2", "3"])),
        ("x:a{/b,c}", "x:a/1/2", Some(&["1", "2"])),
        ("x:a{/b}{/c}", "x:a/1/2", Some(&["1", "2"])),
        ("x:a{/b}", "x:a1", None),
        ("x:a{/b}", "x:a", None),
        ("x:{a}-{b}", "x:1-2-3", Some(&["1", "2-3"])),
        ("x:{a}-{b}", "x:1--", Some(&["1", "-"])),
        ("x:{a}-{b}", "x:-1", None),
        ("x:{a}-{b}", "x:--1", Some(&["-", "1"])),
        ("x:{a}.txt", "x:a.txt.txt", Some(&["a.txt"])),
        ("x:{a}.txt", "x:.txt", None),
        ("x:{a}b/c{d}", "x:bb/c1", Some(&["b", "1"])),
        ("x:{a}b/c{d}", "x:1/cb/c1", None),
        ("x:{+path}", "x:a/b?c#d", Some(&["a/b?c#d"])),
        ("x:{+path}", "x:a%2Fb", Some(&["a/b"])),
        ("x:{+path}/{file}", "x:a/b/c", Some(&["a/b", "c"])),
        ("x:{+path}/{file}", "x:a", None),
        ("x:{+path}/{file}", "x:/a", None),
        ("x:{+path}/{file}", "x:a/", None),
        ("x:{+path}/{file}", "x:a//b", Some(&["a/", "b"])),
        (
            "x:{a}/{+p}/{b}-{c}",
            "x:1/2/3/4-5-6",
            Some(&["1", "2/3", "4-5", "6"]),
        ),
        ("x:{a}/{+p}/{b}-{c}", "x:1/2/3/4-5/6", None),
        ("x:{+p}-{b}", "x:a-b/c-d", Some(&["a-b/c", "d"])),
        ("x:{+p}/c{b}d{e}", "x:1/c2d3", Some(&["1", "2", "3"])),
        ("x:{+p}b{a}", "x:1b/2b3", Some(&["1b/2", "3"])),
    ];
    for (text, uri, expected) in cases {
        let found = values(text, uri).map(|values| values.expect(uri));
        let expected = expected.map(|values| values.iter().map(|v| (*v).to_owned()).collect());
        assert_eq!(found, expected, "`{uri}` by `{text}`");
    }
}

// J-6
#[test]
fn values_that_are_refused() {
    let escape = "is not UTF-8 in percent-encoded form";
    let traversal = "could leave its folder";
    for (text, uri, problem) in [
        ("x:{a}", "x:%ZZ", escape),
        ("x:{a}", "x:%", escape),
        ("x:{a}", "x:%4", escape),
        ("x:{a}", "x:%+1", escape),
        ("x:{a}", "x:%FF", escape),
        ("x:{a}", "x:%C3", escape),
        ("x:{a}", "x:%C0%AF", escape),
        ("x:{a}", "x:%ED%A0%80", escape),
        ("file:///{+path}", "file:///../etc/passwd", traversal),
        ("file:///{+path}", "file:///a/../../etc/passwd", traversal),
        ("file:///{+path}", "file:///a/..", traversal),
        ("file:///{+path}", "file:///a/%2e%2E/b", traversal),
        ("file:///{+path}", "file:///a/./b", traversal),
        ("file:///{+path}", "file:////etc/passwd", traversal),
        ("file:///{+path}", "file:///%2Fetc/passwd", traversal),
        ("file:///{+path}", "file:///a%2Fb", traversal),
        ("file:///{+path}", "file:///..%5Cetc", traversal),
        ("file:///{+path}", "file:///a%00b", traversal),
        ("file:///{+path}", "file:///C:/windows", traversal),
        ("file:///{+path}", "file:///c%3A/windows", traversal),
        ("FILE:///{name}", "FILE:///..", traversal),
        ("file:///docs/{name}.md", "file:///docs/...md", traversal),
        ("file:///docs/.{name}", "file:///docs/..", traversal),
        ("file:///{name}", "file:///a%2fb", traversal),
    ] {
        let found = values(text, uri).expect(uri).expect_err(uri);
        assert!(found.contains(problem), "`{uri}` by `{text}`: {found}");
    }
    let path = values("file:///{+path}", "file:///a..b/...%20/.c");
    assert_eq!(path, Some(Ok(vec!["a..b/... /.c".to_owned()])));
    // Any template can be marked.
    let marked = template("docs://{+path}").file_like();
    let refused = marked.values("docs://a/../b").expect("the form is right");
    assert_eq!(refused, Err(Mismatch::Traversal("path")));
}

#[test]
fn the_more_specific_first() {
    // Each is more specific than all that follow it.
    let ordered = [
        "x:a/b/{c}",
        "x:a/{b}/c",
        "x:a/{b}/{c}",
        "x:a/{b}",
        "x:a/{+b}",
        "x:a{b}",
        "x:{a}.txt",
        "x:{a}",
        "x:{+a}/b",
        "x:{+a}",
    ];
    let keys: Vec<_> = ordered.map(|text| template(text).specificity()).into();
    assert!(keys.is_sorted(), "{keys:?}");
    for (one, other, same) in [
        ("x:{a}/{b}", "x:{c}/{d}", true),
        ("x:a{/b}", "x:a/{c}", true),
        ("x:{a,b}", "x:{a},{b}", true),
        ("x:{a}", "x:{+a}", false),
        ("x:{a}", "x:{a}b", false),
    ] {
        let is_same = template(one).form() == template(other).form();
        assert_eq!(is_same, same, "{one} {other}");
    }
}

/// The look-up of a URI that is eight times as long takes about eight times as long, for any URI.
#[test]
fn hostile_uris_take_linear_time() {
    const LONG: usize = 1 << 20;
    const TIMES: usize = 8;
    let many: String = (0..40).map(|at| format!("-{{v{at}}}")).collect();
    let templates = [
        "x:{a}".to_owned(),
        "file:{+a}".to_owned(),
        format!("x:{many}"),
        format!("x:{many}/end"),
        format!("x:{{+p}}{many}"),
        "x:{a}ab{b}ab{+c}ba{d}ba{e}".to_owned(),
        "x:{+a}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab/{b}".to_owned(),
        "x:{a}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab{b}".to_owned(),
    ];
    for text in &templates {
        let template = template(text);
        let scheme = template.prefix().split(':').next().unwrap_or_default();
        for unit in ["-", "a", "ab", "ba", "/", "-/", "%2F", "a/", "%"] {
            let fastest = |length: usize| {
                let uri = format!("{scheme}:{}", unit.repeat(length / unit.len()));
                let runs = (0..3).map(|_| {
                    let begun = Instant::now();
                    std::hint::black_box(template.values(&uri));
                    begun.elapsed()
                });
                runs.min().unwrap()
            };
            let (short, long) = (fastest(LONG / TIMES), fastest(LONG));
            // Quadratic time would be eight times this limit; other load of the machine does not reach it.
            let most = short * 4 * TIMES as u32 + Duration::from_millis(100);
            assert!(long < most, "`{text}` {unit}: {short:?}, then {long:?}");
        }
    }
}

/// A template, and the text that values must not contain, so that the values are unambiguous.
const TEMPLATES: &[(&str, &str)] = &[
    ("notes://{a}", ""),
    ("notes://{a}/{b}", ""),
    ("notes:{a,b,c}", ""),
    ("notes:x{/a,b}", ""),
    ("notes://{a}-{b}", "-"),
    ("notes://{a}.txt", ""),
    ("notes://{+a}", ""),
    ("notes://{a}/{+b}/{c}", ""),
    ("notes://{a}/{+b}.{c}", "."),
];

proptest! {
    // J-9: an expanded URI matches, with the same values.
    #[test]
    fn expansion_is_undone(which in 0..TEMPLATES.len(), values in prop::array::uniform3("\\PC{1,12}|[a-z/%.,?#:-]{1,12}")) {
        let (text, without) = TEMPLATES[which];
        let template = template(text);
        let count = template.names().count();
        let values = values.map(|value| match without {
            "" => value,
            without => format!("x{}", value.replace(without, "")),
        });
        let values: Vec<&str> = values.iter().take(count).map(|value| &**value).collect();
        let uri = template.expanded(&values);
        let found = template.values(&uri);
        prop_assert!(matches!(&found, Some(Ok(found)) if *found == values), "{uri}: {found:?}");
    }
}
