package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/caddy-robots/caddy-robots/internal/ratelimit/redis/redistest"
)

// watchedMaster is what the Sentinels call their master.
const watchedMaster = "robots-fleet"

// startWatched runs a master with a replica and three Sentinels, and returns when these know of one
// another, so that two of them can name another master.
func startWatched(t *testing.T) (master, replica *redistest.Server, sentinels []*redistest.Server) {
	t.Helper()
	master = startRedis(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica = startRedis(t, "--replicaof", host, port)
	of := redisClient(t, replica.URL())
	eventually(t, "the replica has what the master has", func() bool {
		info, err := of.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	for range 3 {
		sentinels = append(sentinels, redistest.StartSentinel(t, master, watchedMaster, 2))
	}
	for _, s := range sentinels {
		c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr()})
		t.Cleanup(func() { c.Close() })
		eventually(t, "the Sentinels know of one another and of the replica", func() bool {
			about, err := c.Master(t.Context(), watchedMaster).Result()
			return err == nil && about["num-slaves"] == "1" && about["num-other-sentinels"] == "2"
		})
	}
	return master, replica, sentinels
}

// caughtUp waits until the replica has all that the master has.
func caughtUp(t *testing.T, master, replica *redistest.Server) {
	t.Helper()
	offset := redisInfo(t, redisClient(t, master.URL()), "replication", "master_repl_offset:")
	of := redisClient(t, replica.URL())
	eventually(t, "the replica has all that the master had", func() bool {
		return redisInfo(t, of, "replication", "slave_repl_offset:") >= offset
	})
}

// A master is killed, or hangs, and with it one of the Sentinels, the first one of the URL.
func TestAFleetGoesOnWhenTheSentinelsNameAnotherMaster(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(*redistest.Server)
	}{
		{"killed", (*redistest.Server).Kill}, {"hangs", (*redistest.Server).Pause},
	} {
		t.Run(tt.name, func(t *testing.T) {
			master, replica, sentinels := startWatched(t)
			var addrs []string
			for _, s := range sentinels {
				addrs = append(addrs, s.Addr())
			}
			url := "redis+sentinel://" + strings.Join(addrs, ",") + "/" + watchedMaster + "/0"
			f := &fleet{server: master, url: url, redis: redisClient(t, master.URL())}
			const banning = "ban 2 in 1h for 1h"
			f.a, f.b = f.join(t, calmly, banning), f.join(t, calmly, banning)
			watched(t, f.redis, 2)

			f.expectShared(t, hourBotNumber(1))
			f.a.expect(t, fleetHost, "/page", hourBotNumber(2), 200) // the other Caddy has not seen it
			for range 2 {
				f.a.expectFrom(t, personal, fleetHost, "/private/", rogueBot, 403, "")
			}
			caughtUp(t, master, replica)
			tt.lose(master)
			sentinels[0].Kill()
			after := redisClient(t, replica.URL())
			eventually(t, "the replica is the master", func() bool {
				info, err := after.Info(t.Context(), "replication").Result()
				return err == nil && strings.Contains(info, "role:master")
			})
			watched(t, after, 2)

			f.b.expect(t, fleetHost, "/page", hourBotNumber(1), 429)
			f.b.expect(t, fleetHost, "/page", hourBotNumber(2), 429)           // what was counted before goes on
			f.expectShared(t, hourBotNumber(3))                                // and what comes is shared
			f.b.expectFrom(t, personal, fleetHost, "/page", rogueBot, 403, "") // the ban holds
			later := f.join(t, calmly, banning)                                // also for who was not there
			eventually(t, "a third Caddy knows the ban", func() bool {
				return later.ask(t, request{host: fleetHost, path: "/page", agent: rogueBot}.from(personal)).status == 403
			})
		})
	}
}

func TestSentinelsThatDoNotKnowTheMasterAreTold(t *testing.T) {
	master := startRedis(t)
	sentinel := redistest.StartSentinel(t, master, watchedMaster, 1)
	f := &fleet{server: master, url: "redis+sentinel://" + sentinel.Addr() + "/another"}
	node := f.join(t, calmly)
	node.waitSaid(t, msgAlone, 1)
	told := fmt.Sprint(node.log.all(message(msgAlone)))
	for _, want := range []string{strconv.Quote("another"), "sentinel monitor", sentinel.Addr()} {
		if !strings.Contains(strings.ReplaceAll(told, `\"`, `"`), want) {
			t.Errorf("%q is missing in %s", want, told)
		}
	}
	node.expectAlone(t, hourBotNumber(1))
}
