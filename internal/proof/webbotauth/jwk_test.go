package webbotauth

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

// RFC 8037, appendix A.3.
func TestThumbprint(t *testing.T) {
	public, err := base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := jwkThumbprint(public), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; got != want {
		t.Errorf("jwkThumbprint() = %q, want %q", got, want)
	}
}

func TestParseKeysTakesOnlyWhatCanSign(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	x := base64.RawURLEncoding.EncodeToString(a.public())
	for key, want := range map[string]int{
		a.jwk(): 1,
		fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"use":"sig","kid":"any","alg":"EdDSA"}`, x): 1,
		a.jwk() + "," + a.jwk():                                                           1,
		a.jwk() + `,{"kty":"RSA","n":"AQ","e":"AQAB"},7,null,[]`:                          1,
		fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"use":"enc"}`, x):                0,
		fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"d":"AAAA"}`, x):                 0,
		fmt.Sprintf(`{"kty":"OKP","crv":"X25519","x":%q}`, x):                             0,
		fmt.Sprintf(`{"kty":"EC","crv":"Ed25519","x":%q}`, x):                             0,
		`{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`:                                        0,
		`{"kty":"OKP","crv":"Ed25519","x":"?"}`:                                           0,
		`{"kty":"OKP","crv":"Ed25519","x":7}`:                                             0,
		`{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`: 0,
		`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`: 0,
		`{"kty":"OKP","crv":"Ed25519","x":"PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw"}`: 0,
		`{"kty":"OKP","crv":"Ed25519","x":"_FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU"}`: 0,
		"": 0,
	} {
		got, err := parseKeys([]byte(`{"keys":[`+key+`]}`), false)
		if len(got) != want || err != nil {
			t.Errorf("parseKeys of %s = %d keys, %v, want %d", key, len(got), err, want)
		}
		if _, ok := got[a.keyID()]; ok != (want == 1) {
			t.Errorf("parseKeys of %s has the key: %v, want %v", key, ok, want == 1)
		}
	}
}

func TestParseKeysRefusesWhatIsNoKeySet(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	for text, want := range map[string]string{
		"":                  "it is not JSON",
		"<!doctype html>":   "it is not JSON",
		`[` + a.jwk() + `]`: "it is not JSON",
		`{"keys":{}}`:       "it is not JSON",
		`{}`:                `it has no list of "keys"`,
		`{"keys":null}`:     `it has no list of "keys"`,
		`{"keys":[` + strings.Repeat(a.jwk()+",", 64) + a.jwk() + `]}`: "it has 65 keys, more than 64",
	} {
		if _, err := parseKeys([]byte(text), false); err == nil || err.Error() != want {
			t.Errorf("parseKeys(%.60q) = %v, want %q", text, err, want)
		}
	}
}

func TestKeyHoldsBetweenItsTimes(t *testing.T) {
	a := newTestAgent("https://agent.example", 1)
	at := noon.Unix()
	for _, test := range []struct {
		times string
		want  bool
	}{
		{"", true},
		{fmt.Sprintf(`,"nbf":%d`, at), true},
		{fmt.Sprintf(`,"nbf":%d`, at+60), true},
		{fmt.Sprintf(`,"nbf":%d`, at+61), false},
		{fmt.Sprintf(`,"nbf":%d000`, at-1), true},
		{fmt.Sprintf(`,"nbf":%d000`, at+61), false},
		{fmt.Sprintf(`,"exp":%d`, at+1), true},
		{fmt.Sprintf(`,"exp":%d`, at), false},
		{fmt.Sprintf(`,"exp":%d000`, at+1), true},
		{fmt.Sprintf(`,"exp":%d000`, at-1), false},
		{`,"exp":-5`, true},
		{`,"nbf":1e300`, false},
		{`,"nbf":null,"exp":null`, true},
	} {
		jwk := strings.TrimSuffix(a.jwk(), "}") + test.times + "}"
		keys, err := parseKeys([]byte(`{"keys":[`+jwk+`]}`), false)
		if err != nil || len(keys) != 1 {
			t.Fatalf("parseKeys of %s = %d keys, %v, want 1", jwk, len(keys), err)
		}
		set := &keySet{keys: keys}
		if _, got := set.key(a.keyID(), noon); got != test.want {
			t.Errorf("key with %q holds at %s: %v, want %v", test.times, noon.Format(time.RFC3339), got, test.want)
		}
	}
}
