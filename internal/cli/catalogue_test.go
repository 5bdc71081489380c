package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/crawler"
)

func TestTheWholeCatalogueIsPrinted(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	table := runCommand(nil, "catalogue")
	objects := runCommand(nil, "catalogue", "--json")
	all := crawler.Catalogue()
	lines := slices.Collect(strings.Lines(table.out))
	if table.status != 0 || len(lines) != len(all)+1 {
		t.Fatalf("got status %d and %d lines, want one for each of %d crawlers and a head", table.status, len(lines), len(all))
	}
	decoder := json.NewDecoder(strings.NewReader(objects.out))
	for i, c := range all {
		if line := lines[i+1]; !strings.HasPrefix(line, c.Name+" ") || len([]rune(line)) > 81 {
			t.Errorf("%s: got %q", c.Name, line)
		}
		var got catalogued
		if err := decoder.Decode(&got); err != nil || got.Name != c.Name || !slices.Equal(got.DNS, c.DNS) || got.Operator != c.Operator {
			t.Errorf("%s: got %+v, %v", c.Name, got, err)
		}
	}
}

func TestTheHelpNamesEveryPurpose(t *testing.T) {
	help := runCommand(nil, "catalogue", "--help").out
	offers := complete(t, "catalogue", "")
	for _, p := range crawler.Purposes() {
		if !strings.Contains(help, " "+string(p)) && !strings.Contains(help, "\n"+string(p)) || !slices.Contains(offers, string(p)) {
			t.Errorf("the help or the completion lacks %s", p)
		}
	}
}
