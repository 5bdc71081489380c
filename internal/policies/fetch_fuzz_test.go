package policies

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzFetched reads what a server answers to a request for robots.txt. It holds six properties:
//
//   - meaning: 2xx is the text as it is, 4xx that there is none, 304 what there was; anything else, and
//     what is not whole, is an error (RFC 9309, 2.3.1);
//   - forbidden: it is for 401 and 403 alone;
//   - redirect: 3xx leads elsewhere, 304 does not;
//   - lifetime: it is never negative, and what max-age or no-store says where that comes first;
//   - asked again: what is sent back to the server is what it sent, and nothing else is;
//   - own: the same answer of a handler of this server means the same.
func FuzzFetched(f *testing.F) {
	f.Add(200, "Cache-Control: public, Max-Age=\"60\"\r\nETag: \"a\"\r\nLast-Modified: Sun, 01 Nov 2026 12:00:00 GMT\r\n", []byte(closedSite), true, uint32(60))
	f.Add(301, "Location: //other.example/robots.txt\r\n", []byte{}, true, uint32(0))
	f.Add(304, "Location: /\r\nETag: W/\"b\"\r\n", []byte{}, true, uint32(1))
	f.Add(403, "Expires: Thu, 31 Dec 2099 23:59:59 GMT\r\nETag: \"x\"\r\n", []byte("no"), true, uint32(1<<31))
	f.Add(503, "Retry-After: 120\r\nCache-Control: max-age=-1,no-cache\r\n", []byte("later"), false, uint32(3))
	f.Add(206, "Content-Encoding: br\r\nExpires: 0\r\nETag: \xff\r\n", []byte("\x00\xff"), true, uint32(7))
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	last := &Document{Text: "User-agent: before\n", Forbidden: true, ETag: `"old"`, Since: now}
	f.Fuzz(func(t *testing.T, status int, head string, body []byte, whole bool, seconds uint32) {
		header, ok := headerOf(head)
		if status < 200 || status > 599 || !ok {
			t.Skip()
		}
		a := answer{status: status, header: header, body: body}
		if !whole {
			a.cut = io.ErrUnexpectedEOF
		}
		checkLocation(t, a)
		checkFetchedLifetime(t, header, seconds, now)
		doc, err := a.document(last, now)
		checkMeaning(t, a, doc, err, last)
		if err == nil {
			checkAskedAgain(t, &doc)
		}
		checkOwn(t, a, doc, err, last, now)
	})
}

// headerOf reads header lines as a client does.
func headerOf(head string) (http.Header, bool) {
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\n"+head+"\r\n")), nil)
	if err != nil || strings.Contains(head, "\r\n\r\n") {
		return nil, false
	}
	return resp.Header, true
}

func checkLocation(t *testing.T, a answer) {
	t.Helper()
	location, ok := a.location()
	if want := a.status/100 == 3 && a.status != 304; ok != want || ok && location != a.header.Get("Location") {
		t.Errorf("redirect: %d with %q: got %q, %t, want %t", a.status, a.header, location, ok, want)
	}
}

func checkFetchedLifetime(t *testing.T, header http.Header, seconds uint32, now time.Time) {
	t.Helper()
	if got := lifetime(header, now); got < 0 {
		t.Errorf("lifetime: %q is %v", header, got)
	}
	for first, want := range map[string]time.Duration{
		fmt.Sprintf("max-age=%d", seconds>>1): time.Duration(seconds>>1) * time.Second, " No-Store ": 0, "no-cache": 0,
	} {
		more := header.Clone()
		more["Cache-Control"] = append([]string{first}, header["Cache-Control"]...)
		if got := lifetime(more, now); got != want {
			t.Errorf("lifetime: %q is %v, want %v", more, got, want)
		}
	}
}

func checkMeaning(t *testing.T, a answer, doc Document, err error, last *Document) {
	t.Helper()
	coding := a.header.Get("Content-Encoding")
	switch encoded := coding != "" && coding != "identity"; {
	case a.status == 304:
		if err != nil || doc.Text != last.Text || doc.ETag != last.ETag || doc.Forbidden != last.Forbidden {
			t.Errorf("meaning: 304: got %+v, %v, want what there was", doc, err)
		}
	case a.status/100 == 2 && a.cut == nil && !encoded:
		if err != nil || doc.Text != string(a.body) || doc.Forbidden {
			t.Errorf("meaning: %d: got %+v, %v, want the text %q", a.status, doc, err, a.body)
		}
	case a.status/100 == 4 && a.status != 408 && a.status != 425 && a.status != 429:
		if err != nil || doc.Text != "" || doc.ETag != "" || doc.LastModified != "" {
			t.Errorf("meaning: %d: got %+v, %v, want no text", a.status, doc, err)
		}
		if want := a.status == 401 || a.status == 403; doc.Forbidden != want {
			t.Errorf("forbidden: %d: got %t, want %t", a.status, doc.Forbidden, want)
		}
	case err == nil || doc != (Document{}):
		t.Errorf("meaning: %d, whole %t, %q: got %+v, want an error", a.status, a.cut == nil, coding, doc)
	}
}

// checkAskedAgain sends the next request for a Document, and reads it as the server does.
func checkAskedAgain(t *testing.T, doc *Document) {
	t.Helper()
	r := httptest.NewRequest("GET", "http://site.example/robots.txt", nil)
	setHeaders(r, doc)
	var wire bytes.Buffer
	if err := r.Write(&wire); err != nil {
		return // a header that cannot be sent is not
	}
	got, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		t.Fatalf("asked again: %+v: %v", doc, err)
	}
	if got.Header.Get("If-None-Match") != doc.ETag || got.Header.Get("If-Modified-Since") != doc.LastModified || len(got.Header) > 4 {
		t.Errorf("asked again: %+v: got %q", doc, got.Header)
	}
}

// checkOwn has a handler of this server give the same answer.
func checkOwn(t *testing.T, a answer, want Document, failed error, last *Document, now time.Time) {
	t.Helper()
	rec := &recorder{header: make(http.Header), limit: len(a.body)}
	own := rec.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range a.header {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		if a.cut != nil {
			w.Header().Set("Content-Length", fmt.Sprint(len(a.body)+1))
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	}), httptest.NewRequest("GET", "/robots.txt", nil))
	if got, err := own.document(last, now); got != want || (err == nil) != (failed == nil) {
		t.Errorf("own: got %+v, %v, want %+v, %v", got, err, want, failed)
	}
}
