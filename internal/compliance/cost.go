package compliance

// Cost is what requests that were served have cost, and what others would have that were not.
type Cost struct {
	// Measured are the requests whose cost is known: those that were served since it is noted.
	Measured uint64 `json:"measured"`

	// Bytes are those of the answers, without their headers. Seconds are how long the back end took for
	// them: what stands behind robots in the config, up to the last byte of the answer.
	Bytes   uint64  `json:"bytes"`
	Seconds float64 `json:"seconds"`

	// SavedBytes and SavedSeconds are an estimate of what was saved by refusals: that each would have cost
	// what the robot's other requests did on average or, where it has none, those of all robots of the site.
	SavedBytes   uint64  `json:"saved_bytes"`
	SavedSeconds float64 `json:"saved_seconds"`

	// Statuses are how many requests were answered with a status of each class: 2xx, 3xx, 4xx, 5xx.
	Statuses map[string]uint64 `json:"statuses,omitempty"`
}

var statusClasses = [statuses]string{"2xx", "3xx", "4xx", "5xx"}

// spend adds what requests cost.
func (c *Cost) spend(d *cost) {
	c.Measured += d.Measured
	c.Bytes += d.Bytes
	c.Seconds += seconds(d.Micros)
	for i, n := range d.Statuses {
		c.answered(statusClasses[i], n)
	}
}

// add adds another cost.
func (c *Cost) add(d *Cost) {
	c.Measured += d.Measured
	c.Bytes += d.Bytes
	c.Seconds += d.Seconds
	c.SavedBytes += d.SavedBytes
	c.SavedSeconds += d.SavedSeconds
	for class, n := range d.Statuses {
		c.answered(class, n)
	}
}

// answered counts requests that were answered with a status of a class.
func (c *Cost) answered(class string, n uint64) {
	if n == 0 {
		return
	}
	if c.Statuses == nil {
		c.Statuses = make(map[string]uint64, statuses)
	}
	c.Statuses[class] += n
}

// estimate fills in what refusals saved on a site.
func (s *Site) estimate() {
	var all Cost
	for i := range s.Robots {
		all.add(&s.Robots[i].Cost)
	}
	for i := range s.Robots {
		r := &s.Robots[i]
		of := &r.Cost
		if of.Measured == 0 {
			of = &all
		}
		if of.Measured > 0 {
			share := float64(r.Refused) / float64(of.Measured)
			r.SavedBytes, r.SavedSeconds = uint64(share*float64(of.Bytes)), share*of.Seconds
		}
	}
}
