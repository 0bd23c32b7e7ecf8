//! Resources that a caller does not see, where a template that it sees makes the same URIs, and what is added later.

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{
    MAX_RESOURCE_SUBSCRIPTIONS, Policy, Service,
    client::{ClientError, ClientOptions},
    prelude::*,
    schema::{
        Annotations, ReadResourceResult, ResourceTemplateReference, SubscribeRequestParams,
        SubscriptionFilter,
        methods::{ResourceListChanged, ResourceUpdated, Subscribe},
    },
};

use crate::folders::Made;

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn template(uri: &'static str) -> DynamicTemplate {
    DynamicTemplate::new(uri, uri)
        .description("A file.")
        .handler(move |_, _| async move { uri })
}

async fn connected(service: &Service, revision: Revision) -> Client {
    let options = ClientOptions::at(revision);
    service.connect_as(options).await.unwrap()
}

fn text(read: &ReadResourceResult) -> Value {
    serde_json::to_value(&read.contents[0]).unwrap()["text"].take()
}

fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> (i64, Value) {
    let error = answer.unwrap_err();
    let error = error.remote().expect("the server refuses").clone();
    let data = error.data.map(|data| data.to_value()).unwrap_or_default();
    (error.code, data)
}

/// Fails after a time limit, so that a call that hangs ends the test.
async fn in_time<T>(test: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), test)
        .await
        .expect("in time")
}

// I-2, J-2, J-3: what a hidden or disabled template makes is unknown, however it is written: a more general template does not
// stand in for it.
#[tokio::test]
async fn a_hidden_template_has_no_substitute() {
    let server = || {
        Server::new("files", "1.0.0")
            .resources(vec![template("x:/secret/{id}"), template("x:/{+path}")])
    };
    let hiding = server().visible(|_, offer| !offer.name().contains("secret"));
    let disabling = server().build().unwrap();
    disabling.handle().enable_resource("x:/secret/{id}", false);
    for service in [hiding.build().unwrap(), disabling] {
        for (revision, not_found) in ERAS.into_iter().zip([-32002, -32602]) {
            let client = connected(&service, revision).await;
            for uri in [
                "x:/secret/1",
                "x:/%73ecret/1",
                "x:/secret%2F1",
                "x:/secret/%FF",
            ] {
                let (code, data) = refused(in_time(client.read_resource(uri)).await);
                assert_eq!((code, &data["uri"]), (not_found, &json!(uri)), "{uri}");
            }
            for uri in ["x:/open/1", "x:/secret/1/2", "x:/%6Fpen"] {
                let read = in_time(client.read_resource(uri)).await.unwrap();
                assert_eq!(text(&read), "x:/{+path}", "{uri}");
            }
        }
    }
    // One that is shown again is read again.
    let service = server().build().unwrap();
    service.handle().enable_resource("x:/secret/{id}", false);
    service.handle().enable_resource("x:/secret/{id}", true);
    let client = connected(&service, Revision::LATEST).await;
    let read = in_time(client.read_resource("x:/secret/1")).await.unwrap();
    assert_eq!(text(&read), "x:/secret/{id}");
}

