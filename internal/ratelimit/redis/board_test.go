package redis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis"
	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// publish publishes text, which has to succeed.
func publish(t *testing.T, store *redis.Store, node, text string) {
	t.Helper()
	if err := store.Publish(t.Context(), node, []byte(text), time.Hour); err != nil {
		t.Fatalf("Publish as %s: %v", node, err)
	}
}

// published returns what nodes other than the one that is called "self" have published, and
// what is wrong with that of some.
func published(t *testing.T, store *redis.Store) (texts map[string]string, wrong map[string]error) {
	t.Helper()
	texts, wrong = make(map[string]string), make(map[string]error)
	err := store.Published(t.Context(), "self", func(node string, data []byte, err error) {
		if err != nil {
			wrong[node] = err
		} else {
			texts[node] += string(data)
		}
	})
	if err != nil {
		t.Fatalf("Published: %v", err)
	}
	return texts, wrong
}

// wantPublished fails the test unless all nodes but "self" have published exactly this.
func wantPublished(t *testing.T, store *redis.Store, want map[string]string) {
	t.Helper()
	got, wrong := published(t, store)
	if !maps.Equal(got, want) || len(wrong) > 0 {
		t.Errorf("published: got %.200v and wrong %v, want %.200v", got, wrong, want)
	}
}

// long returns a text of many pieces.
func long(seed uint64) string {
	text := make([]byte, 3<<20+17)
	random := rand.NewChaCha8([32]byte{byte(seed)})
	random.Read(text)
	return string(text)
}

func TestEachNodeReadsWhatTheOthersPublish(t *testing.T) {
	server := redistest.Start(t)
	one, other := open(t, server.URL(), patient), open(t, server.URL(), patient)
	wantPublished(t, one, map[string]string{})
	publish(t, one, "self", "mine")
	publish(t, other, "node-2.example_b", "yours")
	publish(t, other, "empty", "")
	publish(t, other, "long", long(1))
	wantPublished(t, one, map[string]string{"node-2.example_b": "yours", "empty": "", "long": long(1)})
}

func TestWhatIsPublishedAgainReplacesWhatWas(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	publish(t, store, "a", long(1))
	publish(t, store, "b", "b")
	publish(t, open(t, server.URL(), patient), "a", "after a restart")
	wantPublished(t, store, map[string]string{"a": "after a restart", "b": "b"})
	replaced := 0
	for _, key := range c.Keys(t.Context(), "*node:*").Val() {
		if c.PTTL(t.Context(), key).Val() <= 15*s {
			replaced++
		}
	}
	if replaced != 1 {
		t.Errorf("publications that are gone in 15 seconds: got %d, want the one that was replaced", replaced)
	}
}

func TestPublicationsExpire(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	publish(t, store, "a", long(1))
	publish(t, store, "a", long(2))
	if err := store.Publish(t.Context(), "b", []byte("b"), 10*s); err != nil {
		t.Fatal(err)
	}
	keys := c.Keys(t.Context(), "*").Val()
	if len(keys) != 4 {
		t.Errorf("keys: got %q, want the list, two of a and one of b", keys)
	}
	kept := 0
	for _, key := range keys {
		left := c.PTTL(t.Context(), key).Val()
		if left <= 0 || left > time.Hour {
			t.Errorf("%s expires in: got %v, want at most an hour", key, left)
		}
		if left > 59*time.Minute {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("keys that are kept for an hour: got %d, want the list and the newest of a", kept)
	}
	if left := c.PTTL(t.Context(), "caddy-robots:nodes").Val(); left <= 59*time.Minute {
		t.Errorf("the list of nodes expires in: got %v, want an hour, as a's", left)
	}
}

func TestANodeThatIsOverIsNoLongerListed(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	if err := store.Publish(t.Context(), "brief", []byte("b"), 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a node that is over is gone", func() bool {
		publish(t, store, "a", "a")
		return !strings.Contains(c.Get(t.Context(), "caddy-robots:nodes").Val(), "brief")
	})
	wantPublished(t, store, map[string]string{"a": "a"})
}

