package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"sync"
	"time"

	"go.uber.org/zap"
)

// storageTime bounds what waits for the storage.
const storageTime = 5 * time.Second

// Storage is Caddy's storage, as much of it as is needed here. A key that is not there is an
// error that is fs.ErrNotExist.
type Storage interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// documentStore keeps what URLs answered last in Caddy's storage, so that a restart while one
// cannot be had enforces what it gave before. It is bounded by the config: what differs from host
// to host is not kept, nor are files and texts. It is safe for concurrent use; nil keeps nothing.
type documentStore struct {
	storage Storage
	keys    map[Source]string // of what is kept
	log     *zap.Logger
	now     func() time.Time

	mu     sync.Mutex      // guards the fields below
	looked map[string]bool // what was read: a restart happens once
	saved  map[string][sha256.Size]byte
	failed bool // the storage did not take it, and the log says so
}

// newDocumentStore returns the store of these sources, nil where there is no storage.
func newDocumentStore(cfg Config) *documentStore {
	if cfg.Storage == nil {
		return nil
	}
	st := &documentStore{
		storage: cfg.Storage, keys: make(map[Source]string), log: cfg.Log, now: cfg.Now,
		looked: make(map[string]bool), saved: make(map[string][sha256.Size]byte),
	}
	for _, src := range cfg.Sources {
		if src.URL != "" && !src.perHost() {
			address, _ := src.place("") // Check has seen that there is no error
			st.keys[src] = storageKey(address)
		}
	}
	return st
}

// storedDocument is a document as it is stored. The text is kept byte for byte.
type storedDocument struct {
	Source       string    `json:"source"`
	Since        time.Time `json:"since"` // when it was first answered
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Forbidden    bool      `json:"forbidden,omitempty"`
	Text         []byte    `json:"text"`
	SHA256       string    `json:"sha256"` // of the text
}

// document returns what was stored, or an error if it is not whole.
func (k storedDocument) document() (*Document, error) {
	if hexSum(k.Text) != k.SHA256 {
		return nil, errors.New("the text is not the one that was stored")
	}
	return &Document{Text: string(k.Text), Forbidden: k.Forbidden, ETag: k.ETag, LastModified: k.LastModified, Since: k.Since}, nil
}

// storageKey is where the storage has what an address answered last.
func storageKey(address string) string {
	return "robots/sources/" + hexSum([]byte(address))[:32] + ".json"
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// load returns what the source answered before the restart, nil if that is not known. What cannot
// be understood is logged and kept aside, so that nothing is ever lost.
func (st *documentStore) load(ctx context.Context, src Source) *Document {
	if st == nil || st.keys[src] == "" {
		return nil
	}
	key := st.keys[src]
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
	log := st.log.With(zap.Stringer("source", src), zap.String("storage_key", key))
	if err != nil {
		log.Warn("what this source answered before the restart could not be loaded", zap.Error(err))
		return nil
	}
	var kept storedDocument
	var doc *Document
	if err = json.Unmarshal(data, &kept); err == nil {
		doc, err = kept.document()
	}
	if err != nil {
		aside := key + ".unreadable-" + st.now().UTC().Format("20060102T150405.000")
		failure := st.storage.Store(ctx, aside, data)
		log.Warn("what this source answered before the restart cannot be read; it is kept aside",
			zap.String("aside", aside), zap.Error(errors.Join(err, failure)))
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.saved[key] = sha256.Sum256(data)
	return doc
}

// keep stores what the source answered, if that has changed. That it cannot be stored is no
// reason to do without, and is logged once.
func (st *documentStore) keep(ctx context.Context, src Source, doc *Document) {
	if st == nil || st.keys[src] == "" {
		return
	}
	data, err := json.Marshal(storedDocument{
		Source: src.String(), Since: doc.Since.UTC(), ETag: doc.ETag, LastModified: doc.LastModified,
		Forbidden: doc.Forbidden, Text: []byte(doc.Text), SHA256: hexSum([]byte(doc.Text)),
	})
	key, sum := st.keys[src], sha256.Sum256(data)
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
			zap.Stringer("source", src), zap.String("storage_key", key), zap.Error(err))
	}
}
