package redis

import (
	"context"
	"crypto/sha1" // names a script, as Redis does
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// script is what the server runs. It is sent when the server does not know it by
// its hash.
type script struct{ source, hash string }

func newScript(source string) script {
	hash := sha1.Sum([]byte(source))
	return script{source, hex.EncodeToString(hash[:])}
}

//go:embed take.lua
var takeSource string

//go:embed lift.lua
var liftSource string

//go:embed announce.lua
var announceSource string

//go:embed push.lua
var pushSource string

//go:embed read.lua
var readSource string

//go:embed enlist.lua
var enlistSource string

var (
	take     = newScript(takeSource)
	lift     = newScript(liftSource)
	announce = newScript(announceSource)
	push     = newScript(pushSource)
	read     = newScript(readSource)
	enlist   = newScript(enlistSource)
)

// evalSHA is the command that runs a script known by its hash.
const evalSHA = "evalsha"

// run runs a script with args as they are where the server knows it.
func (s *Store) run(ctx context.Context, script script, args []any) (any, error) {
	return s.runOn(ctx, s.client(), script, args)
}

// runOn is run with the connections of a client.
func (s *Store) runOn(ctx context.Context, client redis.UniversalClient, script script, args []any) (any, error) {
	reply, err := s.ask(ctx, client, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		args = slices.Clone(args)
		args[0], args[1] = "eval", script.source
		reply, err = s.ask(ctx, client, args)
	}
	if err != nil {
		return nil, s.failure(err)
	}
	return reply, nil
}

// ask sends a command and returns the reply. A connection that turns out to be
// closed, as all are after the server was restarted, gives way to the next.
func (s *Store) ask(ctx context.Context, client redis.UniversalClient, args []any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(3)
	err := client.Process(ctx, cmd)
	for range s.connections {
		if !closed(err) {
			break
		}
		err = client.Process(ctx, cmd)
	}
	return cmd.Val(), err
}

// closed reports that the other side has closed the connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// permissions are what a user of the server must be allowed to do, as its ACL
// says it. In a cluster, +cluster is needed too.
const permissions = "allow the user ~caddy-robots:* +eval +evalsha +time +get +set +del +lindex +llen +lpush +lset +rpop +pexpire +pttl +xadd +xread +ping +select"

// hints say what to do about what a server answers.
var hints = []struct{ answer, hint string }{
	{"NOAUTH", "the URL needs a password"},
	{"WRONGPASS", "see the user and password of the URL"},
	{"NOPERM", permissions},
	{"can't run this command", permissions},
	{"READONLY", "name the primary in the URL, not a replica"},
	{"OOM", "give the server more maxmemory"},
	{"MISCONF", "see the server's disk, or let it not save at all"},
	{"MOVED", "this is a cluster: name a second node in the URL, as ?addr=host:6379"},
}

// failure returns err with where it comes from and, where one is known, what to
// do about it.
func (s *Store) failure(err error) error {
	var answer redis.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("redis at %s: no answer in time: %w", s.where, err)
	case !errors.As(err, &answer):
		return fmt.Errorf("redis at %s: %w", s.where, err)
	}
	// Before Redis 7, an error in a script is quoted after where it happened.
	text := answer.Error()
	if strings.Contains(text, "WRONGTYPE") {
		return fmt.Errorf("redis at %s: %w: %w", s.where, ratelimit.ErrKey, err)
	}
	for _, h := range hints {
		if strings.Contains(text, h.answer) {
			return fmt.Errorf("redis at %s: %w (%s)", s.where, err, h.hint)
		}
	}
	return fmt.Errorf("redis at %s: %w", s.where, err)
}
