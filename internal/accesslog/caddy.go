package accesslog

import "bytes"

// fields are the values of a Caddy line that matter, as they are written in it. If a name
// occurs twice, the first one counts: what a configuration adds comes last.
type fields struct {
	ts, logger, msg, status, size, duration []byte

	request, headers, tls                                            present
	method, host, uri, clientIP, remoteIP, remoteAddress, userAgents []byte
}

// present says whether an object was found, or another value in its place.
type present uint8

const (
	missing present = iota
	object
	other
)

// caddy reads a line of Caddy's JSON log (caddyhttp.Server.logRequest and
// caddyhttp.LoggableHTTPRequest).
func (p *parser) caddy(line []byte, r *Record) error {
	var f fields
	if !f.read(line) {
		return errJSON
	}
	if !p.isAccess(&f) {
		return errSkip
	}
	if f.request != object || len(p.text.json(f.uri)) == 0 {
		return errNoRequest
	}
	if f.ts == nil {
		return errNoTime
	}
	var ok bool
	if f.ts[0] == '"' {
		r.Time, ok = parseTime(p.text.json(f.ts), p.zone)
	} else {
		r.Time, ok = parseEpoch(f.ts)
	}
	if !ok {
		return errTime
	}
	r.Duration = p.duration(f.duration)
	r.Method = p.text.takeJSON(f.method)
	r.Host = p.text.takeJSON(f.host)
	r.Target = p.text.takeJSON(f.uri)
	r.Address = p.text.take(p.address(&f))
	r.UserAgent, r.UserAgentLogged = p.userAgent(&f)
	r.Status = int(parseCount(f.status))
	r.Size = parseCount(f.size)
	r.TLS = f.tls == object
	return nil
}

// read gathers the fields of a line, and reports whether it is well-formed.
func (f *fields) read(line []byte) bool {
	s := scanner{text: line}
	for more := s.enter('}'); more; more = s.another('}') {
		switch string(s.key()) {
		case "ts":
			first(&f.ts, &s)
		case "logger":
			first(&f.logger, &s)
		case "msg":
			first(&f.msg, &s)
		case "status":
			first(&f.status, &s)
		case "size":
			first(&f.size, &s)
		case "duration":
			first(&f.duration, &s)
		case "request":
			if f.request.found(&s) {
				f.readRequest(&s)
			}
		default:
			s.value()
		}
	}
	return s.peek() == 0 && s.at == len(line) && !s.bad
}

func (f *fields) readRequest(s *scanner) {
	for more := s.enter('}'); more; more = s.another('}') {
		switch string(s.key()) {
		case "client_ip":
			first(&f.clientIP, s)
		case "remote_ip":
			first(&f.remoteIP, s)
		case "remote_addr": // before Caddy 2.5, with the port
			first(&f.remoteAddress, s)
		case "method":
			first(&f.method, s)
		case "host":
			first(&f.host, s)
		case "uri":
			first(&f.uri, s)
		case "headers":
			if f.headers.found(s) {
				f.readHeaders(s)
			}
		case "tls":
			if f.tls.found(s) {
				s.value()
			}
		default:
			s.value()
		}
	}
}

func (f *fields) readHeaders(s *scanner) {
	for more := s.enter('}'); more; more = s.another('}') {
		if string(s.key()) == "User-Agent" {
			first(&f.userAgents, s)
		} else {
			s.value()
		}
	}
}

// first reads a value, and keeps it unless there is one already.
func first(field *[]byte, s *scanner) {
	if raw := s.value(); *field == nil {
		*field = raw
	}
}

// found reports whether the value that begins here is an object, and the first one of its
// name. All others are passed over.
func (p *present) found(s *scanner) bool {
	if *p == missing && s.peek() == '{' {
		*p = object
		return true
	}
	s.value()
	if *p == missing {
		*p = other
	}
	return false
}

// accessLogger is how the names of Caddy's access loggers begin.
const accessLogger = "http.log.access"

// isAccess reports whether the line is from an access log. Caddy's other messages, such as
// those on errors, may hold a request too, which would then count twice. If a filter has
// taken the logger's name, the message decides.
func (p *parser) isAccess(f *fields) bool {
	if logger := p.text.json(f.logger); len(logger) > 0 {
		return bytes.HasPrefix(logger, []byte(accessLogger))
	}
	switch string(p.text.json(f.msg)) {
	case "", "handled request", "NOP":
		return f.request == object
	}
	return false
}

// address is the client's, or else that of whoever it came through.
func (p *parser) address(f *fields) []byte {
	for _, raw := range [][]byte{f.clientIP, f.remoteIP} {
		if address := p.text.json(raw); len(address) > 0 {
			return address
		}
	}
	host, _ := cutPort(p.text.json(f.remoteAddress))
	return bytes.Trim(host, "[]")
}

// cutPort cuts the port off a host. A bare IPv6 address has none.
func cutPort(host []byte) (name, port []byte) {
	i := bytes.LastIndexByte(host, ':')
	if i <= 0 || host[i-1] != ']' && bytes.IndexByte(host, ':') < i {
		return host, nil
	}
	return host[:i], host[i+1:]
}

// userAgent is the first User-Agent, and whether the log would have it. A filter that
// replaces it leaves a string where a list was.
func (p *parser) userAgent(f *fields) (userAgent string, logged bool) {
	raw := f.userAgents
	if raw == nil {
		return "", f.headers == object
	}
	if raw[0] == '[' {
		s := scanner{text: raw}
		if !s.enter(']') {
			return "", true
		}
		raw = s.value()
	}
	if raw[0] != '"' {
		return "", false
	}
	return p.text.takeJSON(raw), true
}
