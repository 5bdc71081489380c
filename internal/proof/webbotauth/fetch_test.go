package webbotauth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The default client resolves the name and then refuses where it leads.
func TestDefaultClientRefusesLoopback(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, address := range []string{server.URL, "http://localhost:" + port} {
		_, _, err := newDirectoryFetcher(nil).fetch(context.Background(), place{address, false})
		if err == nil || !strings.Contains(err.Error(), "its address is not a public one") {
			t.Errorf("fetch(%s) = %v, want a refusal of the address", address, err)
		}
	}
	if reached {
		t.Error("the server was reached, want no connection")
	}
	if _, _, err := newDirectoryFetcher(nil).fetch(context.Background(), place{server.URL, true}); err == nil || !reached {
		t.Errorf("fetch of a signer inside: reached %v, %v, want reached and an error about its text", reached, err)
	}
}

func TestDirectoryAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                          time.Hour,
		"public":                    time.Hour,
		"max-age=7200":              2 * time.Hour,
		"public, Max-Age=7200":      2 * time.Hour,
		`max-age="7200"`:            2 * time.Hour,
		"max-age=1":                 5 * time.Minute,
		"max-age=0":                 5 * time.Minute,
		"no-store":                  5 * time.Minute,
		"max-age=7200, no-cache":    5 * time.Minute,
		"max-age=604800":            24 * time.Hour,
		"max-age=-1":                time.Hour,
		"max-age=99999999999999999": time.Hour,
		"max-age=x":                 time.Hour,
		"s-maxage=5":                time.Hour,
	} {
		if got := directoryAge(http.Header{"Cache-Control": {text}}); got != want {
			t.Errorf("directoryAge(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestMediaTypeIsCheckedLeniently(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, directoryType: true, "application/json; charset=utf-8": true, "application/jwk-set+json": true,
		"text/plain": true, "application/octet-stream": true,
		"text/html": false, "text/html; charset=utf-8": false, "image/png": false, ";": false,
	} {
		if got := mayHoldKeys(text); got != want {
			t.Errorf("mayHoldKeys(%q) = %v, want %v", text, got, want)
		}
	}
}

// What the other side writes into its certificate must not fill the log.
func TestFetchErrorsAreShort(t *testing.T) {
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New(strings.Repeat("x", 10_000))
	})}
	_, _, err := newDirectoryFetcher(client).fetch(context.Background(), place{"https://agent.example", false})
	if err == nil || len(err.Error()) > 203 || strings.Contains(err.Error(), "agent.example") {
		t.Errorf("fetch() = %.300v, want at most 203 bytes without the address", err)
	}
}
