package webbotauth

import (
	"errors"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Why the text that was signed cannot be rebuilt from a request.
var (
	errComponentTwice   = errors.New("the signature covers a component twice")
	errComponentUnknown = errors.New("the signature covers a component that is not supported")
	errComponentAbsent  = errors.New("the signature covers a field that did not arrive")
	errComponentBroken  = errors.New("the signature covers a field that cannot be read")
	errBodySigned       = errors.New("the signature covers the body, which is not read here")
	errBaseTooLong      = errors.New("the signature covers more than 64 KiB")
)

// signatureBase rebuilds the bytes that were signed (RFC 9421, section 2.5): one line for each
// covered component and one for the signature's parameters.
func signatureBase(m Message, input httpsfv.InnerList) ([]byte, error) {
	base := make([]byte, 0, 512)
	seen := make([]string, 0, len(input.Items))
	for _, item := range input.Items {
		id, err := httpsfv.Marshal(item)
		if err != nil {
			return nil, errMalformed
		}
		if slices.Contains(seen, id) {
			return nil, errComponentTwice
		}
		seen = append(seen, id)
		value, err := componentValue(m, item)
		if err != nil {
			return nil, err
		}
		if len(base)+len(id)+len(value) > maxSignatureBaseSize {
			return nil, errBaseTooLong
		}
		base = append(append(append(append(base, id...), ": "...), value...), '\n')
	}
	params, err := httpsfv.Marshal(input)
	if err != nil {
		return nil, errMalformed
	}
	return append(append(base, `"@signature-params": `...), params...), nil
}

// componentValue returns what a component identifier stands for. A value of two lines is refused:
// it could pass for two components (RFC 9421, section 2.5).
func componentValue(m Message, item httpsfv.Item) (value string, err error) {
	name, ok := item.Value.(string)
	if !ok {
		return "", errMalformed
	}
	params := item.Params.Names()
	key := stringParam(item.Params, "key")
	switch {
	case len(params) == 0 && strings.HasPrefix(name, "@"):
		value, err = derivedValue(m, name)
	case len(params) == 0:
		value, err = fieldValue(m, name)
	case len(params) == 1 && key != "" && !strings.HasPrefix(name, "@"):
		value, err = memberValue(m, name, key)
	default:
		return "", errComponentUnknown
	}
	switch {
	case err != nil:
		return "", err
	case strings.ContainsAny(value, "\r\n"):
		return "", errComponentBroken
	case name == "content-digest":
		return "", errBodySigned // to verify it would say that the body is as it was sent
	}
	return value, nil
}

// derivedValue returns a component that is not a field (RFC 9421, section 2.2).
func derivedValue(m Message, name string) (string, error) {
	switch name {
	case "@method":
		return m.Method, nil
	case "@authority":
		return authority(m), nil
	case "@scheme":
		return strings.ToLower(m.Scheme), nil
	case "@target-uri":
		return strings.ToLower(m.Scheme) + "://" + authority(m) + path(m) + query(m), nil
	case "@request-target":
		return path(m) + query(m), nil
	case "@path":
		return path(m), nil
	case "@query":
		return "?" + m.RawQuery, nil
	}
	return "", errComponentUnknown
}

// authority is the host in lower case, without the port that its scheme implies.
func authority(m Message) string {
	host, scheme := strings.ToLower(m.Authority), strings.ToLower(m.Scheme)
	return strings.TrimSuffix(host, defaultPort(scheme))
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

// path is never empty (RFC 9421, section 2.2.6).
func path(m Message) string {
	if m.Path == "" {
		return "/"
	}
	return m.Path
}

func query(m Message) string {
	if m.RawQuery == "" {
		return ""
	}
	return "?" + m.RawQuery
}

// fieldValues returns the lines of a field. Go's server moves the Host field out of the header, so
// it is put back here.
func fieldValues(m Message, name string) ([]string, error) {
	if name != strings.ToLower(name) {
		return nil, errMalformed
	}
	values := m.Header.Values(name)
	if len(values) == 0 && name == "host" && m.Authority != "" {
		return []string{m.Authority}, nil
	}
	if len(values) == 0 {
		return nil, errComponentAbsent
	}
	if totalLen(values) > maxSignatureBaseSize {
		return nil, errBaseTooLong
	}
	return values, nil
}

// fieldValue returns the combined value of a field (RFC 9421, section 2.1).
func fieldValue(m Message, name string) (string, error) {
	values, err := fieldValues(m, name)
	if err != nil {
		return "", err
	}
	if len(values) == 1 {
		return unfold(values[0]), nil
	}
	lines := make([]string, len(values))
	for i, v := range values {
		lines[i] = unfold(v)
	}
	return strings.Join(lines, ", "), nil
}

// unfold trims a field line and joins what obsolete line folding split (RFC 9421, section 2.1).
func unfold(line string) string {
	line = strings.Trim(line, " \t\r\n")
	for {
		i := strings.IndexByte(line, '\n')
		if i < 0 || (line[i+1] != ' ' && line[i+1] != '\t') {
			return line // a line break that is no fold stays, and is refused
		}
		before := strings.TrimSuffix(line[:i], "\r")
		line = strings.TrimRight(before, " \t") + " " + strings.TrimLeft(line[i+1:], " \t")
	}
}

// memberValue returns one member of a Dictionary field, strictly serialized (RFC 9421, section
// 2.1.2).
func memberValue(m Message, name, key string) (string, error) {
	values, err := fieldValues(m, name)
	if err != nil {
		return "", err
	}
	all, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return "", errComponentBroken
	}
	member, ok := all.Get(key)
	if !ok {
		return "", errComponentAbsent
	}
	var value string
	switch member := member.(type) {
	case httpsfv.Item:
		value, err = httpsfv.Marshal(member)
	case httpsfv.InnerList:
		value, err = httpsfv.Marshal(member)
	}
	if err != nil {
		return "", errComponentBroken
	}
	return value, nil
}
