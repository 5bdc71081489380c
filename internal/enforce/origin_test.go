package enforce

import "testing"

// forwardedFor is what the header of that name says.
func forwardedFor(values ...string) map[string][]string {
	return map[string][]string{"X-Forwarded-For": values}
}

func TestWhatAnAddressProves(t *testing.T) {
	told := []string{"X-Forwarded-For"}
	for _, test := range []struct {
		what      string
		c         Connection
		kind      OriginKind
		address   string
		forwarded string
	}{
		{"a public peer", Connection{Peer: "203.0.113.7:4711", Client: "203.0.113.7"}, Known, "203.0.113.7", ""},
		{"of IPv6", Connection{Peer: "[2001:db8::7]:4711", Client: "2001:db8::7"}, Known, "2001:db8::7", ""},
		{"mapped into IPv6", Connection{Peer: "[::ffff:203.0.113.7]:4711", Client: "::ffff:203.0.113.7"}, Known, "203.0.113.7", ""},
		{"loopback", Connection{Peer: "127.0.0.1:4711", Client: "127.0.0.1"}, Proxied, "127.0.0.1", ""},
		{"loopback of IPv6", Connection{Peer: "[::1]:4711", Client: "::1"}, Proxied, "::1", ""},
		{"loopback mapped into IPv6", Connection{Peer: "[::ffff:127.0.0.1]:1", Client: "::ffff:127.0.0.1"}, Proxied, "127.0.0.1", ""},
		{"a private peer", Connection{Peer: "172.17.0.1:4711", Client: "172.17.0.1"}, Proxied, "172.17.0.1", ""},
		{"a unique local one", Connection{Peer: "[fd00::1]:4711", Client: "fd00::1"}, Proxied, "fd00::1", ""},
		{"a link-local one", Connection{Peer: "[fe80::1%eth0]:4711", Client: "fe80::1"}, Proxied, "fe80::1", ""},
		{"a shared one, of a cluster", Connection{Peer: "100.64.3.2:4711", Client: "100.64.3.2"}, Proxied, "100.64.3.2", ""},
		{"a Unix socket", Connection{Peer: "@", Header: forwardedFor("203.0.113.9")}, Proxied, "invalid IP", "203.0.113.9"},
		{"no connection", Connection{}, Proxied, "invalid IP", ""},
		{"a private peer that forwards", Connection{Peer: "10.0.0.2:1", Client: "10.0.0.2", Header: forwardedFor("203.0.113.9")}, Proxied, "10.0.0.2", "203.0.113.9"},
		{"a public peer that forwards", Connection{Peer: "203.0.113.7:1", Client: "203.0.113.7", Header: forwardedFor("1.2.3.4", "5.6.7.8")}, Doubtful, "203.0.113.7", "1.2.3.4, 5.6.7.8"},
		{"a trusted proxy", Connection{Peer: "10.0.0.2:1", Client: "203.0.113.9", Trusted: true, Told: told, Header: forwardedFor("203.0.113.9")}, Known, "203.0.113.9", ""},
		{"one of several addresses", Connection{Peer: "10.0.0.2:1", Client: "66.249.66.1", Trusted: true, Told: told, Header: forwardedFor("66.249.66.1, 203.0.113.9")}, Forgeable, "66.249.66.1", "66.249.66.1, 203.0.113.9"},
		{"in several headers", Connection{Peer: "10.0.0.2:1", Client: "66.249.66.1", Trusted: true, Told: told, Header: forwardedFor("66.249.66.1", "203.0.113.9")}, Forgeable, "66.249.66.1", "66.249.66.1, 203.0.113.9"},
		{"the last one, strictly", Connection{Peer: "10.0.0.2:1", Client: "203.0.113.9", Trusted: true, Strict: true, Told: told, Header: forwardedFor("66.249.66.1, 203.0.113.9")}, Known, "203.0.113.9", ""},
		{"a header of its own", Connection{Peer: "10.0.0.2:1", Client: "203.0.113.9", Trusted: true, Told: []string{"Cf-Connecting-Ip", "X-Forwarded-For"},
			Header: map[string][]string{"Cf-Connecting-Ip": {"203.0.113.9"}, "X-Forwarded-For": {"66.249.66.1, 203.0.113.9"}}}, Known, "203.0.113.9", ""},
		{"a trusted proxy that says nothing", Connection{Peer: "203.0.113.1:1", Client: "203.0.113.1", Trusted: true, Told: told}, Proxied, "203.0.113.1", ""},
		{"a trusted proxy behind another one", Connection{Peer: "10.0.0.2:1", Client: "172.17.0.1", Trusted: true, Told: told, Header: forwardedFor("172.17.0.1")}, Proxied, "172.17.0.1", "172.17.0.1"},
	} {
		o := test.c.Origin()
		if o.Kind != test.kind || o.Addr.String() != test.address || o.Forwarded != test.forwarded {
			t.Errorf("%s: got kind %d, %s, %q; want kind %d, %s, %q", test.what, o.Kind, o.Addr, o.Forwarded, test.kind, test.address, test.forwarded)
		}
	}
}

