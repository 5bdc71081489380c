package dns

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

const maxUDPAnswer = 1232 // bytes, as resolvers announce since 2020

// A dnsZone is what a dnsServer knows. Names are absolute and in lower case.
type dnsZone struct {
	ptr      map[string][]string // by address
	host     map[string][]string // addresses by name
	cname    map[string]string
	servfail map[string]bool            // by name or address
	held     map[string]<-chan struct{} // answered once the channel is closed; by address
}

// A dnsServer answers from a zone over UDP and TCP on a loopback port.
type dnsServer struct {
	zone    dnsZone
	address string

	mu       sync.Mutex
	asked    map[dnsmessage.Type]int
	overTCP  int
	stopping chan struct{}
}

func startDNSServer(t *testing.T, zone dnsZone) *dnsServer {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{zone: zone, address: tcp.Addr().String(), asked: map[dnsmessage.Type]int{}, stopping: make(chan struct{})}
	var done sync.WaitGroup
	done.Go(func() { s.serveUDP(udp, &done) })
	done.Go(func() { s.serveTCP(tcp, &done) })
	t.Cleanup(func() {
		close(s.stopping)
		tcp.Close()
		udp.Close()
		done.Wait()
	})
	return s
}

// dns returns a DNS that asks s and is patient, so that what is tested is the answer.
func (s *dnsServer) dns(t *testing.T) *Verifier {
	d := New(Options{Resolver: NewResolver(s.address), Patience: 2 * lookupTimeout})
	t.Cleanup(d.Close)
	return d
}

func (s *dnsServer) count(kind dnsmessage.Type) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[kind]
}

func (s *dnsServer) countTCP() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overTCP
}

func (s *dnsServer) serveUDP(conn net.PacketConn, done *sync.WaitGroup) {
	for {
		query := make([]byte, 4096)
		n, from, err := conn.ReadFrom(query)
		if err != nil {
			return
		}
		done.Go(func() {
			if answer := s.answer(query[:n], maxUDPAnswer); answer != nil {
				conn.WriteTo(answer, from)
			}
		})
	}
}

func (s *dnsServer) serveTCP(listener net.Listener, done *sync.WaitGroup) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.overTCP++
		s.mu.Unlock()
		done.Go(func() {
			defer conn.Close()
			var length [2]byte
			if _, err := io.ReadFull(conn, length[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(conn, query); err != nil {
				return
			}
			answer := s.answer(query, 65535)
			conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
		})
	}
}

// answer returns the packed answer to a packed query: nil if it shall not be answered, and
// empty but marked as truncated if it is longer than the most.
func (s *dnsServer) answer(packed []byte, most int) []byte {
	var query dnsmessage.Message
	if err := query.Unpack(packed); err != nil || len(query.Questions) != 1 {
		return nil
	}
	q := query.Questions[0]
	s.mu.Lock()
	s.asked[q.Type]++
	s.mu.Unlock()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: query.Questions,
	}
	if !s.fill(&m, q) {
		return nil
	}
	answer, err := m.Pack()
	if err != nil || len(answer) > most {
		m.Truncated, m.Answers = true, nil
		answer, _ = m.Pack()
	}
	return answer
}

// fill answers the question in m, or returns false if it shall not be answered.
func (s *dnsServer) fill(m *dnsmessage.Message, q dnsmessage.Question) bool {
	name := strings.ToLower(q.Name.String())
	if addr, err := reverseAddress(name); err == nil {
		name = addr.String()
	}
	if held, ok := s.zone.held[name]; ok {
		select {
		case <-held:
		case <-s.stopping:
			return false
		}
	}
	if s.zone.servfail[name] {
		m.RCode = dnsmessage.RCodeServerFailure
		return true
	}
	if q.Type == dnsmessage.TypePTR {
		for _, ptr := range s.zone.ptr[name] {
			add(m, q.Name, &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(ptr)})
		}
	} else {
		s.fillHost(m, q, name)
	}
	if len(m.Answers) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	return true
}

// fillHost follows CNAMEs, each of them once, to addresses of the kind asked for.
func (s *dnsServer) fillHost(m *dnsmessage.Message, q dnsmessage.Question, name string) {
	at := q.Name
	for range len(s.zone.cname) {
		target, ok := s.zone.cname[name]
		if !ok {
			break
		}
		next := dnsmessage.MustNewName(target)
		add(m, at, &dnsmessage.CNAMEResource{CNAME: next})
		at, name = next, target
	}
	for _, host := range s.zone.host[name] {
		switch addr := netip.MustParseAddr(host); {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			add(m, at, &dnsmessage.AResource{A: addr.As4()})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			add(m, at, &dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
	}
}

func add(m *dnsmessage.Message, name dnsmessage.Name, body dnsmessage.ResourceBody) {
	m.Answers = append(m.Answers, dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: 60},
		Body:   body,
	})
}

// reverseAddress reads "1.2.0.192.in-addr.arpa." and its like under ip6.arpa.
func reverseAddress(name string) (netip.Addr, error) {
	if digits, ok := strings.CutSuffix(name, ".in-addr.arpa."); ok {
		labels := strings.Split(digits, ".")
		for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
			labels[i], labels[j] = labels[j], labels[i]
		}
		return netip.ParseAddr(strings.Join(labels, "."))
	}
	digits, ok := strings.CutSuffix(name, ".ip6.arpa.")
	digits = strings.ReplaceAll(digits, ".", "")
	if !ok || len(digits) != 32 {
		return netip.Addr{}, errors.New("not a reverse name")
	}
	var b strings.Builder
	for i := range 32 {
		if i > 0 && i%4 == 0 {
			b.WriteByte(':')
		}
		b.WriteByte(digits[31-i])
	}
	return netip.ParseAddr(b.String())
}
