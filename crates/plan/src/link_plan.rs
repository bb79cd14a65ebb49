//! One direction of a link. A plan may have very many, and most have the settings of others: these are stored once.

use crate::named::Named;
use dumbbell_link::{
    CorruptionPlan, DuplicationPlan, JitterPlan, LossPlan, OpportunitiesPlan, OutagePlan, PolicerPlan, ProfilePlan,
    ReorderingPlan,
};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One direction of a link.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LinkPlan {
    /// Its name, such as `r1->r2`.
    pub name: String,
    /// Index of the node at its start.
    pub from: usize,
    /// Index of the node at its end.
    pub to: usize,
    #[schemars(flatten)]
    settings: Arc<LinkSettings>,
}

/// Everything of a link but its name and its place.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSettings {
    /// Bit rate, bit/s; the first value of a rate that changes, the mean of a delivery trace.
    pub rate_bps: u64,
    /// Rate over time, bit/s, for a rate that changes.
    #[serde(default)]
    pub rate_course: Option<Box<ProfilePlan>>,
    /// Delivery trace that replaces the rate.
    #[serde(default)]
    pub opportunities: Option<Box<OpportunitiesPlan>>,
    /// Propagation delay, ns; the first value of a delay that changes.
    pub delay_ns: u64,
    /// Delay over time, ns, for a delay that changes.
    #[serde(default)]
    pub delay_course: Option<Box<ProfilePlan>>,
    /// True if a decreasing delay may reorder packets.
    #[serde(default)]
    pub delay_reorders: bool,
    /// Outages.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub outages: Vec<OutagePlan>,
    /// Framing added to each IP packet, bytes.
    pub overhead_bytes: u32,
    /// Largest base RTT of the flows that cross it, ns (for limits in BDP).
    pub base_rtt_ns: u64,
    /// Queue discipline.
    pub queue: Named,
    /// Policer before the queue.
    #[serde(default)]
    pub policer: Option<PolicerPlan>,
    /// Loss on the wire.
    #[serde(default)]
    #[schemars(extend("default" = 0.0))]
    pub loss: LossPlan,
    /// Corruption on the wire.
    #[serde(default)]
    pub corruption: Option<CorruptionPlan>,
    /// Jitter added to the propagation delay.
    #[serde(default)]
    pub jitter: Option<JitterPlan>,
    /// True if jitter may reorder packets.
    #[serde(default)]
    pub jitter_reorders: bool,
    /// Reordering of selected packets.
    #[serde(default)]
    pub reordering: Option<Box<ReorderingPlan>>,
    /// Duplication on the wire.
    #[serde(default)]
    pub duplication: Option<DuplicationPlan>,
    /// Scripted drops.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub drops: Vec<DropPlan>,
}

/// Scripted drops before a link's queue: packets by number, or all packets in an interval of time.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropPlan {
    /// Only packets of this flow (by index) in its forward direction; null: every packet.
    pub flow: Option<usize>,
    /// True if only packets with payload are counted and dropped.
    pub data_only: bool,
    /// Numbers of the packets to drop, ascending; the first counted packet is 1.
    pub packets: Vec<u64>,
    /// Intervals [begin, end) in which every packet is dropped, ns.
    pub spans_ns: Vec<[u64; 2]>,
}

impl Deref for LinkPlan {
    type Target = LinkSettings;

    fn deref(&self) -> &LinkSettings {
        &self.settings
    }
}

impl DerefMut for LinkPlan {
    /// The settings of this link alone.
    fn deref_mut(&mut self) -> &mut LinkSettings {
        Arc::make_mut(&mut self.settings)
    }
}

impl LinkSettings {
    /// The first feature other than rate, constant delay, queue and scripted drops, if it has one.
    pub(crate) fn beyond_queue_and_delay(&self) -> Option<&'static str> {
        let features = [
            ("rate_course", self.rate_course.is_some()),
            ("opportunities", self.opportunities.is_some()),
            ("delay_course", self.delay_course.is_some()),
            ("outages", !self.outages.is_empty()),
            ("overhead_bytes", self.overhead_bytes > 0),
            ("policer", self.policer.is_some()),
            ("loss", !self.loss.is_none()),
            ("corruption", self.corruption.is_some()),
            ("jitter", self.jitter.is_some()),
            ("reordering", self.reordering.is_some()),
            ("duplication", self.duplication.is_some()),
        ];
        features.iter().find(|(_, given)| *given).map(|(field, _)| *field)
    }

    /// True if the wire may reorder or duplicate packets.
    #[must_use]
    pub fn wire_may_reorder(&self) -> bool {
        (self.jitter.is_some() && self.jitter_reorders)
            || (self.delay_course.is_some() && self.delay_reorders)
            || self.reordering.is_some()
            || self.duplication.is_some()
    }
}

