package fleet

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/compliance"
)

const (
	// rememberSum is for how long the sum of a fleet's ledgers is not made again.
	rememberSum = 5 * time.Second

	// gatherTime bounds how long a report waits for the ledgers of the others.
	gatherTime = 5 * time.Second
)

// errLost says why a report shows this Caddy only. Why the store is lost is in the log.
var errLost = errors.New("the store that the fleet shares cannot be asked")

// sum is the sum of a fleet's ledgers.
type sum struct {
	ledger *compliance.Ledger
	nodes  int   // whose ledgers are in it
	err    error // why there may be more
}

// Ledger returns what robots did on all Caddys of the fleets that this one is in, up to five
// seconds ago, and how many Caddys those are. With an error some are missing, be it all
// others. Without a fleet it is the ledger of this process itself. It must not be changed.
func (p *Publisher) Ledger(ctx context.Context) (l *compliance.Ledger, nodes int, err error) {
	members := p.all()
	if len(members) == 0 {
		return p.Own, 1, nil
	}
	select {
	case result := <-p.gathering.DoChan("", func() (any, error) { return p.remembered(members), nil }):
		s := result.Val.(*sum)
		return s.ledger, s.nodes, s.err
	case <-ctx.Done():
		return p.Own, 1, ctx.Err()
	}
}

// remembered returns the sum that is remembered, or makes one and remembers it for a while only,
// as it may be large. One goroutine at a time calls it.
func (p *Publisher) remembered(members []*member) *sum {
	if s := p.sum.Load(); s != nil {
		return s
	}
	ctx, cancel := context.WithTimeout(context.Background(), gatherTime) // whoever asks may leave
	defer cancel()
	s := p.gather(ctx, members)
	p.sum.Store(s)
	time.AfterFunc(rememberSum, func() { p.sum.Store(nil) })
	return s
}

// gather adds what the others have published to the ledger of this process. What cannot be
// read is logged once and left out.
func (p *Publisher) gather(ctx context.Context, members []*member) *sum {
	name, _ := p.Name() // without one nothing was published
	s := &sum{ledger: p.Own}
	var errs []error
	seen, wrong := map[string]bool{}, map[string]bool{}
	for _, m := range members {
		if m.lost() {
			errs = append(errs, errLost)
			continue
		}
		errs = append(errs, m.board.Published(ctx, name, func(node string, data []byte, err error) {
			if seen[node] {
				return // in another fleet too
			}
			if s.ledger == p.Own {
				s.ledger = compliance.NewLedger(compliance.Options{})
				s.ledger.Merge(p.Own)
			}
			if err == nil {
				err = s.ledger.Unmarshal(data)
			}
			if err == nil {
				seen[node] = true
				return
			}
			if wrong[node] = true; !p.wrong[node] {
				m.log().Warn("what robots did on another Caddy of the fleet cannot be read; the report leaves it out",
					zap.String("node", node), zap.Error(err))
			}
		}))
	}
	s.nodes, s.err, p.wrong = 1+len(seen), errors.Join(errs...), wrong
	return s
}
