package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// BanEvent is a ban that began or was lifted. It is a plain value.
type BanEvent struct {
	Ban    Ban
	Lifted bool
}

// Shared is a [Limiter] that several nodes ask over a network, and that can
// therefore be lost. Its methods are safe for concurrent use. Take ends within a
// bound of its own; the others also end soon after their context is done.
type Shared interface {
	Limiter

	// Ping asks the store something that it can only answer if it can answer
	// Take. It may take longer, so that it can set up a connection.
	Ping(ctx context.Context) error

	// Lift ends a ban, and forgets the offences that count towards the next one.
	// Who is meant is b.Key and b.Address. A ban that is not there is no error.
	Lift(ctx context.Context, b Ban) error

	// Watch first reports the bans in force and those that were lifted, and then
	// each event as it happens, in order. It may report an event again. Watch
	// goes on until ctx is done or the store fails, and returns the error.
	Watch(ctx context.Context, tell func(BanEvent)) error
}

// ErrKey says that the store answers, but not for this key: what stands under
// it is somebody else's. Other keys are not concerned.
var ErrKey = errors.New("the shared store holds data that is not ours under this key: remove it, or give robots a database of its own")

// ErrWatch says that the store answers, but does not report bans. They hold all
// the same, as long as the store can be asked. It is reported when a second
// watch in a row has ended early.
var ErrWatch = errors.New("the shared store does not tell of bans, so this node will not know them if the store is lost")

const (
	// probeEvery is the time from one probe of a lost store to the next.
	probeEvery = 500 * time.Millisecond

	// probeTime bounds one probe, so that one which hangs does not keep a store
	// that can be asked again from being asked within five seconds.
	probeTime = 4 * time.Second

	// steadyTime is how long a store has to be well before it counts as back for
	// good. If it is lost sooner, the first probe waits for flappingPause: each
	// time that it only seems to be well, some requests have to find out.
	steadyTime    = 10 * time.Second
	flappingPause = 4 * time.Second

	// watchPause is the time from the end of one watch to the start of the next.
	watchPause = 5 * time.Second
)

// Failover is a [Limiter] that asks a shared store and, while that cannot be
// asked, goes on with the memory of this node. No request fails or is refused
// because the store is slow or gone; those under way when it is lost wait for
// as long as the store's Take does, and no later one waits at all.
//
// What the store admits is noted locally too, and so are bans: a robot that was
// just served or banned meets the same verdict here after the store is lost. A
// node knows the debts that it has seen arise and the bans of all nodes. Offences
// are counted anew, and a ban that comes about meanwhile stays with this node.
//
// A Failover is made by [NewFailover] and safe for concurrent use. Its Run must
// run for a store that is lost to be asked again.
type Failover struct {
	shared Shared
	local  *Memory

	// down is set by the first failure. Whoever sets it sends that failure to
	// lost; only Run receives from lost, and only then clears down.
	down atomic.Bool
	lost chan error

	telling sync.Mutex
	tell    func(error)
	keyTold atomic.Bool // of ErrKey, since the store was last lost

	// What Run knows: the watches that have not ended, whether tell was last
	// told that the store is lost, and whether it is back for less than steadyTime.
	watches     sync.WaitGroup
	told, young bool
}

// NewFailover returns a Failover that takes shared to be well until it fails.
//
// Run calls tell with the error when the store is lost, and with nil when it is
// back. The return of a store that was lost again within ten seconds of one is
// reported when it has been well for that long, so that a store that comes and
// goes is not reported over and over. An error that is [ErrKey] or [ErrWatch] is
// of a store that is not lost; the former is reported once, and once more
// after a loss. Calls of tell do not overlap.
func NewFailover(shared Shared, local *Memory, tell func(error)) *Failover {
	return &Failover{shared: shared, local: local, tell: tell, lost: make(chan error, 1)}
}

// Down reports whether the store is lost: requests are judged by this node alone.
func (f *Failover) Down() bool { return f.down.Load() }

// Take judges one request; see [Limiter]. The error is always nil. A request
// whose context is done may be judged by this node alone.
func (f *Failover) Take(ctx context.Context, r Request, now time.Time) (Result, error) {
	if f.Down() {
		return f.local.Take(ctx, r, now)
	}
	result, err := f.shared.Take(ctx, r, now)
	if err != nil {
		f.failed(ctx, err)
		return f.local.Take(ctx, r, now)
	}
	f.note(ctx, r, result, now)
	return result, nil
}

