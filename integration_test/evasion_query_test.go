package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const queriedSite = `
http://list.test:{$PORT} {
	robots {
		source text <<ROBOTS
			User-agent: *
			Disallow: /list?*sort=
			ROBOTS
	}
	reverse_proxy {$BACKENDS}
}
`

// queries returns a target with each byte of its query encoded, and with each text put in
// at each place of it.
func queries(target string) (all []string) {
	path, query := split(target)
	for i := 1; i <= len(query); i++ {
		for _, text := range []string{"#", "#&", "&", "%23", "?", "/", "/../", "//", ";", "%00", "%", "%zz", "+", "%20", "&&", "%26", "\\", "%c0%af", "\xe9", "#?"} {
			all = append(all, path+query[:i]+text+query[i:])
		}
		if i < len(query) {
			all = append(all, fmt.Sprintf("%s%s%%%02x%s", path, query[:i], query[i], query[i+1:]))
		}
	}
	return all
}

func TestNoQueryEvades(t *testing.T) {
	list := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Trim(r.URL.Path, "/") != "list" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "sorted %t", r.URL.Query().Get("sort") != "")
	})
	c := start(t, queriedSite, map[string]string{"BACKENDS": startBackends(t, map[string]http.Handler{"list.test": list})})
	w := &wire{address: c.address(), open: http1}
	defer w.close()

	served := map[string]int{}
	for _, target := range append(queries("/list?a=1&sort=price"), append(queries("//list?#&sort=1"), queries("/list?a=sort")...)...) {
		person, err := w.ask("list.test", target, chrome)
		robot, err2 := w.ask("list.test", target, bingbot)
		if err != nil || err2 != nil {
			t.Fatalf("%q: %v, %v", target, err, err2)
		}
		asSpelt := strings.Contains(decoded(target), "sort=")
		served[person.body]++
		switch {
		case person.status == http.StatusForbidden:
			t.Errorf("%q: a person is refused", target)
		case person.body == "sorted true" && robot.status != http.StatusForbidden:
			t.Errorf("%q: evaded: got %d, want 403", target, robot.status)
		case person.body == "sorted false" && robot.status == http.StatusForbidden && !asSpelt:
			t.Errorf("%q: refused although allowed", target)
		}
	}
	if served["sorted true"] < 100 || served["sorted false"] < 100 {
		t.Errorf("people were served %v, want at least 100 of each list", served)
	}
}
