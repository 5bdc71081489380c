package policies

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Source is one place that rules come from. Exactly one of file, url and text
// is set.
//
// Placeholders work in file and url: those that Caddy always knows, such as
// `{env.SITE_ROOT}`, and `{http.request.host}`, which makes the rules a matter of the
// host that was asked for.
type Source struct {
	// The path of a file in the form of robots.txt. Default: none.
	File string `json:"file,omitempty"`

	// An http or https URL that answers with a text in the form of robots.txt.
	// Default: none.
	URL string `json:"url,omitempty"`

	// The text itself. Default: none.
	Text string `json:"text,omitempty"`

	// Of the text, let nothing through but records that name robots and have no other rule
	// than `Disallow: /`, which is how a list from elsewhere can keep robots out and do
	// nothing else. What is left out is among the diagnostics. Default: false.
	OnlyDisallowAll bool `json:"only_disallow_all,omitempty"`
}

// hostPlaceholder is the one placeholder of a request that a source may hold.
const hostPlaceholder = "{http.request.host}"

// Check returns an error that says what is wrong with the source and what to write.
func (s Source) Check() error {
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

// isOwn reports whether the source is the zero one, which stands for what this server answers to
// GET /robots.txt.
func (s Source) isOwn() bool { return s.File+s.URL+s.Text == "" }

// perHost reports whether the source differs from host to host.
func (s Source) perHost() bool {
	return s.isOwn() || strings.Contains(s.File+s.URL, hostPlaceholder)
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
	case s.Text != "":
		return "text"
	default:
		return "this site's " + Path
	}
}

// title names the source in the text that everybody may read: without folders, and of a URL
// without what may be secret, which is its user, its query and what a placeholder stands for.
func (s Source) title(host string) string {
	switch {
	case s.isOwn():
		return "" // the text as it is
	case s.File != "":
		return path.Base(filepath.ToSlash(strings.ReplaceAll(s.File, hostPlaceholder, host))) + " of this site"
	case s.Text != "":
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

// documentKey is the key of the source's last good document for a host, and part of the host's
// own. It is "" as long as that cannot be known. It names the server, so that a host of this server
// and the same host of another have keys of their own.
func (l *Loader) documentKey(src Source, host string) string {
	if !src.isOwn() {
		place, _ := src.place(host) // the fetch reports the error
		return src.String() + "\x00" + place + src.Text
	}
	o := l.origin.Load()
	if o == nil {
		return ""
	}
	return strings.Join([]string{"own", o.Name, o.scheme(), host}, "\x00")
}

// fetch asks a source that has no text of its own; last is what it gave before, if anything.
func (l *Loader) fetch(ctx context.Context, src Source, s *Site, last *Document) (Document, error) {
	if src.isOwn() {
		return l.fetchOwn(ctx, s, last)
	}
	place, err := src.place(s.host)
	if err != nil {
		return Document{}, err
	}
	if src.File != "" {
		return ReadFile(place, l.cfg.Reading.MaxBytes)
	}
	return l.cache.Fetch(ctx, place, l.cfg.Reading.MaxBytes, last, l.cfg.Now())
}
