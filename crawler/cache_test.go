package crawler

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	googlebot = "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

func TestCacheAnswersAsIdentifyDoes(t *testing.T) {
	for _, entries := range []int{-1, 0, 1, 3, 64, 4096} {
		cache := NewCache(entries)
		for _, s := range readSamples(t, "*.txt") {
			checkCached(t, cache, s.userAgent, Identify(s.userAgent))
		}
	}
}

func TestZeroCacheRemembersNothing(t *testing.T) {
	var cache Cache
	first, second := cache.Identify(googlebot), cache.Identify(googlebot)
	if first == second || !reflect.DeepEqual(first, second) {
		t.Errorf("got %p %+v and %p %+v, want equal and distinct", first, first, second, second)
	}
}

func TestAllBrowsersShareOneIdentity(t *testing.T) {
	cache := NewCache(64)
	first, second := cache.Identify(chrome), cache.Identify(chrome+" Edg/142.0.0.0")
	if first != second || first.Text != "" || first.Products != nil {
		t.Errorf("got %p %+v and %p %+v, want one Identity without text", first, first, second, second)
	}
}

func TestCacheRoundsItsSizeUp(t *testing.T) {
	for entries, want := range map[int]int{-1: 0, 0: 0, 1: 4, 4: 4, 5: 8, 1000: 1024, 4096: 4096, 1 << 30: 1 << 20} {
		if got := len(NewCache(entries).buckets) * ways; got != want {
			t.Errorf("NewCache(%d): got %d entries, want %d", entries, got, want)
		}
	}
}

// A collision is made by hand: another's fingerprint is set into the bucket.
func TestNoCollisionMakesABrowserARobot(t *testing.T) {
	cache := NewCache(4)
	cache.Identify(googlebot)
	b := &cache.buckets[0]
	s, id := b.find(maphash.String(cache.seed, googlebot), googlebot)
	if s == nil || id.Class != Robot {
		t.Fatalf("got slot %p, want the one of the robot just seen", s)
	}
	s.fingerprint.Store(1000)
	for hash := range uint64(4) {
		if _, got := b.find(1000+hash, chrome); got != nil {
			t.Errorf("a browser with the robot's fingerprint: got %+v, want none", *got)
		}
	}
}

func TestNewcomersDoNotPushOutThoseInUse(t *testing.T) {
	cache := NewCache(64)
	for range 2 {
		cache.Identify(googlebot)
	}
	want := cache.Identify(googlebot)
	for i := range 10_000 {
		cache.Identify(fmt.Sprintf("Flood%dBot/1.0", i))
	}
	if got := cache.Identify(googlebot); got != want {
		t.Errorf("after a flood: got Identity %p, want the remembered one %p", got, want)
	}
}

func TestThoseInUseMakeRoomForWhoComesAgain(t *testing.T) {
	cache := NewCache(4)
	for i := range 100 {
		userAgent := fmt.Sprintf("Number%dBot/1.0", i)
		cache.Identify(userAgent)
		want := cache.Identify(userAgent)
		if got := cache.Identify(userAgent); got != want {
			t.Fatalf("%s at its third request: got Identity %p, want the remembered one %p", userAgent, got, want)
		}
	}
}

// The bound: a million distinct browsers hold nothing, and any number of distinct
// robots of full length no more than 3 KiB for each of the 1,024 entries.
func TestAFloodOfUserAgentsHoldsBoundedMemory(t *testing.T) {
	const entries = 1024
	cache := NewCache(entries)
	for range 2 {
		cache.Identify(googlebot)
	}
	want := cache.Identify(googlebot)
	before := heapInUse()
	for i := range floods(1_000_000) {
		cache.Identify(fmt.Sprintf("Mozilla/5.0 (X11; Linux) Firefox/%d", i))
	}
	if grown := heapInUse() - before; grown > 64<<10 {
		t.Errorf("after a flood of browsers: got %d bytes more in use, want at most 64 KiB", grown)
	}
	padding := strings.Repeat("x/1 (Linux; Android) ", 60)
	for i := range floods(50_000) {
		cache.Identify(fmt.Sprintf("Flood%dBot/1.0 %s", i, padding))
	}
	if grown := heapInUse() - before; grown > entries*3<<10 {
		t.Errorf("after a flood of robots: got %d bytes more in use, want at most %d", grown, entries*3<<10)
	}
	if got := cache.Identify(googlebot); got != want {
		t.Errorf("after both floods: got Identity %p, want the remembered one %p", got, want)
	}
	runtime.KeepAlive(cache)
}

