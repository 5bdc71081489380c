package caddymodule

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robotsrules"
)

// announcements say which statements of robots.txt are repeated as response headers. The
// zero value repeats none.
type announcements uint8

const (
	announceTimeGate announcements = 1 << iota
	announceContentUsage
	announceNoindex
	announceSitemap
	announceLicense
)

// listAnnounce is what may be announced, for a person.
const listAnnounce = "timegate, content_usage, noindex, sitemap or license"

func parseAnnounce(words []string) (all announcements, err error) {
	for _, word := range words {
		one, err := oneOf(word, map[string]announcements{
			"timegate": announceTimeGate, "content_usage": announceContentUsage, "noindex": announceNoindex,
			"sitemap": announceSitemap, "license": announceLicense,
		}, listAnnounce)
		if err != nil {
			return 0, fmt.Errorf("announce: %w", err)
		}
		if all&one != 0 {
			return 0, fmt.Errorf("announce: %q stands there twice; write it once", word)
		}
		all |= one
	}
	return all, nil
}

// statedIn tells of which statements the file has any.
func statedIn(file *robotsrules.File, policy *robotsrules.Policy) (states announcements) {
	note := func(what announcements, n int) {
		if n > 0 {
			states |= what
		}
	}
	note(announceTimeGate, len(file.TimeGates))
	note(announceSitemap, len(policy.Sitemaps()))
	note(announceLicense, len(policy.Licenses()))
	for _, group := range file.Groups {
		note(announceContentUsage, len(group.ContentUsages)+len(group.ContentSignals))
		note(announceNoindex, len(group.Noindex))
	}
	return states
}
