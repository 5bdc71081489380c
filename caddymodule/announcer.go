package caddymodule

import (
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// announcer is a response that gets what robots.txt states as headers, at the last moment:
// when it is known which of them the site sets itself. It holds the room for what it sets,
// so that it is the one allocation. One goroutine uses it.
type announcer struct {
	caddyhttp.ResponseWriterWrapper
	what    announcements
	settled bool

	rules        *ruleset
	binding      *robotsrules.Binding // of the client; the "*" record where none binds it
	scheme, host string
	target       string // as it stood on the request line
	found        string // the target that a file server finds there

	values [3]string
	links  [3]string
	text   [128]byte // of one link; never written again once a string shows it
}

// announcer returns w with what robots.txt states to the client. It is nil where nothing is
// to be announced, and while no rules are loaded: nobody waits for a header.
func (h *Handler) announcer(w http.ResponseWriter, r *http.Request, a *asked, j *judgement) *announcer {
	if h.settings.announce == 0 {
		return nil
	}
	rules := h.loader.known(a.host).held()
	if rules == nil || h.settings.announce&rules.states == 0 {
		return nil
	}
	s := &announcer{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		what:                  h.settings.announce & rules.states,
		rules:                 rules, target: a.target,
	}
	if s.what&announceTimeGate != 0 {
		s.scheme, s.host = schemeOf(r), r.Host
	}
	if s.what&(announceContentUsage|announceNoindex) != 0 {
		if s.binding = h.binding(rules, j); s.binding == nil {
			s.binding = rules.policy.Default()
		}
		var peculiar bool
		if s.found, peculiar = a.otherReading(); !peculiar {
			s.found = a.target
		}
	}
	return s
}

// settle sets the headers that the site does not set itself. It does so once.
func (s *announcer) settle() {
	if s.settled {
		return
	}
	s.settled = true
	header := s.Header()
	if s.what&(announceContentUsage|announceNoindex) != 0 {
		said := s.binding.State(s.found)
		if s.what&announceContentUsage != 0 {
			s.set(header, 0, "Content-Usage", said.Usage)
			s.set(header, 1, "Content-Signal", said.Signal)
		}
		if s.what&announceNoindex != 0 && said.Noindex != nil {
			s.set(header, 2, "X-Robots-Tag", "noindex")
		}
	}
	s.link(header)
}

// set sets a header that is not there yet.
func (s *announcer) set(header http.Header, slot int, name, value string) {
	if _, ok := header[name]; ok || value == "" {
		return
	}
	s.values[slot] = value
	header[name] = s.values[slot : slot+1 : slot+1]
}

// link adds the links whose relation the site links to nothing itself.
func (s *announcer) link(header http.Header) {
	present, n := header["Link"], 0
	add := func(what announcements, relation, link string) {
		if s.what&what != 0 && link != "" && !hasRelation(present, relation) {
			s.links[n] = link
			n++
		}
	}
	if s.what&announceTimeGate != 0 {
		add(announceTimeGate, "timegate", s.timeGates())
	}
	add(announceSitemap, "sitemap", s.rules.sitemaps)
	add(announceLicense, "license", s.rules.licenses)
	switch {
	case n == 0:
	case len(present) == 0:
		header["Link"] = s.links[:n:n]
	default:
		header["Link"] = append(present, s.links[:n]...)
	}
}

// timeGates returns links to where old versions of what was asked for are found, by time
// (RFC 7089, section 2.2.2): what the time gates' addresses begin with, and the original
// URI.
func (s *announcer) timeGates() string {
	if s.host == "" || !strings.HasPrefix(s.target, "/") {
		return "" // nothing says what the URI was
	}
	if len(s.host)+len(s.target) > maxLinks {
		return ""
	}
	var uri [128]byte
	original := append(append(uri[:0], s.scheme...), "://"...)
	original = robotsrules.AppendURI(robotsrules.AppendURI(original, s.host), s.target)
	text := s.text[:0]
	var gates [4]string
	for _, base := range s.rules.policy.TimeGates(gates[:0], s.host, s.target) {
		longer := appendLink(text, "timegate", base, view(original))
		if len(longer) > maxLinks {
			break
		}
		text = longer
	}
	return view(text)
}

// WriteHeader implements http.ResponseWriter.
func (s *announcer) WriteHeader(status int) {
	if status >= http.StatusOK {
		s.settle()
	}
	s.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *announcer) Write(p []byte) (int, error) {
	s.settle()
	return s.ResponseWriterWrapper.Write(p)
}

// ReadFrom implements io.ReaderFrom.
func (s *announcer) ReadFrom(r io.Reader) (int64, error) {
	s.settle()
	return s.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError makes Flush of http.ResponseController send the headers too.
func (s *announcer) FlushError() error {
	s.settle()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// Interface guards
var (
	_ http.ResponseWriter             = (*announcer)(nil)
	_ io.ReaderFrom                   = (*announcer)(nil)
	_ http.Pusher                     = (*announcer)(nil)
	_ interface{ FlushError() error } = (*announcer)(nil)
	_ interface {
		Unwrap() http.ResponseWriter
	} = (*announcer)(nil)
)
