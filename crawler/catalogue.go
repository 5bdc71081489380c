package crawler

import (
	_ "embed" // for catalogue.txt
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed catalogue.txt
var catalogueFile string

// catalogue is the content of catalogue.txt. If a line of it is malformed, errCatalogue
// names it and the entries before it are there. A test keeps errCatalogue nil.
var catalogue, errCatalogue = parseCatalogue(catalogueFile)

// byToken leads from a product token in small letters to its crawler.
var byToken = indexTokens(catalogue)

// Crawler is what the catalogue knows about one robot, service or app that fetches pages for
// somebody. The zero value is one about which nothing is known. Its slices are shared and must not
// be changed.
type Crawler struct {
	// Name is what it is called.
	Name string

	// Tokens are the product tokens that it sends, as robots.txt files write them.
	Tokens []string

	// Operator is who runs it.
	Operator string

	// Purpose is what it mainly fetches pages for.
	Purpose Purpose

	// ByPerson reports that a person makes it fetch, each time.
	ByPerson bool

	// CrawlDelay is whether its operator says that it reads the Crawl-delay of a robots.txt.
	CrawlDelay Answer

	// DNS are the domains of its hosts: an address is the crawler's if it resolves to a name under
	// one of them, and that name resolves back to the address.
	DNS []string

	// Ranges are the URLs at which its addresses are published, as lists that machines read.
	Ranges []string

	// Signers are the hosts, or the https URLs of keys, with which it signs its requests (Web Bot
	// Auth). A host means the well-known path of its key directory.
	Signers []string

	// Sources are the pages that were read, the operator's own if there are any. Without a source,
	// CrawlDelay, DNS, Ranges and Signers are unknown.
	Sources []string

	// Date is when the entry was last looked at, as 2026-11-22.
	Date string
}

// IsVerifiable reports whether an address can be shown to be the crawler's.
func (c *Crawler) IsVerifiable() bool { return len(c.DNS)+len(c.Ranges) > 0 }

// Purpose is what a crawler fetches pages for: one of a closed set of words.
type Purpose string

// The purposes.
const (
	PurposeSearch     Purpose = "search"      // an index that people search
	PurposeAITraining Purpose = "ai-training" // texts from which language models are made
	PurposeAISearch   Purpose = "ai-search"   // an index that answers are written from
	PurposeAIUser     Purpose = "ai-user"     // a model that reads a page for a person who asked
	PurposeArchive    Purpose = "archive"     // copies that are kept
	PurposeSEO        Purpose = "seo"         // links and rankings, for marketing
	PurposeAds        Purpose = "ads"         // advertising
	PurposePreview    Purpose = "preview"     // links in chats and social networks
	PurposeFeed       Purpose = "feed"        // feeds and podcasts for their subscribers
	PurposeMonitor    Purpose = "monitor"     // whether a site is up
	PurposeService    Purpose = "service"     // webhooks, validators, federation and the like
	PurposeResearch   Purpose = "research"
	PurposeSecurity   Purpose = "security" // searches for what is open or dangerous
)

var purposes = []Purpose{
	PurposeSearch, PurposeAITraining, PurposeAISearch, PurposeAIUser, PurposeArchive, PurposeSEO, PurposeAds,
	PurposePreview, PurposeFeed, PurposeMonitor, PurposeService, PurposeResearch, PurposeSecurity,
}

// isCrawling reports whether what has this purpose traverses sites. The others fetch one page for
// somebody.
func (p Purpose) isCrawling() bool {
	return p != PurposePreview && p != PurposeFeed && p != PurposeMonitor && p != PurposeService
}

// Purposes returns all purposes. The caller owns the result.
func Purposes() []Purpose { return slices.Clone(purposes) }

// ParsePurpose reads the word of a purpose, in any case of letters.
func ParsePurpose(word string) (Purpose, bool) {
	i := slices.IndexFunc(purposes, func(p Purpose) bool { return strings.EqualFold(string(p), word) })
	if i < 0 {
		return "", false
	}
	return purposes[i], true
}

// Answer is what an operator says to a question. The zero value is that nothing is known.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// String returns "unknown", "yes" or "no".
func (a Answer) String() string { return [...]string{"unknown", "yes", "no"}[a] }

// Catalogue returns all that is known of crawlers, sorted by name. Each token stands in one
// entry. The caller owns the slice, not what the entries hold.
func Catalogue() []Crawler { return slices.Clone(catalogue) }

// Find returns the crawler that sends a product token, in any case of letters; ok reports
// whether there is one. [Identity.Key] is such a token. It is safe for concurrent use and does
// not allocate for a token in small letters.
func Find(token string) (c Crawler, ok bool) {
	found, ok := byToken[strings.ToLower(token)]
	if !ok {
		return Crawler{}, false
	}
	return catalogue[found.crawler], true
}

// Named returns the crawler of the [Catalogue] with this name, as [Identity.Crawler] does. It is safe for
// concurrent use.
func Named(name string) (c Crawler, ok bool) {
	id := Identity{Key: strings.ToLower(name)}
	return id.Crawler()
}

// Crawler returns the crawler of the [Catalogue] that a client says it is, by its name or by a
// part of it that ends before a "-" (Googlebot-Image-Test is Googlebot's); ok reports whether there
// is one. Anybody can claim a name. It does not allocate, and is safe for concurrent use.
func (id *Identity) Crawler() (c Crawler, ok bool) {
	for key := id.Key; key != "" && !ok; {
		c, ok = Find(key)
		key = key[:max(strings.LastIndexByte(key, '-'), 0)]
	}
	return c, ok
}

// WellKnown returns a product token of the [Catalogue] as its crawler spells it, by the token in
// small letters, as in [Identity.Key]; ok reports whether there is one. The tokens are a closed
// set, so a metric can have one as a label, and nobody can make up more. It does not allocate,
// and is safe for concurrent use.
func WellKnown(key string) (name string, ok bool) {
	found, ok := byToken[key]
	return found.token, ok
}

// tokenKeys are the tokens of the catalogue in small letters, in their order.
var tokenKeys = slices.Sorted(maps.Keys(byToken))

// handsetProducts returns the product tokens of an app of a handset: its name, unless that is
// a known robot's or the beginning of one, whose records are not about the app.
func handsetProducts(name string) []string {
	key := strings.ToLower(name)
	i, _ := slices.BinarySearch(tokenKeys, key)
	if name == "" || i < len(tokenKeys) && strings.HasPrefix(tokenKeys[i], key) {
		return nil
	}
	return []string{name}
}

// knownToken is a token as it is sent, and the index of its crawler.
type knownToken struct {
	token   string
	crawler int
}

func indexTokens(all []Crawler) map[string]knownToken {
	tokens := make(map[string]knownToken)
	for i := range all {
		for _, token := range all[i].Tokens {
			tokens[strings.ToLower(token)] = knownToken{token, i}
		}
	}
	return tokens
}

// parseCatalogue reads a file of the form of catalogue.txt, up to its first bad line.
func parseCatalogue(text string) (all []Crawler, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := parseCrawler(line)
		if err != nil {
			return all, fmt.Errorf("catalogue.txt: line %d: %w", number, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// parseCrawler reads a line of catalogue.txt; its head says what stands where.
func parseCrawler(line string) (c Crawler, err error) {
	fields := strings.Split(line, " | ")
	if len(fields) != 9 {
		return c, fmt.Errorf("%d fields, want 9", len(fields))
	}
	purpose, isPurpose := ParsePurpose(fields[3])
	byPerson, isAnswer := answers[fields[4]]
	delay, isDelay := answers[fields[5]]
	switch {
	case !isPurpose:
		return c, fmt.Errorf("%q is no purpose", fields[3])
	case !isAnswer || byPerson == Unknown:
		return c, fmt.Errorf("person: %q, want yes or no", fields[4])
	case !isDelay:
		return c, fmt.Errorf("crawl-delay: %q, want yes, no or unknown", fields[5])
	}
	c = Crawler{
		Name: fields[0], Tokens: []string{fields[0]}, Operator: fields[2],
		Purpose: purpose, ByPerson: byPerson == Yes, CrawlDelay: delay, Date: fields[8],
	}
	if fields[1] != "=" {
		c.Tokens = strings.Split(fields[1], ", ")
	}
	if fields[7] != "-" {
		c.Sources = strings.Fields(fields[7])
	}
	return c, c.parseProofs(fields[6])
}

// answers are the words of answers.
var answers = map[string]Answer{"unknown": Unknown, "yes": Yes, "no": No}

// parseProofs reads how a crawler is verified: words, each with its values behind it.
func (c *Crawler) parseProofs(text string) error {
	if text == "-" {
		return nil
	}
	var values *[]string
	for _, word := range strings.Fields(text) {
		switch word {
		case "dns":
			values = &c.DNS
		case "ranges":
			values = &c.Ranges
		case "signer":
			values = &c.Signers
		default:
			if values == nil {
				return errors.New("verified by: write dns, ranges or signer first")
			}
			*values = append(*values, word)
		}
	}
	return nil
}
