package crawler

import "strings"

// MaxLength is how many bytes of a User-Agent are read. What people's browsers
// send is below 500 bytes, and so is what robots send; the rest of a longer one
// is ignored, which keeps a hostile header as cheap as an honest one.
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

	// Key is Name in small letters: the same for every spelling of a name that
	// robots.txt does not tell apart, and so what budgets are kept by.
	Key string

	// Text is what the client says of itself, and where robots.txt tokens are looked for: the
	// words of the first MaxLength bytes of its User-Agent, without versions, without addresses and
	// e-mail, without the products of browsers and engines (Mozilla, AppleWebKit, compatible),
	// without comments that state a platform or device. A robot that gives its name nowhere
	// but in such a comment keeps them. If nothing is left but browsers' words, those are
	// the Text. It is at most 2*MaxLength bytes long, and empty for Browser and Unstated.
	Text string

	// Products are the product tokens that are sent, in order and without versions:
	// those outside comments, and the tokens of comments that name one, such as
	// "compatible; X/1.0". Products of browsers and engines are left out, and platform
	// comments unless the robot's name stands there. There are 32 at most. An app of a handset has its Name, and none if
	// that is a known robot's or the beginning of one (Yandex, Pinterest).
	Products []string

	// Handset says that an App runs on a handset (CFNetwork, okhttp, Dalvik): only a record
	// that has its whole Name can mean it, and none that is a robot's.
	Handset bool

	// Hosts are those of the addresses that a Robot gives which neither has a known crawler's name
	// nor says that it is a robot, such as "MyShop/1.0 (+https://shop.example/)": at most 4, as
	// GivesHost has them. On a host of its own it may be the site's own server that calls itself.
	Hosts []string

	// Hash differs for different Identities of one Cache, so that it can be a key
	// for what follows from one. Two are the same with odds of 2^-64, which nobody
	// outside the process can better. It is 0 for a Browser, and for what the
	// functions Identify and AsRobot return.
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

// AsRobot returns what Identify would return if it took the sender for a robot, which the
// owner of a site may know better. An empty User-Agent gives a Robot without a name. It is
// safe for concurrent use.
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