// I-2, J-7, J-8: of a hidden resource a subscription says what it says of one that is not there, and sends nothing.
#[tokio::test]
async fn subscribing_tells_nothing() {
    let secret = DynamicResource::new("x:/secret", "secret").handler(async |_| "");
    let service = Server::new("files", "1.0.0")
        .resources(secret)
        .resources(template("x:/{+path}"))
        .visible(|_, offer| offer.name() != "x:/secret")
        .build()
        .unwrap();
    let handle = service.handle();
    let uris = ["x:/%73ecret", "x:/secret", "x:/absent"];

    let old = connected(&service, Revision::V2025_11_25).await;
    let mut heard = old.notifications();
    for uri in uris {
        let subscribed = old.request::<Subscribe>(SubscribeRequestParams::new(uri));
        in_time(subscribed).await.unwrap();
    }
    let new = connected(&service, Revision::V2026_07_28).await;
    let filter = SubscriptionFilter::default()
        .with_resource_subscriptions(uris.map(str::to_owned).to_vec())
        .with_resources_list_changed(true);
    let mut listening = in_time(new.listen(filter)).await.unwrap();
    let honoured = listening.honoured().resource_subscriptions.clone();
    assert_eq!(honoured.unwrap(), uris);

    for uri in uris {
        assert!(handle.resource_updated(uri));
    }
    // The list comes after what was not sent.
    handle.notify_resources_changed();
    let updated = in_time(heard.next_of::<ResourceUpdated>()).await.unwrap();
    assert_eq!(updated.uri, "x:/absent");
    let next = in_time(heard.next()).await.unwrap();
    assert!(next.is::<ResourceListChanged>(), "{next:?}");
    let next = in_time(listening.next()).await.unwrap();
    let updated = next.get::<ResourceUpdated>().unwrap().unwrap();
    assert_eq!(updated.uri, "x:/absent");
    let next = in_time(listening.next()).await.unwrap();
    assert!(next.is::<ResourceListChanged>(), "{next:?}");

    // What no template makes is refused as before.
    let unknown = SubscribeRequestParams::new("y:/a");
    let (code, _) = refused(in_time(old.request::<Subscribe>(unknown)).await);
    assert_eq!(code, -32002);
}

/// `uri` in as many spellings as there are subsets of its last `letters` letters: those of a subset are percent-encoded.
fn spellings(uri: &str, letters: usize) -> impl Iterator<Item = String> {
    let (plain, rest) = uri.split_at(uri.len() - letters);
    (0..1_usize << letters).map(move |subset| {
        let mut spelt = plain.to_owned();
        for (at, byte) in rest.bytes().enumerate() {
            match subset >> at & 1 {
                0 => spelt.push(char::from(byte)),
                _ => spelt.push_str(&format!("%{byte:02X}")),
            }
        }
        spelt
    })
}

// I-2, J-7: a subscription to a hidden resource counts as one to what is not there, or the bound would tell the two apart. A hidden
// resource has endless spellings, and none of them is kept beyond the bound.
#[tokio::test]
async fn subscriptions_to_the_hidden_count() {
    let hiding = || {
        let secret = DynamicResource::new("x:/my-own-secret", "secret").handler(async |_| "");
        Server::new("files", "1.0.0")
            .resources(secret)
            .resources(template("x:/{+path}"))
    };
    let limited = hiding().visible(|_, offer| offer.name() != "x:/my-own-secret");
    let disabling = hiding().build().unwrap();
    disabling
        .handle()
        .enable_resource("x:/my-own-secret", false);
    for service in [limited.build().unwrap(), disabling] {
        for full_of in ["x:/my-own-secret", "x:/not-there-at-all"] {
            let client = connected(&service, Revision::V2025_11_25).await;
            for uri in spellings(full_of, 10) {
                let subscribe = SubscribeRequestParams::new(uri);
                in_time(client.request::<Subscribe>(subscribe))
                    .await
                    .unwrap();
            }
            // None of the spellings above: their first letters are plain.
            for uri in ["x:/absent", "x:/%6Dy-own-secret"] {
                let subscribe = SubscribeRequestParams::new(uri);
                let (code, _) = refused(in_time(client.request::<Subscribe>(subscribe)).await);
                assert_eq!(code, -32603, "{uri} beside {full_of}");
            }
        }
    }
}

