//! Finds the templates that may match a URI: one trie of the literal text that templates begin with. The cost of a look-up
//! depends on the length of the URI and the number of templates whose literal prefix it has.

/// The indices of templates by the literal text that they begin with.
#[derive(Debug)]
pub(crate) struct Trie {
    /// The first one is the root.
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// In the order of the first bytes of their texts, which are all different.
    children: Vec<Edge>,
    /// The templates whose text before the first variable leads to this node.
    found: Vec<usize>,
    /// The closest node above with templates.
    above: Option<usize>,
}

#[derive(Debug)]
struct Edge {
    /// Not empty.
    text: Box<[u8]>,
    to: usize,
}

impl Node {
    /// Returns the index of the edge whose text begins with `first`.
    ///
    /// # Errors
    /// The index at which such an edge would be inserted.
    fn child(&self, first: u8) -> Result<usize, usize> {
        self.children
            .binary_search_by_key(&first, |edge| edge.text[0])
    }
}

impl Trie {
    /// Builds the trie of `prefixes`, by index.
    pub(crate) fn new<'p>(prefixes: impl IntoIterator<Item = &'p str>) -> Self {
        let mut this = Self {
            nodes: vec![Node::default()],
        };
        for (index, prefix) in prefixes.into_iter().enumerate() {
            let node = this.node_for(prefix.as_bytes());
            this.nodes[node].found.push(index);
        }
        this.link(0, None);
        this
    }

    /// Returns the node for `prefix`, and creates it if it does not exist.
    fn node_for(&mut self, prefix: &[u8]) -> usize {
        let (mut node, mut rest) = (0, prefix);
        while let Some(&first) = rest.first() {
            let next = self.nodes.len();
            let at = match self.nodes[node].child(first) {
                Ok(at) => at,
                Err(at) => {
                    let text = rest.into();
                    let children = &mut self.nodes[node].children;
                    children.insert(at, Edge { text, to: next });
                    self.nodes.push(Node::default());
                    return next;
                }
            };
            let edge = &mut self.nodes[node].children[at];
            let common = edge
                .text
                .iter()
                .zip(rest)
                .take_while(|(a, b)| a == b)
                .count();
            if common < edge.text.len() {
                // A new node where the texts diverge.
                let lower = Edge {
                    text: edge.text[common..].into(),
                    to: edge.to,
                };
                edge.text = edge.text[..common].into();
                edge.to = next;
                self.nodes.push(Node {
                    children: vec![lower],
                    ..Node::default()
                });
                node = next;
            } else {
                node = edge.to;
            }
            rest = &rest[common..];
        }
        node
    }

    /// Sets `above` for all nodes. Without recursion: authors may have many templates, each longer than the one before.
    fn link(&mut self, root: usize, above: Option<usize>) {
        let mut waiting = vec![(root, above)];
        while let Some((at, above)) = waiting.pop() {
            let node = &mut self.nodes[at];
            node.above = above;
            let below = match node.found.is_empty() {
                true => above,
                false => Some(at),
            };
            waiting.extend(node.children.iter().map(|edge| (edge.to, below)));
        }
    }

    /// Returns the indices of the templates whose literal prefix `uri` has, longest prefix first, otherwise in order.
    pub(crate) fn candidates(&self, uri: &str) -> impl Iterator<Item = usize> {
        let (mut at, mut rest) = (0, uri.as_bytes());
        while let Some(first) = rest.first()
            && let Ok(child) = self.nodes[at].child(*first)
            && let edge = &self.nodes[at].children[child]
            && let Some(after) = rest.strip_prefix(&*edge.text)
        {
            (at, rest) = (edge.to, after);
        }
        let path = std::iter::successors(Some(at), |at| self.nodes[*at].above);
        path.flat_map(|at| self.nodes[at].found.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_have_the_beginning_of_the_uri() {
        let prefixes = [
            "notes://",
            "notes://a",
            "db://",
            "notes://abc",
            "notes://abd",
            "notes://",
            "n",
            "é:",
            "è:",
            "",
        ];
        let trie = Trie::new(prefixes);
        for (uri, expected) in [
            ("notes://abce", &[3, 1, 0, 5, 6, 9][..]),
            ("notes://abd", &[4, 1, 0, 5, 6, 9]),
            ("notes://ab", &[1, 0, 5, 6, 9]),
            ("notes://b", &[0, 5, 6, 9]),
            ("notes:/", &[6, 9]),
            ("db://x", &[2, 9]),
            ("dc://x", &[9]),
            ("é:", &[7, 9]),
            ("è:", &[8, 9]),
            ("", &[9]),
        ] {
            let found: Vec<_> = trie.candidates(uri).collect();
            assert_eq!(found, expected, "{uri}");
        }
        assert_eq!(Trie::new([]).candidates("x").count(), 0);
    }

    /// Each prefix is longer than the one before: neither building nor dropping recurses.
    #[test]
    fn a_deep_trie() {
        let long = "x".repeat(5000);
        let trie = Trie::new((0..long.len()).map(|end| &long[..end]));
        assert_eq!(trie.candidates(&long).next(), Some(4999));
        assert_eq!(trie.candidates(&long).count(), 5000);
    }
}
