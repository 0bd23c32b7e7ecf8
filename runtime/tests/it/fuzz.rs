//! The bodies of the fuzz targets on stable: on their seeds, on mutations of these, and on random JSON. Seeded: every run
//! tries the same. `TRUEFORM_FUZZ_CASES` says how many cases each body gets, `TRUEFORM_FUZZ_SEED` begins elsewhere.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

use trueform::testing::fuzz;

/// How many cases a body gets unless the environment says otherwise.
const CASES: u64 = 2000;

/// No input is longer.
const LONGEST: usize = 4096;

#[test]
fn envelope() {
    run("envelope", CASES, fuzz::envelope);
}

#[test]
fn decode() {
    run("decode", CASES, fuzz::decode);
}

#[test]
fn conform() {
    run("conform", CASES, fuzz::conform);
}

#[test]
fn header() {
    run("header", CASES, fuzz::header);
}

#[test]
fn arguments() {
    run("arguments", CASES, fuzz::arguments);
}

// J-6, J-9
#[test]
fn template() {
    run("template", CASES, fuzz::template);
}

// The quick reader and the careful one say the same of each request.
#[test]
fn quick() {
    run("quick", 10 * CASES, |bytes| {
        for line in bytes.split(|byte| *byte == b'\n') {
            fuzz::quick(line);
        }
    });
}

// A server that reads quickly answers and logs what one does that reads carefully.
#[test]
fn quick_answers() {
    run("quick", CASES / 4, fuzz::quick_answers);
    run("link", CASES / 8, fuzz::quick_answers);
}

// What the two are compared by is read quickly indeed.
#[test]
fn most_seeds_are_read_quickly() {
    for (file, seed) in seeds("quick") {
        let lines = seed.split(|byte| *byte == b'\n');
        let quick = lines.filter(|line| fuzz::quick(line)).count();
        let expected = match &*file {
            "more.json" => 0,
            "session.jsonl" => 3,
            _ => 1,
        };
        assert_eq!(quick, expected, "{file}");
    }
}

#[test]
fn link() {
    // Each case is a server, a session and its replay.
    run("link", CASES / 4, fuzz::link);
}

/// A line that opens a session at `revision`, and one that confirms it.
fn opening(revision: &str) -> String {
    let [open, confirm] = crate::support::initialize(revision);
    format!("{open}\n{confirm}\n")
}

// GAP-2, A-9, B-10, DEC-12: of an unknown member of the envelope, server and checker say the same, whatever else is to be
// said of the request: where nothing is let in it is -32600, and where it is let in it changes nothing.
#[test]
fn unknown_members_of_an_envelope() {
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":1,"b":2}}"#;
    let modern = crate::support::modern("99", "tools/list", "") + "\n";
    let befores = [
        String::new(),
        opening("2024-11-05"),
        opening("2025-03-26"),
        opening("2025-11-25"),
        modern,
    ];
    let rests = [
        format!(r#""parals":{meta}"#),
        r#""parals":{}"#.to_owned(),
        format!(r#""params":{meta},"x":1"#),
        r#""params":{},"x":1"#.to_owned(),
        r#""params":{"y":1},"x":1"#.to_owned(),
        r#""params":{"y":1}"#.to_owned(),
        r#""params":[],"x":1"#.to_owned(),
        r#""params":[]"#.to_owned(),
        r#""params":null,"error":null"#.to_owned(),
        // Found by the fuzzer: capabilities without a version, of which a ping needs neither.
        r#""params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#.to_owned(),
    ];
    for before in &befores {
        for method in [
            "tools/call",
            "tools/list",
            "ping",
            "initialize",
            "none/such",
        ] {
            for rest in &rests {
                let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}",{rest}}}"#);
                // By the number of bytes the body decides whether the server is strict.
                for end in ["", " "] {
                    let input = format!("{before}{message}{end}");
                    let outcome = catch_unwind(|| fuzz::link(input.as_bytes()));
                    assert!(outcome.is_ok(), "{input}");
                }
            }
        }
    }
}

/// Runs `body`, and says which input it was if it fails.
fn run(name: &str, cases: u64, body: fn(&[u8])) {
    let from_environment = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let cases = from_environment("TRUEFORM_FUZZ_CASES").unwrap_or(cases);
    let begin = from_environment("TRUEFORM_FUZZ_SEED").unwrap_or(0);
    let seeds = seeds(name);
    let attempt = |case: &str, input: &[u8]| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
            eprintln!(
                "fuzz body `{name}` fails on {case}: {}",
                input.escape_ascii()
            );
            resume_unwind(panic);
        }
    };
    for (file, seed) in &seeds {
        attempt(&format!("the seed `{file}`"), seed);
    }
    for case in begin..begin + cases {
        let mut generator = Generator(case.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x5EED);
        attempt(&format!("case {case}"), &generator.input(&seeds));
    }
}

