package caddymodule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// storageTime bounds what waits for the storage: to start and to stop.
const storageTime = 5 * time.Second

// storage is Caddy's, as much of it as is needed here.
type storage interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// addressKey is under which the storage has what came from an address, in this folder.
func addressKey(folder, address string) string {
	return "robots/" + folder + "/" + hexSum([]byte(address))[:32] + ".json"
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// setAside stores what cannot be read under a name of its own, so that nothing is ever lost.
func setAside(ctx context.Context, where storage, key string, data []byte, now time.Time) (aside string, err error) {
	aside = key + ".unreadable-" + now.UTC().Format("20060102T150405.000")
	return aside, where.Store(ctx, aside, data)
}