// TestAnEvictedPublicationIsLeftOut has a server that was short of memory.
func TestAnEvictedPublicationIsLeftOut(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	publish(t, store, "a", long(1))
	publish(t, store, "b", "b")
	for _, key := range c.Keys(t.Context(), "*node:a:*").Val() {
		c.Del(t.Context(), key)
	}
	wantPublished(t, store, map[string]string{"b": "b"})
}

func TestSoManyNodesAreListed(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	const most, more = 256, 10
	name := func(n int) string { return fmt.Sprintf("%s%03d", strings.Repeat("n", 61), n) }
	for n := range most + more {
		publish(t, store, name(n), "x")
	}
	got, _ := published(t, store)
	if _, ok := got[name(more)]; len(got) != most || !ok {
		t.Errorf("nodes: got %d, want the last %d", len(got), most)
	}
}

func TestWhatCannotBePublished(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	for _, name := range []string{"", "a b", "a/b", "a\n", "{a}", "ä", strings.Repeat("x", 65)} {
		if err := store.Publish(t.Context(), name, []byte("x"), time.Hour); err == nil || !strings.Contains(err.Error(), "at most 64 letters") {
			t.Errorf("the name %q: got error %v, want one that says what to write", name, err)
		}
	}
	if err := store.Publish(t.Context(), "a", make([]byte, redis.MaxPublished+1), time.Hour); err == nil {
		t.Error("data that is too long: got no error")
	}
	wantPublished(t, store, map[string]string{})
}

func TestTheMostThatCanBePublished(t *testing.T) {
	store := open(t, redistest.Start(t).URL(), patient)
	data := bytes.Repeat([]byte("x"), redis.MaxPublished)
	publish(t, store, "a", string(data))
	if got, wrong := published(t, store); got["a"] != string(data) {
		t.Errorf("got %d bytes and %v, want %d", len(got["a"]), wrong, len(data))
	}
}

// TestTwoNodesOfOneNameAreTold has two processes publish, one of which writes as the other does.
func TestTwoNodesOfOneNameAreTold(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	another := func() {
		c.Set(t.Context(), "caddy-robots:nodes", "a 99999999999999 another-process id 0", 0)
	}
	another()
	publish(t, store, "a", "a") // after a restart
	publish(t, store, "a", "b")
	another()
	if err := store.Publish(t.Context(), "a", []byte("c"), time.Hour); !errors.Is(err, redis.ErrName) {
		t.Errorf("after another process has published: got error %v, want ErrName", err)
	}
	publish(t, open(t, server.URL(), patient), "a", "d") // another Store of this process
	publish(t, store, "a", "e")
	wantPublished(t, store, map[string]string{"a": "e"})
}

// TestPublicationsThatAreNotOurs are of one node, and left as they are.
func TestPublicationsThatAreNotOurs(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	for name, spoil := range map[string]func(key string){
		"another type": func(key string) { c.Del(t.Context(), key); c.HSet(t.Context(), key, "x", "y") },
		"too long":     func(key string) { c.LSet(t.Context(), key, 0, strings.Repeat("x", 256<<10+1)) },
		"longer":       func(key string) { c.LSet(t.Context(), key, 0, strings.Repeat("x", 256<<10)) },
		"shorter":      func(key string) { c.LSet(t.Context(), key, 0, "x") },
	} {
		c.FlushDB(t.Context())
		publish(t, store, "a", long(1))
		publish(t, store, "b", "b")
		key := c.Keys(t.Context(), "*node:a:*").Val()[0]
		spoil(key)
		before := c.Dump(t.Context(), key).Val()
		got, wrong := published(t, store)
		if !maps.Equal(got, map[string]string{"b": "b"}) || len(wrong) != 1 || !errors.Is(wrong["a"], ratelimit.ErrKey) {
			t.Errorf("%s: got %.100v and wrong %v, want b, and that a's is not ours", name, got, wrong)
		}
		if c.Dump(t.Context(), key).Val() != before {
			t.Errorf("%s: it is not left as it was", name)
		}
	}
}

