package caddymodule

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"sync"
	"time"

	"go.uber.org/zap"
)

// sourceStore keeps what URLs answered last in Caddy's storage, so that a restart while one
// cannot be had enforces what it gave before. It is bounded by the config: URLs that differ
// from host to host are not kept. It is safe for concurrent use; nil keeps nothing.
type sourceStore struct {
	storage storage
	log     *zap.Logger
	now     func() time.Time

	mu     sync.Mutex      // guards the fields below
	looked map[string]bool // what was read: a restart happens once
	saved  map[string][sha256.Size]byte
	failed bool // the storage did not take it, and the log says so
}

func newSourceStore(where storage, log *zap.Logger, now func() time.Time) *sourceStore {
	return &sourceStore{storage: where, log: log, now: now, looked: make(map[string]bool), saved: make(map[string][sha256.Size]byte)}
}

// keptSource is a document as it is stored. The text is kept octet for octet.
type keptSource struct {
	Source       string    `json:"source"`
	Since        time.Time `json:"since"` // when it was first answered
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Forbidden    bool      `json:"forbidden,omitempty"`
	Text         []byte    `json:"text"`
	SHA256       string    `json:"sha256"` // of the text
}

func keptOf(p part, doc *document) keptSource {
	return keptSource{
		Source: p.name, Since: doc.since.UTC(), ETag: doc.etag, LastModified: doc.lastModified,
		Forbidden: doc.forbidden, Text: []byte(doc.text), SHA256: hexSum([]byte(doc.text)),
	}
}

// document returns what was stored, or an error if it is not whole.
func (k keptSource) document() (*document, error) {
	if hexSum(k.Text) != k.SHA256 {
		return nil, errors.New("the text is not the one that was stored")
	}
	return &document{text: string(k.Text), forbidden: k.Forbidden, etag: k.ETag, lastModified: k.LastModified, since: k.Since}, nil
}

// stored tells whether the storage keeps what the part answers.
func (p part) stored() bool { return p.address != "" }

// storageKey is where the storage has what the part answered last.
func (p part) storageKey() string { return addressKey("sources", p.address) }

// load returns what the part answered before the restart, nil if that is not known. What
// cannot be understood is told and kept aside.
func (st *sourceStore) load(ctx context.Context, p part) *document {
	if st == nil {
		return nil
	}
	key := p.storageKey()
	st.mu.Lock()
	looked := st.looked[key]
	st.looked[key] = true
	st.mu.Unlock()
	if looked {
		return nil
	}
	data, err := st.storage.Load(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	log := st.log.With(zap.String("source", p.name), zap.String("storage_key", key))
	if err != nil {
		log.Warn("what this source answered before the restart could not be loaded", zap.Error(err))
		return nil
	}
	var kept keptSource
	var doc *document
	if err = json.Unmarshal(data, &kept); err == nil {
		doc, err = kept.document()
	}
	if err != nil {
		aside, failure := setAside(ctx, st.storage, key, data, st.now())
		log.Warn("what this source answered before the restart cannot be read; it is kept aside",
			zap.String("aside", aside), zap.Error(errors.Join(err, failure)))
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.saved[key] = sha256.Sum256(data)
	return doc
}

// keep stores what the part answered, if that has changed. That it cannot be stored is no
// reason to do without, and is told once.
func (st *sourceStore) keep(ctx context.Context, p part, doc *document) {
	if st == nil {
		return
	}
	data, err := json.Marshal(keptOf(p, doc))
	key, sum := p.storageKey(), sha256.Sum256(data)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.saved[key] == sum {
		return
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, storageTime)
		defer cancel()
		err = st.storage.Store(ctx, key, data)
	}
	switch {
	case err == nil:
		st.saved[key], st.failed = sum, false
	case !st.failed && ctx.Err() == nil:
		st.failed = true
		st.log.Warn("what a source answered could not be stored; a restart while it is away would not know it",
			zap.String("source", p.name), zap.String("storage_key", key), zap.Error(err))
	}
}
