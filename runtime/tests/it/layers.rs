//! The rooms of the crate import each other as a table says, and without cycles.
//!
//! A room is a module directly below the crate, with all below it. `UPDATE_EXPECT=1` writes the tables of imports; the order of
//! the rooms is a list to be changed by hand.

pub(crate) mod imports;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

use expect_test::{Expect, expect};

use self::imports::Imports;

/// An import: who imports, and what.
type Edge = (String, String);

/// The rooms in the order of their dependencies: each may import those above it.
const ROOMS: &[&str] = &[
    "error",
    "principal",
    "signal",
    "seal",
    "contained",
    "jsonrpc",
    "acp",
    "lint",
    "projection",
    "gate",
    "needs",
    "trace",
    "peer",
    "store",
    "host",
    "exchange",
    "client_log",
    "feature",
    "drive",
    "engine",
    "transport",
    "server",
    "client",
    "testing",
    "prelude",
    "guide",
    "__private",
];

/// The same for the modules of `transport/http`.
const HTTP: &[&str] = &[
    "under_way",
    "message_body",
    "head_timer",
    "status",
    "config",
    "limit",
    "spare",
    "pipe",
    "sse",
    "live",
    "standalone",
    "sessions",
    "calls",
    "fields",
    "policy",
    "media",
    "body",
    "reply",
    "state",
    "endpoint",
    "shared",
    "post",
    "listen",
    "service",
    "site",
    "connection",
    "serve",
    "http",
];

fn the_crate() -> Imports {
    Imports::of_crate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"))
}

