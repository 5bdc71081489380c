package policies

import (
	"container/list"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultMemory is how many bytes of texts, compiled rules and hosts a process holds.
	DefaultMemory = 128 << 20

	// hostWeight is what a host takes besides texts and rules, in bytes: measured by
	// TestMemoryIsWhatItIsTakenFor.
	hostWeight = 1700

	// knownAfter is how long ago a host was first asked for that is known.
	knownAfter = 10 * time.Minute
)

// hosts holds the state of all hosts of a process, bounded in bytes: texts and compiled rules, each
// counted once however many hosts have it, and the hosts themselves. Hosts come from clients, so
// there are three kinds. Hosts that the config names are pinned and never forgotten. Known hosts
// are those that two networks of clients have asked for, ten minutes apart. All others are
// strangers and are forgotten first: new strangers never push out a known host. It is safe for
// concurrent use.
type hosts struct {
	mu     sync.Mutex // guards what follows, and the records
	max    int64
	weight int64 // of all that is held
	ruled  int64 // of compiled rules
	byKey  map[string]*record
	texts  map[string]*heldText
	rules  map[*Rules]int // by how many policies they are held

	strangers, known *list.List // of *record, the longest kept first
	warm             *list.List // of *record: those with compiled rules
}

// heldText is a text and how many documents have it.
type heldText struct {
	text string
	n    int
}

// record is what is known of a host in a process: it outlives a reload of the config.
type record struct {
	key     string
	used    atomic.Bool // since it was last looked at for room
	isKnown atomic.Bool // pinned, or asked for by two networks over ten minutes

	asked      atomic.Int64  // when it was last noted who asks, in nanoseconds of Unix time
	first      atomic.Int64  // when it was first asked for, the same
	network    atomic.Uint64 // who did
	secondSeen atomic.Bool   // another network did, too

	visitor atomic.Pointer[Visitor] // as whom a robots.txt is asked for that is refused to us; nil: nobody is known

	// The rest is guarded by hosts.mu.
	sites     []*Site // of the loaders that have the host
	documents []keyed[*Document]
	policies  []keyed[*remembered]
	outcomes  []keyed[*outcome]
	pins      int // loaders whose config names it
	element   *list.Element
	home      *list.List // that element is in; nil while it is pinned or forgotten
	warm      *list.Element
	version   string // of the rules that were compiled last, and their weight
	compiled  int64
}

// keyed is a value of one source, or of the sources of one loader.
type keyed[V any] struct {
	key   string
	value V
}

// indexOf returns where the value with this key is, -1 if there is none.
func indexOf[V any](all []keyed[V], key string) int {
	return slices.IndexFunc(all, func(one keyed[V]) bool { return one.key == key })
}

func newHosts() *hosts {
	return &hosts{
		max: DefaultMemory, byKey: make(map[string]*record), texts: make(map[string]*heldText),
		rules: make(map[*Rules]int), strangers: list.New(), known: list.New(), warm: list.New(),
	}
}

// add returns the site of a host of a loader, whose record has this key, and makes it if there is
// none. pin says that the config names the host. If the loader has ended, the site is not held.
func (h *hosts) add(l *Loader, host, key string, pin bool) *Site {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := l.sites[host]
	if s == nil {
		r := h.byKey[key]
		if r == nil {
			r = &record{key: key}
		}
		s = l.newSite(host, r)
		if l.closed {
			return s
		}
		if h.byKey[key] == nil {
			h.byKey[key] = r
			h.weight += hostWeight
			h.enlist(r, h.strangers)
		}
		r.sites = append(r.sites, s)
		l.mu.Lock()
		l.sites[host] = s
		l.mu.Unlock()
	}
	if pin && !l.closed && s.pinned.CompareAndSwap(false, true) {
		s.record.pins++
		h.enlist(s.record, nil)
		s.record.isKnown.Store(true)
	}
	h.shrink(h.max, s.record)
	return s
}

// enlist moves a record to the end of a list, or out of all with nil.
func (h *hosts) enlist(r *record, to *list.List) {
	if r.home != nil {
		r.home.Remove(r.element)
	}
	if r.home = to; to != nil {
		r.element = to.PushBack(r)
	}
}

// wantsAsker reports whether ask must be called for the host: while it is not known, and at most
// once a second, so that other requests pay nothing.
func (r *record) wantsAsker(now time.Time) bool {
	if r.isKnown.Load() {
		return false
	}
	last, at := r.asked.Load(), now.UnixNano()
	return (at-last >= int64(time.Second) || at < last) && r.asked.CompareAndSwap(last, at)
}

