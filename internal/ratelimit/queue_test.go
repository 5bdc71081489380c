package ratelimit

import (
	"testing"
	"time"
)

func TestAQueueIsBoundedForEachBudgetAndInAll(t *testing.T) {
	q, now := NewQueue(), time.Unix(1e9, 0)
	join := func(k Key) bool {
		_, ok := q.join(k, now, now.Add(time.Second), time.Second, time.Hour)
		return ok
	}
	for i := range maxHeldPerRobot {
		if !join(Key{Robot: "gptbot"}) {
			t.Fatalf("request %d of one robot is not held", i+1)
		}
	}
	if join(Key{Robot: "gptbot"}) {
		t.Errorf("more than %d requests of one robot are held", maxHeldPerRobot)
	}
	for i := maxHeldPerRobot; i < maxHeld; i++ {
		if !join(Key{Robot: "robot", Site: time.Duration(i).String()}) {
			t.Fatalf("request %d is not held", i+1)
		}
	}
	if join(Key{Robot: "ccbot"}) || q.Len() != maxHeld {
		t.Errorf("held: got %d and one more, want at most %d", q.Len(), maxHeld)
	}
	for range maxHeldPerRobot {
		q.leave(Key{Robot: "gptbot"}, now, time.Second, true)
	}
	if q.has(Key{Robot: "gptbot"}) || !join(Key{Robot: "ccbot"}) {
		t.Error("who leaves makes no room")
	}
}

// Names that somebody makes up stand in the line of their group, not in one each.
func TestRequestsOfOneGroupStandInOneLine(t *testing.T) {
	now := time.Unix(1e9, 0)
	h := &Holder{Queue: NewQueue(), Limiter: NewMemory(0), MaxWait: time.Second, Now: func() time.Time { return now }}
	of := func(robot string) Request {
		return Request{Key: Key{Robot: robot}, Group: Key{Robot: "192.0.2.1"}, Limit: PerPeriod(1, 10*time.Second)}
	}
	if result, _ := h.Hold(t.Context(), of("figtree")); !result.Allowed() {
		t.Errorf("the first of a group: got %+v, want admitted", result)
	}
	if result, offence := h.Hold(t.Context(), of("plum")); result.RetryAfter != 10*time.Second || !offence {
		t.Errorf("the second of a group: got %+v, want to be refused for 10s", result)
	}
	if _, ok := h.join(of("pear").Group, now, now.Add(time.Second), time.Second, time.Minute); !ok {
		t.Fatal("nobody is held")
	}
	if result, _ := h.Hold(t.Context(), of("apple")); result.RetryAfter != 11*time.Second {
		t.Errorf("behind one of the group that is held: got %+v, want to be refused for 11s", result)
	}
}
