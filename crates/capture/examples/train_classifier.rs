//! Trains the forest of the classification, and judges it with transfers of held-out paths. `validation/classify/grow_forest.py`
//! calls it.
//!
//!     cargo run --release -p dumbbell-capture --example train_classifier -- ROUNDS.csv FOREST.bin VOTES.csv
//!
//! Each line of `ROUNDS.csv` is a transfer: its number, path, weight, class and the families that are right for it (separated by
//! spaces), MSS, 1 if captured at the sender, and the rounds, each with its fields separated by spaces. `VOTES.csv` has the
//! family and the confidence of each transfer by a forest of four fifths of the paths, without its own.

use std::collections::BTreeSet;
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
/// Share of right names from which on a name is sure: 95 %, and a margin because the threshold is chosen on the same names.
const SURE: f64 = 0.955;
/// Least transfers above the threshold of a family.
const FEW: usize = 10;
/// Least threshold.
const FLOOR: f64 = 0.45;

struct Transfer {
    number: String,
    path: u64,
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

/// Thresholds of the classes and steps of the confidence, from held-out votes: class, share, right.
type Judged<'a> = (u8, f64, bool, &'a Transfer);

fn calibrate(votes: &[&Judged<'_>], classes: usize) -> (Vec<f32>, Vec<(f32, f32)>) {
    let least = |of: &mut Vec<(f64, bool)>| {
        of.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut right, mut threshold) = (0, 1.01);
        for (n, vote) in of.iter().enumerate() {
            right += usize::from(vote.1);
            if right as f64 >= SURE * (n + 1) as f64 && n + 1 >= FEW {
                threshold = vote.0;
            }
        }
        threshold
    };
    let thresholds = (0..classes)
        .map(|class| {
            let mut own: Vec<(f64, bool)> =
                votes.iter().filter(|v| usize::from(v.0) == class).map(|v| (v.1, v.2)).collect();
            least(&mut own).max(FLOOR) as f32
        })
        .collect();
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

fn forest(all: &[&Transfer], names: &[String], thresholds: &[f32], steps: &[(f32, f32)]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([names.len() as u8, all[0].row.len() as u8]);
    bytes.extend((TREES as u16).to_le_bytes());
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
    for tree in 0..TREES as u64 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (tree + 1));
        let of: Vec<usize> = (0..all.len()).map(|_| random.below(all.len())).collect();
        let mut grower = Grower { all, classes: names.len(), random, bytes: Vec::new(), nodes: 0 };
        grower.grow(of, 0);
        bytes.extend(grower.nodes.to_le_bytes());
        bytes.extend(grower.bytes);
    }
    bytes
}

fn transfer(line: &str, names: &[String]) -> Option<Transfer> {
    let mut fields = line.split(',');
    let number = fields.next()?.to_owned();
    let path = fields.next()?.parse().ok()?;
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
    Some(Transfer { number, path, weight, class, right, row: measurements(&rounds, mss, at_sender)? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, made, judged] = &arguments[..] else {
        return Err("usage: train_classifier ROUNDS.csv FOREST.bin VOTES.csv".into());
    };
    let text = fs::read_to_string(rounds)?;
    let names: BTreeSet<String> =
        text.lines().filter_map(|l| l.split(',').nth(3)).map(str::to_owned).collect();
    let names: Vec<String> = names.into_iter().collect();
    let transfers: Vec<Transfer> = text.lines().filter_map(|line| transfer(line, &names)).collect();
    eprintln!("{} transfers of {} classes", transfers.len(), names.len());
    let flat = (vec![0.0; names.len()], Vec::new());
    let fold = |t: &Transfer| t.path % FOLDS;
    let mut votes: Vec<Judged<'_>> = Vec::new();
    for held in 0..FOLDS {
        let others: Vec<&Transfer> = transfers.iter().filter(|t| fold(t) != held).collect();
        let made =
            Forest::new(&forest(&others, &names, &flat.0, &flat.1)).ok_or("the forest can't be read")?;
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
    let mut lines = String::from("transfer,family,share,confidence\n");
    for held in 0..FOLDS {
        // The thresholds, too, are those of other paths.
        let others: Vec<&Judged<'_>> = votes.iter().filter(|v| fold(v.3) != held).collect();
        let (thresholds, steps) = named(&others);
        for (class, share, _, t) in votes.iter().filter(|v| fold(v.3) == held) {
            let name = &names[usize::from(*class)];
            let right = steps.iter().take_while(|s| f64::from(s.0) <= *share).last().map_or(0.0, |s| s.1);
            let ratio = *share / f64::from(thresholds[usize::from(*class)]);
            let confidence = match () {
                () if name == OTHER => 0.0,
                () if ratio >= 1.0 => f64::from(right.max(0.51)),
                () => 0.5 * ratio,
            };
            writeln!(lines, "{},{name},{share:.3},{confidence:.3}", t.number)?;
        }
    }
    fs::write(judged, lines)?;
    let (thresholds, steps) = named(&votes.iter().collect::<Vec<_>>());
    let all: Vec<&Transfer> = transfers.iter().collect();
    fs::write(made, forest(&all, &names, &thresholds, &steps))?;
    for (name, threshold) in names.iter().zip(&thresholds) {
        eprintln!("{name}: sure from {threshold:.2}");
    }
    eprintln!("{steps:?}");
    Ok(())
}
