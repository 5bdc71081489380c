package caddymodule

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/crawler"
	"github.com/caddy-robots/caddy-robots/internal/enforce"
	"github.com/caddy-robots/caddy-robots/internal/policies"
	"github.com/caddy-robots/caddy-robots/robotsrules"
)

func init() {
	caddy.RegisterModule(MatchCrawler{})
}

// MatchCrawler matches requests from robots: all of them, or those of certain names or purposes.
// A robot is known by its User-Agent. It never matches a person's browser.
//
// With it you can send robots elsewhere with Caddy's own directives. It does not look at the rules
// of robots.txt.
type MatchCrawler struct {
	// The names of the robots, each as in a User-agent line of robots.txt. A name matches robots
	// that have it in what they say of themselves, in capitals or small letters, and services, apps
	// and HTTP libraries that have it as a product token (`curl`). `*` is every robot. Default:
	// every robot.
	Names []string `json:"names,omitempty"`

	// Purposes of the catalogue of crawlers: the matcher also matches robots, apps and libraries
	// that have one of these, by the names that they give themselves. `search`, `ai-training`,
	// `ai-search`, `ai-user`, `archive`, `seo`, `ads`, `preview`, `feed`, `monitor`, `service`,
	// `research` or `security`. Default: any, also for robots that are not in the catalogue.
	Purposes []string `json:"purposes,omitempty"`

	// What the `robots` directive, which runs first, found about the client. One of these must
	// hold: with `verify`, `verified`, `impostor` or `unverified` (the claim was not checked, or
	// not in time); with `trap`, `trapped`; with `ban`, `banned`. Default: any.
	Verified []string `json:"verified,omitempty"`

	app      *App
	purposes []crawler.Purpose
}

// CaddyModule returns the Caddy module information.
func (MatchCrawler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.matchers.crawler",
		New: func() caddy.Module { return new(MatchCrawler) },
	}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	crawler [<name|purpose>...] [verified] [unverified] [impostor] [trapped] [banned]
//
// Several in one set count as one, with all their names and purposes.
func (m *MatchCrawler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		m.add(d.RemainingArgs())
		if d.NextBlock(0) {
			return d.Err("crawler takes no block; write the robots' names behind it")
		}
	}
	if err := m.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// standings are the words for what a robots directive found of a client, as they stand in the
// variables of a request.
var standings = map[string]any{
	"verified": enforce.Verified, "unverified": enforce.Unverified, "impostor": enforce.Impostor,
	"trapped": foundTrapped, "banned": foundBanned,
}

const listStandings = "verified, unverified, impostor, trapped or banned"

// add takes words as they stand behind the matcher's name.
func (m *MatchCrawler) add(words []string) {
	for _, word := range words {
		_, isStanding := standings[strings.ToLower(word)]
		purpose, isPurpose := crawler.ParsePurpose(word)
		switch {
		case isStanding:
			m.Verified = append(m.Verified, strings.ToLower(word))
		case isPurpose:
			m.Purposes = append(m.Purposes, string(purpose))
		default:
			m.Names = append(m.Names, word)
		}
	}
}

// check returns an error for names that would match everything, and for words that are none.
func (m *MatchCrawler) check() error {
	for _, name := range m.Names {
		if strings.TrimSpace(name) == "" {
			return errors.New(`crawler: an empty name names no robot; write crawler alone to match every robot`)
		}
		if _, ok := crawler.ParsePurpose(name); ok {
			return fmt.Errorf("crawler: %q is a purpose and no robot's name; write it among the purposes", name)
		}
		if _, ok := standings[strings.ToLower(name)]; ok {
			return fmt.Errorf("crawler: %q is what a robots directive found and no robot's name; write it in verified", name)
		}
		if err := misspelt(name); err != nil {
			return fmt.Errorf("crawler: %w", err)
		}
	}
	for _, word := range m.Purposes {
		if _, ok := crawler.ParsePurpose(word); !ok {
			return fmt.Errorf("crawler: purposes: %q is unknown; write %s", word, listPurposes)
		}
	}
	for _, word := range m.Verified {
		if _, ok := standings[strings.ToLower(word)]; !ok {
			return fmt.Errorf("crawler: verified: %q is unknown; write %s", word, listStandings)
		}
		if strings.EqualFold(word, foundTrapped) && len(m.Names)+len(m.Purposes) > 0 && !slices.Contains(m.Names, "*") {
			return errors.New(`crawler: who was trapped has no name and no purpose; write crawler trapped in a matcher of its own`)
		}
	}
	return nil
}