// floods is how many User-Agents make a flood: n, or a twentieth of it for the short
// tests and under the race detector.
func floods(n int) int {
	if testing.Short() || underRace {
		return n / 20
	}
	return n
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestRememberedUserAgentsCostNoAllocation(t *testing.T) {
	cache := NewCache(64)
	for _, userAgent := range []string{chrome, googlebot, "curl/8.5.0", "", " ", googlebot + strings.Repeat("x", 64<<10)} {
		for range 2 {
			cache.Identify(userAgent)
		}
		if got := testing.AllocsPerRun(100, func() { cache.Identify(userAgent) }); got != 0 {
			t.Errorf("Cache.Identify(%.40q): got %v allocations, want 0", userAgent, got)
		}
	}
}

func TestUnknownBrowsersCostNoAllocation(t *testing.T) {
	var cache Cache
	samples := readSamples(t, "browsers*.txt")
	for _, s := range samples {
		if got := testing.AllocsPerRun(10, func() { cache.Identify(s.userAgent) }); got != 0 {
			t.Errorf("%s: Cache.Identify(%q): got %v allocations, want 0", s.at, s.userAgent, got)
		}
	}
}

func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	samples := readSamples(t, "*.txt")
	cache := NewCache(32) // small, so that everybody pushes out everybody
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 4 * len(samples) {
				s := samples[(i*(worker+1))%len(samples)]
				if got := cache.Identify(s.userAgent); got.Class.String() != s.class || got.Name != s.name {
					t.Errorf("%s: got %s %q, want %s %q", s.at, got.Class, got.Name, s.class, s.name)
				}
			}
		})
	}
	all.Wait()
}

func TestCacheLen(t *testing.T) {
	cache := NewCache(64)
	for _, userAgent := range []string{googlebot, chrome, googlebot, ""} {
		cache.Identify(userAgent)
	}
	if got, want := cache.Len(), 2; got != want {
		t.Errorf("got %d, want %d: one robot, one browser", got, want)
	}
	if got := new(Cache).Len(); got != 0 {
		t.Errorf("zero Cache: got %d, want 0", got)
	}
}

func checkCached(t *testing.T, cache *Cache, userAgent string, want Identity) {
	t.Helper()
	if want.Class == Browser {
		want = Identity{}
	}
	for range 3 {
		got := *cache.Identify(userAgent)
		got.Hash = 0 // which only a Cache gives
		if !reflect.DeepEqual(got, want) {
			t.Errorf("cached: Identify(%q) = %+v, want %+v", userAgent, got, want)
		}
	}
}

func TestIdentitiesOfACacheHaveDifferentHashes(t *testing.T) {
	cache := NewCache(4096)
	seen := map[uint64]string{0: "nobody"}
	for _, s := range readSamples(t, "*.txt") {
		id := cache.Identify(s.userAgent)
		if id.Class == Browser && id.Hash != 0 {
			t.Errorf("browser %q: got hash %d, want 0", s.userAgent, id.Hash)
		}
		if id.Class != Robot && id.Class != App {
			continue
		}
		if other, taken := seen[id.Hash]; taken && other != s.userAgent {
			t.Errorf("%q has the hash of %q", s.userAgent, other)
		}
		seen[id.Hash] = s.userAgent
	}
	if len(seen) < 100 {
		t.Errorf("compared %d identities, want at least 100", len(seen))
	}
}
