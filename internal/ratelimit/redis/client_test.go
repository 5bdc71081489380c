package redis

import (
	"strings"
	"testing"
	"time"
)

// TestOpenDoesNotConnect opens a Store on an address that nobody can have.
func TestOpenDoesNotConnect(t *testing.T) {
	begun := time.Now()
	for _, url := range []string{
		"redis://192.0.2.1", "rediss://user:pw@192.0.2.1:1", "unix:///nowhere/redis.sock",
		"redis+sentinel://:pw@192.0.2.1,[2001:db8::1]:1/mymaster/2?sentinel_password=pw", "rediss+sentinel://192.0.2.1/my%2Fmaster",
		"redis://192.0.2.1?addr=192.0.2.2:6379", "redis://[2001:db8::1]:6379/1?pool_size=2",
	} {
		store, err := Open(url, Options{})
		if err != nil {
			t.Errorf("Open(%q): %v", url, err)
			continue
		}
		if err := Check(url); err != nil {
			t.Errorf("Check(%q): %v", url, err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("closing the Store at %q: %v", url, err)
		}
	}
	if took := time.Since(begun); took > dialTime/2 {
		t.Errorf("opening took %v, want no time", took)
	}
}

// TestURLThatIsNone has passwords that stand where they should not: no error may repeat them.
func TestURLThatIsNone(t *testing.T) {
	for _, url := range []string{
		"", "localhost:6379", "http://:geheim@host", "redis://host/x", "redis://host?password=geheim",
		"redis://user:gehe/im@host", "redis://:gehe?im@host", "redis://:gehe#im@host", "redis://:1/2geheim@host", "redis://:1?geheim@host",
		"redis://:%geheim@host", "redis://:geheim@host:port", "redis://:geheim@ho st", "redis:geheim@host", "geheim@host:6379",
		"redis://:geheim@host/0?addr=x:1&unknown=1", "redis://:geheim@host/0?pool_size=x", "unix://", "://geheim", "redis://:geheim@host/0?db=geheim@",
		"redis://host:1:geheim", "redis://:gehe[im@host",
		"redis+sentinel://", "redis+sentinel://a,,b/m", "redis+sentinel://:geheim@a,b:port/m", "redis+sentinel://:gehe/im@a,b/m", "redis+sentinel://a/m/x",
		"unix+sentinel://a/m", "redis+sentinel://a/m?sentinel_password=geheim@x", "redis+sentinel://:%geheim@a/m", "redis+sentinel://a/m?master_name=m",
	} {
		store, err := Open(url, Options{})
		if err == nil {
			store.Close()
			t.Errorf("Open(%q): want an error", url)
			continue
		}
		if checked := Check(url); checked == nil || checked.Error() != err.Error() {
			t.Errorf("Check(%q): got %v, want as Open %v", url, checked, err)
		}
		for _, secret := range []string{"geheim", "gehe", "im@"} {
			if strings.Contains(err.Error(), secret) && strings.Contains(url, "@") {
				t.Errorf("Open(%q): got error %q, with some of the password", url, err)
			}
		}
		if !strings.Contains(err.Error(), "redis://user:password@host:6379/0") {
			t.Errorf("Open(%q): got error %q, want one that says what to write", url, err)
		}
	}
}

func TestConnections(t *testing.T) {
	for url, want := range map[string]int{
		"redis://host":                                    defaultConnections,
		"redis://host?pool_size=3":                        3,
		"redis://host?pool_size=-1":                       defaultConnections,
		"redis://host?pool_size=99999999999":              maxConnections,
		"redis://host?addr=other:6379&pool_size=99999999": maxConnections,
	} {
		store, err := Open(url, Options{})
		if err != nil {
			t.Errorf("Open(%q): %v", url, err)
			continue
		}
		if store.connections != want {
			t.Errorf("connections for %q: got %d, want %d", url, store.connections, want)
		}
		store.Close()
	}
}

// FuzzOpen looks for URLs that panic, that connect, or that give a password away.
func FuzzOpen(f *testing.F) {
	f.Add("redis://user:", "geheim", "@host:6379/0")
	f.Add("redis://:", "a/b?c#d@e%2F", "@host?addr=other")
	f.Add("unix://:", "geheim", "@/path?db=1")
	f.Add("redis+sentinel://user:", "geheim", "@a:1,b:2/mymaster/0?sentinel_password=x")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		store, err := Open(before+secret+"@"+after, Options{})
		if err == nil {
			store.Close()
			return
		}
		t.Run("no error repeats what stands before the @", func(t *testing.T) {
			if len(secret) >= 8 && strings.Contains(err.Error(), secret) && !strings.Contains(errURL.Error(), secret) {
				t.Errorf("Open of %q, %q and %q: got error %q", before, secret, after, err)
			}
		})
	})
}
