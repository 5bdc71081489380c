package redis

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

func TestSentinelsAreCutOutOfAURL(t *testing.T) {
	for _, tt := range []struct{ url, server, master, addrs string }{
		{"redis://host:1/2?x", "redis://host:1/2?x", "", ""},
		{"redis+sentinel://a,b:1/m", "redis://a:26379/", "m", "a:26379 b:1"},
		{"rediss+sentinel://u:p@a:1,[::1]/my%2Fm/3?pool_size=2", "rediss://u:p@a:1/3?pool_size=2", "my/m", "a:1 [::1]:26379"},
		{"redis+sentinel://:x,y@a/m?q=/", "redis://:x,y@a:26379/?q=/", "m", "a:26379"},
	} {
		server, master, addrs, err := cutSentinels(tt.url)
		if server != tt.server || master != tt.master || !slices.Equal(addrs, strings.Fields(tt.addrs)) || err != nil {
			t.Errorf("%s: got %q, %q, %v, %v", tt.url, server, master, addrs, err)
		}
	}
	for _, url := range []string{"redis+sentinel://a", "redis+sentinel://a/", "redis+sentinel://a//0", "redis+sentinel://a?m", "redis+sentinel://a/%zz"} {
		if _, _, _, err := cutSentinels(url); !errors.Is(err, errMaster) {
			t.Errorf("%s: got %v, want %v", url, err, errMaster)
		}
	}
}

func TestTheAuthorityInAFileIsTrustedAndNoOther(t *testing.T) {
	server, other := redistest.StartTLS(t), redistest.StartTLS(t)
	for file, want := range map[string]bool{server.Certificate(): true, other.Certificate(): false} {
		store, err := Open("rediss://"+server.Addr()+"?ca_file="+file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Ping(t.Context()); (err == nil) != want {
			t.Errorf("trusting %s: got %v, want success %t", file, err, want)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
