package accesslog_test

import (
	"encoding/json"
	"io"
	"math/big"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/accesslog"
)

// The twin reads one line by encoding/json and regular expressions, plainly and slowly.
// What it says is what the package has to say.
//
// An outcome is a record, or why there is none: "skipped", "blank", or what is wrong.
type outcome struct {
	record accesslog.Record
	why    string
}

const (
	notALog  = "neither Caddy's JSON nor the Common or Combined Log Format"
	notJSON  = "not well-formed JSON"
	noTime   = `no time: it is looked for in the field "ts"`
	badTime  = "the time is not between 1990 and 2199, or not in a time_format that Caddy has a name for"
	noAsking = "it does not say what was asked for (request>uri): a log filter may have taken it"
	cutField = "a quoted field has no end"
	skipped  = "skipped"
	blank    = "blank"
)

func twin(line string) outcome {
	line = strings.Trim(strings.TrimPrefix(line, "\uFEFF"), " \t\r")
	switch {
	case line == "":
		return outcome{why: blank}
	case line[0] == '{':
		return twinCaddy(line)
	}
	return twinCommon(line)
}

// A jsonObject holds the first value of each name, as it stands.
type jsonObject map[string]json.RawMessage

func (o *jsonObject) UnmarshalJSON(text []byte) error {
	*o = jsonObject{}
	d := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if _, found := (*o)[key.(string)]; !found {
			(*o)[key.(string)] = value
		}
	}
	return nil
}

// object returns the object of a name; nil for anything else.
func (o jsonObject) object(name string) jsonObject {
	var inner jsonObject
	if raw := o[name]; len(raw) > 0 && raw[0] == '{' {
		_ = json.Unmarshal(raw, &inner) // the whole line is valid
	}
	return inner
}

func (o jsonObject) text(name string) string { s, _ := stringOf(o[name]); return s }

