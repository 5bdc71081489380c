package accesslog

import (
	"bytes"
	"net/netip"
)

// common reads a line of the Common or Combined Log Format
// (https://httpd.apache.org/docs/2.4/logs.html#accesslog):
//
//	[host:port] address identity user [02/Jan/2006:15:04:05 -0700] "request line" status size ["referer" "User-Agent"] ...
func (p *parser) common(line []byte, r *Record) error {
	before, after, err := p.cutTime(line, r)
	if err != nil {
		return err
	}
	if !p.client(before, r) {
		return errFormat
	}
	request, rest, err := cutQuoted(after)
	if err != nil {
		return err
	}
	status, rest := cutWord(rest)
	size, rest := cutWord(rest)
	if !isCount(status) || !isCount(size) {
		return errFormat
	}
	r.Status, r.Size = int(parseCount(status)), parseCount(size)
	if err := p.requestLine(request, r); err != nil {
		return err
	}
	return p.combined(rest, r)
}

// cutTime finds the time, which is in brackets, and returns what is before and behind it. A user's name may hold a bracket too.
func (p *parser) cutTime(line []byte, r *Record) (before, after []byte, err error) {
	const length = len("[02/Jan/2006:15:04:05 -0700]")
	err = errFormat
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], '[')
		if i < 0 {
			return nil, nil, err
		}
		i += from
		from = i + 1
		end := i + length
		if i == 0 || line[i-1] != ' ' || end > len(line) || line[end-1] != ']' || !isDigit(line[i+1]) {
			continue
		}
		var ok bool
		if r.Time, ok = parseCommonTime(line[i+1 : end-1]); ok {
			return line[:i-1], line[end:], nil
		}
		err = errTime
	}
}

// client reads what is before the time. Four words or more are either a host and the usual
// three, or a user whose name holds spaces: a host if an address is in second place.
func (p *parser) client(before []byte, r *Record) bool {
	words := bytes.Count(before, []byte{' '}) + 1
	one, rest, _ := bytes.Cut(before, []byte{' '})
	if words < 3 || len(one) == 0 {
		return false
	}
	if words > 3 {
		two, _, _ := bytes.Cut(rest, []byte{' '})
		r.Address = p.text.take(two)
		if _, err := netip.ParseAddr(r.Address); err == nil {
			p.virtualHost(one, r)
			return true
		}
	}
	r.Address = p.text.take(one)
	return true
}

// virtualHost reads Apache's %v:%p. Clients leave the usual ports out.
func (p *parser) virtualHost(host []byte, r *Record) {
	name, port := cutPort(host)
	r.TLS = string(port) == "443"
	if r.TLS || string(port) == "80" {
		host = name
	}
	r.Host = p.text.take(host)
}

// requestLine reads the method and the target. Where nothing was asked, as on a connection
// that came to nothing, the line is not about a request.
func (p *parser) requestLine(raw []byte, r *Record) error {
	all := p.text.quoted(raw)
	if len(all) == 0 || string(all) == "-" {
		return errSkip
	}
	method, target, _ := bytes.Cut(all, []byte{' '})
	if i := bytes.LastIndexByte(target, ' '); i >= 0 && bytes.HasPrefix(target[i+1:], []byte("HTTP/")) {
		target = target[:i]
	}
	if len(target) == 0 || !isToken(method) {
		r.Target = p.text.take(all)
		return nil
	}
	r.Method, r.Target = p.text.take(method), p.text.take(target)
	return nil
}

// isToken reports whether b is a token (RFC 9110, section 5.6.2), as every method is.
func isToken(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

// combined reads what the Combined format adds, if it is there.
func (p *parser) combined(rest []byte, r *Record) error {
	if !bytes.HasPrefix(rest, []byte(` "`)) {
		return nil
	}
	_, rest, err := cutQuoted(rest) // the referer
	if err != nil || !bytes.HasPrefix(rest, []byte(` "`)) {
		return err
	}
	raw, _, err := cutQuoted(rest)
	if err != nil {
		return err
	}
	r.UserAgentLogged = true
	if userAgent := p.text.quoted(raw); string(userAgent) != "-" {
		r.UserAgent = p.text.take(userAgent)
	}
	return nil
}

// cutQuoted cuts off a space and a quoted field. A quote behind an odd number of
// backslashes belongs to the field.
func cutQuoted(b []byte) (raw, rest []byte, err error) {
	b, found := bytes.CutPrefix(b, []byte(` "`))
	if !found {
		return nil, nil, errFormat
	}
	for end := 0; ; end++ {
		i := bytes.IndexByte(b[end:], '"')
		if i < 0 {
			return nil, nil, errCut
		}
		end += i
		backslashes := end - len(bytes.TrimRight(b[:end], `\`))
		if backslashes%2 == 0 {
			return b[:end], b[end+1:], nil
		}
	}
}

// cutWord cuts off a space and a word.
func cutWord(b []byte) (word, rest []byte) {
	b, found := bytes.CutPrefix(b, []byte{' '})
	if !found {
		return nil, nil
	}
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return b[:i], b[i:]
	}
	return b, nil
}

// isCount reports whether a word is a number, or the "-" that stands for none.
func isCount(word []byte) bool {
	return string(word) == "-" || len(word) > 0 && len(bytes.Trim(word, "0123456789")) == 0
}
