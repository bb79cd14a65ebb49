//! Trains the forest of the classification, and judges it with transfers of held-out paths. `validation/classify/grow_forest.py`
//! calls it.
//!
//!     cargo run --release -p dumbbell-capture --example train_classifier -- ROUNDS.csv FOREST.bin VOTES.csv [TREES.bin]
//!
//! With `TREES.bin` the trees are those of this forest, and only its thresholds are new: its trees must not be trained with
//! the paths of `ROUNDS.csv`.
//!
//! Each line of `ROUNDS.csv` is a transfer: its number, path, back end, weight, class and the families that are right for it
//! (separated by spaces), MSS, 1 if captured at the sender, and the rounds, each with its fields separated by spaces.
//! `VOTES.csv` has a row for each transfer, by a forest (with `TREES.bin`: by thresholds) of four fifths of the paths, without its
//! own: the family, its mean
//! share, 1 if that is above the threshold of these paths, the confidence, and the family's threshold in `FOREST.bin`.
//!
//! A family has a threshold: the least share from which its names are right for [`SURE`] of the transfers of each back end. A
//! family whose held-out names are right for less than [`NEEDED`] of a back end's transfers, or that has fewer than [`FEW`] of
//! them, is never sure: its threshold is above 1.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use dumbbell_capture::flow::classify::forest::{Forest, LEAF, MAGIC, OTHER};
use dumbbell_capture::flow::classify::measurements;
use dumbbell_capture::flow::rounds::Round;
use dumbbell_capture::flow::side::Limit;

const FOLDS: u64 = 5;
const TREES: usize = 64;
/// Least transfers of a leaf, and most levels of a tree.
const LEAF_SIZE: usize = 3;
const DEPTH: usize = 16;
/// Measurements that are tried for each split, with two thresholds each.
const TRIED: usize = 24;
/// Least share of right names above a family's threshold, of each back end.
const NEEDED: f64 = 0.95;
/// The same with a margin, for the choice of the threshold: it fits the names that it is chosen with.
const SURE: f64 = 0.96;
/// Least names above the threshold of a family.
const FEW: usize = 20;
/// A threshold that no share reaches.
const NEVER: f64 = 1.01;
/// Least threshold.
const FLOOR: f64 = 0.45;

struct Transfer {
    number: String,
    path: u64,
    backend: String,
    weight: f64,
    class: u8,
    right: Vec<String>,
    row: Vec<f32>,
}

/// xorshift64* [Vigna 2016].
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

struct Grower<'a> {
    all: &'a [&'a Transfer],
    classes: usize,
    random: Random,
    bytes: Vec<u8>,
    nodes: u16,
}

impl Grower<'_> {
    fn counts(&self, of: &[usize]) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes];
        for &i in of {
            counts[usize::from(self.all[i].class)] += self.all[i].weight;
        }
        counts
    }

    fn leaf(&mut self, counts: &[f64]) {
        let sum: f64 = counts.iter().sum();
        let parts: Vec<(u8, u8)> = (0_u8..)
            .zip(counts)
            .map(|(class, n)| (class, (n / sum * 255.0).round() as u8))
            .filter(|part| part.1 > 0)
            .collect();
        self.bytes.extend([LEAF, parts.len() as u8]);
        self.bytes.extend(parts.iter().flat_map(|part| [part.0, part.1]));
    }

    fn grow(&mut self, of: Vec<usize>, depth: usize) {
        self.nodes += 1;
        let counts = self.counts(&of);
        if depth == DEPTH || of.len() < 2 * LEAF_SIZE || counts.iter().filter(|&&n| n > 0.0).count() == 1 {
            return self.leaf(&counts);
        }
        // Gini impurity, times the weight.
        let impurity = |counts: &[f64]| {
            let sum: f64 = counts.iter().sum();
            sum - counts.iter().map(|n| n * n).sum::<f64>() / sum
        };
        let mut best: Option<(f64, usize, f32)> = None;
        for _ in 0..TRIED {
            let feature = self.random.below(self.all[0].row.len());
            let value = |i: usize| self.all[i].row[feature];
            for _ in 0..2 {
                let (a, b) = (of[self.random.below(of.len())], of[self.random.below(of.len())]);
                let threshold = f32::midpoint(value(a), value(b));
                let (low, high): (Vec<usize>, Vec<usize>) = of.iter().partition(|&&i| value(i) <= threshold);
                if low.len().min(high.len()) >= LEAF_SIZE {
                    let left = impurity(&self.counts(&low)) + impurity(&self.counts(&high));
                    if best.is_none_or(|known| left < known.0) {
                        best = Some((left, feature, threshold));
                    }
                }
            }
        }
        let Some((_, feature, threshold)) = best else { return self.leaf(&counts) };
        let (low, high) = of.iter().partition(|&&i| self.all[i].row[feature] <= threshold);
        self.bytes.push(feature as u8);
        self.bytes.extend(threshold.to_le_bytes());
        let at = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.grow(low, depth + 1);
        let larger = self.nodes;
        self.bytes[at..at + 2].copy_from_slice(&larger.to_le_bytes());
        self.grow(high, depth + 1);
    }
}

