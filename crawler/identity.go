package crawler

import "strings"

// MaxLength is how many bytes of a User-Agent are read. People's browsers and robots send less than
// 500 bytes. The rest of a longer one is ignored, so that a hostile header costs no more than an
// honest one.
const MaxLength = 1024

// What one Identity can hold, and how many tokens are looked at for it.
const (
	maxName     = 64
	maxProducts = 32
	maxTokens   = 64
)

// Class is the kind of client that a User-Agent states. The zero value is Browser,
// which no robots.txt record binds, so a forgotten class never blocks a visitor.
type Class uint8

const (
	// Browser is a person's browser, or a client that cannot be told from one:
	// in-app browsers, old phones, consoles and headless browsers included.
	Browser Class = iota
	// App is an application, HTTP library or tool that does not say it is a robot.
	App
	// Robot says that it is one.
	Robot
	// Unstated sent no User-Agent, or a blank one.
	Unstated
	// Service fetches for somebody and does not crawl: health checks, monitors, validators
	// of certificates and domains, webhooks, federation, feed readers, link previews. It may
	// call itself a bot.
	Service
)

// String returns "browser", "app", "robot", "unstated" or "service"; "unknown" for a value
// that is none of them.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

var classNames = [...]string{Browser: "browser", App: "app", Robot: "robot", Unstated: "unstated", Service: "service"}

// Identity is what a User-Agent says about its sender. The zero value is a browser
// that said nothing more. An Identity is a plain value: copy it freely; Products
// and Hosts are shared by copies and must not be changed.
type Identity struct {
	// Class is the kind of client.
	Class Class

	// Name is the product token of a robot, service or app as it sends it, in the form that
	// robots.txt files use ("GPTBot", "Yahoo! Slurp", "curl"): printable ASCII without
	// <, >, ", &, {, }, \ and `, at most 64 bytes, without version, never a URL. It is empty for Browser and
	// Unstated. A robot that sends an address and no name is called by its host;
	// one that sends neither (only bytes that cannot be printed, say) has no name.
	Name string

	// Key is Name in small letters: for robots.txt, the case of letters does not make another name.
	// Budgets are counted by Key.
	Key string

	// Text is what the client says of itself. Tokens of robots.txt are looked for in it. It has the
	// words of the first MaxLength bytes of the User-Agent, without versions, without addresses and
	// e-mail, without the products of browsers and engines (Mozilla, AppleWebKit, compatible),
	// without comments that state a platform or device. If a robot gives its name only in such a
	// comment, the comment stays. If nothing is left but browsers' words, those are the Text. It is
	// at most 2*MaxLength bytes long, and empty for Browser and Unstated.
	Text string

	// Products are the product tokens that are sent, in order and without versions: those outside
	// comments, and the tokens of comments that name one, such as "compatible; X/1.0". Products of
	// browsers and engines are left out, and platform comments unless the robot's name is there.
	// There are 32 at most. An app of a phone has its Name as the only product, and none if that is
	// a known robot's name or the beginning of one (Yandex, Pinterest).
	Products []string

	// Handset says that an App runs on a phone (CFNetwork, okhttp, Dalvik): only a record with its
	// whole Name binds it, and a record with a robot's name never does.
	Handset bool

	// Hosts are the hosts of the addresses in the User-Agent of a Robot that neither has a known
	// crawler's name nor says that it is a robot, such as "MyShop/1.0 (+https://shop.example/)": at
	// most 4, in the form that GivesHost takes. On one of these hosts, it may be the site's own
	// server that calls itself.
	Hosts []string

	// Hash differs for different Identities of one Cache, so callers can use it as a key. Two are
	// the same with odds of 2^-64, and nobody outside the process can improve these odds. It is 0
	// for a Browser, and for results of the functions Identify and AsRobot.
	Hash uint64
}

// Identify says who sends this User-Agent. It is a pure function of the first
// MaxLength bytes, takes any bytes, and is safe for concurrent use. The Identity
// keeps no more of userAgent than those bytes in memory.
func Identify(userAgent string) Identity {
	userAgent = cut(userAgent)
	class, found := classOf(userAgent)
	if class == Browser {
		return Identity{}
	}
	var buffer [MaxLength]byte
	a := read(userAgent, buffer[:])
	a.found = found
	return a.identity(class, mayBeService)
}

// AsRobot returns what Identify would return for a robot, for owners who know that the sender is
// one. An empty User-Agent gives a Robot without a name. It is safe for concurrent use.
func AsRobot(userAgent string) Identity {
	userAgent = cut(userAgent)
	var buffer [MaxLength]byte
	a := read(userAgent, buffer[:])
	return a.identity(Robot, !mayBeService)
}

// mayBeService says that what looks like a robot or an app may be a service.
const mayBeService = true

// identity fills in what belongs to a sender of class c, or to a service, if it may be one.
func (a *agent) identity(c Class, mayBeService bool) Identity {
	if c == Unstated {
		return Identity{Class: Unstated}
	}
	var room [maxTokens]token
	tokens := a.tokens(room[:0])
	id := Identity{Class: c}
	service := token{}
	if mayBeService {
		var ok bool
		if service, ok = a.service(tokens, c); ok {
			id.Class = Service
		}
	}
	switch {
	case service.to > 0:
		id.Name = a.raw[service.from:service.to]
	case c == App && id.Class == App:
		id.Name = a.appName(tokens)
		id.Handset = a.found&handsetMark != 0
	default:
		id.Name = a.robotName(tokens)
	}
	id.Key = strings.ToLower(id.Name)
	id.Text = a.text(id.Name)
	id.Products = a.products(tokens, id.Name)
	if id.Handset {
		id.Products = handsetProducts(id.Name)
	}
	if id.Class == Robot && mayBeService {
		id.Hosts = a.hosts(tokens)
	}
	return id
}

// cut returns the bytes of a User-Agent that are read. A cut one is copied, so
// that an Identity never keeps a large header alive.
func cut(userAgent string) string {
	if len(userAgent) > MaxLength {
		return strings.Clone(userAgent[:MaxLength])
	}
	return userAgent
}