// stems are other forms of purposes and of the words for what was found.
var stems = map[string]string{
	"trap": foundTrapped, "caught": foundTrapped, "ban": foundBanned, "blocked": foundBanned, "verify": "verified", "fake": "impostor",
	"training": "ai-training", "monitoring": "monitor", "archiving": "archive", "advertising": "ads", "marketing": "seo",
}

// misspelt returns an error for a word by which a purpose or a standing was meant, and which is
// neither.
func misspelt(word string) error {
	if isKind(word) {
		return nil
	}
	if meant := meantBy(word); meant != "" {
		return fmt.Errorf("%q is no robot's name; write %s; the purposes are %s", word, meant, listPurposes)
	}
	rest, isLikeOne := strings.CutPrefix(strings.ToLower(word), "ai-")
	if isLikeOne && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz-") == "" && !isInCatalogue(word) {
		return fmt.Errorf("%q is no purpose, and no part of a robot's name that is known; the purposes are %s", word, listPurposes)
	}
	return nil
}

// isKind reports whether a word is a purpose or a standing.
func isKind(word string) bool {
	_, isPurpose := crawler.ParsePurpose(word)
	_, isStanding := standings[strings.ToLower(word)]
	return isPurpose || isStanding
}

// isInCatalogue reports whether a word is a part of the name of a robot that is known.
func isInCatalogue(word string) bool {
	return slices.ContainsFunc(crawler.Catalogue(), func(c crawler.Crawler) bool { return enforce.ContainsFold(c.Name, word) })
}

// meantBy returns the purpose or standing that somebody meant with a word that is neither, and is
// not a known robot's name: the same letters with other signs between them, in the plural or the
// singular, with one letter left out or two exchanged, or the beginning of it. It is "" if it is
// not sure.
func meantBy(name string) string {
	lower := strings.ToLower(name)
	if word := stems[lower]; word != "" {
		return word
	}
	if isInCatalogue(name) {
		return ""
	}
	words := slices.Sorted(maps.Keys(standings))
	for _, purpose := range crawler.Purposes() {
		words = append(words, string(purpose))
	}
	letters := strings.NewReplacer("-", "", "_", "", " ", "")
	plain := letters.Replace(lower)
	for _, word := range words {
		want := letters.Replace(word)
		if strings.TrimSuffix(plain, "s") == strings.TrimSuffix(want, "s") || len(plain) >= 5 && strings.HasPrefix(want, plain) ||
			len(want) >= 6 && len(plain) <= len(want) && robotsrules.Closest(plain, []string{want}, 1) != "" {
			return word
		}
	}
	return ""
}

// Provision takes the cache of User-Agents that this process shares.
func (m *MatchCrawler) Provision(ctx caddy.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	for _, word := range m.Purposes {
		purpose, _ := crawler.ParsePurpose(word)
		m.purposes = append(m.purposes, purpose)
	}
	for i, word := range m.Verified {
		m.Verified[i] = strings.ToLower(word)
	}
	var err error
	m.app, err = appOf(ctx)
	return err
}