/// A held-out vote: class, share, right, transfer.
type Judged<'a> = (u8, f64, bool, &'a Transfer);

/// The number of names and of right ones, by back end.
#[derive(Default)]
struct Names<'a>(BTreeMap<&'a str, (usize, usize)>);

impl<'a> Names<'a> {
    fn add(&mut self, vote: &Judged<'a>) {
        let (all, right) = self.0.entry(&vote.3.backend).or_default();
        *all += 1;
        *right += usize::from(vote.2);
    }

    /// True if there are enough, and this share of them is right. Of each back end, too; one wrong name of few is no evidence.
    fn are_right(&self, share: f64) -> bool {
        let (all, right) = self.0.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
        let enough = |all: usize, right: usize| right as f64 >= share * all as f64;
        all >= FEW
            && enough(all, right)
            && self.0.values().all(|&(all, right)| all <= right + 1 || enough(all, right))
    }
}

/// The least share from which the names of a class are right.
fn threshold<'a>(votes: &[&Judged<'a>], class: usize) -> f64 {
    let mut own: Vec<&Judged<'a>> = votes.iter().filter(|v| usize::from(v.0) == class).copied().collect();
    own.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (mut names, mut threshold) = (Names::default(), NEVER);
    for vote in own {
        names.add(vote);
        if names.are_right(SURE) {
            threshold = vote.1;
        }
    }
    threshold.max(FLOOR)
}

/// Thresholds of the classes and steps of the confidence.
fn calibrate(votes: &[&Judged<'_>], classes: usize) -> (Vec<f32>, Vec<(f32, f32)>) {
    let thresholds = (0..classes).map(|class| threshold(votes, class) as f32).collect();
    let steps = (0..20).map(|n| f64::from(n) / 20.0).filter_map(|from| {
        let above: Vec<bool> = votes.iter().filter(|v| v.1 >= from).map(|v| v.2).collect();
        // Laplace's rule: one right and one wrong name more.
        let right = (above.iter().filter(|&&r| r).count() + 1) as f64 / (above.len() + 2) as f64;
        (!above.is_empty()).then_some((from as f32, right as f32))
    });
    let mut steps: Vec<(f32, f32)> = steps.collect();
    for n in 1..steps.len() {
        steps[n].1 = steps[n].1.max(steps[n - 1].1);
    }
    (thresholds, steps)
}

/// The bytes of a forest; `grown` are those of its trees.
fn file(
    features: u8,
    trees: u16,
    names: &[String],
    thresholds: &[f32],
    steps: &[(f32, f32)],
    grown: &[u8],
) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([names.len() as u8, features]);
    bytes.extend(trees.to_le_bytes());
    for (name, threshold) in names.iter().zip(thresholds) {
        bytes.push(name.len() as u8);
        bytes.extend(name.bytes());
        bytes.extend(threshold.to_le_bytes());
    }
    bytes.push(steps.len() as u8);
    for (share, right) in steps {
        bytes.extend(share.to_le_bytes());
        bytes.extend(right.to_le_bytes());
    }
    bytes.extend(grown);
    bytes
}

