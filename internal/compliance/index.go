package compliance

import "sync/atomic"

// index finds rows by their keys. Looking needs no lock; whoever adds or removes holds that
// of the ledger. Who looks meanwhile may miss a row that is being added, and
// find one that has just been removed.
type index struct {
	chains []atomic.Pointer[row] // as many as a power of two
}

// newIndex returns an index for about so many rows.
func newIndex(rows int) index {
	chains := 1
	for chains < 2*rows {
		chains *= 2
	}
	return index{make([]atomic.Pointer[row], chains)}
}

// find returns the row of a key, or nil.
func (x *index) find(fingerprint uint64, k *key) *row {
	for r := x.chain(fingerprint).Load(); r != nil; r = r.next.Load() {
		if r.fingerprint == fingerprint && r.key == *k {
			return r
		}
	}
	return nil
}

// add adds a row that is not there.
func (x *index) add(r *row) {
	chain := x.chain(r.fingerprint)
	r.next.Store(chain.Load())
	chain.Store(r)
}

// remove removes a row. It goes on leading to those behind it.
func (x *index) remove(r *row) {
	at := x.chain(r.fingerprint)
	for at.Load() != r {
		at = &at.Load().next
	}
	at.Store(r.next.Load())
}

func (x *index) chain(fingerprint uint64) *atomic.Pointer[row] {
	return &x.chains[fingerprint&uint64(len(x.chains)-1)]
}
