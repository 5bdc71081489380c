package caddymodule

import (
	"fmt"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/internal/proof"
)

// The log names the robots that are unpaced by a name that anybody can take.
func TestUnpacedByANameThatAnybodyCanTakeIsTold(t *testing.T) {
	prover := func(claims ...proof.Claim) *proof.Prover { return proof.New(proof.Options{Claims: claims}) }
	google := proof.Claim{Token: "Googlebot", DNS: []string{"googlebot.com"}}
	for _, test := range []struct {
		unpaced []string
		prover  *proof.Prover
		want    string
	}{
		{nil, nil, ""},
		{[]string{"Googlebot"}, nil, "1 [Googlebot]"},
		{[]string{"Googlebot"}, prover(google), ""},
		{[]string{"Googlebot-Image", "OurBot"}, prover(google), "1 [OurBot]"},
		{[]string{"security"}, prover(google), "6 [CensysInspect Google-Safety InternetMeasurement ips-agent NetcraftSurveyAgent zgrab]"},
	} {
		core, logged := observer.New(zap.WarnLevel)
		h := &Handler{Unpaced: test.unpaced, log: zap.New(core), prover: test.prover}
		var err error
		if h.settings, err = h.readOptions(); err != nil {
			t.Fatal(err)
		}
		h.reportUnprovable()
		got := ""
		for _, entry := range logged.FilterMessage("anyone can claim to be a robot that is unpaced").All() {
			got += fmt.Sprint(entry.ContextMap()["count"], " ", entry.ContextMap()["robots"])
		}
		if got != test.want {
			t.Errorf("unpaced %q: got %q, want %q", test.unpaced, got, test.want)
		}
	}
}
