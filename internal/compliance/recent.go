package compliance

import "slices"

// Hours and days are kept in lists that grow as they are needed, so that a robot which comes seldom takes little.
// The one noted last is the last one.

// numbered is an hour or a day, whose number counts from 1970.
type numbered[T any] interface {
	*T
	num() *int32
	isEmpty() bool
}

// recent returns a list of at most so many hours or days in which the one that has a number is the last. One that
// is new takes the place of the oldest, if that is so old that it is not kept any more. Where there is no room, it
// takes that of one that a clock which was ahead has left.
func recent[T any, P numbered[T]](list []T, n int32, keep int) []T {
	oldest, newest, last := 0, 0, len(list)-1
	for i := range list {
		switch k := *P(&list[i]).num(); {
		case k == n:
			list[i], list[last] = list[last], list[i]
			return list
		case k < *P(&list[oldest]).num():
			oldest = i
		case k > *P(&list[newest]).num():
			newest = i
		}
	}
	one := *new(T)
	*P(&one).num() = n
	switch {
	case last >= 0 && int(*P(&list[oldest]).num()) <= int(n)-keep:
		list[oldest], list[last] = list[last], one
	case len(list) < keep:
		return append(grown(list, keep), one)
	default:
		list[newest], list[last] = list[last], one
	}
	return list
}

// mergeRecent adds what was in other hours or days, but for what is so old that it is not kept.
func mergeRecent[T any, P numbered[T]](list, from []T, keep int, add func(to, from P)) []T {
	if len(list) == 0 {
		return slices.Clone(from)
	}
	newest := int32(0)
	for i := range list {
		newest = max(newest, *P(&list[i]).num())
	}
	for i := range from {
		f := P(&from[i])
		if int(*f.num()) > int(newest)-keep {
			list = recent[T, P](list, *f.num(), keep)
			add(&list[len(list)-1], f)
		}
	}
	return list
}

// withStored returns a list with one that was stored, unless it is empty, one too many, or there already.
func withStored[T any, P numbered[T]](list []T, one T, last int32, keep int) []T {
	p := P(&one)
	*p.num() = min(max(*p.num(), 0), last)
	for i := range list {
		if *P(&list[i]).num() == *p.num() {
			return list
		}
	}
	if p.isEmpty() || len(list) == keep {
		return list
	}
	return append(grown(list, keep), one)
}

// upTo returns those of a list that are kept as of the one with a number, in their order.
func upTo[T any, P numbered[T]](list []T, n int32, keep int) []T {
	order := make([]int64, 0, len(list)) // numbers, and where they are
	for i := range list {
		if p := P(&list[i]); !p.isEmpty() && *p.num() <= n && int(*p.num()) > int(n)-keep {
			order = append(order, int64(*p.num())<<16|int64(i))
		}
	}
	slices.Sort(order)
	kept := make([]T, len(order))
	for i, at := range order {
		kept[i] = list[at&0xffff]
	}
	return kept
}

// grown returns a list that has room for one more, of at most so many.
func grown[T any](list []T, most int) []T {
	if len(list) < cap(list) {
		return list
	}
	more := make([]T, len(list), min(max(2*len(list), 1), most))
	copy(more, list)
	return more
}
