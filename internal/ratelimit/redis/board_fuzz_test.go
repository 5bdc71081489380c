package redis

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// FuzzPublished reads a board on which anybody may have written. It holds three properties:
//
//   - told: each node of the list is told of once, in its order, but for the one that is left out and
//     those of which pieces are gone; a line that is none of ours ends that with ErrKey;
//   - whole: what a node has published is its pieces, as long as the list says; anything else is ErrKey;
//   - rewritten: what a line says has been published reads the same as it is written.
func FuzzPublished(f *testing.F) {
	const line = "node-2 1772366400000 ABCDEFGHIJKLMNOPQRSTUVWXYZ ZYXWVUTSRQPONMLKJIHGFEDCBA "
	f.Add(line+"5", "yours", uint8(1))
	f.Add(line+"10\n", "yours", uint8(1))
	f.Add(line+"262145\n", "x", uint8(2))
	f.Add(line+"0\nself 1 a b 4\n"+line+"1\nnode-3 1 c d 4", "four", uint8(1))
	f.Add("a 1 b c 4\n"+line+"67108865\n", "four", uint8(1))
	f.Add(line+"7\n", "gone", uint8(0))
	f.Add("not ours", "", uint8(0))
	server := new(boardServer)
	store := server.store(f)
	f.Fuzz(func(t *testing.T, list, piece string, pieces uint8) {
		server.list, server.piece, server.pieces = list, piece, int(pieces)
		var got []string
		err := store.Published(t.Context(), "self", func(node string, data []byte, err error) {
			if err == nil && string(data) != strings.Repeat(piece, len(data)/max(len(piece), 1)) {
				t.Errorf("whole: got %q of %q, want it made of %q", data, node, piece)
			}
			got = append(got, told(node, len(data), errors.Is(err, ratelimit.ErrKey)))
		})
		want, ours := server.publications(t)
		if !slices.Equal(got, want) {
			t.Errorf("told: %q and %d times %q:\n got %q\nwant %q", list, pieces, piece, got, want)
		}
		if ours != (err == nil) || err != nil && !errors.Is(err, ratelimit.ErrKey) {
			t.Errorf("told: %q: got %v, want it to be ours: %t", list, err, ours)
		}
	})
}

func told(node string, bytes int, foreign bool) string {
	if foreign {
		return node + ", foreign"
	}
	return fmt.Sprintf("%s, %d bytes", node, bytes)
}

// boardServer has a board: a list of nodes, and for each of them a number of pieces that are all the same.
type boardServer struct {
	list, piece string
	pieces      int
}

// publicationLine is how a line of the list is written: who, until when, and the process, number and
// length of what it has published.
var publicationLine = regexp.MustCompile(`^([\w.-]{1,64}) [^ ]* (([\w.-]{1,64}) ([\w.-]{1,64}) ([0-9]+))$`)

// publications is the slow and obvious twin of [Store.Published].
func (s *boardServer) publications(t *testing.T) (want []string, ours bool) {
	t.Helper()
	seen := []string{"self"}
	for _, line := range strings.Split(strings.TrimSuffix(s.list, "\n"), "\n") {
		m := publicationLine.FindStringSubmatch(line)
		if s.list == "" {
			return want, true
		}
		if m == nil {
			return want, false
		}
		bytes, err := strconv.ParseUint(m[5], 10, 64)
		if err != nil || bytes > MaxPublished {
			return want, false
		}
		s.checkRewritten(t, m[2])
		if slices.Contains(seen, m[1]) {
			continue
		}
		seen = append(seen, m[1])
		length, gone := 0, false
		for n := 0; n*pieceSize < int(bytes) && length <= int(bytes) && !gone; n++ {
			gone = n >= s.pieces
			length += len(s.piece)
		}
		if !gone {
			want = append(want, told(m[1], length, length != int(bytes)))
		}
	}
	return want, true
}

func (s *boardServer) checkRewritten(t *testing.T, what string) {
	t.Helper()
	var p, again publication
	if !p.parse(what) || !again.parse(p.String()) || p != again {
		t.Errorf("rewritten: %q reads as %+v, and then as %+v", what, p, again)
	}
}

// store returns a Store that speaks to s without a network.
func (s *boardServer) store(tb testing.TB) *Store {
	tb.Helper()
	o, err := options(&url.URL{Scheme: "redis", Host: "board"}, false)
	if err != nil {
		tb.Fatal(err)
	}
	o.Dialer = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go s.serve(server)
		return client, nil
	}
	client := redis.NewClient(o.Simple())
	tb.Cleanup(func() { client.Close() })
	return &Store{board: client}
}

// serve answers the commands of a connection: those that run a script, that is.
func (s *boardServer) serve(conn net.Conn) {
	from := bufio.NewReader(conn)
	for {
		command, err := readCommand(from)
		if err != nil {
			return
		}
		reply := "-ERR unknown command\r\n"
		if command[0] == evalSHA {
			reply = s.reply(command[3:])
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// reply is that of read.lua to a key, the most bytes, and the number of a piece, if any.
func (s *boardServer) reply(args []string) string {
	text := s.list
	if args[0] != nodesKey {
		text = s.piece
		if n, _ := strconv.Atoi(args[2]); -n > s.pieces {
			return "$-1\r\n"
		}
	}
	return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
}

// readCommand reads a command as clients send it: an array of strings.
func readCommand(from *bufio.Reader) ([]string, error) {
	var n, length int
	if _, err := fmt.Fscanf(from, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	command := make([]string, n)
	for i := range command {
		if _, err := fmt.Fscanf(from, "$%d\r\n", &length); err != nil {
			return nil, err
		}
		text := make([]byte, length+len("\r\n"))
		if _, err := io.ReadFull(from, text); err != nil {
			return nil, err
		}
		command[i] = string(bytes.TrimSuffix(text, []byte("\r\n")))
	}
	return command, nil
}
