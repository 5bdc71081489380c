package ratelimit

import "hash/maphash"

// fingerprints tells keys and clients apart by 64-bit hashes, with seeds drawn at
// random, so that nobody can aim at another's. Each part has a seed of its own,
// so that parts cannot be swapped or run together.
type fingerprints struct {
	site, robot, standing, address maphash.Seed
}

func newFingerprints() fingerprints {
	return fingerprints{maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed()}
}

// key returns a hash of k that is never zero.
func (f *fingerprints) key(k Key) uint64 {
	h := maphash.String(f.site, k.Site) ^ maphash.String(f.robot, k.Robot)
	if k.Standing != "" {
		h ^= maphash.String(f.standing, k.Standing)
	}
	return max(h, 1)
}

// client returns the hash of a key together with an address, given that of the key.
func (f *fingerprints) client(key uint64, address string) uint64 {
	if address == "" {
		return key
	}
	return key ^ maphash.String(f.address, address)
}
