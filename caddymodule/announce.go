package caddymodule

import (
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// announcer is a response that gets what robots.txt states as headers, at the last moment: when
// it is known which of them the site sets itself. It holds the room for their values, since
// every page has them. One goroutine uses it.
type announcer struct {
	caddyhttp.ResponseWriterWrapper
	what     policies.Statements
	finished bool

	rules        *policies.Rules
	binding      *robotsrules.Binding // of the client; the "*" record where none binds it
	scheme, host string
	target       string // as it stood on the request line
	file         string // the target that a file server finds there

	values [3]string
	links  [3]string
}

// announcer returns w with what robots.txt states to the client. It is nil where nothing is to
// be announced, and while no rules are loaded: nobody waits for a header.
func (h *Handler) announcer(w http.ResponseWriter, x *exchange) *announcer {
	policy := h.policies.Site(x.request.Host).Policy()
	if policy == nil || h.settings.announce&policy.Rules.States == 0 {
		return nil
	}
	s := &announcer{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		what:                  h.settings.announce & policy.Rules.States,
		rules:                 policy.Rules, target: x.request.Target,
		scheme: x.request.Scheme, host: x.request.Authority,
	}
	if s.what&(policies.ContentUsage|policies.Noindex) != 0 {
		if s.binding = h.engine.Binding(&s.rules.Rules, &x.verdict); s.binding == nil {
			s.binding = s.rules.Compiled.Default()
		}
		s.file = x.request.FileTarget()
	}
	return s
}

// finish sets the headers that the site does not set itself. It does so once.
func (s *announcer) finish() {
	if s.finished {
		return
	}
	s.finished = true
	header := s.Header()
	if s.what&(policies.ContentUsage|policies.Noindex) != 0 {
		said := s.binding.State(s.file)
		if s.what&policies.ContentUsage != 0 {
			s.set(header, 0, "Content-Usage", said.Usage)
			s.set(header, 1, "Content-Signal", said.Signal)
		}
		if s.what&policies.Noindex != 0 && said.Noindex != nil {
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
	add := func(what policies.Statements, relation, link string) {
		if s.what&what != 0 && link != "" && !policies.HasRelation(present, relation) {
			s.links[n] = link
			n++
		}
	}
	if s.what&policies.TimeGates != 0 {
		add(policies.TimeGates, "timegate", s.timeGates())
	}
	add(policies.Sitemaps, "sitemap", s.rules.SitemapLinks)
	add(policies.Licenses, "license", s.rules.LicenseLinks)
	switch {
	case n == 0:
	case len(present) == 0:
		header["Link"] = s.links[:n:n]
	default:
		header["Link"] = append(present, s.links[:n]...)
	}
}

// timeGates returns links to where old versions of what was asked for are found, by time (RFC
// 7089, section 2.2.2): what the time gates' addresses begin with, and the original URI.
func (s *announcer) timeGates() string {
	if s.host == "" || !strings.HasPrefix(s.target, "/") {
		return "" // nothing says what the URI was
	}
	if len(s.host)+len(s.target) > policies.MaxLinks {
		return ""
	}
	var uri [128]byte
	original := append(append(uri[:0], s.scheme...), "://"...)
	original = robotsrules.AppendURI(robotsrules.AppendURI(original, s.host), s.target)
	var buffer [256]byte
	text := buffer[:0]
	var gates [4]string
	for _, base := range s.rules.AppendTimeGates(gates[:0], s.host, s.target) {
		longer := policies.AppendLink(text, "timegate", base, original)
		if len(longer) > policies.MaxLinks {
			break
		}
		text = longer
	}
	return string(text)
}

// WriteHeader implements http.ResponseWriter.
func (s *announcer) WriteHeader(status int) {
	if status >= http.StatusOK {
		s.finish()
	}
	s.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *announcer) Write(p []byte) (int, error) {
	s.finish()
	return s.ResponseWriterWrapper.Write(p)
}

// ReadFrom implements io.ReaderFrom.
func (s *announcer) ReadFrom(r io.Reader) (int64, error) {
	s.finish()
	return s.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError makes Flush of http.ResponseController send the headers too.
func (s *announcer) FlushError() error {
	s.finish()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// Interface guards
var (
	_ http.ResponseWriter = (*announcer)(nil)
	_ io.ReaderFrom       = (*announcer)(nil)
)
