package compliance

import "encoding/binary"

// append appends a row as it is stored; decoder.row is the opposite. Callers hold mu.
func (r *row) append(data []byte) []byte {
	data = appendText(data, r.key.site)
	data = appendText(data, r.key.robot)
	data = append(data, byte(r.key.class), byte(r.key.standing))
	data = appendNumbers(data, uint64(r.first), uint64(r.last), uint64(r.fetched), r.fetches)
	data = appendText(data, r.version)
	data = appendText(data, r.record)
	data = appendText(data, r.fetchedVersion)
	for _, t := range r.tallies {
		data = appendNumbers(data, t.requests, t.refused)
	}
	data = ring(r.hours[:]).append(data)
	data = ring(r.days[:]).append(data)
	if r.offences == nil {
		return append(data, 0)
	}
	return r.offences.append(append(data, 1))
}

// append appends the periods in which something was.
func (r ring) append(data []byte) []byte {
	used := uint64(0)
	for _, p := range r {
		if p.requests > 0 {
			used++
		}
	}
	data = appendNumbers(data, used)
	for _, p := range r {
		if p.requests > 0 {
			data = appendNumbers(data, uint64(p.number), uint64(p.requests), uint64(p.disobedient))
		}
	}
	return data
}

func (o *offences) append(data []byte) []byte {
	data = appendNumbers(data, uint64(len(o.lines)))
	for _, c := range o.lines {
		data = appendNumbers(data, uint64(c.number))
		data = appendText(data, c.text())
		data = appendNumbers(data, c.count, c.over)
	}
	data = appendNumbers(data, uint64(len(o.paths)))
	for _, c := range o.paths {
		data = appendText(data, c.text())
		data = appendNumbers(data, c.count, c.over)
	}
	data = o.first.append(data)
	latest := o.latest()
	data = appendNumbers(data, uint64(len(latest)))
	for _, one := range latest {
		data = one.append(data)
	}
	return data
}

func (e *evidence) append(data []byte) []byte {
	data = append(data, byte(e.verdict))
	data = appendNumbers(data, uint64(e.at), uint64(e.line), uint64(e.status))
	method, path, rule := e.texts()
	data = appendText(data, method)
	data = appendText(data, path)
	data = appendText(data, rule)
	if !e.address.IsValid() {
		return appendText(data, "")
	}
	data = appendText(data, string(e.address.Addr().AsSlice()))
	return append(data, byte(e.address.Bits()))
}

func appendNumbers(data []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		data = binary.AppendUvarint(data, n)
	}
	return data
}

func appendText(data []byte, s string) []byte {
	return append(appendNumbers(data, uint64(len(s))), s...)
}
