package webbotauth

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// directoryPath is where an origin publishes its keys.
const directoryPath = "/.well-known/http-message-signatures-directory"

// maxOrigin bounds the text of a Signature-Agent: a host name has at most 253 bytes.
const maxOrigin = 512

// Why a Signature-Agent header names no agent.
var (
	errAgentUnreadable = errors.New("the Signature-Agent header cannot be read")
	errAgentAmbiguous  = errors.New("the Signature-Agent header does not say which agent signed")
	errAgentType       = errors.New("the Signature-Agent's type is not directory")
	errAgentNotOrigin  = errors.New("the Signature-Agent is not the https origin of a key directory")
)

// claimedAgent returns the origin whose keys a signature says it is made with, and whether the
// signature covers that statement. Three forms are in use: the Dictionary of the draft
// (`sig1="https://agent.example"`), the String of its first versions, which ChatGPT's agent
// sends, and a URL without quotes, which DuckDuckBot sends.
func claimedAgent(values []string, label string, input httpsfv.InnerList, allowHTTP bool) (origin string, covered bool, err error) {
	var text string
	switch first := strings.TrimLeft(values[0], " \t"); {
	case strings.HasPrefix(first, `"`):
		text, err = stringAgent(values)
		covered = covers(input, "signature-agent")
	case strings.HasPrefix(first, "https://") || strings.HasPrefix(first, "http://"):
		text = strings.TrimSpace(strings.Join(values, ", "))
		covered = covers(input, "signature-agent")
	default:
		text, covered, err = dictionaryAgent(values, label, input)
	}
	if err != nil {
		return "", false, err
	}
	origin, err = agentOrigin(text, allowHTTP)
	return origin, covered, err
}

func stringAgent(values []string) (string, error) {
	item, err := httpsfv.UnmarshalItem(values)
	if err != nil {
		return "", errAgentUnreadable
	}
	return agentText(item)
}

// dictionaryAgent picks the member that the signature speaks of. A signature may cover the members
// of other signers too, so its own label comes first.
func dictionaryAgent(values []string, label string, input httpsfv.InnerList) (text string, covered bool, err error) {
	all, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return "", false, errAgentUnreadable
	}
	whole, keys := covers(input, "signature-agent"), coveredAgents(input)
	_, hasLabel := all.Get(label)
	var name string
	switch {
	case hasLabel && (slices.Contains(keys, label) || len(keys) == 0):
		name = label
	case len(keys) == 1:
		name = keys[0]
	case len(keys) == 0 && len(all.Names()) == 1:
		name = all.Names()[0]
	default:
		return "", false, errAgentAmbiguous
	}
	member, _ := all.Get(name)
	item, ok := member.(httpsfv.Item)
	if !ok {
		return "", false, errAgentUnreadable
	}
	text, err = agentText(item)
	return text, whole || slices.Contains(keys, name), err
}

// coveredAgents returns the members of Signature-Agent that are signed by their key.
func coveredAgents(input httpsfv.InnerList) (keys []string) {
	for _, item := range input.Items {
		if key := stringParam(item.Params, "key"); item.Value == "signature-agent" && key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// agentText returns the String of a member. An older draft lets the member say that it names a
// directory; what names something else, or says what is not known here, is not an agent.
func agentText(item httpsfv.Item) (string, error) {
	text, ok := item.Value.(string)
	if !ok {
		return "", errAgentUnreadable
	}
	for _, name := range item.Params.Names() {
		kind, _ := item.Params.Get(name)
		if name != "type" || (kind != httpsfv.Token("directory") && kind != "directory") {
			return "", errAgentType
		}
	}
	return text, nil
}

// agentOrigin returns the origin that text names, in one spelling: lower case, without a default
// port. Beside a bare origin it takes one with the path of the directory, as later drafts write it.
func agentOrigin(text string, allowHTTP bool) (string, error) {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxOrigin || strings.ContainsAny(text, "?#@") {
		return "", errAgentNotOrigin
	}
	if u.Path != "" && u.Path != "/" && u.EscapedPath() != directoryPath {
		return "", errAgentNotOrigin
	}
	host, loopback := hostName(u.Hostname())
	if host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !allowHTTP || !loopback)) {
		return "", errAgentNotOrigin
	}
	origin := u.Scheme + "://" + host
	if port := u.Port(); port != "" && net.JoinHostPort("", port) != defaultPort(u.Scheme) {
		origin += ":" + port
	}
	return origin, nil
}

// hostName returns a host in one spelling, ready for a URL, or "" for what is not one.
func hostName(host string) (name string, loopback bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", false
		}
		if addr.Is6() {
			return "[" + addr.String() + "]", addr.IsLoopback()
		}
		return addr.String(), addr.IsLoopback()
	}
	host = strings.ToLower(host)
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false
		}
	}
	return host, host == "localhost"
}

// defaultPort returns the port that an authority of a scheme need not state, with its colon.
func defaultPort(scheme string) string {
	switch scheme {
	case "https":
		return ":443"
	case "http":
		return ":80"
	}
	return ""
}
