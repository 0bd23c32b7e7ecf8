//! Compiles a JSON Schema document to the arena of `node`.
//!
//! Uses a work list instead of recursion: neither deep nesting nor long chains of references can exhaust the stack. Nothing is ever
//! fetched; a reference that the document cannot resolve is an error.

mod finish;
mod keywords;
#[cfg(feature = "json-schema")]
mod outline;
mod refs;

#[cfg(feature = "json-schema")]
pub(super) use self::outline::{Outline, outline};
#[cfg(feature = "json-schema")]
pub(super) use self::refs::remote_reason;

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::{
    CompileOptions, MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS, SchemaError,
    SchemaErrorKind::{self, Dialect as UnknownDialect, Malformed, TooLarge, Unsupported},
    node::{Node, NodeId, Nodes},
    path::push_escaped,
};

/// Maximum number of errors that are collected for one schema.
const MAX_ERRORS: usize = 32;

pub(super) fn compile(root: &Value, options: &CompileOptions) -> Result<Nodes, Vec<SchemaError>> {
    let dialect = Dialect::of(root).map_err(|error| vec![error])?;
    compiled(root, options, dialect, Extent::Whole).map(|(nodes, _)| nodes)
}

/// Returns the nodes of a document, and the place of each in it.
fn compiled(
    root: &Value,
    options: &CompileOptions,
    dialect: Dialect,
    extent: Extent,
) -> Result<(Nodes, Vec<String>), Vec<SchemaError>> {
    let mut compiler = Compiler {
        root,
        dialect,
        extent,
        options,
        anchors: None,
        ids: HashMap::new(),
        nodes: vec![Some(Node::Any), Some(Node::Never)],
        pointers: vec![String::new(), String::new()],
        queue: VecDeque::new(),
        errors: Vec::new(),
    };
    let root = compiler.enqueue(root, String::new());
    compiler.drain();
    if !compiler.errors.is_empty() {
        return Err(compiler.errors);
    }
    match finish::finish(compiler.nodes, &compiler.pointers, root, options.max_steps) {
        Ok(nodes) => Ok((nodes, compiler.pointers)),
        Err(error) => Err(vec![error]),
    }
}

/// How much of a document its nodes must cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All of it: uncovered vocabulary is an error.
    Whole,
    /// The covered vocabulary only; another engine checks the whole document.
    #[cfg(feature = "json-schema")]
    Outline {
        /// Whether references cannot be followed, because parts of the document are documents of their own.
        without_references: bool,
    },
}

/// The dialects with a compiled vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// Also used if `$schema` is absent; accepts draft-07's idioms as well.
    Draft2020,
    Draft07,
}

impl Dialect {
    fn of(root: &Value) -> Result<Self, SchemaError> {
        let Some(named) = root.get("$schema") else {
            return Ok(Self::Draft2020);
        };
        Self::named(named).ok_or_else(|| match other_dialect(named) {
            Some(_) => {
                let reason = format!(
                    "dialect {named} needs the feature `json-schema`; 2020-12 (the default) and draft-07 do not"
                );
                SchemaError::new("/$schema", Unsupported, reason)
            }
            None => {
                let reason = format!(
                    "dialect {named} is not supported; use 2020-12 (the default) or draft-07"
                );
                SchemaError::new("/$schema", UnknownDialect, reason)
            }
        })
    }

    fn named(name: &Value) -> Option<Self> {
        match published(name)? {
            "draft/2020-12" => Some(Self::Draft2020),
            "draft-07" => Some(Self::Draft07),
            _ => None,
        }
    }
}

/// The dialects that have no vocabulary of their own here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OtherDialect {
    Draft2019,
    Draft06,
    Draft04,
}

fn other_dialect(name: &Value) -> Option<OtherDialect> {
    match published(name)? {
        "draft/2019-09" => Some(OtherDialect::Draft2019),
        "draft-06" => Some(OtherDialect::Draft06),
        "draft-04" => Some(OtherDialect::Draft04),
        _ => None,
    }
}

/// Returns the part of a published dialect's name that identifies it, such as `draft-07`.
fn published(name: &Value) -> Option<&str> {
    let name = name.as_str()?;
    let name = name.strip_suffix('#').unwrap_or(name);
    let name = name
        .strip_prefix("https://")
        .or_else(|| name.strip_prefix("http://"))?;
    name.strip_prefix("json-schema.org/")?
        .strip_suffix("/schema")
}

