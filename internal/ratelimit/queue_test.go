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
