package caddymodule

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const (
	// rememberFleet is for how long the sum of a fleet's ledgers is not made again.
	rememberFleet = 5 * time.Second

	// gatherTime bounds how long a report waits for the ledgers of the others.
	gatherTime = 5 * time.Second
)

// errFleetLost says why a report shows this Caddy only. Why the store is lost is in the log.
var errFleetLost = errors.New("the store that the fleet shares cannot be asked")

// gathered is the sum of a fleet's ledgers, as it was last made. It is safe for concurrent use.
type gathered struct {
	turn chan struct{} // holds one: whoever holds it may touch the fields below

	ledger *compliance.Ledger // nil: none is remembered
	nodes  int                // whose ledgers are in it
	err    error              // why there may be more
	wrong  map[string]bool    // the nodes whose ledger could not be read, as the log says
}

func newGathered() *gathered { return &gathered{turn: make(chan struct{}, 1)} }

// fleetLedger returns what robots did on all Caddys of the fleets that this one is in, up to five
// seconds ago, and how many Caddys those are. With an error some are missing, be it all
// others. Without a fleet it is the ledger of this process itself. It must not be changed.
func (sh *shared) fleetLedger(ctx context.Context) (l *compliance.Ledger, nodes int, err error) {
	own, members := sh.ledger.Ledger, sh.publisher.all()
	if len(members) == 0 {
		return own, 1, nil
	}
	g := sh.gathered
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return own, 1, ctx.Err()
	}
	if g.ledger == nil {
		// Others wait for the same, so it goes on when this client leaves.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gatherTime)
		defer cancel()
		name, _ := sh.publisher.name() // without one nothing was published
		g.gather(ctx, own, name, members)
		time.AfterFunc(rememberFleet, g.forget)
	}
	return g.ledger, g.nodes, g.err
}

// forget frees what is remembered, which may be large.
func (g *gathered) forget() {
	g.turn <- struct{}{}
	g.ledger = nil
	<-g.turn
}

// gather adds what the others have published to the ledger of this process. What cannot be
// read is told once and left out.
func (g *gathered) gather(ctx context.Context, own *compliance.Ledger, name string, members []*member) {
	var sum *compliance.Ledger
	var errs []error
	seen, wrong := map[string]bool{}, map[string]bool{}
	for _, m := range members {
		if m.lost() {
			errs = append(errs, errFleetLost)
			continue
		}
		errs = append(errs, m.board.Published(ctx, name, func(node string, data []byte, err error) {
			if seen[node] {
				return // in another fleet too
			}
			if sum == nil {
				sum = compliance.NewLedger(compliance.Options{})
				sum.Merge(own)
			}
			if err == nil {
				err = sum.Unmarshal(data)
			}
			if err == nil {
				seen[node] = true
				return
			}
			if wrong[node] = true; !g.wrong[node] {
				m.log().Warn("what robots did on another Caddy of the fleet cannot be read; the report leaves it out",
					zap.String("node", node), zap.Error(err))
			}
		}))
	}
	if sum == nil {
		sum = own
	}
	g.ledger, g.nodes, g.err, g.wrong = sum, 1+len(seen), errors.Join(errs...), wrong
}
