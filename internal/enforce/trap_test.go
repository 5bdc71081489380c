package enforce

import (
	"net/netip"
	"testing"
	"time"
)

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

func TestTrappedIsBounded(t *testing.T) {
	trapped, now := NewTraps(), time.Unix(1e9, 0)
	client := func(i int) *quarry {
		return &quarry{client: Client{network: netip.PrefixFrom(netip.AddrFrom4([4]byte{203, byte(i >> 16), byte(i >> 8), byte(i)}), 32)}, userAgent: chrome}
	}
	for i := range maxCaught + 1000 {
		trapped.add(client(i), &Capture{At: now.Add(time.Duration(i)), Until: now.Add(time.Hour)})
	}
	if got := len(trapped.clients); got > maxCaught || got < maxCaught/2 {
		t.Errorf("clients: got %d, want at most %d and not far below", got, maxCaught)
	}
	for i, want := range map[int]bool{0: false, maxCaught + 999: true} {
		if got := trapped.find(client(i), now) != nil; got != want {
			t.Errorf("client %d is remembered: got %t, want %t", i, got, want)
		}
	}
}
