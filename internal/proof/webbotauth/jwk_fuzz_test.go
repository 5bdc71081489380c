package webbotauth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzKeys holds seven properties of what a key directory answers:
//
//   - one of two: there are keys or an error, whose text is one short line;
//   - bounded: there are at most 64 keys;
//   - own name: each key has 32 bytes and stands under its own thumbprint;
//   - no known secret: none is a key whose private half is published;
//   - each alone: what one key says changes nothing about the others;
//   - rewritten: written out again, the keys read as the same;
//   - lifetime: it is from 5 minutes to a day, and what max-age says in between.
func FuzzKeys(f *testing.F) {
	for _, key := range []string{
		newTestAgent("https://agent.example", 1).jwk() + "," + newTestAgent("https://agent.example", 2).jwk(),
		`{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","nbf":1767225600,"exp":1798761600000}`, // RFC 9421's
		`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","use":"sig","kid":"a"}`,                // RFC 8037's
		`{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},null,[],"x",{"kty":"OKP","crv":"Ed25519","x":"=","d":"AA"}`, "", "1e999",
	} {
		f.Add([]byte(`{"keys":[`+key+`]}`), "public, max-age=86400", uint32(600), "application/http-message-signatures-directory+json")
	}
	f.Add([]byte(`{"keys":`+string(bytes.Repeat([]byte("["), 100))), `no-store, max-age="1"`, uint32(1), "application/json; charset=utf-8")
	f.Add([]byte("<html>"), "", uint32(1<<31), "text/html")
	f.Fuzz(func(t *testing.T, text []byte, cacheControl string, seconds uint32, mediaType string) {
		mayHoldKeys(mediaType)
		checkLifetime(t, cacheControl, seconds)
		keys, err := parseKeys(text, false)
		if (keys == nil) != (err != nil) {
			t.Fatalf("one of two: parseKeys(%q) = %v, %v", text, keys, err)
		}
		if err != nil {
			if message := err.Error(); len(message) > 100 || strings.ContainsAny(message, "\n\r\x00") {
				t.Errorf("one of two: parseKeys(%q): the message %q is long or has more than one line", text, message)
			}
			return
		}
		if len(keys) > maxDirectoryKeys {
			t.Errorf("bounded: %d keys, want at most %d", len(keys), maxDirectoryKeys)
		}
		for id, key := range keys {
			if len(key.public) != 32 || jwkThumbprint(key.public) != id || key.notBefore < 0 || key.notAfter < 0 {
				t.Errorf("own name: %q holds %+v", id, key)
			}
			if publishedKeys[id] {
				t.Errorf("no known secret: everybody can sign with %q", id)
			}
		}
		checkEachAlone(t, text, keys)
		checkWrittenAgain(t, keys)
	})
}

func checkLifetime(t *testing.T, cacheControl string, seconds uint32) {
	t.Helper()
	if age := directoryAge(http.Header{"Cache-Control": {cacheControl}}); age < minDirectoryAge || age > maxDirectoryAge {
		t.Errorf("lifetime: %q is %v", cacheControl, age)
	}
	stated := fmt.Sprintf("public, max-age=%d", seconds>>1)
	want := min(max(time.Duration(seconds>>1)*time.Second, minDirectoryAge), maxDirectoryAge)
	if age := directoryAge(http.Header{"Cache-Control": {stated}}); age != want {
		t.Errorf("lifetime: %q is %v, want %v", stated, age, want)
	}
}

// checkEachAlone reads each key of a directory as the only one.
func checkEachAlone(t *testing.T, text []byte, keys map[string]signingKey) {
	t.Helper()
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	together := make(map[string]signingKey)
	for _, raw := range set.Keys {
		one, err := parseKeys([]byte(fmt.Sprintf(`{"keys":[%s]}`, raw)), false)
		if err != nil || len(one) > 1 {
			t.Fatalf("each alone: %q gives %v, %v", raw, one, err)
		}
		maps.Copy(together, one)
	}
	if !maps.EqualFunc(together, keys, sameKey) {
		t.Errorf("each alone: got %v of %q, want %v", together, text, keys)
	}
}

// checkWrittenAgain writes keys as a directory has them.
func checkWrittenAgain(t *testing.T, keys map[string]signingKey) {
	t.Helper()
	const before5138 = 100_000_000_000 // what is later is read as milliseconds
	list := []map[string]any{}
	for id, key := range keys {
		if key.notBefore >= before5138 || key.notAfter >= before5138 {
			delete(keys, id)
			continue
		}
		x := base64.RawURLEncoding.EncodeToString(key.public)
		list = append(list, map[string]any{"kty": "OKP", "crv": "Ed25519", "x": x, "nbf": key.notBefore, "exp": key.notAfter})
	}
	text, err := json.Marshal(map[string]any{"keys": list})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := parseKeys(text, false); err != nil || !maps.EqualFunc(again, keys, sameKey) {
		t.Errorf("rewritten: %s reads as %v, %v, want %v", text, again, err, keys)
	}
}

func sameKey(a, b signingKey) bool {
	return a.public.Equal(b.public) && a.notBefore == b.notBefore && a.notAfter == b.notAfter
}