func stringOf(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

func twinCaddy(line string) outcome {
	if !json.Valid([]byte(line)) || depthOf(line) > 64 {
		return outcome{why: notJSON}
	}
	var o jsonObject
	_ = json.Unmarshal([]byte(line), &o) // it is valid
	request := o.object("request")
	logger, msg := o.text("logger"), o.text("msg")
	isAccess := strings.HasPrefix(logger, "http.log.access")
	if logger == "" {
		isAccess = request != nil && (msg == "" || msg == "handled request" || msg == "NOP")
	}
	var r accesslog.Record
	var ok bool
	switch {
	case !isAccess:
		return outcome{why: skipped}
	case request.text("uri") == "":
		return outcome{why: noAsking}
	case o["ts"] == nil:
		return outcome{why: noTime}
	}
	if r.Time, ok = twinTime(o["ts"]); !ok {
		return outcome{why: badTime}
	}
	r.Duration = twinDuration(o["duration"])
	r.Method, r.Target, r.Host = request.text("method"), request.text("uri"), request.text("host")
	r.Address = request.text("client_ip")
	if r.Address == "" {
		r.Address = request.text("remote_ip")
	}
	if r.Address == "" {
		host, _ := twinCutPort(request.text("remote_addr"))
		r.Address = strings.Trim(host, "[]")
	}
	r.UserAgent, r.UserAgentLogged = twinUserAgent(request.object("headers"))
	r.Status, r.Size = int(twinCount(string(o["status"]))), twinCount(string(o["size"]))
	r.TLS = request.object("tls") != nil
	return outcome{record: r}
}

func depthOf(line string) int {
	depth, deepest := 0, 0
	for d := json.NewDecoder(strings.NewReader(line)); ; {
		token, err := d.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func twinUserAgent(headers jsonObject) (string, bool) {
	raw, found := headers["User-Agent"]
	if !found {
		return "", headers != nil
	}
	var list []json.RawMessage
	if raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		if len(list) == 0 {
			return "", true
		}
		raw = list[0]
	}
	return stringOf(raw)
}

// twinTime reads a time of any kind. A number is tried in each unit, reckoned with
// fractions of any precision.
func twinTime(raw json.RawMessage) (time.Time, bool) {
	if text, ok := stringOf(raw); ok {
		return twinWords(text)
	}
	seconds, ok := ratOf(raw)
	if !ok {
		return time.Time{}, false
	}
	for _, unit := range []int64{1, 1000, 1_000_000_000} {
		nanos := floor(new(big.Rat).Mul(seconds, big.NewRat(1_000_000_000/unit, 1)))
		if !nanos.IsInt64() {
			continue
		}
		if t := time.Unix(0, nanos.Int64()).UTC(); isPlausible(t) {
			return t, true
		}
	}
	return time.Time{}, false
}

func isPlausible(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 2200 }

// ratOf reads a number that is not negative. One that is far out of range is not computed.
func ratOf(raw json.RawMessage) (*big.Rat, bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < 0 || f > 1e19 || raw[0] == '-' {
		return nil, false
	}
	if f < 1e-12 {
		return new(big.Rat), true
	}
	return new(big.Rat).SetString(string(raw))
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

var (
	caddyTime  = regexp.MustCompile(`^\d{4}(?:-\d\d-|/\d\d/)\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?$`)
	commonTime = regexp.MustCompile(`^\d\d/(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}$`)
)

func twinWords(text string) (time.Time, bool) {
	var layouts []string
	switch {
	case commonTime.MatchString(text):
		layouts = []string{"02/Jan/2006:15:04:05 -0700"}
	case caddyTime.MatchString(text):
		for _, date := range []string{"2006-01-02", "2006/01/02"} {
			for _, between := range []string{"T", " "} {
				for _, zone := range []string{"", "Z07:00", "Z0700"} {
					layouts = append(layouts, date+between+"15:04:05"+zone)
				}
			}
		}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), isPlausible(t.UTC())
		}
	}
	return time.Time{}, false
}

func twinDuration(raw json.RawMessage) time.Duration {
	const most = 1e9 * time.Second
	if text, ok := stringOf(raw); ok {
		if d, err := time.ParseDuration(text); err == nil && d >= 0 && d < most {
			return d
		}
		return 0
	}
	if !strings.ContainsAny(string(raw), ".eE") {
		return 0
	}
	seconds, ok := ratOf(raw)
	if !ok || seconds.Cmp(big.NewRat(1e9, 1)) >= 0 {
		return 0
	}
	return time.Duration(floor(seconds.Mul(seconds, big.NewRat(1e9, 1))).Int64())
}

func twinCount(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !regexp.MustCompile(`^\d+$`).MatchString(text) || len(text) > 19 {
		return 0
	}
	return n
}

var withPort = regexp.MustCompile(`(?s)^(.*\]|[^:]+):([^:]*)$`)

func twinCutPort(host string) (name, port string) {
	if m := withPort.FindStringSubmatch(host); m != nil {
		return m[1], m[2]
	}
	return host, ""
}

const quotedField = `(?s)^ "((?:[^"\\]|\\.)*)"(.*)$`

var (
	quoted      = regexp.MustCompile(quotedField)
	counts      = regexp.MustCompile(`(?s)^ (\d+|-) (\d+|-)( .*)?$`)
	requestLine = regexp.MustCompile("(?s)^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (.+?)(?: HTTP/[^ ]*)?$")
	noTarget    = regexp.MustCompile(`^[^ ]+  HTTP/[^ ]*$`)
	escape      = regexp.MustCompile(`(?s)\\(?:x[0-9a-fA-F]{2}|["\\bfnrtv])`)
	plainEscape = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\v`, "\v")
)

// twinCommon reads bytes as characters of Latin-1, so that a regular expression sees
// each one.
func twinCommon(line string) outcome {
	line = toLatin1(line)
	var r accesslog.Record
	before, after, why := twinCutTime(line, &r)
	if why != "" {
		return outcome{why: why}
	}
	words := strings.Split(before, " ")
	if len(words) < 3 || words[0] == "" {
		return outcome{why: notALog}
	}
	r.Address = words[0]
	if _, err := netip.ParseAddr(fromLatin1(words[1])); err == nil && len(words) > 3 {
		r.Address, r.Host = words[1], words[0]
		if name, port := twinCutPort(words[0]); port == "80" || port == "443" {
			r.Host, r.TLS = name, port == "443"
		}
	}
	request := quoted.FindStringSubmatch(after)
	if request == nil {
		return outcome{why: unquoted(after, notALog)}
	}
	numbers := counts.FindStringSubmatch(request[2])
	if numbers == nil {
		return outcome{why: notALog}
	}
	r.Status, r.Size = int(twinCount(numbers[1])), twinCount(numbers[2])
	all := unescape(request[1])
	if all == "" || all == "-" {
		return outcome{why: skipped}
	}
	r.Target = all
	if m := requestLine.FindStringSubmatch(all); m != nil && !noTarget.MatchString(all) {
		r.Method, r.Target = m[1], m[2]
	}
	if referer := quoted.FindStringSubmatch(numbers[3]); referer == nil {
		why = unquoted(numbers[3], "")
	} else if userAgent := quoted.FindStringSubmatch(referer[2]); userAgent == nil {
		why = unquoted(referer[2], "")
	} else if r.UserAgentLogged = true; unescape(userAgent[1]) != "-" {
		r.UserAgent = unescape(userAgent[1])
	}
	if why != "" {
		return outcome{why: why}
	}
	for _, s := range []*string{&r.Method, &r.Target, &r.Host, &r.UserAgent, &r.Address} {
		*s = fromLatin1(*s)
	}
	return outcome{record: r}
}

// unquoted says what is wrong where a quoted field was looked for.
func unquoted(text, otherwise string) string {
	if strings.HasPrefix(text, ` "`) {
		return cutField
	}
	return otherwise
}