// ask notes that a client asks for a host that is not known. The host may become known by this.
func (h *hosts) ask(r *record, from netip.Addr, now time.Time) {
	network := networkOf(from.Unmap())
	switch first := r.network.Load(); {
	case network == 0:
		return
	case first == 0:
		r.first.Store(now.UnixNano())
		r.network.CompareAndSwap(0, network)
		return
	case first != network && !r.secondSeen.Load():
		r.secondSeen.Store(true)
	}
	if !r.secondSeen.Load() || now.UnixNano()-r.first.Load() < int64(knownAfter) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.home == h.strangers {
		h.enlist(r, h.known)
		r.isKnown.Store(true)
		h.shrink(h.max-h.max/8, r) // strangers keep a part of the room
	}
}

// networkOf returns the network of a client as a number, 0 if its address is not known. Networks
// are /24 and /48, since one owner does not have many of these.
func networkOf(addr netip.Addr) uint64 {
	switch {
	case !addr.IsValid():
		return 0
	case addr.Is4():
		four := addr.As4()
		return 1<<63 | uint64(binary.BigEndian.Uint32(four[:])>>8)
	}
	sixteen := addr.As16()
	return binary.BigEndian.Uint64(sixteen[:])>>16 | 1<<62
}

// shrink removes entries until at most most bytes are held. Compiled rules may take half of it.
// Beyond that, it removes compiled rules that no client used since the last time; they are compiled
// again from their texts when needed. Then it forgets hosts, strangers first. It never touches
// keep.
func (h *hosts) shrink(most int64, keep *record) {
	for h.weight > most && h.ruled > most/2 {
		r := oldest(h.warm, keep, func(r *record) *list.Element { return r.warm })
		if r == nil {
			break
		}
		h.putAway(r)
	}
	inHome := func(r *record) *list.Element { return r.element }
	for h.weight > most {
		r := oldest(h.strangers, keep, inHome)
		if r == nil {
			r = oldest(h.known, keep, inHome)
		}
		if r == nil {
			return
		}
		h.forget(r)
	}
}

// oldest returns the record of a list that must be forgotten first, nil if there is only keep.
func oldest(l *list.List, keep *record, in func(*record) *list.Element) *record {
	for range 2 * l.Len() {
		r := l.Front().Value.(*record)
		if r != keep && !r.used.Swap(false) {
			return r
		}
		l.MoveToBack(in(r))
	}
	return nil
}

// putAway releases the compiled rules of a host.
func (h *hosts) putAway(r *record) {
	for _, s := range r.sites {
		if s.held != nil {
			h.hold(&s.held, nil)
			s.policy.Store(nil)
		}
	}
	h.warm.Remove(r.warm)
	r.warm = nil
}

// forget forgets a host.
func (h *hosts) forget(r *record) {
	h.enlist(r, nil)
	if r.warm != nil {
		h.warm.Remove(r.warm)
		r.warm = nil
	}
	delete(h.byKey, r.key)
	for _, s := range r.sites {
		h.hold(&s.held, nil)
		s.gone.Store(true)
		s.want(false)
		s.loader.mu.Lock()
		delete(s.loader.sites, s.host)
		s.loader.mu.Unlock()
	}
	for _, d := range r.documents {
		h.dropText(d.value.Text)
	}
	for _, p := range r.policies {
		h.dropTexts(p.value)
	}
	r.sites, r.documents, r.policies, r.outcomes = nil, nil, nil, nil
	h.weight -= hostWeight
}

// close takes the sites of a loader from their records, when it ends.
func (h *hosts) close(l *Loader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.closed = true
	for _, s := range l.sites {
		if again := s.again.Load(); again != nil {
			again.Stop()
		}
		h.hold(&s.held, nil)
		r := s.record
		r.sites = slices.DeleteFunc(r.sites, func(other *Site) bool { return other == s })
		if !s.pinned.Load() {
			continue
		}
		if r.pins--; r.pins == 0 {
			h.enlist(r, h.known)
		}
	}
}

// lastGood returns the last good document of a source for a host.
func (h *hosts) lastGood(r *record, key string) (*Document, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := indexOf(r.documents, key); i >= 0 {
		return r.documents[i].value, true
	}
	return nil, false
}

