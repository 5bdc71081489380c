package storage

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// notes are what a test keeps.
type notes struct {
	mu      sync.Mutex
	list    []string
	changes uint64
}

const notesKey = "robots/notes.json"

func (n *notes) add(note ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note...)
	n.changes++
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(slices.Values(n.list))
}

// keptNotes are notes as a process keeps them that was just started.
func keptNotes(t *testing.T, store Store, clock *testClock) (*notes, *Keeper, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	n := new(notes)
	k := &Keeper{
		What: "notes", Loses: "a restart would forget them",
		Key: func() string { return notesKey }, Every: time.Hour, First: true, Now: clock.now,
		Revision: func() uint64 {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.changes
		},
		Encode: func() ([]byte, error) { return json.Marshal(n.all()) },
		Decode: func(data []byte) error {
			var list []string
			err := json.Unmarshal(data, &list)
			if err == nil {
				n.add(list...)
			}
			return err
		},
	}
	k.Keep(store, zap.New(core))
	t.Cleanup(k.Close)
	return n, k, logs
}

func TestWhatIsKeptSurvivesARestart(t *testing.T) {
	store, clock := memory{}, newTestClock()
	before, k, _ := keptNotes(t, store, clock)
	if _, ok := k.SavedAt(); ok {
		t.Error("SavedAt before anything was stored: got a time, want none")
	}
	before.add("one", "two")
	k.Close()
	if at, ok := k.SavedAt(); !ok || !at.Equal(clock.now()) {
		t.Errorf("SavedAt: got %s, %t, want %s", at, ok, clock.now())
	}
	clock.advance(time.Minute)
	after, k, logs := keptNotes(t, store, clock)
	if got := after.all(); !slices.Equal(got, before.all()) || !k.Complete() {
		t.Errorf("after a restart: got %v, complete %t, want %v; log: %v", got, k.Complete(), before.all(), logs.All())
	}
}

func TestWhatDidNotChangeIsNotStored(t *testing.T) {
	store, clock := memory{}, newTestClock()
	_, k, _ := keptNotes(t, store, clock)
	k.Close()
	if len(store) != 0 {
		t.Errorf("stored: got %v, want nothing", store)
	}
}

func TestWhatCannotBeReadIsSetAside(t *testing.T) {
	store, clock := memory{notesKey: []byte("{not json")}, newTestClock()
	n, _, logs := keptNotes(t, store, clock)
	if got := n.all(); len(got) != 0 {
		t.Errorf("taken up: got %v, want nothing", got)
	}
	if got := string(store[notesKey+".unreadable-20261101T120000.000"]); got != "{not json" {
		t.Errorf("set aside: got %q", got)
	}
	if logs.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("log: got %v, want one warning", logs.All())
	}
}

func TestStorageThatIsOutOfOrderIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		store Store
		want  string
	}{
		"it cannot be read":    {brokenStore{memory{}}, "could not be loaded yet"},
		"it cannot be written": {fullStore{memory{}}, "could not be stored"},
		"nor set aside":        {fullStore{memory{notesKey: []byte("{not json")}}, "nor set aside"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newTestClock()
			n, k, logs := keptNotes(t, c.store, clock)
			for range 3 {
				n.add("note")
				clock.advance(time.Second)
				k.save()
			}
			if got := n.all(); len(got) != 3 {
				t.Errorf("in memory: got %v, want three notes", got)
			}
			if all := logs.All(); len(all) != 1 || !strings.Contains(all[0].Message, c.want) {
				t.Errorf("log: got %v, want one line that says %q", all, c.want)
			}
		})
	}
}

func TestWhatCannotBeReadYetIsNotWrittenOver(t *testing.T) {
	store, clock := memory{}, newTestClock()
	before, k, _ := keptNotes(t, store, clock)
	before.add("before")
	k.Close()
	after, k, _ := keptNotes(t, brokenStore{store}, clock)
	after.add("meanwhile")
	k.save()
	if k.Complete() {
		t.Error("Complete while the storage cannot be read: got true")
	}
	k.Keep(store, zap.NewNop()) // it is mended
	k.save()
	k.Close()
	last, _, _ := keptNotes(t, store, clock)
	if got := last.all(); !slices.Equal(got, []string{"before", "meanwhile"}) {
		t.Errorf("got %v, want the note of before and that of meanwhile", got)
	}
}
