package storage

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Document is a text that was fetched from an address, with what a conditional request for the
// next one needs (RFC 9110, section 13). It is a plain value, and JSON is its stored form.
type Document struct {
	Address string `json:"-"`                // it was fetched from
	Name    string `json:"source,omitempty"` // of the address in the log, without password

	Since        time.Time `json:"since,omitzero"` // when the address first answered with this text
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Forbidden    bool      `json:"forbidden,omitempty"` // the address answered 401 or 403
	Text         string    `json:"text"`
	SHA256       string    `json:"sha256,omitempty"` // of the text, in its stored form only
	Loaded       time.Time `json:"loaded,omitzero"`  // when the address last answered
}

// A Kind is what some [Documents] are: where and in what form they are stored, and what the log
// says of them. Kinds are immutable.
type Kind struct {
	folder string
	label  string // of a document's name in the log
	exact  bool   // kept byte for byte, with a checksum, and set aside if that is wrong

	notLoaded, notRead, notStored string // messages
}

// The kinds of documents: texts in the form of robots.txt, of which Loaded is not stored, and
// lists of the addresses that robots come from, of which neither Name nor Since is.
var (
	Sources = &Kind{
		folder: "sources", label: "source", exact: true,
		notLoaded: "the stored answer of this source could not be loaded",
		notRead:   "the stored answer of this source cannot be read; it is set aside",
		notStored: "the answer of a source could not be stored; after a restart it is unknown until the source answers again",
	}
	Ranges = &Kind{
		folder: "ranges", label: "list",
		notLoaded: "the stored addresses of robots could not be loaded; a new list will be loaded",
		notRead:   "the stored addresses of robots cannot be read; a new list will be loaded",
		notStored: "robots' addresses could not be stored; a restart without network will not know them",
	}
)

// key is where a Store has what an address answered.
func (k *Kind) key(address string) string {
	return "robots/" + k.folder + "/" + hexSum(address)[:32] + ".json"
}

// encode returns the stored form of a document. A text that is kept byte for byte is base64 in it.
func (k *Kind) encode(d Document) ([]byte, error) {
	if k.exact {
		d.Since, d.Loaded = d.Since.UTC(), time.Time{}
		d.SHA256, d.Text = hexSum(d.Text), base64.StdEncoding.EncodeToString([]byte(d.Text))
	} else {
		d.Name, d.Since = "", time.Time{}
	}
	return json.Marshal(d)
}

func (k *Kind) decode(data []byte) (d Document, err error) {
	if err := json.Unmarshal(data, &d); err != nil || !k.exact {
		return d, err
	}
	text, err := base64.StdEncoding.DecodeString(d.Text)
	if err == nil && hexSum(string(text)) != d.SHA256 {
		err = errors.New("the text is not the one that was stored")
	}
	d.Text, d.SHA256 = string(text), "" // as it was before encode
	return d, err
}

// Documents keep what addresses answered last in a [Store], so that a restart while one does
// not answer goes on with it. They are safe for concurrent use; nil keeps nothing.
type Documents struct {
	kind  *Kind
	store Store
	log   *zap.Logger
	now   func() time.Time

	mu     sync.Mutex                   // guards the fields below
	looked map[string]bool              // keys that were read: a restart happens once
	saved  map[string][sha256.Size]byte // what the Store has, by key
	failed bool                         // the log says that the Store did not take one
}

// NewDocuments returns Documents of a kind that are kept in store. The caller bounds how many
// addresses it keeps: none is ever forgotten.
func NewDocuments(kind *Kind, store Store, log *zap.Logger, now func() time.Time) *Documents {
	return &Documents{kind: kind, store: store, log: log, now: now, looked: make(map[string]bool), saved: make(map[string][sha256.Size]byte)}
}

// logger returns a logger that names a document.
func (ds *Documents) logger(name, key string) *zap.Logger {
	return ds.log.With(zap.String(ds.kind.label, name), zap.String("storage_key", key))
}

// Load hands to use what the address answered before the restart, and reports whether there was
// anything that use accepts. It reads an address once: later calls report false. What cannot be
// read, or what use returns an error for, is in the log; of sources it is set aside, too.
func (ds *Documents) Load(ctx context.Context, address, name string, use func(Document) error) bool {
	if ds == nil {
		return false
	}
	key := ds.kind.key(address)
	ds.mu.Lock()
	looked := ds.looked[key]
	ds.looked[key] = true
	ds.mu.Unlock()
	if looked {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	data, err := ds.store.Load(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		ds.logger(name, key).Warn(ds.kind.notLoaded, zap.Error(err))
		return false
	}
	doc, err := ds.kind.decode(data)
	if err == nil {
		doc.Address, doc.Name = address, name
		err = use(doc)
	}
	if err != nil {
		log := ds.logger(name, key)
		if ds.kind.exact {
			aside, failure := setAside(ctx, ds.store, key, data, ds.now())
			log, err = log.With(zap.String("aside", aside)), errors.Join(err, failure)
		}
		log.Warn(ds.kind.notRead, zap.Error(err))
		return false
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.saved[key] = sha256.Sum256(data)
	return true
}

// Save stores a document, if its stored form has changed. That it cannot be stored is no reason
// to do without it, so it is in the log, once until it is over, and no error.
func (ds *Documents) Save(ctx context.Context, doc Document) {
	if ds == nil {
		return
	}
	data, err := ds.kind.encode(doc)
	key, sum := ds.kind.key(doc.Address), sha256.Sum256(data)
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.saved[key] == sum {
		return
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		err = ds.store.Store(ctx, key, data)
	}
	switch {
	case err == nil:
		ds.saved[key], ds.failed = sum, false
	case !ds.failed && ctx.Err() == nil:
		ds.failed = true
		ds.logger(doc.Name, key).Warn(ds.kind.notStored, zap.Error(err))
	}
}