func TestHeadersThatTellAClient(t *testing.T) {
	for name, want := range map[string]bool{
		"X-Forwarded-For": true, "Forwarded": true, "Cf-Connecting-Ip": true, "True-Client-Ip": true, "X-Real-Ip": true, "Fly-Client-Ip": true,
		"Fastly-Client-Ip": true, "X-Client-Ip": true, "X-Cluster-Client-Ip": true, "X-Azure-Clientip": true, "X-Envoy-External-Address": true,
		"Cloudfront-Viewer-Address": true, "Cf-Connecting-Ipv6": true, "X-Original-Forwarded-For": true, "X-Remote-Addr": true,
		"X-Forwarded-Proto": false, "X-Forwarded-Host": false, "User-Agent": false, "Accept": false, "Accept-Encoding": false, "Host": false, "Via": false, "Clip": false,
	} {
		c := Connection{Peer: "203.0.113.7:1", Client: "203.0.113.7", Header: map[string][]string{name: {"198.51.100.1"}}}
		if got := c.Origin().Kind == Doubtful; got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}

func TestAProxyNamesSomebodyByAPublicAddress(t *testing.T) {
	for forwarded, want := range map[string]bool{
		"": false, "unknown": false, "_hidden": false, "10.0.0.9": false, "172.17.0.1, 10.0.0.9": false, "for=_gazonk": false, "fe80::1": false,
		"203.0.113.9": true, "10.0.0.1, 203.0.113.9": true, "203.0.113.9:4711": true, "[2001:db8::9]:4711": true, "2001:db8::9": true,
		`for="[2001:db8::9]:4711";proto=https;by=10.0.0.2`: true, "for=192.0.2.60;proto=http": true,
	} {
		if got := hasPublicAddress(forwarded); got != want {
			t.Errorf("%q: got %t, want %t", forwarded, got, want)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	f.Add("203.0.113.7:4711", "203.0.113.7", "X-Forwarded-For", "66.249.66.1, 10.0.0.1", "bot", true, false)
	f.Add("@", "", "Forwarded", `for="[2001:db8::9]:4711"`, "", false, true)
	f.Add("[fe80::1%eth0]:1", "fe80::1", "X-Real-Ip", "unknown", "bot", false, false)
	f.Fuzz(func(t *testing.T, peer, client, name, value, agent string, trusted, strict bool) {
		c := Connection{Peer: peer, Client: client, Trusted: trusted, Strict: strict, Told: []string{"X-Forwarded-For"}, Header: map[string][]string{name: {value}}}
		r := Request{Origin: c.Origin(), UserAgent: agent}
		who := r.Client(ClientPrefix{})
		text := who.String()
		if (text == "") != who.IsNobody() {
			t.Errorf("the name is %q, nobody: %t", text, who.IsNobody())
		}
		if own := r.OwnEvidence(); r.Evidence().IsValid() && own != r.Evidence() {
			t.Errorf("to the owner's ranges it is %s, to others %s", own, r.Evidence())
		}
		if r.Origin.Kind == Known && (!r.Origin.Addr.IsValid() || isPrivate(r.Origin.Addr)) {
			t.Errorf("%s is known", r.Origin.Addr)
		}
		if r.EarlyData = true; r.Evidence().IsValid() || r.OwnEvidence().IsValid() || r.Client(ClientPrefix{}) != (Client{}) {
			t.Error("early data proves something")
		}
	})
}
