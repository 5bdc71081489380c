package crawler

import (
	"slices"
	"testing"
)

func TestProductsAreListedInOrderWithoutVersions(t *testing.T) {
	tests := []struct {
		userAgent string
		want      []string
	}{
		{"FigTree/0.1 Robot libwww-perl/5.04", []string{"FigTree", "Robot", "libwww-perl"}},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", []string{"bingbot"}},
		{"Mozilla/5.0 (Linux; Android 9; XBot) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0 Mobile Safari/537.36 (compatible; GoogleOther)",
			[]string{"GoogleOther"}},
		{"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", []string{"Sogou web spider"}},
		{"python-requests/2.32.3", []string{"python-requests"}},
		{"a/1 a/2 a/3", []string{"a"}},
		{"", nil},
	}
	for _, test := range tests {
		if got := Identify(test.userAgent).Products; !slices.Equal(got, test.want) {
			t.Errorf("Identify(%q).Products = %q, want %q", test.userAgent, got, test.want)
		}
	}
}
