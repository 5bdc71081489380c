package enforce

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// Policies is where the rules of each host come from.
type Policies interface {
	// ForHost returns the policy of a host, which is in small letters and has no port. The
	// first requests for a host wait for it if they are to, no longer than ctx. It never
	// returns nil. It also reports whether Asked is to be told by whom, which costs a look at the
	// client's address.
	ForHost(ctx context.Context, host string, by Asker) (p *Policy, tell bool)

	// Asked is told the address of a client that asks for a host; not valid where it is not known
	// or not proved.
	Asked(host string, addr netip.Addr, at time.Time)
}

// Asker is who asks for a policy.
type Asker struct {
	At    time.Time
	Waits bool // for a first load
}

// Policy is what holds for a host: its rules, and for a time those that held before them. It
// does not change.
type Policy struct {
	*Rules
	Loaded   bool      // false: no source gave an answer yet
	Previous *Previous // nil if nothing is known to have held before
}

// Previous is what held before a policy. Of changes in quick succession it is the last.
type Previous struct {
	Rules *Rules
	Until time.Time // when it ceased to hold
}

// Rules is one robots.txt, compiled. It must not be copied. It is safe for concurrent use.
type Rules struct {
	Compiled *robotsrules.Policy
	Version  string // tells one text from another

	// Denied says why everything is disallowed to whomever the "*" record binds, whatever the
	// text; empty otherwise.
	Denied string

	// found remembers which record names the robots that came last.
	found [64]atomic.Pointer[found]
}

// found is the record that names a robot, nil if none does.
type found struct {
	robot   uint64 // crawler.Identity.Hash
	binding *robotsrules.Binding
}

// Find returns the record that names the robot, nil if none does. To look for hundreds of names
// in a User-Agent takes longer than all the rest of a decision, so it is done once.
func (rs *Rules) Find(who *crawler.Identity) *robotsrules.Binding {
	slot := &rs.found[who.Hash%uint64(len(rs.found))]
	if f := slot.Load(); f != nil && f.robot == who.Hash && who.Hash != 0 {
		return f.binding
	}
	binding := rs.Compiled.Find(robotOf(who))
	slot.Store(&found{who.Hash, binding})
	return binding
}

// robotOf is what robots.txt looks at of a client.
func robotOf(who *crawler.Identity) robotsrules.Robot {
	return robotsrules.Robot{UserAgent: who.Text, Name: who.Name, Products: who.Products}
}
