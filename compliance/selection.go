package compliance

// Selection says which part of a Report is wanted. All is, as yet.
type Selection struct{ Site, Robot, Class, Standing string }

// Check returns an error for a Selection that makes no sense.
func (q Selection) Check() error { return nil }

// Select returns the part of the report that fits.
func (r *Report) Select(q Selection) *Report { return r }
