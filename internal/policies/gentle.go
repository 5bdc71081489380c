package policies

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// gentleBurst is how many hosts are loaded at once when Caddy starts, and gentlePause the time
	// between the following ones.
	gentleBurst = 32
	gentlePause = 100 * time.Millisecond
)

// gentle loads hosts for which no request waits, a few a second. It is safe for concurrent use, and
// does nothing while there is nothing to load.
type gentle struct {
	mu      sync.Mutex // guards what follows
	waiting []*Site
	running bool
	burst   int       // how many may still go at once
	idle    time.Time // since when nothing waits
}

// add starts the first load of a site when it is its turn, unless a client asks for it before.
func (g *gentle) add(s *Site) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, s)
	if !g.running {
		g.running = true
		if time.Since(g.idle) > gentleBurst*gentlePause {
			g.burst = gentleBurst
		}
		go g.run()
	}
}

func (g *gentle) run() {
	for {
		s := g.next()
		if s == nil {
			return
		}
		l := s.loader
		if l.life.Err() != nil || s.loading.Load() != nil || !s.isNew(l.cfg.Now()) {
			continue
		}
		if g.burst--; g.burst < 0 {
			time.Sleep(gentlePause)
		}
		l.begin(s)
	}
}

// next returns the site whose turn it is, nil if there is none.
func (g *gentle) next() *Site {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.running, g.idle, g.waiting = false, time.Now(), nil
		return nil
	}
	s := g.waiting[0]
	g.waiting[0], g.waiting = nil, g.waiting[1:]
	return s
}

// Preload loads sites that the config names, gently. When each was tried, it writes one line to the
// log: how many, from where, and the results. It returns at once; ctx is the config's.
func (c *Cache) Preload(ctx context.Context, sites []*Site, log *zap.Logger) {
	if len(sites) == 0 {
		return
	}
	for _, s := range sites {
		c.gentle.add(s)
	}
	go func() {
		began := time.Now()
		for _, s := range sites {
			select {
			case <-s.first:
			case <-ctx.Done():
				return
			}
		}
		summarize(sites, log.With(zap.Duration("took", time.Since(began))))
		c.hosts.checkPinned(log)
	}()
}

// maxNamed is how many hosts or sources one log line names.
const maxNamed = 20

// summarize logs what was found for sites that have all been tried.
func summarize(sites []*Site, log *zap.Logger) {
	var withRules, without int
	var failed, from []string
	seen := make(map[string]bool)
	for _, s := range sites {
		switch st := s.state(); {
		case st.Failure != "" && st.Loaded.IsZero():
			failed = append(failed, s.host)
		case st.Summary == nil || st.Summary.Bytes == 0:
			without++
		default:
			withRules++
		}
		for _, src := range s.loader.SourceNames() {
			if !seen[src] {
				seen[src] = true
				from = append(from, src)
			}
		}
	}
	fields := []zap.Field{
		zap.Int("sites", len(sites)), zap.Strings("from", from[:min(len(from), maxNamed)]), zap.Int("sources", len(from)),
		zap.Int("with_rules", withRules), zap.Int("missing_or_empty", without), zap.Int("failed", len(failed)),
	}
	if len(failed) > 0 {
		fields = append(fields, zap.Strings("failed_hosts", failed[:min(len(failed), maxNamed)]))
	}
	log.Info("robots.txt was looked for on the sites that the config names", fields...)
}

// checkPinned warns where the hosts that the config names need more room than there is.
func (h *hosts) checkPinned(log *zap.Logger) {
	n, weight := h.pinnedWeight()
	h.mu.Lock()
	most := h.max
	h.mu.Unlock()
	if weight <= most {
		return
	}
	log.Warn("hosts_memory is too small for the hosts that the config names; they are held all the same",
		zap.Int("hosts", n), zap.Int64("hosts_memory", most), zap.Int64("needed", weight),
		zap.String("instead", fmt.Sprintf("write hosts_memory %dMiB in the global robots options", enough(weight))))
}

// enough returns how many MiB are enough for so many bytes, with room for hosts that the config
// does not name.
func enough(weight int64) int64 { return (weight+weight/4)>>20 + 1 }