// L-1: a folder that is added to a server that completes nothing is read, and nothing is suggested.
#[tokio::test]
async fn a_folder_that_comes_later() {
    let made = Made::new("folder-later");
    made.write("docs/a.txt", "text");
    let fixed = DynamicResource::new("x:/a", "a").handler(async |_| "");
    let service = Server::new("files", "1.0.0")
        .resources(fixed)
        .build()
        .unwrap();
    service
        .handle()
        .add_resources(Folder::new(made.docs()))
        .unwrap();
    let client = connected(&service, Revision::LATEST).await;
    assert_eq!(client.server_capabilities().completions, None);
    for uri in ["file:///docs/a.txt", "file:///docs/%61.txt"] {
        let read = in_time(client.read_resource(uri)).await.unwrap();
        assert_eq!(text(&read), "text", "{uri}");
    }
    // What an author asks for is not left out.
    let completing = template("y:{a}").complete("a", |_| ["1"]);
    let error = service.handle().add_resources(completing).unwrap_err();
    assert!(
        error.to_string().contains("completes a variable"),
        "{error}"
    );
}

// L-3: the error for an unknown template says what was expected.
#[tokio::test]
async fn an_unknown_template() {
    let service = Server::new("files", "1.0.0")
        .resources(template("x:{a}").complete("a", |_| ["1"]))
        .build()
        .unwrap();
    let client = connected(&service, Revision::LATEST).await;
    let reference = ResourceTemplateReference::new("y:{a}");
    let (code, data) = refused(in_time(client.complete(reference, "a", "")).await);
    assert_eq!(code, -32602);
    assert_eq!(data["expected"], "the URI template of a resource template");
    assert_eq!(data["pointer"], "/params/ref/uri");
}

// Z-13
#[test]
fn dates_of_dynamic_resources() {
    let with = |time: &str| {
        let annotations = Annotations::new().with_last_modified(time);
        DynamicResource::new("x:/a", "a")
            .annotations(annotations)
            .handler(async |_| "")
    };
    let build = |time: &str| Server::new("t", "1").resources(with(time)).build();
    assert!(build("2026-01-31T15:00:58Z").is_ok());
    let error = build("yesterday").unwrap_err().to_string();
    assert!(
        error.contains("resource `x:/a` (") && error.contains("`lastModified` `yesterday`"),
        "{error}"
    );
}

// J-6, J-7, J-8: what is not a URI is refused although a template has its form, and is kept nowhere: no bound counts it.
#[tokio::test]
async fn subscriptions_to_what_is_not_a_uri() {
    let service = Server::new("files", "1.0.0")
        .resources(template("x:/{+path}"))
        .build()
        .unwrap();
    let bad = ["x:/a b", "x:/{+path}", "x:/é", "x:/%ZZ", "x:/a\0"];
    for revision in Revision::ALL {
        if revision == Revision::V2026_07_28 {
            continue;
        }
        // The client would not send what is not a URI.
        let options = ClientOptions::at(revision).outgoing(Policy::Off);
        let client = service.connect_as(options).await.unwrap();
        for uri in bad {
            let subscribe = SubscribeRequestParams::new(uri);
            let (code, data) = refused(in_time(client.request::<Subscribe>(subscribe)).await);
            assert_eq!(code, -32602, "{uri} at {revision}");
            assert_eq!(data["pointer"], "/params/uri", "{uri} at {revision}");
            assert_eq!(data["rule"], "format", "{uri} at {revision}");
        }
        // As many fit as without them.
        for at in 0..MAX_RESOURCE_SUBSCRIPTIONS {
            let subscribe = SubscribeRequestParams::new(format!("x:/{at}"));
            in_time(client.request::<Subscribe>(subscribe))
                .await
                .unwrap();
        }
        let subscribe = SubscribeRequestParams::new("x:/more");
        let (code, _) = refused(in_time(client.request::<Subscribe>(subscribe)).await);
        assert_eq!(code, -32603, "{revision}");
    }
    let options = ClientOptions::at(Revision::V2026_07_28).outgoing(Policy::Off);
    let new = service.connect_as(options).await.unwrap();
    let wanted: Vec<String> = bad.into_iter().chain(["x:/a"]).map(str::to_owned).collect();
    let filter = SubscriptionFilter::default().with_resource_subscriptions(wanted);
    let listening = in_time(new.listen(filter)).await.unwrap();
    let honoured = listening.honoured().resource_subscriptions.clone();
    assert_eq!(honoured.unwrap(), ["x:/a"]);
}