// note has the local memory know what the store decided.
func (f *Failover) note(ctx context.Context, r Request, result Result, now time.Time) {
	if b := result.Ban; b != nil {
		if _, known := f.local.Bans().Find(b.Key, b.Address, now); !known || result.New {
			f.local.Bans().Put(*b)
		}
	}
	if result.Allowed() && !r.Offence {
		f.local.Take(ctx, Request{Key: r.Key, Limit: r.Limit, Return: r.Return}, now)
	}
}

// failed decides what a failure of the store's Take means: that the caller has
// left, that this key is of no use, or that the store is lost.
func (f *Failover) failed(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, ErrKey):
		if f.keyTold.CompareAndSwap(false, true) {
			f.say(err)
		}
	default:
		f.lose(err)
	}
}

// lose takes the store for lost. Of failures that come at once the first counts.
func (f *Failover) lose(err error) {
	if f.down.CompareAndSwap(false, true) {
		f.lost <- err
	}
}

// say calls tell, one call at a time.
func (f *Failover) say(err error) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.tell(err)
}

// Lift ends the ban of b.Key and b.Address and forgets their offences, in the
// store and on this node. An error means that only this node knows.
func (f *Failover) Lift(ctx context.Context, b Ban) error {
	err := f.shared.Lift(ctx, b)
	f.local.Bans().Lift(b.Key, b.Address)
	if err != nil {
		return fmt.Errorf("the ban of %q on %q is lifted on this node only, lift it again when the shared store is back: %w", b.Key.Robot, b.Key.Site, err)
	}
	return nil
}

// Run looks after the store until ctx is done, and leaves nothing running. It
// begins with a probe, so that a store that is not there is reported at once.
// While the store is well, Run keeps a watch on bans; while it is lost, Run
// probes it until it is back. Without Run a store that is lost stays lost. A
// Failover has at most one Run at a time.
func (f *Failover) Run(ctx context.Context) {
	defer f.watches.Wait()
	f.watches.Go(func() { f.check(ctx) }) // apart, as a request may find out sooner
	for f.untilLost(ctx) && f.untilBack(ctx) {
	}
}

// untilLost waits until the store is lost, or returns false when ctx is done.
func (f *Failover) untilLost(ctx context.Context) bool {
	up, stop := context.WithCancel(ctx)
	defer stop()
	f.watches.Go(func() { f.watch(up) })
	steady := time.After(steadyTime)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-steady:
			f.young = false
			f.announce(nil)
		case err := <-f.lost:
			f.announce(err)
			return true
		}
	}
}

// untilBack waits until the store is back, or returns false when ctx is done.
func (f *Failover) untilBack(ctx context.Context) bool {
	wait := probeEvery
	if f.young {
		wait = flappingPause
	}
	for pause(ctx, wait) {
		if f.ping(ctx) == nil {
			f.keyTold.Store(false)
			f.down.Store(false)
			if !f.young {
				f.announce(nil)
			}
			f.young = true
			return true
		}
		wait = probeEvery
	}
	return false
}

// announce says that the store is lost or, with nil, back, if that is news.
func (f *Failover) announce(err error) {
	if lost := err != nil; lost != f.told {
		f.told = lost
		f.say(err)
	}
}

// watch keeps a watch on bans until ctx is done or the store is lost. One that
// ends is no loss as long as the store answers, and is begun again.
func (f *Failover) watch(ctx context.Context) {
	for failures := 1; ; failures++ {
		begun := time.Now()
		err := f.shared.Watch(ctx, func(e BanEvent) {
			if ctx.Err() == nil {
				f.learn(e)
			}
		})
		if time.Since(begun) >= steadyTime {
			failures = 1
		}
		f.check(ctx)
		if ctx.Err() != nil || f.Down() {
			return
		}
		if failures == 2 {
			f.say(fmt.Errorf("%w: %w", ErrWatch, err))
		}
		if !pause(ctx, watchPause) {
			return
		}
	}
}

// learn has the local memory know of a ban anywhere.
func (f *Failover) learn(e BanEvent) {
	if e.Lifted {
		f.local.Bans().Lift(e.Ban.Key, e.Ban.Address)
	} else {
		f.local.Bans().Put(e.Ban)
	}
}

// check probes the store, and takes it for lost if it does not answer.
func (f *Failover) check(ctx context.Context) {
	if err := f.ping(ctx); err != nil && ctx.Err() == nil {
		f.lose(err)
	}
}

// ping probes the store once, within probeTime.
func (f *Failover) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if err := f.shared.Ping(ctx); !errors.Is(err, ErrKey) {
		return err
	}
	return nil
}

// pause waits for d, or returns false when ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

var _ Limiter = (*Failover)(nil)
