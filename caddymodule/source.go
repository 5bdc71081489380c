package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Source is one place that rules come from. Exactly one of file, url and text
// is set.
//
// Placeholders work in file and url: those that Caddy always knows, such as
// `{env.SITE_ROOT}`, and `{http.request.host}`, which makes the rules a matter of the
// host that was asked for.
type Source struct {
	// The path of a file in the form of robots.txt.
	File string `json:"file,omitempty"`

	// An http or https URL that answers with a text in the form of robots.txt.
	URL string `json:"url,omitempty"`

	// The text itself.
	Text string `json:"text,omitempty"`

	// Of the text, let nothing through but records that name robots and have no other rule
	// than `Disallow: /`, which is how a list from elsewhere can keep robots out and do
	// nothing else. What is left out is among the diagnostics. Default: false.
	OnlyDisallowAll bool `json:"only_disallow_all,omitempty"`
}

// hostPlaceholder is the one placeholder of a request that a source may hold.
const hostPlaceholder = "{http.request.host}"

// document is what one load of one source gave. It does not change after it was made.
type document struct {
	text         string
	forbidden    bool // answered 401 or 403, which draft1996 reads as "stay out"
	etag         string
	lastModified string
	lifetime     time.Duration // how long it says it stays fresh; 0: it does not say
	since        time.Time     // when this text was answered first
}

// check returns an error that says what is wrong with the source and what to write.
func (s Source) check() error {
	set := 0
	for _, v := range []string{s.File, s.URL, s.Text} {
		if v != "" {
			set++
		}
	}
	if set != 1 {
		return errors.New("write exactly one of file, url and text")
	}
	if s.Text != "" {
		return nil
	}
	place, err := s.place("localhost")
	if err != nil {
		return err
	}
	if s.URL == "" {
		return nil
	}
	u, err := url.Parse(place)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url %q: write an absolute URL, such as https://example.com/robots.txt", s.URL)
	}
	return nil
}

// perHost tells whether the source differs from host to host.
func (s Source) perHost() bool {
	return strings.Contains(s.File+s.URL, hostPlaceholder)
}

// place returns the path or URL with its placeholders replaced.
func (s Source) place(host string) (string, error) {
	// The host comes from the client: it may name a folder, never lead out of one.
	if strings.ContainsAny(host, `/\`) || strings.Contains(host, "..") {
		return "", fmt.Errorf("host %q cannot be part of a path", host)
	}
	replacer := caddy.NewReplacer()
	replacer.Set(strings.Trim(hostPlaceholder, "{}"), placeName(host))
	place, err := replacer.ReplaceOrErr(s.File+s.URL, true, true)
	if err != nil {
		return "", fmt.Errorf("%q: %w; only placeholders that do not depend on a request, and %s, work here",
			s.File+s.URL, err, hostPlaceholder)
	}
	return place, nil
}

// placeName returns the one name of all hosts that name the same site, to Caddy's host
// matcher or to the DNS.
func placeName(host string) string {
	if isOdd(host) {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.TrimSuffix(host, ".")
}

// String names the source in the log.
func (s Source) String() string {
	switch {
	case s.File != "":
		return "file " + s.File
	case s.URL != "":
		if u, err := url.Parse(s.URL); err == nil {
			return "url " + u.Redacted()
		}
		return "url " + s.URL
	default:
		return "text"
	}
}

// title names the source in the text that everybody may read: without folders, and of a URL
// without what may be secret, which is its user, its query and what a placeholder stands for.
func (s Source) title(host string) string {
	if s.File != "" {
		return path.Base(filepath.ToSlash(strings.ReplaceAll(s.File, hostPlaceholder, host))) + " of this site"
	}
	if s.Text != "" {
		return "this site"
	}
	u, err := url.Parse(strings.ReplaceAll(s.URL, hostPlaceholder, host))
	if err != nil || strings.Contains(u.Host, "{") {
		return "elsewhere"
	}
	if strings.Contains(u.Path, "{") {
		u.Path, u.RawPath = "/...", ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// readFile loads a file source. One that is missing is an error like one that cannot be
// read: editors and deployments take files away for a moment, and that must not unload
// the rules.
func readFile(name string, limit int) (document, error) {
	f, err := os.Open(name)
	if err != nil {
		return document{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return document{}, fmt.Errorf("%s is not a regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return document{}, err
	}
	return document{text: string(text)}, nil
}

// fetchSource loads one source for host; last is what it gave before, if anything.
func (l *loader) fetchSource(ctx context.Context, src Source, host string, last *document) (document, error) {
	if src.Text != "" {
		return document{text: src.Text}, nil
	}
	place, err := src.place(host)
	if err != nil {
		return document{}, err
	}
	if src.File != "" {
		return readFile(place, l.settings.reading.MaxBytes)
	}
	return l.fetchURL(ctx, place, maxRedirects, last)
}
