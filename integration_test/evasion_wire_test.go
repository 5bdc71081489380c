package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// errNoAnswer says that a connection or stream ended without an answer that could be read.
var errNoAnswer = errors.New("no answer")

// A wire sends request targets as they are, which no HTTP client does, over one connection
// after the other. One goroutine uses it.
type wire struct {
	address string
	open    func(net.Conn) (exchange, error)

	conn net.Conn
	send exchange
}

// exchange sends a request and returns its answer.
type exchange func(host, target, agent string) (answer, error)

// ask sends a request, over a new connection where the last one has ended. The error is
// errNoAnswer if that was of no use.
func (w *wire) ask(host, target, agent string) (answer, error) {
	for {
		fresh := w.conn == nil
		if fresh {
			if err := w.dial(); err != nil {
				return answer{}, err
			}
		}
		if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return answer{}, err
		}
		a, err := w.send(host, target, agent)
		if err == nil {
			if a.header.Get("Connection") == "close" {
				w.close()
			}
			return a, nil
		}
		w.close()
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			return answer{}, err
		}
		if fresh {
			return answer{}, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
	}
}

func (w *wire) dial() (err error) {
	if w.conn, err = net.DialTimeout("tcp", w.address, patience); err == nil {
		w.send, err = w.open(w.conn)
	}
	return err
}

// close ends the connection, if there is one.
func (w *wire) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// http1 speaks HTTP/1.1.
func http1(conn net.Conn) (exchange, error) {
	in := bufio.NewReader(conn)
	return func(host, target, agent string) (answer, error) {
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n\r\n", target, host, agent); err != nil {
			return answer{}, err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return answer{}, err
		}
		return readAnswer(resp)
	}, nil
}

// http2Cleartext speaks HTTP/2 without TLS, with prior knowledge (RFC 9113, 3.3).
func http2Cleartext(conn net.Conn) (exchange, error) {
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		return nil, err
	}
	var block bytes.Buffer
	fields := hpack.NewEncoder(&block)
	stream := uint32(1)
	return func(host, target, agent string) (answer, error) {
		block.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", target}, {"user-agent", agent}} {
			if err := fields.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
				return answer{}, err
			}
		}
		err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
		if err != nil {
			return answer{}, err
		}
		stream += 2
		return readStream(framer, stream-2)
	}, nil
}

// readStream returns the answer on a stream.
func readStream(framer *http2.Framer, stream uint32) (answer, error) {
	a := answer{major: 2, header: make(http.Header)}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return answer{}, err
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				if err := framer.WriteSettingsAck(); err != nil {
					return answer{}, err
				}
			}
		case *http2.MetaHeadersFrame:
			for _, field := range f.Fields {
				if field.Name == ":status" {
					if _, err := fmt.Sscan(field.Value, &a.status); err != nil {
						return answer{}, err
					}
					continue
				}
				a.header.Add(field.Name, field.Value)
			}
		case *http2.DataFrame:
			a.body += string(f.Data())
			if n := uint32(len(f.Data())); n > 0 {
				if err := framer.WriteWindowUpdate(0, n); err != nil {
					return answer{}, err
				}
			}
		case *http2.RSTStreamFrame:
			return answer{}, fmt.Errorf("stream reset: %s", f.ErrCode)
		case *http2.GoAwayFrame:
			return answer{}, fmt.Errorf("go away: %s", f.ErrCode)
		}
		over := frame.Header().Flags.Has(http2.FlagDataEndStream) // the same flag of HEADERS and DATA
		if _, ok := frame.(*http2.SettingsFrame); over && !ok && frame.Header().StreamID == stream {
			return a, nil
		}
	}
}