impl<'de> Deserialize<'de> for LinkPlan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LinkPlan, D::Error> {
        from.deserialize_map(OneLink)
    }
}

/// Reads a link: an object with the fields of [`LinkPlan`] and of [`LinkSettings`].
struct OneLink;

impl<'de> Visitor<'de> for OneLink {
    type Value = LinkPlan;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a link")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LinkPlan, A::Error> {
        let mut place = Place::default();
        let settings = Deserialize::deserialize(MapAccessDeserializer::new(Others { map, place: &mut place }))?;
        let missing = A::Error::missing_field;
        Ok(LinkPlan {
            name: place.name.ok_or_else(|| missing("name"))?,
            from: place.from.ok_or_else(|| missing("from"))?,
            to: place.to.ok_or_else(|| missing("to"))?,
            settings: Arc::new(settings),
        })
    }
}

#[derive(Default)]
struct Place {
    name: Option<String>,
    from: Option<usize>,
    to: Option<usize>,
}

/// The entries of a link without its name and its place, which it keeps.
struct Others<'a, A> {
    map: A,
    place: &'a mut Place,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Others<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            match key.as_str() {
                "name" => keep(&mut self.place.name, "name", &mut self.map)?,
                "from" => keep(&mut self.place.from, "from", &mut self.map)?,
                "to" => keep(&mut self.place.to, "to", &mut self.map)?,
                _ => return seed.deserialize(key.into_deserializer()).map(Some),
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

fn keep<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    place: &mut Option<T>,
    field: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if place.replace(map.next_value()?).is_some() {
        return Err(A::Error::duplicate_field(field));
    }
    Ok(())
}

/// Different settings that are compared with those of the next link: access links have few, in turns.
const COMPARED: usize = 8;

/// Reads the links of a plan; links with equal settings share them.
pub(crate) fn links<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<LinkPlan>, D::Error> {
    from.deserialize_seq(Links)
}

struct Links;

impl<'de> Visitor<'de> for Links {
    type Value = Vec<LinkPlan>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("links")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<LinkPlan>, A::Error> {
        let mut links: Vec<LinkPlan> = Vec::new();
        let mut recent: VecDeque<Arc<LinkSettings>> = VecDeque::new();
        while let Some(mut link) = seq.next_element::<LinkPlan>()? {
            if let Some(settings) = recent.iter().find(|&settings| *settings == link.settings) {
                link.settings = Arc::clone(settings);
            } else {
                recent.truncate(COMPARED - 1);
                recent.push_front(Arc::clone(&link.settings));
            }
            links.push(link);
        }
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn link(name: &str, rate: u64) -> Value {
        let queue = json!({"name": "droptail"});
        json!({
            "rate_bps": rate, "from": 0, "delay_ns": 5, "name": name, "overhead_bytes": 0, "base_rtt_ns": 10,
            "queue": queue, "to": 1,
        })
    }

    fn read(values: &[Value]) -> Vec<LinkPlan> {
        links(Value::from(values)).unwrap()
    }

    #[test]
    fn links_with_equal_settings_share_them_until_one_changes() {
        let mut links = read(&[link("a", 1), link("b", 2), link("c", 1)]);
        assert_eq!(
            links.iter().map(|l| (l.name.as_str(), l.rate_bps)).collect::<Vec<_>>(),
            [("a", 1), ("b", 2), ("c", 1)]
        );
        assert!(Arc::ptr_eq(&links[0].settings, &links[2].settings));
        links[2].rate_bps = 3;
        assert_eq!((links[0].rate_bps, links[2].rate_bps), (1, 3));
    }

    #[test]
    fn a_link_lacks_no_field_and_has_none_twice_and_no_unknown_one() {
        let refused = |text: &str| serde_json::from_str::<LinkPlan>(text).unwrap_err().to_string();
        let whole = link("a", 1).to_string();
        assert!(serde_json::from_str::<LinkPlan>(&whole).is_ok());
        for field in ["name", "from", "to", "rate_bps"] {
            let mut less = link("a", 1);
            less.as_object_mut().unwrap().remove(field);
            assert!(refused(&less.to_string()).contains(&format!("missing field `{field}`")));
        }
        assert!(refused(&whole.replacen('{', "{\"to\": 1, ", 1)).contains("duplicate field `to`"));
        assert!(refused(&whole.replacen('{', "{\"too\": 1, ", 1)).contains("unknown field `too`"));
    }
}
