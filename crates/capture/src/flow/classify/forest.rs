//! A forest of decision trees [Breiman, "Random Forests", Machine Learning 45 (2001)]. Each tree gives shares of the
//! families for the measurements of a transfer, and the forest their mean.
//!
//! The confidence is not that mean, but the share of right names among held-out transfers of other paths with an equal
//! or larger mean. Below the family's threshold (see `validation/classify/thresholds.py`) it is half of the ratio of
//! mean and threshold. `validation/classify/grow_forest.py` trains forests with scikit-learn. The bundled `forest.bin`
//! is older: 64 trees with the same parameters and two random thresholds for each measurement, not one.
//!
//! ```text
//! "DBF1", classes u8, features u8, trees u16
//! for each class: length u8, name; threshold f32
//! steps u8, for each step: mean f32, share of right names f32
//! for each tree: nodes u16, each node in preorder:
//!     feature u8, threshold f32, number of the node for larger values u16     (the other one follows)
//!     255, families u8, for each: class u8, share u8 (of 255)
//! ```

use std::sync::OnceLock;

/// Marks a leaf.
pub const LEAF: u8 = 255;
/// The first bytes of the file.
pub const MAGIC: &[u8; 4] = b"DBF1";
/// Transfers of this class are "unknown".
pub const OTHER: &str = "other";

/// The result of a vote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    /// The family with the largest mean, or "unknown".
    pub family: &'static str,
    /// Its mean, from 0 to 1.
    pub share: f64,
    /// From 0 to 1; above 0.5 the share of right names among held-out transfers.
    pub confidence: f64,
}

#[derive(Clone, Debug)]
enum Node {
    Split { feature: u8, threshold: f32, larger: u16 },
    Leaf(Vec<(u8, u8)>),
}

/// The trees.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    families: Vec<&'static str>,
    thresholds: Vec<f64>,
    /// Mean and share of right names, in increasing order.
    steps: Vec<(f64, f64)>,
    trees: Vec<Vec<Node>>,
    features: usize,
}

/// Reads the file.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn f32(&mut self) -> Option<f32> {
        self.take().map(f32::from_le_bytes)
    }
}

impl Forest {
    /// Reads a forest; `None` if the bytes are none.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut from = Bytes(bytes);
        if &from.take::<4>()? != MAGIC {
            return None;
        }
        let (classes, features, trees) = (from.u8()?, from.u8()?, from.u16()?);
        let mut forest = Self { features: features.into(), ..Self::default() };
        for _ in 0..classes {
            let len = usize::from(from.u8()?);
            let (name, rest) = from.0.split_at_checked(len)?;
            from.0 = rest;
            forest.families.push(super::FAMILIES.into_iter().find(|f| f.as_bytes() == name).unwrap_or("unknown"));
            forest.thresholds.push(from.f32()?.into());
        }
        for _ in 0..from.u8()? {
            forest.steps.push((from.f32()?.into(), from.f32()?.into()));
        }
        for _ in 0..trees {
            let nodes = from.u16()?;
            let mut tree = Vec::new();
            for at in 0..nodes {
                tree.push(match from.u8()? {
                    LEAF => Node::Leaf(
                        (0..from.u8()?)
                            .map(|_| Some((from.u8().filter(|&c| c < classes)?, from.u8()?)))
                            .collect::<Option<_>>()?,
                    ),
                    feature => {
                        let (threshold, larger) = (from.f32()?, from.u16()?);
                        // Only forwards, so that a walk ends.
                        if feature >= features || larger <= at || larger >= nodes {
                            return None;
                        }
                        Node::Split { feature, threshold, larger }
                    }
                });
            }
            if !matches!(tree.last()?, Node::Leaf(_)) {
                return None;
            }
            forest.trees.push(tree);
        }
        from.0.is_empty().then_some(forest)
    }

    /// The mean share of each class.
    pub fn shares(&self, measurements: &[f32]) -> Vec<f64> {
        let mut shares = vec![0.0; self.families.len()];
        if measurements.len() != self.features {
            return shares;
        }
        for tree in &self.trees {
            let mut at = 0;
            let leaf = loop {
                match &tree[at] {
                    Node::Leaf(leaf) => break leaf,
                    Node::Split { feature, threshold, .. } if measurements[usize::from(*feature)] <= *threshold => {
                        at += 1;
                    }
                    Node::Split { larger, .. } => at = usize::from(*larger),
                }
            };
            for &(class, part) in leaf {
                shares[usize::from(class)] += f64::from(part) / 255.0 / self.trees.len() as f64;
            }
        }
        shares
    }

    /// The most probable family.
    pub fn vote(&self, measurements: &[f32]) -> Vote {
        let shares = self.shares(measurements);
        let best = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        let Some(best) = best else { return Vote { family: "unknown", share: 0.0, confidence: 0.0 } };
        let (family, share) = (self.families[best], shares[best]);
        let right = self.steps.iter().take_while(|step| step.0 <= share).last().map_or(0.0, |step| step.1);
        let confidence = match (family, share / self.thresholds[best]) {
            ("unknown", _) => 0.0,
            (_, ratio) if ratio >= 1.0 => right.max(0.51),
            (_, ratio) => 0.5 * ratio,
        };
        Vote { family, share, confidence }
    }
}

/// The bundled forest.
pub fn bundled() -> &'static Forest {
    static FOREST: OnceLock<Forest> = OnceLock::new();
    FOREST.get_or_init(|| Forest::new(include_bytes!("forest.bin")).unwrap_or_default())
}
