package caddymodule

import (
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

func TestWhatWaitsForTheStartIsCalledInItsOrder(t *testing.T) {
	var s start
	var called []int
	s.then(func() {
		s.then(func() { called = append(called, 3) }) // as a load that ends at this moment
		called = append(called, 1)
	})
	s.then(func() { called = append(called, 2) })
	if len(called) != 0 {
		t.Errorf("before the start: got %v, want nothing called", called)
	}
	if err := s.Handle(t.Context(), caddy.Event{}); err != nil {
		t.Fatal(err)
	}
	s.then(func() { called = append(called, 4) })
	if want := []int{1, 2, 3, 4}; !slices.Equal(called, want) {
		t.Errorf("got %v, want %v", called, want)
	}
}

func TestAConfigThatNeverStartsPilesUpNoMoreThanItsBound(t *testing.T) {
	var s start
	for range 2 * maxHosts {
		s.then(func() {})
	}
	if got := len(s.waiting); got != maxHosts {
		t.Errorf("got %d waiting, want %d", got, maxHosts)
	}
}
