package ratelimit

import (
	"sync"
	"time"
)

// Sampler lets the first events of a second pass, and few of the others. It is safe for
// concurrent use. The zero Sampler has let nothing pass.
type Sampler struct {
	mu      sync.Mutex // guards the fields below
	second  int64
	events  int // in that second
	leftOut int // since the last one that passed
}

// Pass reports whether an event at now passes, being among the first of its second or one in oneIn of
// the others, and if so how many did not since the last one that did.
func (t *Sampler) Pass(now time.Time, first, oneIn int) (leftOut int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if second := now.Unix(); second != t.second {
		t.second, t.events = second, 0
	}
	t.events++
	if t.events > first && (t.events-first)%oneIn != 0 {
		t.leftOut++
		return 0, false
	}
	leftOut, t.leftOut = t.leftOut, 0
	return leftOut, true
}