// Match reports whether r comes from one of the robots. If there are several User-Agent headers,
// one must match, or all of them if the client is verified.
func (m MatchCrawler) Match(r *http.Request) bool {
	vars := allVariables(r)
	if len(m.Verified) > 0 && !slices.ContainsFunc(m.Verified, func(word string) bool { return isFound(vars, standings[word]) }) {
		return false
	}
	sent, several := userAgent(r)
	if !several {
		return m.matches(r, vars, sent)
	}
	matches := func(sent string) bool { return m.matches(r, vars, sent) }
	if isFound(vars, enforce.Verified) {
		return !slices.ContainsFunc(r.Header["User-Agent"], func(sent string) bool { return !matches(sent) })
	}
	return slices.ContainsFunc(r.Header["User-Agent"], matches)
}

// matches reports whether one of the robots sends this User-Agent.
func (m *MatchCrawler) matches(r *http.Request, vars map[string]any, sent string) bool {
	who := m.app.crawlers.Identify(sent)
	if len(who.Hosts) > 0 {
		who = enforce.ByCircumstance(&enforce.Request{Host: policies.Host(r.Host)}, who)
	}
	status, checked := provedIn(vars)
	if token := signedIn(vars); token != "" && status == enforce.Verified {
		who = enforce.RobotCalled(token)
	}
	if len(m.Names)+len(m.purposes) == 0 {
		// Whoever was checked is a robot, also one that only its signature shows.
		return who.Class == crawler.Robot || checked || m.asksFor(vars[foundKey])
	}
	if len(m.purposes) > 0 && who.Class != crawler.Browser {
		if c, ok := who.Crawler(); ok && slices.Contains(m.purposes, c.Purpose) {
			return true
		}
	}
	if slices.Contains(m.Names, "*") && m.asksFor(vars[foundKey]) {
		return true
	}
	for _, name := range m.Names {
		switch who.Class {
		case crawler.Robot:
			if name == "*" || enforce.ContainsFold(who.Text, name) {
				return true
			}
		case crawler.App, crawler.Service:
			if slices.ContainsFunc(who.Products, func(p string) bool { return strings.EqualFold(p, name) }) {
				return true
			}
		}
	}
	return false
}

// asksFor reports whether the matcher asks for what was found: trapped or banned, nil for neither.
func (m *MatchCrawler) asksFor(found any) bool {
	return slices.ContainsFunc(m.Verified, func(word string) bool { return word == found })
}

// MatchWithError reports whether r comes from one of the robots. If the matcher needs the result of
// a check and the request came in early data, this is an error, 425, as with Caddy's matchers of
// addresses.
func (m MatchCrawler) MatchWithError(r *http.Request) (bool, error) {
	if len(m.Verified) > 0 && isEarly(r) {
		if standing, checked := provedIn(allVariables(r)); checked && standing == enforce.Unverified {
			return false, caddyhttp.Error(http.StatusTooEarly, errTooEarly)
		}
	}
	return m.Match(r), nil
}

// CELLibrary makes the matcher a function of CEL expressions. Example:
//
//	expression crawler('*') && !crawler('search', 'Googlebot')
func (MatchCrawler) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return celFunction("crawler", func(words []string) (caddyhttp.RequestMatcherWithError, error) {
		m := new(MatchCrawler)
		m.add(words)
		return m, m.Provision(ctx)
	})
}

// celFunction makes a matcher that takes words a function of CEL expressions.
func celFunction(name string, match func(words []string) (caddyhttp.RequestMatcherWithError, error)) (cel.Library, error) {
	return caddyhttp.CELMatcherImpl(name, name+"_match_request_list", []*cel.Type{cel.ListType(cel.StringType)},
		func(data ref.Val) (caddyhttp.RequestMatcherWithError, error) {
			words, err := data.ConvertToNative(reflect.TypeFor[[]string]())
			if err != nil {
				return nil, err
			}
			return match(words.([]string))
		},
	)
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchCrawler)(nil)
	_ caddyfile.Unmarshaler             = (*MatchCrawler)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchCrawler)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchCrawler)(nil)
)
