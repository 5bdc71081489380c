//go:build soak

package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The visitors of the soak that are not made up, and those that only say that they are one.
var (
	people = []visitor{
		{chrome, person},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", person},
	}
	strangers = slices.Concat(people, []visitor{
		{gptbot, robot}, {bingbot, robot}, {"RogueBot/1.0", robot}, {"made-up-12-bot/1.0", robot},
		{curl, app}, {"python-requests/2.32", app}, {"", nobody},
	})
	google  = visitor{googlebot, robot}
	unnamed = visitor{"other-bot/1.0", robot} // what an impostor counts as
)

// browser returns a client of its own, which keeps its connections or does not.
func browser(keepAlive bool) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: !keepAlive}}
}

// walk has one client go from site to site: whoever it is, whatever it asks for.
func (s *soak) walk(seed uint64, keepAlive bool, stop <-chan struct{}) {
	random, web := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano()))), browser(keepAlive)
	defer web.CloseIdleConnections()
	for goesOn(stop) {
		q := request{path: spelt(random, pick(random, soakTargets))}
		if random.IntN(20) == 0 {
			q.path = "/robots.txt"
		}
		switch random.IntN(5) {
		case 0, 1:
			s.visit(web, s.sites[fileHost], q, pick(random, strangers))
		case 2:
			s.visit(web, s.sites[urlHost], q, pick(random, strangers))
		case 3:
			s.visit(web, s.sites[textHost], q, pick(random, strangers))
		default:
			s.visitVerified(web, random, q)
		}
		if !keepAlive {
			time.Sleep(20 * time.Millisecond) // the ports of one address are few
		}
	}
}

// changing is a site whose text changes.
type changing struct {
	host string

	// inForce returns what may be in force for a request between two moments, of which a is
	// the answer.
	inForce func(a answer, from, to time.Time) []*creed
}

// visit sends a request, and compares the answer with what the twin says of each text that may
// be in force.
func (s *soak) visit(web *http.Client, site changing, q request, v visitor) {
	q.host, q.agent = site.host, v.agent
	a, from, to, err := s.ask(s.walkers, web, q)
	if err != nil {
		return
	}
	possible := site.inForce(a, from, to)
	fits := func(c *creed) bool {
		if q.path == "/robots.txt" {
			return a.status == http.StatusOK && a.body == c.text
		}
		return a.status == status(c.refuses(v, q.path))
	}
	if !slices.ContainsFunc(possible, fits) {
		s.wrong("%s%s for %q: got %d %q, config %q: no text that may be in force says so, of %d: %q",
			q.host, q.path, v.agent, a.status, tail(a.body, 200), a.header.Get("X-Config"), len(possible), texts(possible))
	}
	s.checked(site.host, !slices.ContainsFunc(possible, func(c *creed) bool { return !fits(c) }))
}

// status is that of an answer.
func status(refused bool) int {
	if refused {
		return http.StatusForbidden
	}
	return http.StatusOK
}

// texts are those of a few creeds.
func texts(creeds []*creed) (few []string) {
	for _, c := range creeds[:min(len(creeds), 5)] {
		few = append(few, tail(c.text, 300))
	}
	return few
}

// visitVerified sends a request to the site that looks up who Googlebot is.
func (s *soak) visitVerified(web *http.Client, random *rand.Rand, q request) {
	q.host, q.agent = verifyHost, googlebot
	address := pick(random, []string{realAddress, realAddress6, fakeAddress, nameless,
		fmt.Sprintf("198.51.100.%d", 10+random.IntN(200)), fmt.Sprintf("2001:db8::1:%x", random.IntN(1<<12))})
	real := address == realAddress || address == realAddress6
	a, _, _, err := s.ask(s.walkers, web, q.from(address))
	if err != nil {
		return
	}
	rules := s.verified
	// Of one whom the DNS does not tell in time, what it says holds.
	possible := []int{status(rules.refuses(google, q.path))}
	if !real {
		possible = append(possible, status(rules.refuses(unnamed, q.path)))
	}
	lie := real && a.body == "impostor" || !real && a.body == "verified"
	if lie || !slices.Contains(possible, a.status) {
		s.wrong("%s%s of Googlebot from %s: got %d %q, want one of %d", q.host, q.path, address, a.status, tail(a.body, 200), possible)
	}
	s.checked(verifyHost, possible[0] == possible[len(possible)-1])
	if a.status == http.StatusOK && (a.body == "verified" || a.body == "impostor") {
		s.did(a.body + " robots")
	}
}

