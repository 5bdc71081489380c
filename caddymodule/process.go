package caddymodule

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/fleet"
	"github.com/caddy-robots/caddy-robots/internal/metrics"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/internal/proof/dns"
	"github.com/caddy-robots/caddy-robots/internal/proof/webbotauth"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

// maxUserAgents bounds the User-Agents that are remembered.
const maxUserAgents = 1 << 14

// resources are what outlives a config reload, one entry for each. The apps of the configs that
// are live hold them; what no app holds any more ends.
var resources = caddy.NewUsagePool()

// resource is one of them.
type resource struct {
	value any
	end   func() error // nil: nothing is to be done
}

// Destruct implements caddy.Destructor.
func (r *resource) Destruct() error {
	if r.end == nil {
		return nil
	}
	return r.end()
}

// hold returns the resource of this name, made if need be, which the app holds from now on.
func hold[T any](a *App, name string, create func() (value T, end func() error, err error)) (value T, err error) {
	entry, _, err := resources.LoadOrNew(name, func() (caddy.Destructor, error) {
		v, end, err := create()
		return &resource{v, end}, err
	})
	if err != nil {
		return value, err
	}
	a.leave = append(a.leave, func() {
		if _, err := resources.Delete(name); err != nil {
			a.log.Error("closing a shared store", zap.Error(err)) // nothing else fails to end; a name may hold a password
		}
	})
	return entry.(*resource).value.(T), nil
}

// acquire takes hold of what outlives a reload.
func (a *App) acquire() (err error) {
	simple := func(name string, create func() any) any {
		value, _ := hold(a, name, func() (any, func() error, error) { return create(), nil, nil })
		return value
	}
	a.crawlers = simple("user agents", func() any { return crawler.NewCache(maxUserAgents) }).(*crawler.Cache)
	a.memory = simple("paces", func() any { return ratelimit.NewMemory(ratelimit.DefaultMaxKeys) }).(*ratelimit.Memory)
	a.queue = simple("queue", func() any { return ratelimit.NewQueue() }).(*ratelimit.Queue)
	a.traps = simple("traps", func() any { return enforce.NewTraps() }).(*enforce.Traps)
	a.policies = simple("policies", func() any { return policies.NewCache() }).(*policies.Cache)
	a.counts = simple("counts", func() any { return metrics.NewCounts() }).(*metrics.Counts)
	a.signatures = simple("signatures", func() any {
		return webbotauth.New(webbotauth.Options{Failed: func(url string, err error) {
			caddy.Log().Named("http.handlers.robots").Warn("the keys of a signer could not be fetched; what it signs proves nothing, unless its key was known before",
				zap.String("url", url), zap.Error(err))
		}})
	}).(*webbotauth.Verifier)
	a.bans, _ = hold(a, "bans", func() (*storage.Keeper, func() error, error) {
		k := storage.NewBanKeeper(a.memory.Bans(), time.Now)
		return k, func() error { k.Close(); return nil }, nil
	})
	a.ledger, _ = hold(a, "ledger", func() (*storage.Ledger, func() error, error) {
		l := storage.NewLedger(ledgerPlace)
		return l, func() error { l.Keeper.Close(); return nil }, nil
	})
	a.publisher = simple("publisher", func() any {
		return &fleet.Publisher{
			Own: a.ledger.Ledger, Complete: a.ledger.Keeper.Complete, Revision: a.ledger.Revision,
			Name: nodeName, NameFile: filepath.Join(caddy.AppDataDir(), "instance.uuid"),
		}
	}).(*fleet.Publisher)
	a.dns, _ = hold(a, "dns "+a.Resolver, func() (*dns.Verifier, func() error, error) {
		d := dns.New(dns.Options{Resolver: dns.NewResolver(a.Resolver)})
		return d, func() error { d.Close(); return nil }, nil
	})
	a.limiter = a.memory
	if a.Share == nil {
		return nil
	}
	return a.joinFleet()
}

// joinFleet makes the app count together with other Caddys.
func (a *App) joinFleet() error {
	a.keepBans() // before the fleet tells of bans that were lifted meanwhile
	address, err := a.Share.address()
	if err != nil {
		return err
	}
	timeout := time.Duration(a.Share.Timeout)
	a.fleet, err = hold(a, fmt.Sprintf("fleet %s %s", address, timeout), func() (*fleet.Fleet, func() error, error) {
		f, err := fleet.Open(address, timeout, a.memory, a.publisher, a.sampledLog)
		if err != nil {
			return nil, nil, fmt.Errorf("share: %w", err)
		}
		return f, f.Destruct, nil
	})
	if err != nil {
		return err
	}
	a.leave = append(a.leave, a.fleet.Logs.Add(a.sampledLog))
	a.limiter = a.fleet.Limiter
	return nil
}

// keepBans has bans outlive a restart from now on.
func (a *App) keepBans() {
	a.keep.bans.Do(func() { a.leave = append(a.leave, a.bans.Keep(a.ctx.Storage(), a.log)) })
}

// keepLedger has the ledger outlive a restart from now on.
func (a *App) keepLedger() {
	a.keep.ledger.Do(func() {
		// The name of this Caddy is made here, before the TLS app starts and makes one too: of two
		// that are made at once the later one stays, and what is stored under the other is lost.
		_ = ledgerPlace()
		a.leave = append(a.leave, a.ledger.Keeper.Keep(a.ctx.Storage(), a.log))
	})
}

// ledgerPlace is where this Caddy's ledger is in Caddy's storage.
func ledgerPlace() string {
	id, err := caddy.InstanceID()
	if err != nil {
		return storage.LedgerKey + "/this" // it has nowhere to keep its name: then it is the only one
	}
	return storage.LedgerKey + "/" + id.String()
}
