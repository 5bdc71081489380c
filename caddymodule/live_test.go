package caddymodule

import "testing"

func TestTheNewestHandlerComesFirstUntilItLeaves(t *testing.T) {
	sh := new(shared)
	first, second, third := new(Handler), new(Handler), new(Handler)
	sh.live.add(first)
	leave := sh.live.add(second)
	sh.live.add(third)
	leave()
	leave() // once more changes nothing
	if got := sh.handlers(); len(got) != 2 || got[0] != third || got[1] != first {
		t.Errorf("got %v, want the third and the first", got)
	}
}

func TestAHandlerIsLiveFromProvisionToCleanup(t *testing.T) {
	th := newTestHandler(t, closedAll, &Handler{})
	sh := th.shared
	if got := sh.handlers(); len(got) != 1 || got[0] != th.Handler {
		t.Errorf("provisioned: got %v, want the handler", got)
	}
	for _, leave := range th.leave {
		leave()
	}
	th.leave = nil
	if got := sh.handlers(); len(got) != 0 {
		t.Errorf("gone: got %v, want none", got)
	}
}

func TestDuringAReloadTheNewestRulesAreShown(t *testing.T) {
	before := newTestHandler(t, "User-agent: *\nDisallow: /a\n", &Handler{})
	before.begin(t)
	after := newTestHandler(t, "User-agent: *\nDisallow: /a\nDisallow: /b\n", &Handler{})
	gather(t, after.shared).expect(t, "caddy_robots_policy_rules", series{"site=*": 1}) // it has not started
	after.begin(t)
	gather(t, after.shared).expect(t, "caddy_robots_policy_rules", series{"site=*": 2})
}
