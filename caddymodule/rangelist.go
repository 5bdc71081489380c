package caddymodule

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
)

const (
	// rangesLifetime is how often a list of a robot's addresses is looked at again, and
	// rangesRetry how soon after it could not be had.
	rangesLifetime = 24 * time.Hour
	rangesRetry    = 10 * time.Minute

	// maxRangeList is how many octets of one are read.
	maxRangeList = 8 << 20
)

// rangeLists are the lists of one handler, each once. They are loaded in the background;
// a list that cannot be had keeps what it was, and one that was never had contains nobody
// and makes nobody an impostor.
type rangeLists struct {
	shared  *shared
	storage storage
	log     *zap.Logger
	now     func() time.Time
	lists   []*rangeList
}

// rangeList is one list: ranges that are written out, a file, or a URL.
type rangeList struct {
	place   string // of a file or URL; "" for ranges that are written out
	current atomic.Pointer[ipranges.Set]

	// Only the loading goroutine touches these.
	last   document
	due    time.Time
	failed bool
}

// stored is a list as it is kept in Caddy's storage.
type stored struct {
	Text         string    `json:"text"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Loaded       time.Time `json:"loaded"`
}

// of returns the lists of a claim, whose values were checked.
func (ls *rangeLists) of(values []string) []*rangeList {
	var lists []*rangeList
	if prefixes, err := inlineRanges(values); err == nil && len(prefixes) > 0 {
		list := new(rangeList)
		ranges, _ := ipranges.New(prefixes) // inlineRanges made sure that it can
		list.current.Store(ranges)
		lists = append(lists, list)
	}
	for _, value := range values {
		if isPlace(value) {
			lists = append(lists, ls.at(value))
		}
	}
	return lists
}

// at returns the list at a place, the same for all who ask. What is at hand is read at
// once: a file, or what the storage keeps of a URL.
func (ls *rangeLists) at(place string) *rangeList {
	for _, list := range ls.lists {
		if list.place == place {
			return list
		}
	}
	list := &rangeList{place: place}
	ls.lists = append(ls.lists, list)
	if isURL(place) {
		ls.restore(list)
	} else {
		ls.load(context.Background(), list)
	}
	return list
}

// run looks after the lists until ctx ends.
func (ls *rangeLists) run(ctx context.Context) {
	ls.loadDue(ctx)
	every(time.Minute, ctx.Done(), func() { ls.loadDue(ctx) })
}

// loadDue loads the lists whose time has come.
func (ls *rangeLists) loadDue(ctx context.Context) {
	for _, list := range ls.lists {
		if !ls.now().Before(list.due) && ctx.Err() == nil {
			ls.load(ctx, list)
		}
	}
}

// load loads one list and keeps it.
func (ls *rangeLists) load(ctx context.Context, list *rangeList) {
	text, err := ls.fetch(ctx, list)
	if err == nil {
		var ranges *ipranges.Set
		if ranges, err = ipranges.Parse([]byte(text.text)); err == nil {
			list.current.Store(ranges)
			list.last, list.due = text, ls.now().Add(rangesLifetime)
			if list.failed {
				ls.log.Info("robots' addresses can be loaded again", zap.String("list", list.place))
			}
			list.failed = false
			ls.keep(ctx, list)
			return
		}
	}
	list.due = ls.now().Add(rangesRetry)
	if !list.failed && ctx.Err() == nil {
		list.failed = true
		ls.log.Warn("robots' addresses could not be loaded; what was loaded before holds", zap.String("list", list.place),
			zap.Bool("loaded_before", list.current.Load() != nil), zap.Error(err), zap.Duration("next_try", rangesRetry))
	}
}

func (ls *rangeLists) fetch(ctx context.Context, list *rangeList) (document, error) {
	if !isURL(list.place) {
		return readFile(list.place, maxRangeList)
	}
	var last *document
	if list.last.text != "" {
		last = &list.last
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	doc, err := fetch(ctx, ls.shared, list.place, maxRangeList, maxRedirects, last, ls.now())
	if err == nil && doc.text == "" {
		err = fmt.Errorf("%s gives no list", list.place)
	}
	return doc, err
}

// storageKey is where the list is kept.
func (list *rangeList) storageKey() string { return addressKey("ranges", list.place) }

// restore takes up what an earlier run has kept, so that a restart without network knows
// the robots it knew.
func (ls *rangeLists) restore(list *rangeList) {
	data, err := ls.storage.Load(context.Background(), list.storageKey())
	if err != nil {
		if !os.IsNotExist(err) {
			ls.log.Warn("what is kept of robots' addresses cannot be read; it will be loaded anew",
				zap.String("list", list.place), zap.Error(err))
		}
		return
	}
	var kept stored
	if err = json.Unmarshal(data, &kept); err == nil {
		var ranges *ipranges.Set
		if ranges, err = ipranges.Parse([]byte(kept.Text)); err == nil {
			list.current.Store(ranges)
			list.last = document{text: kept.Text, etag: kept.ETag, lastModified: kept.LastModified}
			if now := ls.now(); kept.Loaded.Before(now) { // or the clock was ahead then: who knows how old it is
				list.due = kept.Loaded.Add(rangesLifetime)
			}
			return
		}
	}
	ls.log.Warn("what is kept of robots' addresses cannot be understood; it will be loaded anew",
		zap.String("list", list.place), zap.Error(err))
}

// keep puts the list into Caddy's storage. That it cannot is no reason to do without.
func (ls *rangeLists) keep(ctx context.Context, list *rangeList) {
	if !isURL(list.place) {
		return
	}
	data, err := json.Marshal(stored{Text: list.last.text, ETag: list.last.etag, LastModified: list.last.lastModified, Loaded: ls.now()})
	if err == nil {
		err = ls.storage.Store(ctx, list.storageKey(), data)
	}
	if err != nil {
		ls.log.Warn("robots' addresses could not be kept; a restart without network will not know them",
			zap.String("list", list.place), zap.Error(err))
	}
}
