package proof

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/proof/ipranges"
	"github.com/caddy-robots/caddy-robots/internal/storage"
)

const (
	// listLifetime is how often a list of a robot's addresses is looked at again, and listRetry
	// how soon after it could not be loaded.
	listLifetime = 24 * time.Hour
	listRetry    = 10 * time.Minute

	// listTimeout bounds one load.
	listTimeout = 5 * time.Second
)

// Lists are the lists of addresses that claims name, each once. They are loaded in the
// background: a list that cannot be loaded keeps what it was, and one that never could contains
// nobody and makes nobody an impostor. The fields are set before use. Provers are made of Lists
// before Run, and may use them from then on.
type Lists struct {
	// Fetch loads at most [ipranges.MaxSize] bytes of a file or URL, and one more to show that
	// there are more. last is what the URL gave before, nil for nothing.
	Fetch func(ctx context.Context, address string, last *storage.Document) (storage.Document, error)
	Store *storage.Documents // of the kind [storage.Ranges]; nil keeps nothing
	Log   *zap.Logger
	Now   func() time.Time

	lists []*list
}

// list is one list: ranges that are written out, a file, or a URL.
type list struct {
	address string // of a file or URL; "" for ranges that are written out
	current atomic.Pointer[ipranges.Set]

	// Only the loading goroutine uses these.
	last   storage.Document
	due    time.Time
	failed bool
}

// IsURL reports whether the address of a list is a URL, and not a path.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

// of returns the lists of a claim, whose values were checked.
func (ls *Lists) of(values []string) []*list {
	var lists []*list
	if ranges, _ := inline(values); ranges != nil {
		written := new(list)
		written.current.Store(ranges)
		lists = append(lists, written)
	}
	for _, value := range values {
		if isAddress(value) {
			lists = append(lists, ls.at(value))
		}
	}
	return lists
}

// at returns the list at an address, the same for all who ask. What is here already is read at once:
// a file, or what is kept of a URL.
func (ls *Lists) at(address string) *list {
	for _, list := range ls.lists {
		if list.address == address {
			return list
		}
	}
	list := &list{address: address}
	ls.lists = append(ls.lists, list)
	if !IsURL(address) {
		ls.load(context.Background(), list)
		return list
	}
	ls.Store.Load(context.Background(), address, address, func(doc storage.Document) error {
		due := doc.Loaded.Add(listLifetime)
		if !doc.Loaded.Before(ls.Now()) { // the clock was ahead then: who knows how old it is
			due = time.Time{}
		}
		return list.take(doc, due)
	})
	return list
}

// take makes a document the list, if it can be read.
func (l *list) take(doc storage.Document, due time.Time) error {
	ranges, err := ipranges.Parse([]byte(doc.Text))
	if err == nil {
		l.current.Store(ranges)
		l.last, l.due = doc, due
	}
	return err
}

// Run looks after the lists until ctx ends.
func (ls *Lists) Run(ctx context.Context) {
	ls.loadDue(ctx)
	storage.Every(time.Minute, ctx.Done(), func() { ls.loadDue(ctx) })
}

// loadDue loads the lists whose time has come.
func (ls *Lists) loadDue(ctx context.Context) {
	for _, list := range ls.lists {
		if !ls.Now().Before(list.due) && ctx.Err() == nil {
			ls.load(ctx, list)
		}
	}
}

// load loads one list and keeps it.
func (ls *Lists) load(ctx context.Context, list *list) {
	doc, err := ls.fetch(ctx, list)
	if err == nil {
		err = list.take(doc, ls.Now().Add(listLifetime))
	}
	switch {
	case err == nil:
		if list.failed {
			ls.Log.Info("robots' addresses can be loaded again", zap.String("list", list.address))
		}
		list.failed = false
		if IsURL(list.address) {
			ls.Store.Save(ctx, doc)
		}
		return
	case !list.failed && ctx.Err() == nil:
		list.failed = true
		ls.Log.Warn("robots' addresses could not be loaded; what was loaded before holds", zap.String("list", list.address),
			zap.Bool("loaded_before", list.current.Load() != nil), zap.Error(err), zap.Duration("next_try", listRetry))
	}
	list.due = ls.Now().Add(listRetry)
}

func (ls *Lists) fetch(ctx context.Context, list *list) (storage.Document, error) {
	var last *storage.Document
	if list.last.Text != "" {
		last = &list.last
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	doc, err := ls.Fetch(ctx, list.address, last)
	if err == nil && doc.Text == "" && IsURL(list.address) {
		err = fmt.Errorf("%s gives no list", list.address)
	}
	doc.Address, doc.Name, doc.Loaded = list.address, list.address, ls.Now()
	return doc, err
}
