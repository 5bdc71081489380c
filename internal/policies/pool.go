package policies

import (
	"context"
	"errors"
	"time"
)

const (
	// maxLoads is how many loads run at once that are not slow, and maxSlowLoads how many
	// slow ones do: of hosts that are known, and as many of others.
	maxLoads     = 32
	maxSlowLoads = 256

	// slowAfter is when a load is a slow one.
	slowAfter = 200 * time.Millisecond
)

// errCrowded is the error of a load that was given up for others.
var errCrowded = errors.New("it is slow, and too many other slow loads are running")

// pool bounds how many loads run at once. A slow load gives its place to the next, so that a server
// that hangs delays only its own host. It is safe for concurrent use.
type pool struct {
	quick, slow chan struct{}
	patience    time.Duration // how long a load waits for its place; 0: as long as it takes
}

func newPool(patience time.Duration) *pool {
	return &pool{quick: make(chan struct{}, maxLoads), slow: make(chan struct{}, maxSlowLoads), patience: patience}
}

// do runs load when there is a place for it, unless life ends first, or the patience of the load.
// If there is no place for slow loads either, the load's context ends with errCrowded.
func (p *pool) do(life context.Context, load func(context.Context)) {
	waiting, cancel := life, context.CancelFunc(func() {})
	if p.patience != 0 {
		waiting, cancel = context.WithTimeout(life, p.patience)
	}
	select {
	case p.quick <- struct{}{}:
		cancel()
	case <-waiting.Done():
		cancel()
		return
	}
	ctx, giveUp := context.WithCancelCause(life)
	defer giveUp(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		load(ctx)
	}()
	slow := time.NewTimer(slowAfter)
	defer slow.Stop()
	select {
	case <-ended:
		<-p.quick
		return
	case <-slow.C:
	}
	select {
	case p.slow <- struct{}{}:
		<-p.quick
		<-ended
		<-p.slow
	default:
		giveUp(errCrowded)
		<-ended
		<-p.quick
	}
}
