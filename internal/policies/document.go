package policies

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// Document is the result of one load of one source. It never changes. The zero Document is a
// missing robots.txt.
type Document struct {
	Text      string
	Forbidden bool // answered 401 or 403, which the 1996 draft reads as "stay out"
	Status    int  // the 4xx that says that there are no rules; 0 where there is a text
	page      bool // a page came in its place, and nothing before it: there are no rules

	// ETag and LastModified are the validators that the answer came with, empty without any.
	ETag, LastModified string

	Lifetime time.Duration // how long it says it stays fresh; 0: it does not say
	Since    time.Time     // when this text was answered first

	foreign bool // the site redirected to another host, which answered

	refused       refusal // how far the site refuses its robots.txt
	refusedStatus int     // what our own fetch was answered, where the text is what a visitor is
}

// isKnown reports whether a source has given the document, which may be nil.
func (doc *Document) isKnown() bool { return doc != nil && !doc.page }

// sameRules reports whether two documents, either of which may be nil, make the same rules.
func sameRules(a, b *Document) bool {
	return a == b || a != nil && b != nil && a.Text == b.Text && a.Forbidden == b.Forbidden && a.foreign == b.foreign
}

// ReadFile reads at most limit bytes of a file, and one more to show that there are more. A file
// that is missing is an error like one that cannot be read: editors and deployments take files
// away for a moment, and that must not unload the rules.
func ReadFile(name string, limit int) (Document, error) {
	f, err := os.Open(name)
	if err != nil {
		return Document{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return Document{}, fmt.Errorf("%s is not a regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return Document{}, err
	}
	return Document{Text: string(text)}, nil
}

// answer is an HTTP answer to a request for robots.txt, from wherever it came.
type answer struct {
	status int
	header http.Header
	body   []byte // at most one byte more than is read of a robots.txt
	cut    error  // why the answer ended before it said it would; nil if it is whole

	from netip.Addr // the server's address; zero where it came through no connection of ours
}

// location returns where a redirect leads.
func (a answer) location() (string, bool) {
	if a.status < 300 || a.status > 399 || a.status == http.StatusNotModified {
		return "", false
	}
	return a.header.Get("Location"), true
}

// document returns what the answer means for the rules: RFC 9309, section 2.3.1. A 2xx is the text,
// a 4xx says that there are no rules, everything else is a failure that changes nothing. Three of
// the 4xx are failures too, since they say nothing about the file: the request took too long (408),
// came in early data (425), or there were too many requests (429).
func (a answer) document(last *Document, now time.Time) (Document, error) {
	doc := Document{
		ETag:         a.header.Get("ETag"),
		LastModified: a.header.Get("Last-Modified"),
		Lifetime:     lifetime(a.header, now),
	}
	switch {
	case a.status == http.StatusNotModified && last != nil:
		doc.Text, doc.Forbidden, doc.Status = last.Text, last.Forbidden, last.Status
		doc.ETag, doc.LastModified = last.ETag, last.LastModified
		return doc, nil
	case a.status >= 200 && a.status <= 299:
		if a.cut != nil {
			return Document{}, fmt.Errorf("the answer was cut short: %w", a.cut)
		}
		if coding := a.header.Get("Content-Encoding"); coding != "" && coding != "identity" {
			return Document{}, fmt.Errorf("the answer is encoded as %q, which was not asked for", coding)
		}
		doc.Text = string(a.body)
		return doc, nil
	case a.status >= 400 && a.status <= 499 && !saysNothing(a.status):
		// A refusal carries no text whose validators could be asked with.
		return Document{
			Forbidden: a.status == http.StatusUnauthorized || a.status == http.StatusForbidden,
			Status:    a.status,
			Lifetime:  doc.Lifetime,
		}, nil
	default:
		return Document{}, fmt.Errorf("answered %d %s", a.status, http.StatusText(a.status))
	}
}

// saysNothing reports whether a 4xx is about the moment of the request and not about what is there.
func saysNothing(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests
}

// errPage is the error for an HTML page instead of a robots.txt.
var errPage = errors.New("the answer is an HTML page, not a robots.txt; serve a text file there, or answer 404")

// lifetime is how long an answer says it stays fresh: Cache-Control's max-age, else Expires (the
// 1996 draft, section 3.4; RFC 9309, section 2.4). Zero when it does not say.
func lifetime(header http.Header, now time.Time) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err != nil {
				return 0
			}
			return time.Duration(seconds) * time.Second
		}
	}
	expires, err := http.ParseTime(header.Get("Expires"))
	if err != nil || !expires.After(now) {
		return 0
	}
	return expires.Sub(now)
}