// floods is how many clients are very many, and floodBatch how many requests each of them sends
// before it reads the answers.
const (
	floods     = 2
	floodBatch = 10
)

// flood has one client be very many, at hosts that nobody knows, and for each of them the twin
// says what it is to get.
func (s *soak) flood(stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for goesOn(stop) {
		// A reload ends the connection, and some of the requests on it have no answer.
		err := s.floodOver(random, stop)
		var network net.Error
		if err != nil && errors.As(err, &network) && network.Timeout() {
			s.wrong("flood: %v", err)
		}
	}
}

func (s *soak) floodOver(random *rand.Rand, stop <-chan struct{}) error {
	conn, err := net.DialTimeout("tcp", s.c.address(), patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	var batch bytes.Buffer
	for goesOn(stop) {
		batch.Reset()
		var want [floodBatch]int
		var asked [floodBatch]string
		for i := range want {
			host, v := s.madeUp(random)
			target := spelt(random, pick(random, soakTargets))
			want[i], asked[i] = status(s.others.refuses(v, target)), fmt.Sprintf("%s%s for %q", host, target, v.agent)
			fmt.Fprintf(&batch, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n\r\n", target, host, v.agent)
		}
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := conn.Write(batch.Bytes()); err != nil {
			return err
		}
		for i := range want {
			got, err := readStatus(answers)
			if err != nil {
				s.floods.lost.Add(int64(floodBatch - i))
				return err
			}
			s.floods.count(got)
			if got != want[i] {
				s.wrong("%s: got %d, want %d", asked[i], got, want[i])
			}
			s.checked("hosts that are made up", true)
		}
	}
	return nil
}

// madeUp returns a visitor that comes once, at a host that nobody knows, or now and then one
// that is known at a host that is.
func (s *soak) madeUp(random *rand.Rand) (host string, v visitor) {
	n := s.invented.Add(1)
	host, v = fmt.Sprintf("h%d.test", random.Uint32()), visitor{fmt.Sprintf("made-up-%d-bot/1.0", n), robot}
	switch random.IntN(6) {
	case 0:
		v = visitor{fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.%d", n%200, n%200, n), person}
	case 1:
		v = visitor{gptbot, robot}
	case 2:
		v = pick(random, people)
	case 3:
		v = visitor{fmt.Sprintf("app%d/%d", n, n), app}
	}
	if random.IntN(3) == 0 {
		host = fmt.Sprintf("known%d.test", random.IntN(100))
	}
	return host, v
}

// watchReport reads the report and the admin API, as an owner does.
func (s *soak) watchReport(stop <-chan struct{}) {
	web := browser(true)
	defer web.CloseIdleConnections()
	for goesOn(stop) {
		for _, form := range []string{"", "?format=json", "?format=csv", "?robot=GPTBot&format=evidence.csv"} {
			s.expectOK(web, "http://"+s.c.address(), request{host: reportHost, path: "/robots-report" + form, agent: chrome})
		}
		for _, path := range []string{"/robots/sites", "/robots/sites/" + fileHost, "/robots/robots", "/robots/bans", "/metrics"} {
			s.expectOK(web, "http://"+s.c.env["ADMIN"], request{path: path})
		}
		time.Sleep(time.Second)
	}
}

// expectOK sends a request, which is to be answered 200 and with a text.
func (s *soak) expectOK(web *http.Client, base string, q request) {
	a, err := persistent(web, q, base)
	if err != nil || a.status != http.StatusOK || a.body == "" {
		s.wrong("%s%s: got %d %q, error %v, want 200", q.host, q.path, a.status, tail(a.body, 200), err)
		return
	}
	s.did("looks at the report")
}

// retryAfter returns what a refusal says of it, none where it says nothing.
func retryAfter(a answer) time.Duration {
	seconds, _ := strconv.Atoi(strings.TrimSpace(a.header.Get("Retry-After")))
	return time.Duration(seconds) * time.Second
}

// goesOn tells whether nobody has said to stop.
func goesOn(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	default:
		return true
	}
}