struct Compiler<'v> {
    root: &'v Value,
    dialect: Dialect,
    extent: Extent,
    options: &'v CompileOptions,
    /// Filled by the first reference to an anchor.
    anchors: Option<HashMap<&'v str, (&'v Value, String)>>,
    /// Places already seen, by address: the document is borrowed for as long as the compiler lives.
    ids: HashMap<*const Value, NodeId>,
    nodes: Vec<Option<Node>>,
    /// The place of each node in the document.
    pointers: Vec<String>,
    queue: VecDeque<(NodeId, &'v Value)>,
    errors: Vec<SchemaError>,
}

impl<'v> Compiler<'v> {
    fn drain(&mut self) {
        while let Some((id, value)) = self.queue.pop_front() {
            let pointer = self.pointers[id.0 as usize].clone();
            let node = match value {
                Value::Object(object) => {
                    let rules = self.rules(Place {
                        object,
                        pointer: &pointer,
                    });
                    if rules.is_trivial() {
                        Node::Any
                    } else {
                        Node::Rules(Box::new(rules))
                    }
                }
                _ => {
                    self.error(
                        &pointer,
                        Malformed,
                        format!("a schema is an object or a boolean, not {value}"),
                    );
                    Node::Never
                }
            };
            self.nodes[id.0 as usize] = Some(node);
        }
    }

    /// Returns the node of the schema at `pointer`. A new node is compiled later.
    fn enqueue(&mut self, value: &'v Value, pointer: String) -> NodeId {
        match value {
            Value::Bool(true) => return NodeId::ANY,
            Value::Bool(false) => return NodeId::NEVER,
            Value::Object(object) if object.is_empty() => return NodeId::ANY,
            _ => {}
        }
        let address = std::ptr::from_ref(value);
        if let Some(&id) = self.ids.get(&address) {
            return id;
        }
        if MAX_SUBSCHEMAS <= self.nodes.len() {
            self.stop("", format!("more than {MAX_SUBSCHEMAS} subschemas"));
            return NodeId::NEVER;
        }
        if MAX_SCHEMA_DEPTH < pointer.matches('/').count() {
            self.stop(
                &pointer,
                format!("nested deeper than {MAX_SCHEMA_DEPTH} levels"),
            );
            return NodeId::NEVER;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("bounded by MAX_SUBSCHEMAS"));
        self.ids.insert(address, id);
        self.nodes.push(None);
        self.pointers.push(pointer);
        self.queue.push_back((id, value));
        id
    }

    fn error(&mut self, pointer: &str, kind: SchemaErrorKind, reason: impl Into<String>) {
        let left_out = kind == Unsupported && self.extent != Extent::Whole;
        if !left_out && self.errors.len() < MAX_ERRORS {
            self.errors.push(SchemaError::new(pointer, kind, reason));
        }
    }

    fn follows_references(&self) -> bool {
        match self.extent {
            Extent::Whole => true,
            #[cfg(feature = "json-schema")]
            Extent::Outline { without_references } => !without_references,
        }
    }

    /// Returns whether the other engine reads the document as 2020-12, and ignores keywords of older dialects.
    fn is_outline_2020(&self) -> bool {
        let named = self.root.get("$schema");
        self.extent != Extent::Whole && named.and_then(other_dialect).is_none()
    }

    fn stop(&mut self, pointer: &str, reason: String) {
        self.queue.clear();
        if !self.errors.iter().any(|error| error.kind == TooLarge) {
            self.errors
                .push(SchemaError::new(pointer, TooLarge, reason));
        }
    }
}

/// A schema object and its place.
#[derive(Clone, Copy)]
struct Place<'v, 'p> {
    object: &'v Map<String, Value>,
    pointer: &'p str,
}

impl<'v> Place<'v, '_> {
    fn get(&self, keyword: &str) -> Option<&'v Value> {
        self.object.get(keyword)
    }

    fn below(&self, keyword: &str) -> String {
        let mut pointer = self.pointer.to_owned();
        push_escaped(&mut pointer, keyword);
        pointer
    }

    fn below2(&self, keyword: &str, inner: &str) -> String {
        let mut pointer = self.below(keyword);
        push_escaped(&mut pointer, inner);
        pointer
    }
}