#[test]
fn rooms() {
    check(
        &the_crate(),
        &[],
        ROOMS,
        &expect![[r#"
            error:
            principal:
            signal:
            seal:
            contained:
            jsonrpc:
            acp: jsonrpc
            lint:
            projection: lint
            gate: jsonrpc
            needs: gate
            trace: jsonrpc gate
            peer: principal signal jsonrpc gate
            store:
            host: signal seal gate
            exchange: principal signal jsonrpc projection gate needs trace peer host
            client_log: contained trace exchange
            feature: error principal signal contained jsonrpc lint projection gate needs trace peer store host exchange
            drive: signal contained jsonrpc gate trace host exchange feature
            engine: jsonrpc gate needs trace peer host exchange client_log feature drive
            transport: principal signal jsonrpc gate peer store exchange feature drive engine
            server: error seal lint gate host exchange feature engine transport
            client: error principal contained jsonrpc acp gate needs feature transport server
            testing: principal contained jsonrpc projection gate needs feature transport server client
            prelude: principal exchange feature server client
            guide:
            __private: lint needs feature
        "#]],
    );
}

#[test]
fn rooms_of_http() {
    let http = &["transport", "http"];
    check(
        &the_crate(),
        http,
        HTTP,
        &expect![[r#"
            under_way:
            message_body: under_way
            head_timer:
            status: message_body
            config:
            limit:
            spare:
            pipe:
            sse:
            live: pipe sse
            standalone: limit live
            sessions: live standalone
            calls: limit sessions
            fields:
            policy: config fields
            media: fields
            body: message_body pipe sse live standalone sessions calls
            reply: message_body status config pipe sse live sessions calls media body
            state: message_body status
            endpoint: config limit spare sessions fields policy
            shared: sessions endpoint
            post: status config limit spare sessions calls fields media reply state endpoint shared
            listen: message_body status pipe sse live standalone sessions fields media body reply state endpoint shared
            service: message_body spare fields media state endpoint post listen
            site: under_way message_body status policy state endpoint service
            connection: under_way message_body head_timer config site
            serve: config endpoint site connection
            http: config pipe sessions policy endpoint service site serve
        "#]],
    );
}

/// Holds the imports among the children of `parent` to the table `expected` and to the order of `rooms`, which leaves no cycle.
fn check(imports: &Imports, parent: &[&str], rooms: &[&str], expected: &Expect) {
    let edges = imports.edges(parent);
    let segments: Vec<String> = parent.iter().map(|&segment| segment.to_owned()).collect();
    let mut found = imports.children(&segments);
    found.extend(parent.last().map(|&own| own.to_owned()));
    let listed: BTreeSet<String> = rooms.iter().map(|&room| room.to_owned()).collect();
    assert_eq!(found, listed, "the order lists every room once");
    assert_eq!(rooms.len(), listed.len(), "the order lists every room once");

    expected.assert_eq(&table(rooms, &edges));

    let downwards = downwards(rooms, &edges);
    assert!(
        downwards.is_empty(),
        "imports of rooms further down: {downwards:?}; cycles: {:?}",
        cycles(&edges)
    );
}

/// One line for each room: what it imports, in the order of `rooms`.
fn table(rooms: &[&str], edges: &BTreeSet<Edge>) -> String {
    let mut out = String::new();
    for &room in rooms {
        let imported = rooms
            .iter()
            .filter(|&&to| edges.contains(&(room.to_owned(), to.to_owned())));
        let imported: Vec<&str> = imported.copied().collect();
        let line = format!("{room}: {}", imported.join(" "));
        writeln!(out, "{}", line.trim_end()).unwrap();
    }
    out
}

/// The imports of a room that does not stand above the importer.
fn downwards(rooms: &[&str], edges: &BTreeSet<Edge>) -> BTreeSet<Edge> {
    let place = |room: &str| rooms.iter().position(|&listed| listed == room);
    edges
        .iter()
        .filter(|(from, to)| place(from) <= place(to))
        .cloned()
        .collect()
}

/// The groups of rooms that import each other, whatever order they are listed in.
fn cycles(edges: &BTreeSet<Edge>) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let reached = |start: &str| {
        let mut reached = BTreeSet::new();
        let mut open = next.get(start).cloned().unwrap_or_default();
        while let Some(room) = open.pop() {
            if reached.insert(room.to_owned()) {
                open.extend(next.get(room).into_iter().flatten());
            }
        }
        reached
    };
    let reaches: BTreeMap<&str, BTreeSet<String>> =
        next.keys().map(|&room| (room, reached(room))).collect();
    let mut cycles = BTreeSet::new();
    for (&room, to) in reaches.iter().filter(|&(&room, to)| to.contains(room)) {
        let back = |other: &&String| {
            reaches
                .get(other.as_str())
                .is_some_and(|from| from.contains(room))
        };
        cycles.insert(to.iter().filter(back).cloned().collect::<Vec<_>>());
    }
    cycles.into_iter().collect()
}

/// The edges that a source gives, without those of its root.
fn edges_of(source: &str) -> String {
    let imports = Imports::of_source(source);
    let children = imports.children(&[]);
    let rooms: Vec<&str> = children.iter().map(String::as_str).collect();
    table(&rooms, &imports.edges(&[]))
}

/// A whole feature over the generic parts is small: the room of notes, which `.ci/next_revision.py` puts beside the others and
/// tests there. Comments and empty lines count.
#[test]
fn a_room_is_small() {
    const MOST: usize = 150;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/next-revision/notes");
    let files = std::fs::read_dir(folder).unwrap();
    let lines = files.map(|file| {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 130));
        text.lines().count()
    });
    let lines: usize = lines.sum();
    assert!((1..=MOST).contains(&lines), "{lines} lines, at most {MOST}");
}

#[test]
fn what_counts_as_an_import() {
    let source = r##"
        pub use self::c::Thing;
        pub use std::sync::Arc as Shared;
        mod a {
            // use crate::b;
            /* crate::b::x() */
            /// See [`crate::b`].
            fn f() -> &'static str { "crate::b::x()"; r#"crate::b"# }
            pub(crate) fn g(self_: u8) -> impl Sized + use<> { std::crate_::b }
            macro_rules! m { () => { $crate::b::x() } }
            #[cfg(test)]
            mod tests { use crate::b::x; use super::super::b; }
            #[cfg(all(test, unix))]
            use crate::b;
            #[cfg(test)]
            const fn of_tests() -> u8 { crate::b::x() }
            use crate::d;
        }
        mod b { use {std::fmt, crate::{c::{self, Thing as Other}, d::*}}; }
        mod c { fn f(x: crate::Thing) -> super::d::Y { match x { _ => super::a::g::<u8>(1) } } }
        mod d { mod inner { use super::super::b::x; pub(in crate::d) fn f(_: self::b::Z) {} } fn f() { select! { x = crate::c::f() => 1 } } }
        mod e { use crate::Thing; use crate::Shared; mod b { use super::b; } fn f() { ::crate_::x() } }
    "##;
    expect![[r#"
        a: d
        b: c d
        c: a d
        d: b c
        e: c
    "#]]
    .assert_eq(&edges_of(source));
}

#[test]
fn cycles_are_found_however_long() {
    let edges = |text: &str| -> BTreeSet<Edge> {
        let pairs = text.split(' ').filter_map(|pair| pair.split_once('>'));
        pairs
            .map(|(from, to)| (from.to_owned(), to.to_owned()))
            .collect()
    };
    let none = Vec::<Vec<String>>::new();
    assert_eq!(cycles(&edges("")), none);
    assert_eq!(cycles(&edges("a>b a>c b>c c>d")), none);
    assert_eq!(cycles(&edges("a>b b>a")), [["a", "b"]]);
    assert_eq!(
        cycles(&edges("x>a a>b b>c c>a c>d d>e e>d")),
        [vec!["a", "b", "c"], vec!["d", "e"]]
    );
    let rooms = ["a", "b", "c"];
    assert_eq!(downwards(&rooms, &edges("c>a b>a")), edges(""));
    assert_eq!(downwards(&rooms, &edges("c>a a>b")), edges("a>b"));
}