func TestAListOfNodesThatIsNotOurs(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL(), patient), client(t, server)
	const key = "caddy-robots:nodes"
	for name, spoil := range map[string]func(){
		"another type": func() { c.HSet(t.Context(), key, "x", "y") },
		"words":        func() { c.Set(t.Context(), key, "not ours", 0) },
		"a huge time":  func() { c.Set(t.Context(), key, "a "+strings.Repeat("9", 400)+" process id 67108865", 0) },
		"too long":     func() { c.Set(t.Context(), key, strings.Repeat("x", 1<<20), 0) },
	} {
		c.Del(t.Context(), key)
		spoil()
		before := c.Dump(t.Context(), key).Val()
		if err := store.Publish(t.Context(), "b", []byte("b"), time.Hour); !errors.Is(err, ratelimit.ErrKey) {
			t.Errorf("%s: Publish: got error %v, want ErrKey", name, err)
		}
		if err := store.Published(t.Context(), "", func(string, []byte, error) {}); !errors.Is(err, ratelimit.ErrKey) {
			t.Errorf("%s: Published: got error %v, want ErrKey", name, err)
		}
		if c.Dump(t.Context(), key).Val() != before {
			t.Errorf("%s: it is not left as it was", name)
		}
	}
	for _, key := range c.Keys(t.Context(), "*node:*").Val() {
		if left := c.PTTL(t.Context(), key).Val(); left <= 0 || left > time.Minute {
			t.Errorf("%s, which nobody knows of, expires in: got %v, want at most a minute", key, left)
		}
	}
}

func TestPublishingInACluster(t *testing.T) {
	server := redistest.Start(t, "--cluster-enabled", "yes")
	if err := client(t, server).ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	store := open(t, server.URL()+"?addr="+server.Addr(), patient)
	eventually(t, "the cluster is ready", func() bool { return store.Ping(t.Context()) == nil })
	publish(t, store, "a", long(1))
	publish(t, store, "b", long(2))
	publish(t, store, "a", "a")
	wantPublished(t, store, map[string]string{"a": "a", "b": long(2)})
}

// TestPublishingHasConnectionsOfItsOwn has decisions take all of theirs.
func TestPublishingHasConnectionsOfItsOwn(t *testing.T) {
	server := redistest.Start(t)
	store, c := open(t, server.URL()+"?pool_size=1&client_name=ours", patient), client(t, server)
	publish(t, store, "a", "a")
	must(t, store, paced, start)
	connections := strings.Count(c.ClientList(t.Context()).Val(), "name=ours")
	if connections != 2 {
		t.Errorf("connections for one decision and one publication: got %d, want 2", connections)
	}
}

func TestPublishingToALostServer(t *testing.T) {
	server := redistest.Start(t)
	store := open(t, server.URL(), patient)
	publish(t, store, "a", "a")
	server.Restart(t)
	publish(t, store, "a", "b") // its connections were closed
	wantPublished(t, store, map[string]string{"a": "b"})
	server.Kill()
	for name, err := range map[string]error{
		"Publish":   store.Publish(t.Context(), "a", []byte("c"), time.Hour),
		"Published": store.Published(t.Context(), "", func(string, []byte, error) {}),
	} {
		if err == nil || !strings.Contains(err.Error(), server.Addr()) {
			t.Errorf("%s: got error %v, want one that says where", name, err)
		}
	}
	server.Restart(t)
	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := store.Publish(ctx, "a", []byte("d"), time.Hour); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("Publish to a server that hangs: got error %v, want that there is no answer in time", err)
	}
	if took := time.Since(begun); took > 4*s {
		t.Errorf("Publish with 100ms: got an error after %v", took)
	}
}

// TestReadersWhileOthersPublish never see half of a publication.
func TestReadersWhileOthersPublish(t *testing.T) {
	server := redistest.Start(t)
	store := open(t, server.URL(), patient)
	texts := []string{long(1), long(2)[:1<<20], "short"}
	publish(t, store, "a", texts[0])
	ended := make(chan error)
	go func() {
		writer := open(t, server.URL(), patient)
		for n := range 30 {
			if err := writer.Publish(t.Context(), "a", []byte(texts[n%len(texts)]), time.Hour); err != nil {
				ended <- err
				return
			}
		}
		close(ended)
	}()
	for reads := 0; ; reads++ {
		got, wrong := published(t, store)
		if !slices.Contains(texts, got["a"]) || len(wrong) > 0 {
			t.Fatalf("read %d: got %d bytes and wrong %v, want one of what was published", reads, len(got["a"]), wrong)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}
