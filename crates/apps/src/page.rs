//! A web page: objects that are requested when the objects before them have arrived.
//!
//! The document is requested at the start. An object is requested some time after the object that names it has arrived
//! (a script that runs, for example), or after the load event. The load event is the arrival of the last object that
//! doesn't wait for it [HTML §13.2.7 "The end"]. A page that is loaded again uses new connections and no cache.

use crate::client::{Client, Request, Response};
use crate::plan::{After, HttpPlan, PagePlan};
use dumbbell_units::{Dur, Time};
use std::collections::{BTreeSet, VecDeque};

/// What a person waited for, from the start of the flow for the first load, from the first request for the others; the
/// mean over loads, s. None if no load came so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageMetrics {
    /// First byte of the document.
    pub first_byte_s: Option<f64>,
    /// The load event.
    pub onload_s: Option<f64>,
    /// The last object.
    pub load_time_s: Option<f64>,
    /// Loads begun, and loads completed.
    pub loads: (u64, u64),
}

/// A sum of times and their number.
#[derive(Clone, Copy, Debug, Default)]
struct Mean(Dur, u64);

impl Mean {
    fn add(&mut self, time: Dur) {
        self.0 += time;
        self.1 += 1;
    }

    fn get(self) -> Option<f64> {
        (self.1 > 0).then(|| self.0.as_secs() / self.1 as f64)
    }
}

/// See the top of this file.
#[derive(Debug)]
pub struct Page {
    plan: PagePlan,
    /// Objects that wait for their time, by time and index.
    due: BTreeSet<(Time, usize)>,
    ready: VecDeque<usize>,
    /// Objects that have not arrived, of all and of those before the load event.
    missing: (usize, usize),
    started: Time,
    /// Number of the first request of this load.
    first_id: u32,
    /// Object of each request of this load.
    requested: Vec<usize>,
    begun: u64,
    completed: u64,
    new_connections: bool,
    first_byte: Mean,
    onload: Mean,
    load_time: Mean,
    /// Time of the next load.
    next_load: Option<Time>,
}

impl Page {
    /// The page of a flow that starts at `start`.
    #[must_use]
    pub fn new(plan: PagePlan, start: Time) -> Page {
        Page {
            plan,
            due: BTreeSet::new(),
            ready: VecDeque::new(),
            missing: (0, 0),
            started: start,
            first_id: 0,
            requested: Vec::new(),
            begun: 0,
            completed: 0,
            new_connections: false,
            first_byte: Mean::default(),
            onload: Mean::default(),
            load_time: Mean::default(),
            next_load: Some(start),
        }
    }

    fn load(&mut self, now: Time) {
        self.new_connections = self.begun > 0;
        self.begun += 1;
        self.started = now;
        self.first_id += self.requested.len() as u32;
        self.requested.clear();
        let objects = &self.plan.objects;
        let before_onload = |&i: &usize| !self.is_late(i);
        self.missing = (objects.len(), (0..objects.len()).filter(before_onload).count());
        self.discover(After::Start, now);
    }

    /// True for an object that follows the load event, itself or through others.
    fn is_late(&self, object: usize) -> bool {
        match self.plan.objects[object].after {
            After::Start => false,
            After::Object(before) => self.is_late(before),
            After::Onload => true,
        }
    }

    fn discover(&mut self, event: After, now: Time) {
        for (i, object) in self.plan.objects.iter().enumerate() {
            if object.after == event {
                self.due.insert((now + Dur(object.delay_ns), i));
            }
        }
        self.collect(now);
    }

    fn collect(&mut self, now: Time) {
        while let Some(&(at, object)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            self.ready.push_back(object);
        }
    }

    /// The times so far.
    #[must_use]
    pub fn metrics(&self) -> PageMetrics {
        PageMetrics {
            first_byte_s: self.first_byte.get(),
            onload_s: self.onload.get(),
            load_time_s: self.load_time.get(),
            loads: (self.begun, self.completed),
        }
    }
}

impl Client for Page {
    fn http(&self) -> &HttpPlan {
        &self.plan.http
    }

