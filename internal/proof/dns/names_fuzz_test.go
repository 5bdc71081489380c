package dns

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/caddy-robots/caddy-robots/internal/enforce"
)

// FuzzDNSAnswers lets a name server answer anything to the question for the name of an address, and to
// that for the address of a name. It holds four properties:
//
//   - sound: who is verified has, in the first answer, a name under the suffix and, in the second, the address;
//   - fair: nobody is an impostor unless the server answered the first question, with names or that there are none;
//   - bounded: at most 8 names are kept, each in lower case and of printable ASCII;
//   - suffixes: what is under a suffix ends in it, in any case of letters, and begins a label.
func FuzzDNSAnswers(f *testing.F) {
	ptr, none := records(f, dnsmessage.TypePTR, "Crawl.GoogleBot.com."), []byte(nil)
	a := records(f, dnsmessage.TypeA, "192.0.2.1")
	f.Add(answerHead(0, 1), ptr, answerHead(0, 1), a, "googlebot.com")
	f.Add(answerHead(0, 1), ptr, answerHead(0, 1), records(f, dnsmessage.TypeA, "192.0.2.2"), ".GOOGLEBOT.com.")
	f.Add(answerHead(0, 1), ptr, answerHead(2, 0), none, "com")
	f.Add(answerHead(2, 0), none, answerHead(0, 0), none, "googlebot.com")
	f.Add(answerHead(3, 0), none, answerHead(0, 0), none, "googlebot.com")
	f.Add(answerHead(0, 9), bytes.Repeat(ptr, 9), answerHead(0, 1), a, "\u212aooglebot.com")
	f.Add(answerHead(0, 2), slices.Concat(records(f, dnsmessage.TypePTR, "x.example."), ptr), answerHead(0, 2), bytes.Repeat(a, 2), "")
	f.Add(answerHead(0, 0xffff), []byte("\xc0\x0c\x00\x0c\x00\x01\x00\x00\x00\x00\x00\x02\xc0\x26"), answerHead(0, 1), a, "\x00")
	f.Fuzz(func(t *testing.T, ptrHead uint32, ptr []byte, hostHead uint32, host []byte, suffix string) {
		var answered []string
		serve := func(query []byte) []byte {
			head, rest := ptrHead, ptr
			if !bytes.Contains(query, []byte("\x07in-addr\x04arpa\x00")) {
				head, rest = hostHead, host
			}
			answer := answerTo(query, head, rest)
			answered = append(answered, string(answer))
			return answer
		}
		r := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return &dnsConn{answer: serve}, nil
		}}
		o := lookUpNames(t.Context(), r, robot)
		checkNames(t, o)
		checkSuffix(t, o, suffix)
		switch status := o.standing([]string{suffix}); {
		case status == enforce.Verified && !slices.ContainsFunc(answered, func(a string) bool { return namesUnder(a, suffix) }):
			t.Errorf("sound: verified as under %q, of which there is no name in %q", suffix, answered)
		case status == enforce.Verified && !slices.ContainsFunc(answered, func(a string) bool { return hasAddress(a, robot) }):
			t.Errorf("sound: verified, without the address in %q", answered)
		case status == enforce.Impostor && ptrHead>>16&0xf != 0 && ptrHead>>16&0xf != 3:
			t.Errorf("fair: an impostor, where the server failed with code %d", ptrHead>>16&0xf)
		}
	})
}

// checkNames holds names that were confirmed to what every name has to be.
func checkNames(t *testing.T, o *outcome) {
	t.Helper()
	if len(o.names) > maxNames {
		t.Errorf("bounded: %d names, want at most %d", len(o.names), maxNames)
	}
	for _, name := range o.names {
		printable := !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
		if name == "" || len(name) > maxNameLength || !printable || name != strings.ToLower(name) {
			t.Errorf("bounded: got the name %q", name)
		}
	}
}

