package policies

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Nobody waits for a load of a stranger that has no place for as long as a robot would wait.
func TestALoadWithoutAPlaceIsGivenUpWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		strangers, known := newPool(LoadTimeout), newPool(0)
		release := make(chan struct{})
		for _, p := range []*pool{strangers, known} {
			for range cap(p.quick) {
				p.quick <- struct{}{}
			}
			go func() {
				<-release
				<-p.quick
			}()
		}
		began := time.Now()
		strangers.do(t.Context(), func(context.Context) { t.Error("there was no place, and it ran") })
		if waited := time.Since(began); waited != LoadTimeout {
			t.Errorf("waited for %s, want %s", waited, LoadTimeout)
		}
		ran := make(chan struct{})
		go known.do(t.Context(), func(context.Context) { close(ran) })
		time.Sleep(time.Hour)
		close(release)
		<-ran
	})
}
