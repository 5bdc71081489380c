package policies

import (
	"testing"
)

func TestHostOf(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "example.com", "Example.COM:8080": "example.com", "example.com.": "example.com.",
		"example.com.:443": "example.com.", "[::1]": "[::1]", "[::1]:80": "[::1]", "": "",
		"[Example.com]:80": "[example.com]:80", "example.com]:80": "example.com]:80", "::1": "::1", "a:b:80": "a:b:80", "[::1": "[::1",
	} {
		if got := Host(host); got != want {
			t.Errorf("host %q: got %q, want %q", host, got, want)
		}
	}
}