/// The names of a file's classes, its number of measurements and of trees, and the trees' bytes.
fn parts(mut bytes: &[u8]) -> Option<(Vec<String>, u8, u16, &[u8])> {
    let mut take = |n: usize| -> Option<&[u8]> {
        let (first, rest) = bytes.split_at_checked(n)?;
        bytes = rest;
        Some(first)
    };
    take(MAGIC.len())?;
    let (classes, features) = (take(1)?[0], take(1)?[0]);
    let trees = u16::from_le_bytes(take(2)?.try_into().ok()?);
    let mut names = Vec::new();
    for _ in 0..classes {
        let len = usize::from(take(1)?[0]);
        names.push(String::from_utf8(take(len)?.to_vec()).ok()?);
        take(4)?;
    }
    let steps = usize::from(take(1)?[0]);
    take(8 * steps)?;
    Some((names, features, trees, bytes))
}

/// Grows trees. Returns the bytes of their forest.
fn forest(all: &[&Transfer], names: &[String], thresholds: &[f32], steps: &[(f32, f32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for tree in 0..TREES as u64 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (tree + 1));
        let of: Vec<usize> = (0..all.len()).map(|_| random.below(all.len())).collect();
        let mut grower = Grower { all, classes: names.len(), random, bytes: Vec::new(), nodes: 0 };
        grower.grow(of, 0);
        bytes.extend(grower.nodes.to_le_bytes());
        bytes.extend(grower.bytes);
    }
    file(all[0].row.len() as u8, TREES as u16, names, thresholds, steps, &bytes)
}