// keep keeps a document as the last good one of a source for a host. The document shares its text
// with all that have the same.
func (h *hosts) keep(r *record, key string, doc *Document) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := indexOf(r.documents, key)
	if h.byKey[r.key] != r || key == "" || i >= 0 && r.documents[i].value == doc {
		return
	}
	doc.Text = h.holdText(doc.Text)
	if i < 0 {
		r.documents = append(r.documents, keyed[*Document]{key, doc})
	} else {
		h.dropText(r.documents[i].value.Text)
		r.documents[i].value = doc
	}
	h.shrink(h.max, r)
}

// remembered returns what a loader with the same sources has left of a host's policy.
func (h *hosts) remembered(r *record, key string) (*remembered, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := indexOf(r.policies, key); i >= 0 {
		return r.policies[i].value, true
	}
	return nil, false
}

// remember keeps what is to be left of a policy.
func (h *hosts) remember(r *record, key string, m *remembered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byKey[r.key] != r {
		return
	}
	m.current.Text = h.holdText(m.current.Text)
	if m.previous != nil {
		h.holdText(m.previous.Text) // it has the text of rules that were in force
	}
	i := indexOf(r.policies, key)
	if i < 0 {
		r.policies = append(r.policies, keyed[*remembered]{key, m})
		return
	}
	h.dropTexts(r.policies[i].value)
	r.policies[i].value = m
}

// publish holds the rules of the new policy of a site, and releases those of its last one.
func (h *hosts) publish(s *Site, p *Policy) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byKey[s.record.key] != s.record || s.loader.closed {
		return
	}
	r := s.record
	if !p.Loaded || p.Rules.Text == "" {
		h.hold(&s.held, nil) // rules without a text are the same for all hosts
		return
	}
	h.hold(&s.held, p)
	r.version, r.compiled = p.Rules.Version, p.Rules.weight
	if r.warm == nil {
		r.warm = h.warm.PushBack(r)
	}
	h.shrink(h.max, r)
}

// hold replaces the held rules of one policy by those of another; either may be nil.
func (h *hosts) hold(held **Policy, p *Policy) {
	before := *held
	*held = p
	for _, rules := range p.allRules() {
		if h.rules[rules]++; h.rules[rules] == 1 {
			h.weight += rules.weight
			h.ruled += rules.weight
		}
	}
	for _, rules := range before.allRules() {
		if h.rules[rules]--; h.rules[rules] == 0 {
			delete(h.rules, rules)
			h.weight -= rules.weight
			h.ruled -= rules.weight
		}
	}
}

func (h *hosts) holdText(text string) string {
	held := h.texts[text]
	if held == nil {
		held = &heldText{text: strings.Clone(text)}
		h.texts[held.text] = held
		h.weight += int64(len(text))
	}
	held.n++
	return held.text
}

func (h *hosts) dropText(text string) {
	held := h.texts[text]
	if held == nil {
		return
	}
	if held.n--; held.n == 0 {
		delete(h.texts, text)
		h.weight -= int64(len(text))
	}
}

func (h *hosts) dropTexts(m *remembered) {
	h.dropText(m.current.Text)
	if m.previous != nil {
		h.dropText(m.previous.Text)
	}
}

// note remembers how the last load of a host ended, for loaders with these sources.
func (h *hosts) note(r *record, key string, o *outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byKey[r.key] != r || key == "" {
		return
	}
	if i := slices.IndexFunc(r.outcomes, func(o keyed[*outcome]) bool { return o.key == key }); i >= 0 {
		r.outcomes[i].value = o
		return
	}
	if i := slices.IndexFunc(r.policies, func(p keyed[*remembered]) bool { return p.key == key }); i >= 0 {
		key = r.policies[i].key // the same, in memory once
	}
	r.outcomes = append(r.outcomes, keyed[*outcome]{key, o})
}

// outcome returns how the last load of a host ended, for a loader with these sources; nil if there
// was none.
func (h *hosts) outcome(r *record, key string) *outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range r.outcomes {
		if o.key == key {
			return o.value
		}
	}
	return nil
}

// pinnedWeight returns how many bytes the hosts take that the config names; each text and its rules
// count once.
func (h *hosts) pinnedWeight() (n int, weight int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	counted := make(map[string]bool)
	once := func(what string, bytes int64) {
		if !counted[what] {
			counted[what] = true
			weight += bytes
		}
	}
	for _, r := range h.byKey {
		if r.pins == 0 {
			continue
		}
		n++
		weight += hostWeight
		once("rules "+r.version, r.compiled)
		for _, d := range r.documents {
			once("text "+d.value.Text, int64(len(d.value.Text)))
		}
	}
	return n, weight
}