// checkSuffix compares isUnder with what the standard library makes of it.
func checkSuffix(t *testing.T, o *outcome, suffix string) {
	t.Helper()
	domain := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimPrefix(strings.TrimSuffix(suffix, "."), "."))
	for _, name := range append(o.names, "crawl.googlebot.com", "com", domain, "a."+domain, "a"+domain) {
		want := domain != "" && strings.HasSuffix("."+name, "."+domain)
		if got := isUnder(name, suffix); got != want && strings.ToValidUTF8(suffix, "") == suffix {
			t.Errorf("suffixes: %q under %q: got %t, want %t", name, suffix, got, want)
		}
	}
}

// namesUnder tells whether there is a name under a suffix among the PTR records of an answer.
func namesUnder(answer, suffix string) bool {
	return slices.ContainsFunc(answersIn(answer, dnsmessage.TypePTR), func(r dnsmessage.Resource) bool {
		ptr, ok := r.Body.(*dnsmessage.PTRResource)
		name := ""
		if ok {
			name = strings.ToLower(strings.TrimSuffix(ptr.PTR.String(), "."))
		}
		return ok && isUnder(name, suffix)
	})
}

// hasAddress reports whether an address is among those of an answer.
func hasAddress(answer string, addr netip.Addr) bool {
	return slices.ContainsFunc(answersIn(answer, dnsmessage.TypeA), func(r dnsmessage.Resource) bool {
		a, ok := r.Body.(*dnsmessage.AResource)
		return ok && netip.AddrFrom4(a.A) == addr
	})
}

// answersIn returns the records of a type in an answer up to the first that cannot be read. As a
// resolver does, it passes over records of other types without reading them.
func answersIn(message string, wanted dnsmessage.Type) (all []dnsmessage.Resource) {
	var p dnsmessage.Parser
	if _, err := p.Start([]byte(message)); err != nil || p.SkipAllQuestions() != nil {
		return nil
	}
	for {
		head, err := p.AnswerHeader()
		if err != nil {
			return all
		}
		if head.Type != wanted {
			if p.SkipAnswer() != nil {
				return all
			}
			continue
		}
		r, err := p.Answer()
		if err != nil {
			return all
		}
		all = append(all, r)
	}
}

// answerHead is a response with a code and so many answers, as answerTo takes it.
func answerHead(code uint16, answers uint16) uint32 { return uint32(0x8180|code)<<16 | uint32(answers) }

// answerTo answers a query: its number and question, flags and a number of answers, and then any bytes.
func answerTo(query []byte, head uint32, rest []byte) []byte {
	question := 12 + bytes.IndexByte(query[12:], 0) + 5
	flags, count := uint16(head>>16)|1<<15, uint16(head) // the first flag says that it is an answer
	header := query[:2:2]
	for _, n := range []uint16{flags, 1, count, 0, 0} {
		header = binary.BigEndian.AppendUint16(header, n)
	}
	return slices.Concat(header, query[12:question], rest)
}

// records packs records as they stand behind the question that they answer.
func records(tb testing.TB, kind dnsmessage.Type, values ...string) []byte {
	tb.Helper()
	var packed []byte
	for _, value := range values {
		data := []byte(nil)
		switch kind {
		case dnsmessage.TypePTR:
			for label := range strings.SplitSeq(value, ".") {
				data = append(append(data, byte(len(label))), label...)
			}
		default:
			data = netip.MustParseAddr(value).AsSlice()
		}
		head := []byte{0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 60, 0, byte(len(data))} // 0xc0 12: the name in the question
		packed = slices.Concat(packed, head, data)
	}
	return packed
}

// dnsConn is a connection to a name server, as over TCP: each message has its length before it.
type dnsConn struct {
	answer  func(query []byte) []byte
	pending bytes.Buffer
}

func (c *dnsConn) Write(p []byte) (int, error) {
	answer := c.answer(p[2:])
	c.pending.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return len(p), nil
}

func (c *dnsConn) Read(p []byte) (int, error)     { return c.pending.Read(p) }
func (*dnsConn) Close() error                     { return nil }
func (*dnsConn) LocalAddr() net.Addr              { return nil }
func (*dnsConn) RemoteAddr() net.Addr             { return nil }
func (*dnsConn) SetDeadline(time.Time) error      { return nil }
func (*dnsConn) SetReadDeadline(time.Time) error  { return nil }
func (*dnsConn) SetWriteDeadline(time.Time) error { return nil }
