package integration

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// secret is a password with characters that have a meaning in URLs.
const secret = "p@ss/wo:rd%25#of-the?fleet"

// permissions are what the error says for a user who is not allowed enough, and INFO for
// the test itself.
const permissions = "~caddy-robots:* +eval +evalsha +time +get +set +del +lindex +llen +lpush +lset +rpop " +
	"+pexpire +pttl +xadd +xread +ping +select +info"

// expectNowhere fails the test if a password is in what Caddy logged, as it is or as it
// stands in a URL.
func (c *caddy) expectNowhere(t *testing.T, password string) {
	t.Helper()
	for _, text := range []string{password, url.QueryEscape(password), url.PathEscape(password), url.UserPassword("", password).String()} {
		if strings.Contains(c.log.String(), text) {
			t.Errorf("the log holds the password, as %q", text)
		}
	}
}

func TestAFleetMeetsByPasswordTLSAndSocket(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start func(t *testing.T) (server *redistest.Server, url string)
	}{
		{"password", func(t *testing.T) (*redistest.Server, string) {
			server := startRedis(t, "--requirepass", secret)
			return server, "redis://:" + url.QueryEscape(secret) + "@" + server.Addr()
		}},
		{"user, password and database", func(t *testing.T) (*redistest.Server, string) {
			server := startRedis(t, append([]string{"--user", "robots", "on", ">" + secret}, strings.Fields(permissions)...)...)
			return server, "redis://robots:" + url.QueryEscape(secret) + "@" + server.Addr() + "/3"
		}},
		{"TLS", func(t *testing.T) (*redistest.Server, string) {
			server := startRedisTLS(t)
			return server, server.URL()
		}},
		{"socket", func(t *testing.T) (*redistest.Server, string) {
			dir, err := os.MkdirTemp("", "redis") // a socket's path is short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path := filepath.Join(dir, "socket")
			return startRedis(t, "--unixsocket", path), "unix://" + path + "?db=1"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, url := tt.start(t)
			f := startFleetAt(t, server, url, calmly)
			watched(t, f.redis, 2)
			f.expectShared(t, hourBotNumber(1))
			server.Kill()
			for _, node := range f.both() {
				node.waitSaid(t, msgAlone, 1)
				node.expectAlone(t, hourBotNumber(2))
				node.expectNowhere(t, secret)
			}
			server.Restart(t)
			for _, node := range f.both() {
				node.waitSaid(t, msgSharedAgain, 1)
			}
			f.expectShared(t, hourBotNumber(3))
		})
	}
}

func TestAURLThatIsWrongIsRefusedWithoutItsPassword(t *testing.T) {
	f := startFleet(t, calmly)
	const password = "hush-hush"
	for _, address := range []string{
		"redis://:" + password + "@127.0.0.1:port",
		"redis://:" + password + "@127.0.0.1:6379/zero",
		"http://:" + password + "@127.0.0.1:6379",
		"redis://:" + password + "%zz@127.0.0.1:6379",
		"redis://:" + password + "@127.0.0.1:6379?no_such=option",
	} {
		status, body, err := f.a.loadWhole(fleetConfig("share " + address))
		if err != nil || status != 400 || !strings.Contains(body, "share") {
			t.Errorf("loading %s: got status %d, error %v, %s; want 400 and a mention of share", address, status, err, body)
		}
		if strings.Contains(body, password) {
			t.Errorf("loading %s: the answer holds the password: %s", address, body)
		}
	}
	f.a.expectNowhere(t, password)
	f.expectShared(t, hourBotNumber(1))
}

func TestAURLWhosePlaceholderIsNotSetIsRefused(t *testing.T) {
	f := startFleet(t, calmly)
	status, body, err := f.a.loadWhole(fleetConfig("share {env.NO_SUCH_URL}"))
	if err != nil || status != 400 || !strings.Contains(body, "NO_SUCH_URL") {
		t.Errorf("got status %d, error %v, %s; want 400 and a mention of NO_SUCH_URL", status, err, body)
	}
	f.expectShared(t, hourBotNumber(1))
}