func twinCutTime(line string, r *accesslog.Record) (before, after, why string) {
	runes := []rune(line)
	why = notALog
	for i := range runes {
		if i+29 > len(runes) || string(runes[i:i+2]) != " [" || runes[i+28] != ']' || runes[i+2] < '0' || runes[i+2] > '9' {
			continue
		}
		text := string(runes[i+2 : i+28])
		if !commonTime.MatchString(text) {
			why = badTime
			continue
		}
		var ok bool
		if r.Time, ok = twinWords(text); ok {
			return string(runes[:i]), string(runes[i+29:]), ""
		}
		why = badTime
	}
	return "", "", why
}

func unescape(text string) string {
	return escape.ReplaceAllStringFunc(text, func(s string) string {
		if s[1] != 'x' {
			return plainEscape.Replace(s)
		}
		n, _ := strconv.ParseUint(s[2:], 16, 8) // it matched
		return string(rune(n))
	})
}

func toLatin1(bytes string) string {
	var b strings.Builder
	for i := range len(bytes) {
		b.WriteRune(rune(bytes[i]))
	}
	return b.String()
}

func fromLatin1(text string) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteByte(byte(c))
	}
	return b.String()
}

// readLine reads one line with the package.
func readLine(line string) outcome {
	r, err := accesslog.Open([]string{"-"}, accesslog.Options{Stdin: strings.NewReader(line)})
	if err != nil {
		return outcome{why: err.Error()}
	}
	record, err := r.Next()
	n, problems := r.Unreadable()
	switch {
	case err == nil:
		return outcome{record: *record}
	case err != io.EOF:
		return outcome{why: err.Error()}
	case n > 0:
		return outcome{why: problems[0].Reason}
	case r.Skipped() > 0:
		return outcome{why: skipped}
	}
	return outcome{why: blank}
}

// isSame compares what the package says with what the twin says. Numbers with an exponent
// are read to the precision of a float64; and encoding/json replaces what is not UTF-8.
func isSame(got, want outcome) bool {
	const tolerance = time.Microsecond
	if d := got.record.Time.Sub(want.record.Time); d.Abs() > tolerance {
		return false
	}
	if d := got.record.Duration - want.record.Duration; d.Abs() > tolerance {
		return false
	}
	for _, o := range []*outcome{&got, &want} {
		r := &o.record
		r.Time, r.Duration = time.Time{}, 0
		for _, s := range []*string{&r.Method, &r.Target, &r.Host, &r.UserAgent, &r.Address} {
			*s = string([]rune(*s))
		}
	}
	return got == want
}
