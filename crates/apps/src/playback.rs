//! The media clock: what is buffered, what was played, where playback stalled.
//!
//! ```text
//! Starting --(start_ns buffered)--> Playing --(buffer empty)--> Stalled --(resume_ns buffered)--> Playing
//!                                      `--(end of the video)--> Ended
//! ```
//! A stall begins when the buffer is empty before the end of the video, and ends when `resume_ns` of media, or the rest
//! of the video, is buffered. An empty buffer that is filled at the same instant is no stall.

use dumbbell_units::{Dur, Time};

/// The state of playback. The numbers are the codes of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Nothing was played.
    Starting = 0,
    /// Media is played.
    Playing = 1,
    /// The buffer was empty.
    Stalled = 2,
    /// The whole video was played.
    Ended = 3,
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Playback {
    length: Dur,
    start: Dur,
    resume: Dur,
    state: State,
    /// Media downloaded without a gap, and played.
    downloaded: Dur,
    position: Dur,
    /// Time of `position`.
    at: Time,
    began: Option<Time>,
    ended: Option<Time>,
    stalled_since: Time,
    stalls: u64,
    stalled: Dur,
}

impl Playback {
    /// Playback of a video of this length.
    #[must_use]
    pub fn new(length: Dur, start: Dur, resume: Dur) -> Playback {
        Playback {
            length,
            start,
            resume,
            state: State::Starting,
            downloaded: Dur::ZERO,
            position: Dur::ZERO,
            at: Time::ZERO,
            began: None,
            ended: None,
            stalled_since: Time::ZERO,
            stalls: 0,
            stalled: Dur::ZERO,
        }
    }

    /// Time at which the buffer is empty if nothing arrives before; None unless playing.
    #[must_use]
    pub fn runs_out(&self) -> Option<Time> {
        (self.state == State::Playing).then(|| self.at + (self.downloaded - self.position))
    }

    /// Plays until `now`.
    pub fn advance(&mut self, now: Time) {
        let Some(empty) = self.runs_out() else {
            self.at = self.at.max(now);
            return;
        };
        if now < empty {
            self.position += now.since(self.at);
        } else {
            self.position = self.downloaded;
            self.stalled_since = empty;
            self.state = if self.downloaded == self.length {
                self.ended = Some(empty);
                State::Ended
            } else {
                State::Stalled
            };
        }
        self.at = now;
    }

    /// The media up to `downloaded` has arrived.
    pub fn downloaded(&mut self, downloaded: Dur, now: Time) {
        self.advance(now);
        self.downloaded = downloaded.min(self.length);
        let all = self.downloaded == self.length;
        match self.state {
            State::Starting if all || self.buffer() >= self.start => {
                self.state = State::Playing;
                self.began = Some(now);
            }
            State::Stalled if all || self.buffer() >= self.resume => {
                self.end_stall(now);
                self.state = State::Playing;
            }
            _ => {}
        }
    }

    fn end_stall(&mut self, now: Time) {
        let time = now.since(self.stalled_since);
        self.stalls += u64::from(time > Dur::ZERO);
        self.stalled += time;
    }

    /// Ends the measurement: a stall that lasts is counted up to `now`.
    pub fn finish(&mut self, now: Time) {
        self.advance(now);
        if self.state == State::Stalled {
            self.end_stall(now);
            self.stalled_since = now;
        }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Media buffered ahead of the playback position.
    #[must_use]
    pub fn buffer(&self) -> Dur {
        self.downloaded - self.position
    }

    /// Media played.
    #[must_use]
    pub fn played(&self) -> Dur {
        self.position
    }

    /// Start of playback.
    #[must_use]
    pub fn began(&self) -> Option<Time> {
        self.began
    }

    /// End of the video.
    #[must_use]
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// Number of stalls, and their time.
    #[must_use]
    pub fn stalls(&self) -> (u64, Dur) {
        (self.stalls, self.stalled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Dur = Dur::secs;

    fn at(seconds: u64) -> Time {
        Time::ZERO + S(seconds)
    }

    /// 12 s of video in segments of 4 s that arrive at 1, 7 and 20 s: playback from 1 to 5, stall until 7, playback
    /// until 11, stall until 20, playback until 24.
    #[test]
    fn stalls_are_the_times_without_media() {
        let mut p = Playback::new(S(12), S(4), S(4));
        p.downloaded(S(4), at(1));
        assert_eq!((p.began(), p.runs_out()), (Some(at(1)), Some(at(5))));
        p.downloaded(S(8), at(7));
        assert_eq!((p.stalls(), p.state(), p.buffer()), ((1, S(2)), State::Playing, S(4)));
        p.downloaded(S(12), at(20));
        p.advance(at(30));
        assert_eq!((p.stalls(), p.state(), p.ended()), ((2, S(11)), State::Ended, Some(at(24))));
        assert_eq!(p.played(), S(12));
    }

    #[test]
    fn media_that_arrives_in_time_is_no_stall() {
        let mut p = Playback::new(S(8), S(4), S(4));
        p.downloaded(S(4), at(1));
        p.advance(at(5)); // empty at this instant
        assert_eq!(p.state(), State::Stalled);
        p.downloaded(S(8), at(5));
        assert_eq!((p.stalls(), p.state()), ((0, Dur::ZERO), State::Playing));
    }

    #[test]
    fn playback_starts_and_resumes_with_enough_media() {
        let mut p = Playback::new(S(60), S(3), S(2));
        p.downloaded(S(2), at(1));
        assert_eq!(p.state(), State::Starting);
        p.downloaded(S(3), at(2));
        assert_eq!(p.state(), State::Playing);
        p.downloaded(S(4), at(10)); // empty since 5 s; one second isn't enough
        assert_eq!(p.state(), State::Stalled);
        p.finish(at(11));
        assert_eq!(p.stalls(), (1, S(6)));
    }

    #[test]
    fn the_rest_of_a_video_is_enough() {
        let mut p = Playback::new(S(1), S(4), S(4));
        p.downloaded(S(1), at(2));
        assert_eq!(p.runs_out(), Some(at(3)));
    }
}
