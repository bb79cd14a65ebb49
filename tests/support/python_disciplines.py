"""Queue disciplines of Dumbbell, written a second time as Python classes: droptail, CoDel and RED."""

DROPTAIL = '''
from collections import deque


class Tail:
    """drop-tail"""

    def __init__(self, link, limit=20):
        self.link, self.limit, self.queue = link, limit, deque()

    def enqueue(self, packet, now):
        if len(self.queue) < self.limit:
            self.queue.append(packet)
        else:
            self.link.drop(packet, "full")

    def dequeue(self, now):
        return self.queue.popleft() if self.queue else None
'''

CODEL = '''
from collections import deque
from math import sqrt


class CoDel:
    """RFC 8289 with the times in ns; marks as in Linux"""

    columns = ("qdelay_ns", "dropping", "count")

    def __init__(self, link, limit=1000, target=5_000_000, interval=100_000_000, ecn=False):
        self.link, self.limit, self.target, self.interval, self.ecn = link, limit, target, interval, ecn
        self.queue, self.bytes, self.maxpacket = deque(), 0, 0
        self.first_above_time, self.drop_next, self.count, self.lastcount = None, 0, 0, 0
        self.dropping, self.qdelay_ns = False, 0

    def enqueue(self, packet, now):
        self.maxpacket = max(self.maxpacket, packet.bytes)
        if len(self.queue) < self.limit:
            self.queue.append(packet)
            self.bytes += packet.bytes
        else:
            self.link.drop(packet, "full")

    def dodequeue(self, now):
        if not self.queue:
            self.first_above_time = None
            return None, False
        packet = self.queue.popleft()
        self.bytes -= packet.bytes
        self.qdelay_ns = now - round(packet.arrived * 1e9)
        if self.qdelay_ns < self.target or self.bytes <= self.maxpacket:
            self.first_above_time = None
            return packet, False
        if self.first_above_time is None:
            self.first_above_time = now + self.interval
        return packet, now >= self.first_above_time

    def control_law(self, t):
        return t + int(self.interval * (1 / sqrt(self.count)) + 0.5)

    def mark_or_drop(self, packet):
        if self.ecn and self.link.mark(packet):
            return packet
        self.link.drop(packet, "early")
        return None

    def dequeue(self, seconds):
        now = round(seconds * 1e9)
        packet, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            self.dropping = ok_to_drop
            while self.dropping and now >= self.drop_next:
                self.count += 1
                if self.mark_or_drop(packet) is not None:
                    self.drop_next = self.control_law(self.drop_next)
                    return packet
                packet, ok_to_drop = self.dodequeue(now)
                self.dropping = ok_to_drop
                if ok_to_drop:
                    self.drop_next = self.control_law(self.drop_next)
        elif ok_to_drop:
            packet = self.mark_or_drop(packet)
            if packet is None:
                packet, _ = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            recent = now < self.drop_next + 16 * self.interval
            self.count = self.lastcount = delta if delta > 1 and recent else 1
            self.drop_next = self.control_law(now)
        return packet
'''

RED = '''
from collections import deque


class Red:
    """Floyd and Jacobson 1993 in packets, gentle"""

    def __init__(self, link, limit=50, min_th=5, max_th=15, weight=0.02, max_p=0.1, mean_packet=500, ecn=True):
        self.link, self.limit, self.min_th, self.max_th = link, limit, min_th, max_th
        self.weight, self.max_p, self.ecn = weight, max_p, ecn
        self.pps = link.rate / (8 * mean_packet)
        self.avg, self.count, self.idle_since, self.queue = 0.0, 0.0, 0, deque()

    def p_b(self):
        a, low, high = self.avg, self.min_th, self.max_th
        if a < low:
            return 0.0
        if a < high:
            return self.max_p * (a - low) / (high - low)
        return self.max_p + (1 - self.max_p) * (a - high) / high if a < 2 * high else 1.0

    def decide(self):
        p_b = self.p_b()
        if p_b <= 0:
            self.count = 0.0
            return None
        if self.avg >= 2 * self.max_th:
            self.count = 0.0
            return "forced"
        left = 1 - self.count * p_b
        if self.link.random() < (p_b / left if left > 0 else 1.0):
            self.count = 0.0
            return "early"
        self.count += 1
        return None

    def enqueue(self, packet, now):
        if not self.queue and not self.link.busy:
            idle = round(now * 1e9) - self.idle_since
            self.avg *= (1 - self.weight) ** (idle / 1e9 * self.pps)
            self.count = self.count + 1 if self.p_b() > 0 else 0.0
            self.queue.append(packet)
            return
        self.avg += self.weight * (len(self.queue) - self.avg)
        if len(self.queue) >= self.limit:
            self.count = 0.0
            self.link.drop(packet, "full")
            return
        reason = self.decide()
        marks = reason == "early" and self.ecn and self.avg < self.max_th
        if reason is None or (marks and self.link.mark(packet)):
            self.queue.append(packet)
        else:
            self.link.drop(packet, reason)

    def dequeue(self, now):
        if not self.queue:
            return None
        packet = self.queue.popleft()
        bits = packet.bytes * 8 * 10**9
        self.idle_since = round(now * 1e9) + -(-bits // self.link.rate)
        return packet
'''
