package integration

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// maxDatagram is how long an answer over UDP may be, in octets; a longer one is asked for
// again over TCP.
const maxDatagram = 1232

// zone is what a nameserver knows: the names of an address, and the addresses of a name,
// which ends in a dot.
type zone struct {
	records map[string][]string
	failing []string                   // names and addresses that are answered with SERVFAIL
	held    map[string]<-chan struct{} // those that are answered only once a channel is closed
}

// nameserver is a DNS server on loopback. It is safe for concurrent use.
type nameserver struct {
	zone
	address string
	done    chan struct{} // closed when the test ends

	mu      sync.Mutex // guards the fields below
	asked   map[string]int
	overTCP int
}

// startNameserver serves a zone over UDP and TCP, at the same port, until the test ends.
func startNameserver(tb testing.TB, z zone) *nameserver {
	tb.Helper()
	s := &nameserver{zone: z.byName(), done: make(chan struct{}), asked: make(map[string]int)}
	tcp, udp := listenBoth(tb)
	s.address = tcp.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { s.serveUDP(udp, &serving) })
	serving.Go(func() { s.serveTCP(tcp, &serving) })
	tb.Cleanup(func() {
		close(s.done)
		tcp.Close()
		udp.Close()
		serving.Wait()
	})
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

// byName returns the zone with the names in the place of addresses under which the DNS is
// asked for them.
func (z zone) byName() zone {
	named := zone{records: make(map[string][]string), held: make(map[string]<-chan struct{})}
	for key, values := range z.records {
		named.records[queryName(key)] = values
	}
	for _, key := range z.failing {
		named.failing = append(named.failing, queryName(key))
	}
	for key, until := range z.held {
		named.held[queryName(key)] = until
	}
	return named
}

// queryName is the name that is asked for, for a name or an address (RFC 1035, 3.5; RFC
// 3596, 2.5).
func queryName(key string) string {
	addr, err := netip.ParseAddr(key)
	if err != nil {
		return key
	}
	octets := addr.AsSlice()
	slices.Reverse(octets)
	var name strings.Builder
	for _, octet := range octets {
		if addr.Is4() {
			fmt.Fprintf(&name, "%d.", octet)
		} else {
			fmt.Fprintf(&name, "%x.%x.", octet&15, octet>>4)
		}
	}
	if addr.Is4() {
		return name.String() + "in-addr.arpa."
	}
	return name.String() + "ip6.arpa."
}

// times tells how often a name or the names of an address were asked for.
func (s *nameserver) times(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[queryName(key)]
}

// connections tells how many there were over TCP.
func (s *nameserver) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overTCP
}

func (s *nameserver) serveUDP(conn net.PacketConn, serving *sync.WaitGroup) {
	for {
		query := make([]byte, 4096)
		n, client, err := conn.ReadFrom(query)
		if err != nil {
			return
		}
		serving.Go(func() {
			if reply := s.reply(query[:n], maxDatagram); reply != nil {
				_, _ = conn.WriteTo(reply, client) // a client that is gone needs no answer
			}
		})
	}
}

func (s *nameserver) serveTCP(listener net.Listener, serving *sync.WaitGroup) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.overTCP++
		s.mu.Unlock()
		serving.Go(func() {
			defer conn.Close()
			s.serveConnection(conn)
		})
	}
}

// serveConnection answers one query, as much as Go's resolver asks over a connection.
func (s *nameserver) serveConnection(conn net.Conn) {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	query := make([]byte, int(length[0])<<8|int(length[1]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	reply := s.reply(query, 1<<16-1)
	_, _ = conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...))
}

// reply returns the answer to a query: nil for none, and marked as truncated if it would
// be longer than most.
func (s *nameserver) reply(packed []byte, most int) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(packed); err != nil || len(m.Questions) != 1 {
		return nil
	}
	question := m.Questions[0]
	m = dnsmessage.Message{
		Header:    dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: m.Questions,
	}
	name := strings.ToLower(question.Name.String())
	s.mu.Lock()
	s.asked[name]++
	s.mu.Unlock()
	if until, ok := s.held[name]; ok {
		select {
		case <-until:
		case <-s.done:
			return nil
		}
	}
	s.fill(&m, question, name)
	reply, err := m.Pack()
	if err != nil || len(reply) > most {
		m.Truncated, m.Answers = true, nil
		reply, _ = m.Pack()
	}
	return reply
}

// fill answers the question in m.
func (s *nameserver) fill(m *dnsmessage.Message, question dnsmessage.Question, name string) {
	values, known := s.records[name]
	switch {
	case slices.Contains(s.failing, name):
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	}
	if m.RCode != dnsmessage.RCodeSuccess {
		return
	}
	for _, value := range values {
		if body := resource(question.Type, value); body != nil {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 60},
				Body:   body,
			})
		}
	}
}

// resource returns a value as a resource of a type, nil if it is none of that type.
func resource(kind dnsmessage.Type, value string) dnsmessage.ResourceBody {
	addr, err := netip.ParseAddr(value)
	switch {
	case err != nil && kind == dnsmessage.TypePTR:
		return &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(value)}
	case addr.Is4() && kind == dnsmessage.TypeA:
		return &dnsmessage.AResource{A: addr.As4()}
	case addr.Is6() && kind == dnsmessage.TypeAAAA:
		return &dnsmessage.AAAAResource{AAAA: addr.As16()}
	}
	return nil
}
