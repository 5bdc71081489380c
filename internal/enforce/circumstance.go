package enforce

import "github.com/caddy-robots/caddy-robots/crawler"

// Clients without a User-Agent that the request itself shows.
var (
	strippedBrowser = &crawler.Identity{Class: crawler.Browser}
	namelessService = &crawler.Identity{Class: crawler.Service}
)

// ByCircumstance returns who the client of r is that is, by its User-Agent, who; nearly always that
// is who. One without a User-Agent that sends Fetch Metadata is a browser whose proxy strips the
// header; one that does not fetch (RFC 9110, section 9.2.1: it uses another method than GET and
// HEAD) is no robot, but a service that delivers something. One that gives the host that it asks
// as its address is the site's own server, which calls itself, unless it says that it is a robot.
// Anybody can write such an address, and gains what he would have gained by writing none.
func ByCircumstance(r *Request, who *crawler.Identity) *crawler.Identity {
	switch {
	case who.GivesHost(r.Host):
		service := *who
		service.Class, service.Hash = crawler.Service, ^who.Hash // another client than that robot
		return &service
	case who.Class == crawler.Unstated:
		return ofNobody(r, who)
	}
	return who
}

// ofNobody is ByCircumstance for a client without a User-Agent.
func ofNobody(r *Request, who *crawler.Identity) *crawler.Identity {
	for _, header := range []string{"Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-Dest"} {
		if r.header(header) != "" {
			return strippedBrowser
		}
	}
	if r.Method != "" && !r.fetches() {
		return namelessService
	}
	return who
}
