package caddymodule

import "time"

// every calls do again and again, after each interval, until done is closed.
func every(interval time.Duration, done <-chan struct{}, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			do()
		}
	}
}
