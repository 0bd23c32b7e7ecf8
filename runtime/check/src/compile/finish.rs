//! The passes that need all nodes: loops, aliases, and which nodes can be checked as a stream.

use serde_json::Value;

use super::super::{
    SchemaError, SchemaErrorKind,
    node::{ArrayRules, Node, NodeId, Nodes, ObjectRules, Plan, Rules, TypeSet},
};

/// The streaming check keeps the required names it has seen in one word.
const MAX_STREAMED_REQUIRED: usize = 64;

pub(super) fn finish(
    nodes: Vec<Option<Node>>,
    pointers: &[String],
    root: NodeId,
    max_steps: u64,
) -> Result<Nodes, SchemaError> {
    let mut list: Vec<Node> = nodes
        .into_iter()
        .map(|node| node.unwrap_or(Node::Never))
        .collect();
    if let Some(looping) = in_place_loop(&list) {
        let reason = "this schema applies itself to the same value without end";
        return Err(SchemaError::new(
            pointers[looping].clone(),
            SchemaErrorKind::Unresolved,
            reason,
        ));
    }
    let targets = without_aliases(&list);
    for node in &mut list {
        if let Node::Rules(rules) = node {
            rules.map_ids(&|id| targets[id.0 as usize]);
        }
    }
    let plans: Vec<Plan> = list.iter().map(|node| plan(&list, node)).collect();
    for (node, plan) in list.iter_mut().zip(plans) {
        if let Node::Rules(rules) = node {
            rules.plan = plan;
        }
    }
    Ok(Nodes {
        list: list.into(),
        root: targets[root.0 as usize],
        max_steps,
    })
}

fn rules(list: &[Node], id: NodeId) -> Option<&Rules> {
    match &list[id.0 as usize] {
        Node::Rules(rules) => Some(rules),
        Node::Any | Node::Never => None,
    }
}

/// Returns for each node the node that it is an alias of, or itself.
fn without_aliases(list: &[Node]) -> Vec<NodeId> {
    let mut targets: Vec<Option<NodeId>> = vec![None; list.len()];
    let mut chain = Vec::new();
    for (start, node) in (0_u32..).zip(list) {
        let mut id = NodeId(start);
        let mut node = node;
        // Terminates, because loops were refused. Each link is followed once.
        let target = loop {
            if let Some(known) = targets[id.0 as usize] {
                break known;
            }
            chain.push(id);
            match node {
                Node::Any => break NodeId::ANY,
                Node::Never => break NodeId::NEVER,
                Node::Rules(rules) => match rules.alias() {
                    Some(next) => id = next,
                    None => break id,
                },
            }
            node = &list[id.0 as usize];
        };
        for id in chain.drain(..) {
            targets[id.0 as usize] = Some(target);
        }
    }
    targets
        .into_iter()
        .map(|target| target.unwrap_or(NodeId::ANY))
        .collect()
}

/// Returns a node that reaches itself through schemas for the same value, if any.
fn in_place_loop(list: &[Node]) -> Option<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let below = |node: usize| -> Vec<usize> {
        match &list[node] {
            Node::Rules(rules) => rules
                .apply
                .iter()
                .flat_map(|apply| apply.in_place())
                .map(|id| id.0 as usize)
                .collect(),
            Node::Any | Node::Never => Vec::new(),
        }
    };
    let mut marks = vec![Mark::New; list.len()];
    for start in 0..list.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut stack = vec![(start, below(start))];
        while let Some((node, rest)) = stack.last_mut() {
            let Some(next) = rest.pop() else {
                marks[*node] = Mark::Done;
                stack.pop();
                continue;
            };
            match marks[next] {
                Mark::Open => return Some(next),
                Mark::Done => {}
                Mark::New => {
                    marks[next] = Mark::Open;
                    stack.push((next, below(next)));
                }
            }
        }
    }
    None
}

fn plan(list: &[Node], node: &Node) -> Plan {
    let Node::Rules(rules) = node else {
        return Plan::Stream;
    };
    match &rules.apply {
        None if streams(rules) => Plan::Stream,
        None => Plan::Tree,
        Some(_) if disjoint_branches(list, rules) => Plan::ByType,
        Some(_) => Plan::Tree,
    }
}

fn streams(rules: &Rules) -> bool {
    let scalar = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
    rules.constant.iter().all(scalar)
        && rules.options.iter().flatten().all(scalar)
        && rules
            .array
            .as_ref()
            .is_none_or(|array| array_streams(array))
        && rules
            .object
            .as_ref()
            .is_none_or(|object| object_streams(object))
}

fn array_streams(array: &ArrayRules) -> bool {
    !array.unique && array.contains.is_none()
}

/// Returns whether the rules can be checked as a stream. A repeated name is one member in a tree but occurs twice in a stream, so a lower
/// bound on members cannot be checked as a stream.
fn object_streams(object: &ObjectRules) -> bool {
    object.patterns.is_empty()
        && object.property_names.is_none()
        && object.min == 0
        && object.dependent.is_empty()
        && object.required.len() <= MAX_STREAMED_REQUIRED
}

/// Returns whether the rules are only one `anyOf` or `oneOf` whose branches stream and have no type in common.
fn disjoint_branches(list: &[Node], own: &Rules) -> bool {
    let Some(apply) = &own.apply else {
        return false;
    };
    let branches = match (&apply.any, &apply.one) {
        (Some(branches), None) | (None, Some(branches)) => branches,
        _ => return false,
    };
    let bare = own.constant.is_none()
        && own.options.is_none()
        && own.number.is_none()
        && own.string.is_none()
        && own.array.is_none()
        && own.object.is_none();
    if !bare || apply.in_place().count() != branches.len() {
        return false;
    }
    let mut seen = TypeSet::NONE;
    branches.iter().all(|&branch| {
        let Some(rules) = rules(list, branch) else {
            return false;
        };
        let fresh = !seen.intersects(rules.types);
        seen = seen.union(rules.types);
        fresh && rules.apply.is_none() && streams(rules)
    })
}
