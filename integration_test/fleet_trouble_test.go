package integration

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAWrongPasswordIsToldOnceAndEachCaddyGoesOnAlone(t *testing.T) {
	server := startRedis(t, "--requirepass", "the-right-one")
	const wrong = "the-wrong-one"
	f := startFleetAt(t, server, "redis://:"+wrong+"@"+server.Addr(), calmly)
	for n, node := range f.both() {
		node.waitSaid(t, msgAlone, 1)
		for robot := range 10 {
			node.expectAlone(t, hourBotNumber(robot))
		}
		node.expect(t, fleetHost, "/page", chrome, 200)
		node.expectSaid(t, msgAlone, 1)
		told := node.log.all(message(msgAlone))[0].text("error")
		if !strings.Contains(told, "WRONGPASS") || !strings.Contains(told, "password of the URL") {
			t.Errorf("Caddy %d: got error %q, want WRONGPASS and what to look at", n, told)
		}
		node.expectNowhere(t, wrong)
	}
}

func TestForeignDataUnderOneKeyConcernsThatRobotAlone(t *testing.T) {
	f := startFleet(t, calmly)
	robot := hourBotNumber(1)
	f.expectShared(t, robot)
	keys, err := f.redis.Keys(t.Context(), "caddy-robots:*hourbot1/*").Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys of HourBot1: got %q, error %v, want one", keys, err)
	}
	foreign := []string{"not", "ours"}
	if err := errors.Join(f.redis.Del(t.Context(), keys[0]).Err(), f.redis.RPush(t.Context(), keys[0], foreign).Err()); err != nil {
		t.Fatal(err)
	}

	f.a.expect(t, fleetHost, "/page", robot, 429) // it knows what it served
	f.b.expectAlone(t, robot)                     // and this one did not
	for n := range 5 {
		f.expectShared(t, hourBotNumber(2+n))
		f.a.expect(t, fleetHost, "/page", robot, 429)
		f.b.expect(t, fleetHost, "/page", robot, 429)
	}
	for _, node := range f.both() {
		node.expectSaid(t, msgPartly, 1)
		node.expectSaid(t, msgAlone, 0)
	}
	if got, err := f.redis.LRange(t.Context(), keys[0], 0, -1).Result(); err != nil || !slices.Equal(got, foreign) {
		t.Errorf("foreign data: got %q, error %v, want %q", got, err, foreign)
	}
}

func TestForeignDataInPlaceOfTheStreamOfBansConcernsThatAlone(t *testing.T) {
	f := startFleet(t, calmly, banning)
	const stream, foreign = "caddy-robots:bans", "not ours"
	if err := f.redis.Set(t.Context(), stream, foreign, 0).Err(); err != nil {
		t.Fatal(err)
	}
	f.a.disobey(t, offences)
	f.a.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
	f.expectShared(t, hourBotNumber(1))
	f.b.disobey(t, 1) // this asks Redis, which knows of the ban
	f.b.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "")
	for _, node := range f.both() {
		node.waitSaid(t, msgPartly, 1)
		node.expectSaid(t, msgAlone, 0)
	}
	if got, err := f.redis.Get(t.Context(), stream).Result(); err != nil || got != foreign {
		t.Errorf("foreign data: got %q, error %v, want %q", got, err, foreign)
	}
}

func TestARedisThatIsFullCountsAsGone(t *testing.T) {
	f := startFleet(t, calmly)
	f.expectShared(t, hourBotNumber(1))
	set := func(name, value string) {
		t.Helper()
		if err := f.redis.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	set("maxmemory", "1")
	for _, node := range f.both() {
		for robot := range 5 {
			node.expectAlone(t, hourBotNumber(2+robot))
		}
		node.waitSaid(t, msgAlone, 1)
	}
	set("maxmemory", "0")
	for _, node := range f.both() {
		node.waitSaid(t, msgSharedAgain, 1)
	}
	f.expectShared(t, hourBotNumber(7))
	for _, node := range f.both() {
		node.expectSaid(t, msgAlone, 1)
		if told := node.log.all(message(msgAlone))[0].text("error"); !strings.Contains(told, "OOM") {
			t.Errorf("got error %q, want OOM in it", told)
		}
	}
}

func TestARedisThatCannotSaveToDiskCountsAsGone(t *testing.T) {
	server := startRedis(t, "--save", "3600 1", "--dbfilename", "a-folder")
	f := startFleetAt(t, server, server.URL(), calmly)
	watched(t, f.redis, 2)
	dir, err := f.redis.ConfigGet(t.Context(), "dir").Result()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir["dir"], "a-folder", "in-the-way"), "")
	f.expectShared(t, hourBotNumber(1))
	if err := f.redis.BgSave(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Redis could not save", func() bool {
		info, err := f.redis.Info(t.Context(), "persistence").Result()
		return err == nil && strings.Contains(info, "rdb_last_bgsave_status:err")
	})
	for _, node := range f.both() {
		node.expectAlone(t, hourBotNumber(2))
		node.waitSaid(t, msgAlone, 1)
		node.expectSaid(t, msgAlone, 1)
	}
}

// A redis-server that is stopped, not killed, takes connections and answers nothing.
func TestARedisThatHangsDelaysNoStartReloadOrStop(t *testing.T) {
	t.Parallel()
	f := startFleet(t, sharing)
	f.expectShared(t, hourBotNumber(1))
	f.server.Pause()
	defer f.server.Resume()
	bounded := func(what string, most time.Duration, do func()) {
		t.Helper()
		began := time.Now()
		do()
		took := time.Since(began)
		t.Logf("%s: %s", what, took.Round(time.Millisecond))
		if took > most {
			t.Errorf("%s took %s, want at most %s", what, took, most)
		}
	}
	bounded("a reload", slack, func() {
		if status, body, err := f.a.loadWhole(fleetConfig(sharing, "observe")); err != nil || status != 200 {
			t.Fatalf("reload: got status %d, error %v: %s", status, err, body)
		}
	})
	f.a.expect(t, fleetHost, "/page", chrome, 200)
	bounded("a stop", slack, func() { f.a.end(t, syscall.SIGTERM) })
	bounded("a start", farewell, func() { f.a.run(t) })
	f.a.expectAlone(t, hourBotNumber(2))
	f.a.expect(t, fleetHost, "/page", chrome, 200)
}
