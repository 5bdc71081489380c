package enforce

import (
	"net/url"
	"slices"
	"strings"
)

// isLed reports whether a request shows that somebody may have been led to what it asks for, or
// that a browser fetches it on its own account: then nobody is to be caught by it. Browsers say so
// over TLS (W3C Fetch Metadata Request Headers); a client that says nothing there is none, or one of
// before 2023. Over plain HTTP they say less, and what there is has to do: where the link stood, and
// what is accepted.
func (r *Request) isLed() bool {
	return r.states("Sec-Fetch-User", isNot("?0")) || // a person's click, or key
		r.states("Sec-Fetch-Site", isNot("same-origin")) || // another site's doing, or a link that was sent
		r.states("Sec-Fetch-Mode", isNot("navigate")) || // a part of a page, or a script's doing
		r.states("Sec-Fetch-Dest", isNot("document")) ||
		r.isAhead() ||
		r.Scheme != "https" && (r.isFromElsewhere() || r.isForPartOfPage())
}

// states reports whether a header stands there, with one value at least for which is returns true.
func (r *Request) states(name string, is func(value string) bool) bool {
	return slices.ContainsFunc(r.Header[name], is)
}

func isNot(usual string) func(string) bool {
	return func(value string) bool { return strings.TrimSpace(value) != usual }
}

// isAhead reports whether a browser says that it fetches ahead of its user.
func (r *Request) isAhead() bool {
	for _, header := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if r.states(header, func(value string) bool {
			value = strings.ToLower(value)
			return strings.Contains(value, "prefetch") || strings.Contains(value, "prerender") || strings.Contains(value, "preview")
		}) {
			return true
		}
	}
	return false
}

// isFromElsewhere reports whether the request says that a page of another host has led to it (RFC
// 9110, section 10.1.3, and RFC 6454, section 7).
func (r *Request) isFromElsewhere() bool {
	host := strings.Trim(r.Host, "[]")
	isForeign := func(value string) bool {
		page, err := url.Parse(value)
		return err == nil && page.Host != "" && !strings.EqualFold(page.Hostname(), host)
	}
	return r.states("Referer", isForeign) || r.states("Origin", func(value string) bool { return value == "null" || isForeign(value) })
}

// isForPartOfPage reports whether the request accepts pictures, style sheets and the like first, as
// a browser does that fetches a part of a page.
func (r *Request) isForPartOfPage() bool {
	return r.states("Accept", func(value string) bool {
		for _, kind := range [...]string{"image/", "audio/", "video/", "font/", "text/css"} {
			if strings.HasPrefix(strings.ToLower(value), kind) {
				return true
			}
		}
		return false
	})
}