fn seeds(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus-seeds")
        .join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut seeds: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(&path).unwrap())
        })
        .collect();
    seeds.sort();
    seeds
}

/// Makes inputs; SplitMix64.
struct Generator(u64);

/// What is put where a value was.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1.0",
    "1.5",
    "1e2",
    "1e400",
    "1e-400",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775809",
    "0.30000000000000004",
    "2.2250738585072011e-308",
    "123456789012345680000",
    "\"\"",
    "\"text\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\u{2028}é\"",
    "{}",
    "[]",
    "[{}]",
    "{\"\":{}}",
    "{\"_meta\":null}",
    "{\"type\":\"text\"}",
    "{\"$ref\":\"#\"}",
    "\"2026-07-28\"",
    "\"2025-03-26\"",
    "\"2.0\"",
];

/// What is put anywhere.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\u{feff}",
    "\"id\":1,",
    "\"id\":null,",
    "\"jsonrpc\":\"2.0\",",
    "\"method\":\"ping\",",
    "\"params\":{},",
    "\"result\":{},",
    "\"error\":{\"code\":1,\"message\":\"m\"},",
    "\"_meta\":{},",
    "\"type\":\"x\",",
    "\"structuredContent\":[],",
    "\"resultType\":\"complete\",",
    "\"name\":\"echo\",",
    "\"arguments\":{},",
    "=?base64?",
    "?=",
    "\\u00e9",
    "1e",
    "-",
];

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn input(&mut self, seeds: &[(String, Vec<u8>)]) -> Vec<u8> {
        if self.below(10) == 0 {
            let mut text = String::new();
            self.json(&mut text, 0);
            return text.into_bytes();
        }
        let mut input = self.of(seeds).1.clone();
        for _ in 0..=self.below(6) {
            self.mutate(&mut input, seeds);
        }
        input.truncate(LONGEST);
        input
    }

    fn mutate(&mut self, input: &mut Vec<u8>, seeds: &[(String, Vec<u8>)]) {
        let at = self.below(input.len() + 1);
        match self.below(12) {
            // JSON that is still JSON is what gets furthest, so that is most of it.
            0..=3 => self.other_value(input),
            4 => self.other_key(input),
            5 => self.without_member(input),
            6 => self.twice(input),
            7 => drop(input.splice(at..at, self.of(TOKENS).bytes())),
            8 if at < input.len() => input[at] ^= 1 << self.below(8),
            8 | 9 => input.truncate(at),
            10 => {
                let end = (at + self.below(16)).min(input.len());
                input.drain(at..end);
            }
            _ => {
                let other = self.of(seeds).1.clone();
                let from = self.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
        }
    }

    /// Replaces a value by another one.
    fn other_value(&mut self, input: &mut Vec<u8>) {
        let Some((start, end)) = self.value(input) else {
            return;
        };
        let value = match self.below(4) {
            0 => {
                let mut text = String::new();
                self.json(&mut text, 2);
                text
            }
            1 => self
                .value(input)
                .map(|(start, end)| String::from_utf8_lossy(&input[start..end]).into_owned())
                .unwrap_or_default(),
            _ => (*self.of(VALUES)).to_owned(),
        };
        input.splice(start..end, value.bytes());
    }

    /// Gives a member the name of another one.
    fn other_key(&mut self, input: &mut Vec<u8>) {
        let keys = keys(input);
        if keys.is_empty() {
            return;
        }
        let (start, end) = *self.of(&keys);
        let (from, to) = *self.of(&keys);
        let name = input[from..to].to_owned();
        input.splice(start..end, name);
    }

    fn without_member(&mut self, input: &mut Vec<u8>) {
        let keys = keys(input);
        if keys.is_empty() {
            return;
        }
        let (start, end) = *self.of(&keys);
        let mut end = value_end(input, end + 1);
        let mut start = start;
        match (
            input.get(end),
            start.checked_sub(1).map(|before| input[before]),
        ) {
            (Some(b','), _) => end += 1,
            (_, Some(b',')) => start -= 1,
            _ => {}
        }
        input.drain(start..end);
    }

    /// Repeats a line, or a member.
    fn twice(&mut self, input: &mut Vec<u8>) {
        let keys = keys(input);
        if keys.is_empty() || self.below(2) == 0 {
            let line = input
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default()
                .to_owned();
            input.push(b'\n');
            input.extend(line);
            return;
        }
        let (start, end) = *self.of(&keys);
        let mut member = input[start..value_end(input, end + 1)].to_owned();
        member.push(b',');
        input.splice(start..start, member);
    }

    /// Where some value is: after a colon.
    fn value(&mut self, input: &[u8]) -> Option<(usize, usize)> {
        let starts: Vec<usize> = keys(input).into_iter().map(|(_, end)| end + 1).collect();
        if starts.is_empty() {
            return (!input.is_empty()).then_some((0, input.len()));
        }
        let start = *self.of(&starts);
        Some((start, value_end(input, start)))
    }

    /// Doubles of all magnitudes, subnormal ones, and integers of 16 and 17 digits, some written as floats.
    fn number(&mut self) -> String {
        let bits = self.next();
        match self.below(4) {
            0 => f64::from_bits(bits & 0x000f_ffff_ffff_ffff).to_string(),
            1 => (bits % 100_000_000_000_000_000).to_string(),
            2 => format!("{}.0", bits % 10_000_000_000_000_000),
            // Infinity and what is not a number are not JSON.
            _ => serde_json::Value::from(f64::from_bits(bits)).to_string(),
        }
    }

    fn json(&mut self, out: &mut String, depth: usize) {
        const NAMES: &[&str] = &[
            "a",
            "b",
            "jsonrpc",
            "id",
            "method",
            "params",
            "result",
            "name",
            "arguments",
            "type",
            "text",
            "content",
            "_meta",
            "uri",
            "properties",
            "items",
            "inputSchema",
            "outputSchema",
            "structuredContent",
            "data",
            "kind",
            "c",
        ];
        match self.below(if depth > 4 { 3 } else { 6 }) {
            0 if self.below(3) == 0 => out.push_str(&self.number()),
            0..=2 => {
                let value: &str = self.of::<&str>(VALUES);
                out.push_str(value);
            }
            3 => {
                out.push('[');
                for i in 0..self.below(4) {
                    out.push_str(if i == 0 { "" } else { "," });
                    self.json(out, depth + 1);
                }
                out.push(']');
            }
            _ => {
                out.push('{');
                for i in 0..self.below(5) {
                    out.push_str(if i == 0 { "\"" } else { ",\"" });
                    let name: &str = self.of::<&str>(NAMES);
                    out.push_str(name);
                    out.push_str("\":");
                    self.json(out, depth + 1);
                }
                out.push('}');
            }
        }
    }
}

/// Where the names of members are, quotes included, as far as `input` is JSON without white space.
fn keys(input: &[u8]) -> Vec<(usize, usize)> {
    let mut keys = Vec::new();
    let mut at = 0;
    while at < input.len() {
        if input[at] != b'"' {
            at += 1;
            continue;
        }
        let end = value_end(input, at);
        if input.get(end) == Some(&b':') {
            keys.push((at, end));
        }
        at = end.max(at + 1);
    }
    keys
}

/// Where the value that begins at `start` ends, at most at the end of `input`.
fn value_end(input: &[u8], start: usize) -> usize {
    let (mut depth, mut quoted, mut at) = (0_usize, false, start.min(input.len()));
    while at < input.len() {
        match (quoted, input[at]) {
            (true, b'\\') => at += 1,
            (true, b'"') => {
                quoted = false;
                if depth == 0 {
                    return at + 1;
                }
            }
            (true, _) => {}
            (false, b'"') => quoted = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']' | b',') if depth == 0 => return at,
            (false, b'}' | b']') => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    input.len()
}