    fn next_timer(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at).into_iter().chain(self.next_load).min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.next_load.is_some_and(|at| at <= now) {
            self.next_load = None;
            self.load(now);
        }
        self.collect(now);
    }

    fn take_request(&mut self, _now: Time) -> Option<Request> {
        let object = self.ready.pop_front()?;
        let id = self.first_id + self.requested.len() as u32;
        self.requested.push(object);
        let content = self.plan.objects[object].bytes;
        let name = &self.plan.objects[object].name;
        let again = self.begun - 1;
        Some(Request {
            id,
            object: if again == 0 { name.clone() } else { format!("{name} #{}", again + 1) },
            content,
            bitrate: None,
            response: Response { bytes: content + self.plan.http.header_bytes, limit: None },
        })
    }

    fn on_first_byte(&mut self, id: u32, now: Time) {
        if id == self.first_id {
            self.first_byte.add(now.since(self.started));
        }
    }

    fn on_complete(&mut self, id: u32, now: Time) {
        let object = self.requested[(id - self.first_id) as usize];
        let late = self.is_late(object);
        self.missing.0 -= 1;
        self.discover(After::Object(object), now);
        if !late {
            self.missing.1 -= 1;
            if self.missing.1 == 0 {
                self.onload.add(now.since(self.started));
                self.discover(After::Onload, now);
            }
        }
        if self.missing.0 == 0 {
            self.load_time.add(now.since(self.started));
            self.completed += 1;
            let more = self.plan.repeat == 0 || self.begun < self.plan.repeat;
            self.next_load = more.then(|| now + Dur(self.plan.think_ns));
        }
    }

    fn is_over(&self) -> bool {
        self.begun > 0 && self.missing.0 == 0 && self.next_load.is_none()
    }

    fn wants_new_connections(&mut self) -> bool {
        std::mem::take(&mut self.new_connections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Http, ObjectPlan};

    fn page(repeat: u64) -> Page {
        let object = |name: &str, after, delay_ms: u64| ObjectPlan {
            name: name.into(),
            bytes: 1000,
            after,
            delay_ns: Dur::millis(delay_ms).0,
        };
        let plan = PagePlan {
            http: HttpPlan { version: Http::H1, request_bytes: 300, header_bytes: 200, server_delay_ns: 0 },
            objects: vec![
                object("document", After::Start, 0),
                object("script", After::Object(0), 0),
                object("image", After::Object(1), 50),
                object("ad", After::Onload, 0),
            ],
            repeat,
            think_ns: Dur::secs(2).0,
        };
        plan.check().unwrap();
        Page::new(plan, Time::ZERO)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::millis(ms)
    }

    fn requests(page: &mut Page, now: Time) -> Vec<String> {
        std::iter::from_fn(|| page.take_request(now)).map(|r| r.object).collect()
    }

    /// The document arrives at 100 ms, the script at 200 ms; it runs for 50 ms; the image arrives at 400 ms: the load
    /// event. The ad arrives at 600 ms, the next load begins 2 s later.
    #[test]
    fn objects_follow_their_dependencies() {
        let mut p = page(2);
        p.on_timer(at(0));
        assert_eq!(requests(&mut p, at(0)), ["document"]);
        p.on_first_byte(0, at(80));
        p.on_complete(0, at(100));
        assert_eq!(requests(&mut p, at(100)), ["script"]);
        p.on_complete(1, at(200));
        assert!(requests(&mut p, at(200)).is_empty());
        assert_eq!(p.next_timer(), Some(at(250)));
        p.on_timer(at(250));
        assert_eq!(requests(&mut p, at(250)), ["image"]);
        p.on_complete(2, at(400));
        assert_eq!(requests(&mut p, at(400)), ["ad"]);
        p.on_complete(3, at(600));
        let m = p.metrics();
        let ms = |s: Option<f64>| s.map(|s| (s * 1e3).round());
        assert_eq!([m.first_byte_s, m.onload_s, m.load_time_s].map(ms), [Some(80.0), Some(400.0), Some(600.0)]);
        assert_eq!((p.is_over(), p.next_timer(), m.loads), (false, Some(at(2600)), (1, 1)));
        p.on_timer(at(2600));
        assert!(p.wants_new_connections() && !p.wants_new_connections());
        assert_eq!(requests(&mut p, at(2600)), ["document #2"]);
    }

    #[test]
    fn a_page_ends_after_its_last_load() {
        let mut p = page(1);
        p.on_timer(at(0));
        for (id, ms) in [100, 200, 400, 600].into_iter().enumerate() {
            p.on_timer(at(ms));
            requests(&mut p, at(ms));
            p.on_complete(id as u32, at(ms));
            assert_eq!(p.is_over(), id == 3);
        }
        assert_eq!(p.next_timer(), None);
    }
}
