package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// variables are what Caddy keeps of one request for all handlers that it meets. They are looked
// up once, since that takes a walk through all contexts. The zero value keeps nothing.
type variables struct {
	all    map[string]any
	mark   mark // what the handlers that the request has met have done about it
	before mark // what stands in all
}

// allVariables returns the variables of r as Caddy keeps them.
func allVariables(r *http.Request) map[string]any {
	all, _ := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
	return all
}

func variablesOf(r *http.Request) variables {
	all := allVariables(r)
	m, _ := all[markKey].(mark)
	return variables{all: all, mark: m, before: m}
}

// markKey is the request variable that holds the mark.
const markKey = "robots.mark"

// mark is what handlers tell one another of a request: one that meets two of them, one for
// the site and one for a part of it, is still one request. It says whether the request was
// counted against a pace, and which handler notes it: the last one that judged it, or the
// first that found something against it. It is one octet, which a variable holds without
// allocating.
type mark uint8

// counted is the bit of a mark for a request that was counted against a pace. The others are
// the turns that were taken.
const counted mark = 1 << 7

// turn is the place of a handler among those that may note a request. The zero turn is that
// of one which may not.
type turn uint8

// claimed is set once a handler notes the request, whatever others find.
const claimed = turn(counted - 1)

// taken returns the last turn that was taken.
func (m mark) taken() turn { return turn(m &^ counted) }

// take makes t the last turn that was taken.
func (v *variables) take(t turn) { v.mark = v.mark&counted | mark(t) }

// count tells whether the request was not counted yet, and marks it as counted.
func (v *variables) count() bool {
	if v.mark&counted != 0 {
		return false
	}
	v.mark |= counted
	return true
}

// join takes a turn for a handler that has nothing against the request.
func (v *variables) join() turn {
	if v.mark.taken() == claimed || v.all == nil {
		return 0
	}
	v.take(v.mark.taken() + 1)
	return v.mark.taken()
}

// claim tells whether a handler that has something against the request is to note it: no
// other one has claimed it.
func (v *variables) claim() bool {
	if v.mark.taken() == claimed {
		return false
	}
	v.take(claimed)
	return true
}

// leave lets the handlers behind see the mark. It must be called before the request is passed
// on, and no variable may be set later: a proxy may read them in the background until long
// after it has answered.
func (v *variables) leave() {
	if v.mark != v.before && v.all != nil {
		v.all[markKey], v.before = v.mark, v.mark
	}
}

// isLast tells whether no handler has judged the request since, so that the one with this
// turn is to note it.
func (v *variables) isLast(mine turn) bool {
	m, _ := v.all[markKey].(mark)
	return mine != 0 && mine == m.taken()
}
