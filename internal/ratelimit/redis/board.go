package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

const (
	// MaxPublished is how many bytes a node may publish: more than a ledger takes in memory.
	MaxPublished = 64 << 20

	// pieceSize is how many bytes are sent at a time. The server does nothing else
	// while it copies them, and decisions must not wait for megabytes.
	pieceSize = 256 << 10

	// mostNodes are listed. Further ones take the place of those that have published nothing
	// for longest.
	mostNodes     = 256
	mostNodesText = mostNodes * 256

	// publishTime bounds one Publish. What it has sent by then is gone after unfinishedTime.
	publishTime    = 10 * time.Second
	unfinishedTime = time.Minute

	// replacedTime is how long that can still be read which has been replaced: for
	// those who have just read the list of nodes.
	replacedTime = 15 * time.Second
)

// ErrName says that a process published what another one had published under the same name
// since: each replaces what the other one shows.
var ErrName = errors.New("another node publishes under the name of this one")

// process names this process to the others that publish.
var process = rand.Text()

// nodeName is how nodes may be called.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// publication is what a node has published: a list of pieces, the first one last, that
// never changes.
type publication struct {
	node    string
	process string
	id      string
	size    int
}

func (p *publication) key() string { return nodePrefix + p.node + ":" + p.id }

func (p *publication) pieces() int { return (p.size + pieceSize - 1) / pieceSize }

func (p *publication) String() string { return fmt.Sprintf("%s %s %d", p.process, p.id, p.size) }

// parse reads what String returns.
func (p *publication) parse(s string) (ok bool) {
	fields := strings.Split(s, " ")
	if len(fields) != 3 || !nodeName.MatchString(fields[0]) || !nodeName.MatchString(fields[1]) {
		return false
	}
	size, err := strconv.ParseUint(fields[2], 10, 32)
	p.process, p.id, p.size = fields[0], fields[1], int(size)
	return err == nil && size <= MaxPublished
}

// Publish shows data to whoever asks for what is Published, under the name of this node, which is of
// letters, digits, dots, hyphens and underscores, at most 64. It replaces what was
// published under that name, as a whole, and is gone after keep.
//
// It ends within ten seconds, has connections of its own and sends data in pieces, so that
// decisions do not wait for it. With the error [ErrName] the data is published all the same.
func (s *Store) Publish(ctx context.Context, node string, data []byte, keep time.Duration) error {
	if !nodeName.MatchString(node) {
		return fmt.Errorf("%q is no name of a node: write at most 64 letters, digits, dots, hyphens and underscores", node)
	}
	if len(data) > MaxPublished {
		return fmt.Errorf("%d bytes are too many to publish: %d are the most", len(data), MaxPublished)
	}
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	p := publication{node, process, rand.Text(), len(data)}
	if err := s.push(ctx, &p, data); err != nil {
		return err
	}
	reply, err := s.runOn(ctx, s.board, enlist, []any{evalSHA, enlist.hash, "1", nodesKey,
		node, p.String(), keep.Milliseconds(), mostNodes, mostNodesText})
	if err != nil {
		return err
	}
	if len(data) > 0 {
		if err := s.board.PExpire(ctx, p.key(), keep).Err(); err != nil {
			return s.failure(err)
		}
	}
	again := s.published.Swap(true)
	replaced := publication{node: node}
	if text, _ := reply.(string); !replaced.parse(text) {
		return nil
	}
	s.board.PExpire(ctx, replaced.key(), replacedTime) // else it goes when its time is over
	if again && replaced.process != process {
		return fmt.Errorf("%w: %s", ErrName, node)
	}
	return nil
}

// push sends the pieces of a publication, which expire soon unless it is finished.
func (s *Store) push(ctx context.Context, p *publication, data []byte) error {
	sent := int64(0)
	for piece := range slices.Chunk(data, pieceSize) {
		sent++
		reply, err := s.runOn(ctx, s.board, push, []any{evalSHA, push.hash, "1", p.key(), piece, unfinishedTime.Milliseconds()})
		if err != nil {
			return err
		}
		if reply != sent {
			return fmt.Errorf("redis at %s: it has %v pieces of a publication of which %d were sent", s.where, reply, sent)
		}
	}
	return nil
}

// Published reports what each node has published that is not called except, one at a time. Where
// that cannot be read it reports why; the error is [ratelimit.ErrKey] if it is not ours.
// What is gone is left out. The error that Published returns says that there may be more.
//
// Each exchange with the server ends within five seconds, and there are many: ctx
// should bound them.
func (s *Store) Published(ctx context.Context, except string, tell func(node string, data []byte, err error)) error {
	list, err := s.read(ctx, nodesKey, mostNodesText)
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{except: true}
	for line := range strings.Lines(list) {
		node, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		_, what, _ := strings.Cut(rest, " ")
		p := publication{node: node}
		if !nodeName.MatchString(node) || !p.parse(what) {
			return s.foreign(nodesKey)
		}
		if seen[node] {
			continue
		}
		seen[node] = true
		data, err := s.pull(ctx, &p)
		switch {
		case errors.Is(err, redis.Nil): // gone
		case err != nil && !errors.Is(err, ratelimit.ErrKey):
			return err
		default:
			tell(node, data, err)
		}
	}
	return nil
}

// pull reads the pieces of a publication.
func (s *Store) pull(ctx context.Context, p *publication) ([]byte, error) {
	data := make([]byte, 0, p.size)
	for n := range p.pieces() {
		piece, err := s.read(ctx, p.key(), pieceSize, -1-n)
		if err != nil {
			return nil, err
		}
		if data = append(data, piece...); len(data) > p.size {
			break
		}
	}
	if len(data) != p.size {
		return nil, s.foreign(p.key())
	}
	return data, nil
}

// read reads the value of a key, or a piece, if it has no more bytes than that.
func (s *Store) read(ctx context.Context, key string, most int, piece ...int) (string, error) {
	args := []any{evalSHA, read.hash, "1", key, most}
	for _, n := range piece {
		args = append(args, n)
	}
	reply, err := s.runOn(ctx, s.board, read, args)
	if err != nil {
		return "", err
	}
	text, _ := reply.(string)
	return text, nil
}

// foreign is the error for what others have written.
func (s *Store) foreign(key string) error {
	return fmt.Errorf("redis at %s: %w: %s", s.where, ratelimit.ErrKey, key)
}
