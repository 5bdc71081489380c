package testutil

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// maxDatagram is how long an answer over UDP may be, in bytes, as resolvers announce since 2020.
// The rest of a longer one is asked for over TCP.
const maxDatagram = 1232

// DNSZone is what a [DNSServer] knows. Its keys are addresses, and names in lower case that end
// in a dot.
type DNSZone struct {
	// Records are the names of an address and the addresses of a name. A name in the place of
	// an address is what the first is an alias of (CNAME).
	Records map[string][]string

	Failing []string                   // answered with SERVFAIL
	Held    map[string]<-chan struct{} // answered once the channel is closed
}

// DNSServer is a DNS server on loopback. It is safe for concurrent use.
type DNSServer struct {
	Address string // host and port, over UDP and TCP

	zone DNSZone
	done chan struct{} // closed when the test ends

	mu      sync.Mutex // guards the fields below
	asked   map[dns.Question]int
	overTCP int
}

// StartDNS serves a zone until the test ends.
func StartDNS(tb testing.TB, zone DNSZone) *DNSServer {
	tb.Helper()
	s := &DNSServer{zone: byQueryName(zone), done: make(chan struct{}), asked: make(map[dns.Question]int)}
	tcp, udp := listenBoth(tb)
	s.Address = tcp.Addr().String()
	var serving sync.WaitGroup
	tb.Cleanup(serving.Wait)
	for _, server := range []*dns.Server{{Listener: tcp, Handler: s}, {PacketConn: udp, Handler: s}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		serving.Go(func() { _ = server.ActivateAndServe() })
		<-started // or a Shutdown could come too early
		tb.Cleanup(func() { _ = server.Shutdown() })
	}
	tb.Cleanup(func() { close(s.done) }) // before the servers are shut down, which wait for answers
	return s
}

// listenBoth listens at a port that is free for UDP and TCP.
func listenBoth(tb testing.TB) (net.Listener, net.PacketConn) {
	tb.Helper()
	for range 100 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		if udp, err := net.ListenPacket("udp", tcp.Addr().String()); err == nil {
			return tcp, udp
		}
		tcp.Close()
	}
	tb.Fatal("no port that is free for UDP and TCP in 100 attempts")
	return nil, nil
}

// byQueryName returns the zone with each address replaced by the name that is asked for.
func byQueryName(z DNSZone) DNSZone {
	named := DNSZone{Records: make(map[string][]string), Held: make(map[string]<-chan struct{})}
	for key, values := range z.Records {
		named.Records[queryName(key)] = values
	}
	for key, until := range z.Held {
		named.Held[queryName(key)] = until
	}
	for _, key := range z.Failing {
		named.Failing = append(named.Failing, queryName(key))
	}
	return named
}

// queryName returns the name that is asked for, for a name or an address.
func queryName(key string) string {
	if name, err := dns.ReverseAddr(key); err == nil {
		return name
	}
	return key
}

// Asked returns how often a name or the names of an address were asked for.
func (s *DNSServer) Asked(key string) int {
	return s.count(func(q dns.Question) bool { return q.Name == queryName(key) })
}

// AskedFor returns how often records of a type were asked for, such as 12 for PTR.
func (s *DNSServer) AskedFor(kind uint16) int {
	return s.count(func(q dns.Question) bool { return q.Qtype == kind })
}

func (s *DNSServer) count(counts func(dns.Question) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q, times := range s.asked {
		if counts(q) {
			n += times
		}
	}
	return n
}

// AskedOverTCP returns how many questions came over TCP.
func (s *DNSServer) AskedOverTCP() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overTCP
}

// ServeDNS implements [dns.Handler].
func (s *DNSServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	q, most := query.Question[0], dns.MaxMsgSize
	q.Name = strings.ToLower(q.Name)
	s.mu.Lock()
	s.asked[q]++
	if w.LocalAddr().Network() == "tcp" {
		s.overTCP++
	} else {
		most = maxDatagram
	}
	s.mu.Unlock()
	if until, held := s.zone.Held[q.Name]; held {
		select {
		case <-until:
		case <-s.done:
			return
		}
	}
	m := new(dns.Msg).SetReply(query)
	m.Authoritative, m.RecursionAvailable = true, true
	s.fill(m, q)
	m.Truncate(most)
	_ = w.WriteMsg(m) // a client that is gone needs no answer
}

// fill answers a question in m.
func (s *DNSServer) fill(m *dns.Msg, q dns.Question) {
	if slices.Contains(s.zone.Failing, q.Name) {
		m.Rcode = dns.RcodeServerFailure
		return
	}
	values, known := s.zone.Records[q.Name]
	if !known {
		m.Rcode = dns.RcodeNameError
		return
	}
	header := dns.RR_Header{Name: m.Question[0].Name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: 60}
	for range s.zone.Records { // each alias once, should they go in a circle
		if !isAlias(q.Qtype, values) {
			break
		}
		m.Answer = append(m.Answer, &dns.CNAME{Hdr: header, Target: values[0]})
		header.Name, values = values[0], s.zone.Records[values[0]]
	}
	header.Rrtype = q.Qtype
	for _, value := range values {
		switch addr, _ := netip.ParseAddr(value); {
		case q.Qtype == dns.TypePTR:
			m.Answer = append(m.Answer, &dns.PTR{Hdr: header, Ptr: value})
		case addr.Is4() && q.Qtype == dns.TypeA:
			m.Answer = append(m.Answer, &dns.A{Hdr: header, A: addr.AsSlice()})
		case addr.Is6() && q.Qtype == dns.TypeAAAA:
			m.Answer = append(m.Answer, &dns.AAAA{Hdr: header, AAAA: addr.AsSlice()})
		}
	}
}

// isAlias reports whether what is asked for stands under another name.
func isAlias(kind uint16, values []string) bool {
	return kind != dns.TypePTR && len(values) == 1 && strings.HasSuffix(values[0], ".")
}