fn transfer(line: &str, names: &[String]) -> Option<Transfer> {
    let mut fields = line.split(',');
    let number = fields.next()?.to_owned();
    let path = fields.next()?.parse().ok()?;
    let backend = fields.next()?.to_owned();
    let weight = fields.next()?.parse().ok()?;
    let class = fields.next()?;
    let class = names.iter().position(|name| name == class)? as u8;
    let right = fields.next()?.split(' ').map(str::to_owned).collect();
    let (mss, at_sender) = (fields.next()?.parse().ok()?, fields.next()? == "1");
    let rounds = fields.map(|text| {
        let v: Vec<i64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[
            start,
            end,
            flight,
            bytes,
            acked,
            rtt_min,
            rtt_sum,
            rtts,
            again,
            echoes,
            fast,
            timeout,
            repairing,
            limit,
        ] = &v[..]
        else {
            return None;
        };
        let limit =
            [Limit::Idle, Limit::Application, Limit::Window, Limit::Recovery, Limit::Network][limit as usize];
        Some(Round {
            start,
            end,
            flight: flight as u32,
            bytes: bytes as u32,
            acked: acked as u32,
            rtt_min: rtt_min as u32,
            rtt_sum: rtt_sum as u64,
            rtts: rtts as u32,
            retransmissions: again as u32,
            echoes: echoes as u32,
            fast: fast != 0,
            timeout: timeout != 0,
            repairing: repairing != 0,
            limit,
        })
    });
    let rounds: Vec<Round> = rounds.collect::<Option<_>>()?;
    Some(Transfer {
        number,
        path,
        backend,
        weight,
        class,
        right,
        row: measurements(&rounds, mss, at_sender)?,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, made, judged, trees @ ..] = &arguments[..] else {
        return Err("usage: train_classifier ROUNDS.csv FOREST.bin VOTES.csv [TREES.bin]".into());
    };
    let known = trees.first().map(fs::read).transpose()?;
    let known = known.as_deref().map(|bytes| parts(bytes).ok_or("not a forest").map(|parts| (bytes, parts)));
    let known = known.transpose()?;
    let text = fs::read_to_string(rounds)?;
    let names: BTreeSet<String> =
        text.lines().filter_map(|l| l.split(',').nth(4)).map(str::to_owned).collect();
    let names: Vec<String> =
        known.as_ref().map_or_else(|| names.into_iter().collect(), |(_, parts)| parts.0.clone());
    let transfers: Vec<Transfer> = text.lines().filter_map(|line| transfer(line, &names)).collect();
    eprintln!("{} transfers of {} classes", transfers.len(), names.len());
    let flat = (vec![0.0; names.len()], Vec::new());
    let fold = |t: &Transfer| t.path % FOLDS;
    let mut votes: Vec<Judged<'_>> = Vec::new();
    for held in 0..FOLDS {
        let others: Vec<&Transfer> = transfers.iter().filter(|t| fold(t) != held).collect();
        let made = known
            .as_ref()
            .map_or_else(|| Forest::new(&forest(&others, &names, &flat.0, &flat.1)), |k| Forest::new(k.0))
            .ok_or("the forest can't be read")?;
        for t in transfers.iter().filter(|t| fold(t) == held) {
            let shares = made.shares(&t.row);
            let best = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0);
            votes.push((best as u8, shares[best], t.right.contains(&names[best]), t));
        }
    }
    let named = |votes: &[&Judged<'_>]| -> (Vec<f32>, Vec<(f32, f32)>) {
        let of: Vec<&Judged<'_>> =
            votes.iter().filter(|v| names[usize::from(v.0)] != OTHER).copied().collect();
        calibrate(&of, names.len())
    };
    // The thresholds, too, are those of other paths.
    let of_others: Vec<_> = (0..FOLDS)
        .map(|held| named(&votes.iter().filter(|v| fold(v.3) != held).collect::<Vec<_>>()))
        .collect();
    let by_others = |v: &Judged<'_>| {
        let (thresholds, steps) = &of_others[fold(v.3) as usize];
        let right = steps.iter().take_while(|s| f64::from(s.0) <= v.1).last().map_or(0.0, |s| s.1);
        (v.1 / f64::from(thresholds[usize::from(v.0)]), f64::from(right.max(0.51)))
    };
    let (mut thresholds, steps) = named(&votes.iter().collect::<Vec<_>>());
    for (class, threshold) in thresholds.iter_mut().enumerate() {
        let mut names = Names::default();
        votes
            .iter()
            .filter(|v| usize::from(v.0) == class && by_others(v).0 >= 1.0)
            .for_each(|v| names.add(v));
        if !names.are_right(NEEDED) {
            *threshold = NEVER as f32;
        }
    }
    let mut lines = String::from("transfer,family,share,above,confidence,threshold\n");
    for vote in &votes {
        let (class, share, _, transfer) = vote;
        let (name, threshold) = (&names[usize::from(*class)], f64::from(thresholds[usize::from(*class)]));
        let (ratio, right) = by_others(vote);
        let above = ratio >= 1.0 && name != OTHER;
        let confidence = match () {
            () if name == OTHER => 0.0,
            () if threshold >= NEVER => 0.5 * share / threshold,
            () if above => right,
            () => 0.5 * ratio,
        };
        let number = &transfer.number;
        writeln!(lines, "{number},{name},{share:.3},{},{confidence:.3},{threshold:.2}", u8::from(above))?;
    }
    fs::write(judged, lines)?;
    let all: Vec<&Transfer> = transfers.iter().collect();
    let bytes = match known {
        Some((_, (_, features, trees, grown))) => file(features, trees, &names, &thresholds, &steps, grown),
        None => forest(&all, &names, &thresholds, &steps),
    };
    fs::write(made, bytes)?;
    for (name, threshold) in names.iter().zip(&thresholds) {
        eprintln!("{name}: sure from {threshold:.2}");
    }
    eprintln!("{steps:?}");
    Ok(())
}
