//! Nothing is public of a server that does not show everything to everyone.

use std::time::Duration;

use trueform::{
    prelude::*,
    resource::Caching,
    schema::{CacheScope, ReadResourceResult, TextResourceContents},
    visibility::OfferKind,
};

use super::{guarded, open, resource, template};
use crate::{extended::WAYS, support::log};

// V-10: what only some callers see must not be in a cache that others share.
#[test]
fn nothing_is_public() {
    let hour = Duration::from_secs(3600);
    let problem = |server: Server| server.build().map(drop).map_err(|error| error.to_string());
    let public = || resource("note://b").caching(Caching::public(hour));
    let public_template = || template("note://in/{id}").caching(Caching::public(hour));
    assert_eq!(
        problem(
            open()
                .list_caching(Caching::public(hour))
                .resources(public())
                .resources(public_template())
        ),
        Ok(())
    );
    let private = Caching::private(hour);
    let hiding = || guarded(|_, _| true);
    assert_eq!(problem(hiding().list_caching(private)), Ok(()));
    let limited = "but `Server::visible` limits who sees";
    for (server, what) in [
        (
            hiding().list_caching(Caching::public(hour)),
            "`list_caching` is public, ",
        ),
        (
            hiding().list_caching_of(OfferKind::Prompt, Caching::public(hour)),
            "`list_caching_of(Prompt, …)` is public, ",
        ),
        (hiding().resources(public()), "resource `note://b` "),
        (
            hiding().resources(public_template()),
            "resource template `note://in/{id}` ",
        ),
        (hiding().resources(resources![shared]), "fn `shared` at "),
    ] {
        let problem = problem(server).unwrap_err();
        assert!(
            problem.contains(what) && problem.contains(limited),
            "{what}: {problem}"
        );
    }
    // What comes at run time is held to the same.
    let service = hiding().build().unwrap();
    for added in [
        service.handle().add_resources(public()),
        service.handle().add_resources(public_template()),
    ] {
        let problem = added.unwrap_err().to_string();
        assert!(problem.contains(limited), "{problem}");
    }
    assert!(
        service
            .handle()
            .add_resources(resource("note://c").caching(private))
            .is_ok()
    );
}

// V-10: a resource that says so in its result is private all the same, and the log names it.
#[tokio::test]
async fn no_result_is_public() {
    let says_so = || {
        DynamicResource::new("note://says_so", "says so").handler(async |_| {
            let contents = TextResourceContents::new("x", "").into();
            ReadResourceResult::new(vec![contents])
                .with_ttl_ms(7)
                .with_cache_scope(CacheScope::Public)
        })
    };
    for (server, scope) in [
        (open().resources(says_so()), "public"),
        (guarded(|_, _| true).resources(says_so()), "private"),
    ] {
        let service = server.build().unwrap();
        let told = log();
        for way in WAYS.into_iter().filter(|way| way.modern) {
            let message = way.request("1", "resources/read", r#""uri":"note://says_so""#);
            let answer = way.answers(&service, &[message]).await.pop().unwrap();
            let result = &answer["result"];
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (&7.into(), &scope.into()),
                "{way:?}"
            );
        }
        let told = told.take();
        let warnings: Vec<_> = told
            .iter()
            .filter(|line| line.starts_with("WARN"))
            .collect();
        // One for each transport.
        let expected = if scope == "public" { 0 } else { 2 };
        assert_eq!(warnings.len(), expected, "{told:#?}");
        for line in warnings {
            assert!(
                line.contains("it is sent as private") && line.contains("note://says_so"),
                "{line}"
            );
        }
    }
}

/// Shared by all.
#[resource("note://shared", ttl = "1h", public)]
fn shared() -> &'static str {
    "shared"
}
