package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit"
)

// maxRule bounds the text that is kept with a ban, in bytes.
const maxRule = 1 << 10

// A ban is kept as text: when it began and when it ends, in microseconds since
// 1970, the number of the line, and the rule, with a space between them. Who is
// banned stands elsewhere.

// appendWhy appends the end of a ban's text.
func appendWhy(b []byte, line int, rule string) []byte {
	b = append(strconv.AppendInt(b, int64(line), 10), ' ')
	return append(b, rule[:min(len(rule), maxRule)]...)
}

// appendBan appends a ban's text.
func appendBan(b []byte, ban *ratelimit.Ban) []byte {
	b = append(strconv.AppendInt(b, ban.Since.UnixMicro(), 10), ' ')
	b = append(strconv.AppendInt(b, ban.Until.UnixMicro(), 10), ' ')
	return appendWhy(b, ban.Line, ban.Rule)
}

// latest bounds what is read as a time, in microseconds either side of 1970.
const latest = 1 << 53

// parseBan reads a ban's text into ban.
func parseBan(text string, ban *ratelimit.Ban) error {
	since, rest, _ := strings.Cut(text, " ")
	until, rest, _ := strings.Cut(rest, " ")
	line, rule, complete := strings.Cut(rest, " ")
	from, err1 := strconv.ParseInt(since, 10, 64)
	to, err2 := strconv.ParseInt(until, 10, 64)
	number, err3 := strconv.Atoi(line)
	if !complete || errors.Join(err1, err2, err3) != nil || from < -latest || to > latest || from >= to {
		return fmt.Errorf("%q is not a ban", text[:min(len(text), 100)])
	}
	ban.Since, ban.Until = time.UnixMicro(from), time.UnixMicro(to)
	ban.Line, ban.Rule = number, rule
	return nil
}

// mostEvents is about how many events the stream of bans holds.
const mostEvents = 10_000

// An event has fields that say who is banned, and either the text of the ban or
// that it is lifted.
const (
	fieldSite     = "site"
	fieldRobot    = "robot"
	fieldStanding = "standing"
	fieldAddress  = "address"
	fieldBan      = "ban"

	lifted = "lifted"
)

// announce adds an event to the stream of bans.
func (s *Store) announce(ctx context.Context, e ratelimit.BanEvent) error {
	ban, keep := lifted, time.Duration(0)
	if !e.Lifted {
		ban, keep = string(appendBan(nil, &e.Ban)), e.Ban.Until.Sub(e.Ban.Since)
	}
	keep += time.Minute // by any clock, an event outlasts its ban
	_, err := s.run(ctx, announce, []any{evalSHA, announce.hash, "1", bansKey, keep.Milliseconds(), mostEvents,
		fieldSite, e.Ban.Key.Site, fieldRobot, e.Ban.Key.Robot, fieldStanding, e.Ban.Key.Standing,
		fieldAddress, e.Ban.Address, fieldBan, ban})
	return err
}

// parseEvent reads an event. It reports false for one that is none of ours.
func parseEvent(fields map[string]any) (e ratelimit.BanEvent, ok bool) {
	var ban string
	for field, to := range map[string]*string{
		fieldSite: &e.Ban.Key.Site, fieldRobot: &e.Ban.Key.Robot, fieldStanding: &e.Ban.Key.Standing,
		fieldAddress: &e.Ban.Address, fieldBan: &ban,
	} {
		if *to, ok = fields[field].(string); !ok {
			return ratelimit.BanEvent{}, false
		}
	}
	if ban == lifted {
		e.Lifted = true
	} else if parseBan(ban, &e.Ban) != nil {
		return ratelimit.BanEvent{}, false
	}
	return e, true
}

// Lift ends the ban of b.Key and b.Address, forgets the offences that count towards
// the next one, and tells whoever watches. It ends within five seconds.
func (s *Store) Lift(ctx context.Context, b ratelimit.Ban) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ban, offences := banKeys(b.Key, b.Address)
	if _, err := s.run(ctx, lift, []any{evalSHA, lift.hash, "2", ban, offences}); err != nil {
		return err
	}
	return s.announce(ctx, ratelimit.BanEvent{Ban: b, Lifted: true})
}

// banKeys returns the keys of a client's ban and of its offences.
func banKeys(k ratelimit.Key, address string) (ban, offences string) {
	stem := string(appendStem(nil, &k))
	who := string(appendAddress(nil, address))
	return stem + banSuffix + who, stem + offencesSuffix + who
}

// Watch reports the bans and lifts that the stream still holds, which are those of
// every ban in force unless there were more than ten thousand, and then of each
// as it happens. It has a connection of its own, and goes on until ctx is done, the
// Store is closed or the server fails, and returns why. A server that says nothing
// any more is noticed within a quarter of a minute.
func (s *Store) Watch(ctx context.Context, tell func(ratelimit.BanEvent)) error {
	client := s.dial(1)
	defer client.Close()
	for _, until := range []context.Context{ctx, s.life} {
		defer context.AfterFunc(until, func() { client.Close() })()
	}
	last := "0"
	for {
		streams, err := client.XRead(ctx, &redis.XReadArgs{
			Streams: []string{bansKey, last}, Count: 1000, Block: patience,
		}).Result()
		if done := errors.Join(ctx.Err(), s.life.Err()); done != nil {
			return done
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return s.failure(err)
		}
		for _, stream := range streams {
			for _, message := range stream.Messages {
				last = message.ID
				if e, ok := parseEvent(message.Values); ok {
					tell(e)
				}
			}
		}
	}
}
