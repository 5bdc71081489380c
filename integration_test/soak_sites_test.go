//go:build soak

package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The hosts of the soak, and the visitors that only some of them know. Every other host is
// of the last site.
const (
	fileHost   = "file.test"   // rules from a file that is rewritten
	textHost   = "text.test"   // rules from the config
	urlHost    = "url.test"    // rules from an upstream that fails
	verifyHost = "verify.test" // Googlebot is verified
	paceHost   = "pace.test"
	banHost    = "ban.test"
	waitHost   = "wait.test" // who comes too early is held
	reportHost = "report.test"

	hammerBot = "HammerBot/1.0" // asks without a pause
	steadyBot = "SteadyBot/1.0" // keeps its pace
)

// The texts that do not change.
const (
	soakPace = `
			User-agent: HammerBot
			User-agent: SteadyBot
			Crawl-delay: 0.5

			User-agent: HourBot
			Crawl-delay: 3600

			User-agent: RogueBot
			Disallow: /private/
	`
	// What configs share by in turn, each with connections of its own.
	soakShare    = "{env.REDIS_URL} within 5s"
	soakShareToo = "{env.REDIS_URL} within 6s"

	soakVerify = "User-agent: Googlebot\nDisallow: /search\nUser-agent: *\nDisallow: /private/\n"
	soakOthers = "User-agent: GPTBot\nDisallow: /private/\nDisallow: /*.pdf$\nUser-agent: *\nCrawl-delay: 1\nDisallow: /private/\n"
)

// soakConfig is a whole Caddyfile. What it says between braces in small letters differs from
// config to config.
const soakConfig = `{
	admin {$ADMIN}
	auto_https off
	grace_period 2s
	metrics
	robots {
		resolver {$DNS}
		share {share}
	}
	servers {
		protocols h1
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}
	log default {
		level {level}
	}
	log robots { # all that robots says is put into words, and nothing of it kept
		output discard
		include http.handlers.robots
	}
}
` + standings + `
http://file.test:{$PORT} {
	robots {
		source file {$RULES}
		refresh 1s
		serve
	}
	respond "page"
}
http://text.test:{$PORT} {
	header X-Config {config}
	robots {
		source text <<ROBOTS
{text}
			ROBOTS
		refresh {refresh}
		serve
	}
	respond "page"
}
http://url.test:{$PORT} {
	robots {
		source url {$UPSTREAM}/robots.txt
		refresh 1s
		serve
	}
	respond "page"
}
http://verify.test:{$PORT} {
	robots {
		source text <<ROBOTS
{verified}
			ROBOTS
		verify Googlebot dns googlebot.com
		serve
	}
	import standings
}
http://ban.test:{$PORT} {
	robots {
		source text <<ROBOTS` + soakPace + `		ROBOTS
		ban 5 in 1m for 2s
	}
	respond "page"
}
http://pace.test:{$PORT} {
	robots {
		source text <<ROBOTS` + soakPace + `		ROBOTS
	}
	respond "page"
}
http://wait.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: WaitBot
			Crawl-delay: 0.3
			ROBOTS
		too_fast wait 10s
	}
	respond "page"
}
http://report.test:{$PORT} {
	robots_report {
		allow 127.0.0.1
		sites *
	}
}
{more}
http://:{$PORT} {
	robots {
		refresh {refresh}
	}
	respond /robots.txt <<ROBOTS
{others}
			ROBOTS
	respond "page"
}
`

// more is a site that every other config has: what belongs to it comes and goes, a file of its
// own among it.
const more = `
http://more.test:{$PORT} {
	robots {
		source file {$RULES}
		source url {$UPSTREAM}/robots.txt
		refresh 2s
		verify Googlebot dns googlebot.com
		ban 3 in 1m for 1h
		default_pace 1/1m
		announce content_usage sitemap
		trap /private/trap/
		unnamed clients
	}
	respond "page"
}
`

// configCreed is what config n says on textHost. The last line of a text in a Caddyfile has no
// end.
func configCreed(n int64) *creed {
	return creedOf(strings.TrimSuffix(randomText(rand.New(rand.NewPCG(9309, uint64(n)))), "\n"))
}

// config is config n. The first one alone logs that it is served.
func config(n int64) string {
	level, refresh, other, share := "WARN", "1s", "", soakShare
	if n == 0 {
		level = "INFO"
	}
	if n%2 == 1 {
		other, share = more, soakShareToo
	}
	if n%3 == 1 {
		refresh = "3s"
	}
	return strings.NewReplacer("{config}", fmt.Sprint(n), "{level}", level, "{refresh}", refresh, "{share}", share, "{more}", other,
		"{text}", indented(configCreed(n).text), "{verified}", indented(soakVerify), "{others}", indented(soakOthers)).Replace(soakConfig)
}

// indented is a text as it stands in soakConfig.
func indented(text string) string {
	return "\t\t\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t\t\t")
}

// brokenConfig is a config that is refused: as it is read, as its handlers are made, or as it
// starts.
func brokenConfig(n int64) (text, mention string) {
	switch n % 3 {
	case 0:
		return config(n) + "http://wrong.test:{$PORT} {\n\trobots {\n\t\tdialect klingon\n\t}\n}\n", "klingon"
	case 1:
		return strings.Replace(config(n), "{env.REDIS_URL}", "{env.NO_SUCH_URL}", 1), "NO_SUCH_URL"
	default:
		return config(n) + "http://:{$PORT2} {\n\tbind 192.0.2.1\n\trobots\n}\n", "192.0.2.1"
	}
}
