package robotsrules

// What can be wrong with the text as a whole.
var (
	findUTF16 = define("utf-16", Error, "the text is UTF-16, of which nothing can be read",
		"save the file as UTF-8")
	findHTML = define("html", Error, "the text is an HTML or XML page, not a robots.txt",
		"answer /robots.txt with plain text, or with 404 when there are no rules")
	findCut = define("too-long", Warning, "only the first {number} bytes are read; this line and what follows is not",
		"shorten the file")
	findMore     = define("more", Warning, "{number} more diagnostics are not shown", "")
	findLongLine = define("long-line", Warning, "the line is longer than 16 KiB and is not read",
		"shorten the line")
)

// What can be wrong with any line.
var (
	findNoField = define("no-field", Warning, `"{text}" is not of the form "Field: value"`,
		"write # before it to make it a comment")
	findNoColon = define("no-colon", Warning, `the colon after "{text}" is missing; it is read as if it stood there`,
		`write "{field}: {fix}"`)
	findWrongColon = define("wrong-colon", Warning, `"{text}" means nothing: a : belongs behind {field}`,
		`write "{field}: {fix}"`)
	findBarePath = define("bare-path", Warning, `"{text}" is a path without a field, and is not read`,
		`write "Disallow: {text}" or "Allow: {text}"`)
	findBareAddress = define("bare-address", Warning, `"{text}" is an address without a field, and is not read`,
		`write "Sitemap: {text}" if it is one, or # before it to make it a comment`)
	findMisspelt = define("misspelt", Warning, `the field "{text}" is not known, so the line is not acted upon; "{field}" may be meant`,
		`write "{field}: {fix}"`)
	findMisspeltRecord = define("misspelt-user-agent", Warning,
		`the field "{text}" is not known, so what follows belongs to the record above; "{field}" may be meant`,
		`write "{field}: {fix}"`)
	findConflict = define("conflict", Warning, `"{text}" is the mark of a merge that nobody finished: what stands on both sides is read`,
		"write the one text that is meant")
	findSecondField = define("two-fields", Warning, `"{text}" has another field in it, which is not read as one`,
		`write "{fix}" on a line of its own`)
	findTypo = define("misspelt-but-read", Warning, `"{text}" is read as "{field}"`,
		`write "{field}: {fix}"`)
	findUnknown = define("unknown-field", Info, `the field "{text}" is not known; it is kept and not acted upon`, "")
)

// What can be wrong with a record.
var (
	findNobody = define("no-robot", Warning, "the User-agent line names no robot",
		"write the robot's name, or delete the line, and with it the record if that names nobody else")
	findCommonWord = define("common-word", Warning, `"{text}" is a word that many robots or browsers use of themselves; it binds only a robot that is called just that`,
		"write the robot's name, or delete the line, and with it the record if that names nobody else")
	findBrowser = define("browser", Warning, `"{text}" is the User-Agent of a browser and names no robot; it binds nobody`,
		"write the robot's name, or delete the line, and with it the record if that names nobody else")
	findUserAgent = define("whole-user-agent", Warning, `"{text}" is a whole User-Agent; it is read as the name of the robot in it`,
		`write "User-agent: {fix}"`)
	findList = define("list-of-robots", Warning, `"{text}" is a list; each robot in it is named, but by many readers none of them is`,
		"write {fix}")
	findAddressAsName = define("address-as-name", Warning, `"{text}" is an address and names no robot`,
		"write the robot's name and nothing else")
	findInnerStar = define("inner-star", Warning, `"{text}" names no robot: a * stands for all robots when it is alone, and for nothing within a name`,
		"write the robot's name and nothing else")
	findAllRobots = define("all-robots", Warning, `"{text}" names only robots that have it in their name: all robots are *`,
		`write "User-agent: *" if all robots are meant`)
	findException = define("exception", Warning, `"{text}" names no robot: a User-agent line has no exceptions`,
		`write a record of its own for that robot, and "User-agent: *" for all others`)
	findNoName = define("no-name", Warning, `"{text}" names no robot: no name has a {field} in it`,
		"write {fix}")
	findVersion = define("version-in-name", Warning, `"{text}" has a version in it: it names only a robot that sends exactly this`,
		`write "User-agent: {fix}"`)
	findNoRecord = define("no-record", Warning, "{field} is not below a User-agent line, so it binds nobody",
		"write a User-agent line above it, or delete it")
	findAfterBlank = define("after-blank", Warning, "the blank line {number} ended the record, so {field} binds nobody",
		"delete the blank line {number}")
	findStar = define("star-in-old-dialect", Warning, `"{text}" matches nothing: in {fix} a * is a character like others`,
		"write the beginning of the path, from its first / on")
	findMixedVersions = define("mixed-versions", Warning,
		`the record for "{text}" is not read: another one for it (line {number}) has Robot-version 2.0.0`,
		"write both as one record")
)

// What can be wrong with a path.
var (
	findPaths = define("several-paths", Warning, `"{text}" is read as one path`,
		"write {fix}")
	findHash = define("hash", Warning, `"{text}" is read up to the #, where a comment begins: as "{fix}"`,
		"write no # in a path, as no robot sends one, or a blank before it if a comment is meant")
	findBlank = define("blank-in-path", Warning, `"{text}" has a blank in it, which counts like any other character`,
		"{fix}")
	findDiskPath = define("disk-path", Warning, `"{text}" is a path on a disk, and only those of addresses are compared`,
		"{fix}")
	findQuotedPath = define("quoted-path", Warning, `"{text}" matches nothing that anybody asks for: quotes are characters like others`,
		`write "{field}: {fix}"`)
	findExpression = define("expression", Warning, `"{text}" looks like a regular expression; in a path only * (any text) and a final $ (the end) mean something`,
		"write the path with * for the part that varies, in several lines if needed")
	findBackslash = define("backslash", Warning, `"{text}" matches nothing that anybody asks for: paths are divided by /`,
		`write "{field}: {fix}"`)
	findSiteURL = define("address-of-site", Warning, `"{text}" matches nothing: it is an address, and only paths are compared`,
		`write "{field}: /" if you mean the whole site, or else "{field}:" with nothing after it`)
	findURL = define("address-as-path", Warning, `"{text}" matches nothing: it is an address, and only paths are compared`,
		`write "{field}: {fix}"`)
	findNoPath = define("no-path", Warning, `"{text}" matches nothing: it is no path`,
		`write "{field}: /" if you mean the whole site, or else "{field}:" with nothing after it`)
	findNoSlash = define("no-slash", Warning, `"{text}" matches nothing: a path begins with /`,
		`write "{field}: {fix}"`)
	findNotUTF8 = define("not-utf-8", Warning, `"{text}" is not UTF-8, so it is not the path that browsers and robots ask for`,
		"save the file as UTF-8, or percent-encode the path as a browser shows it")
	findRawLetters = define("raw-letters", Info, `"{text}" has letters beyond ASCII; they are understood here, but Google asks for percent-encoding`,
		`write "{field}: {fix}"`)
)

// What can be wrong with a Robot-version line.
var (
	findBadVersion = define("bad-version", Warning, `"{text}" is no version; the record is read without one`,
		`write "Robot-version: 2.0.0"`)
	findShortVersion = define("short-version", Warning, `the version "{text}" has fewer than three numbers; it is read as {fix}`,
		`write "Robot-version: {fix}"`)
	findOldVersion = define("old-version", Warning, `there is no version "{text}"; it is read as 1.0.0`,
		`write "Robot-version: 1.0.0"`)
	findOddVersion = define("odd-version", Warning, `the version "{text}" is experimental (its second number is odd), so the record is ignored`,
		`write "Robot-version: 2.0.0"`)
	findLateVersion = define("late-version", Warning, "Robot-version only counts right after the User-agent lines; it is ignored",
		"move it up to them")
)

// What can be wrong with a pace.
var (
	findBadDelay = define("bad-delay", Warning, `"{text}" is no number of seconds from 0 to 86400; the line is ignored`,
		`write a number, such as "Crawl-delay: 10"`)
	findZeroDelay   = define("zero-delay", Info, "a Crawl-delay of 0 asks for no delay", "")
	findSecondDelay = define("second-delay", Warning, "the record has a Crawl-delay already (line {number}); the slower one holds",
		"delete one of them")
	findBadRate = define("bad-rate", Warning, `"{text}" is no rate; the line is ignored`,
		`write documents/time, such as "Request-rate: 10/1m" or "Request-rate: 10/1m 0600-0845"`)
	findZeroRate = define("zero-rate", Warning, `the rate "{text}" has a zero in it; the line is ignored`,
		`write documents/time, such as "Request-rate: 10/1m", or "Disallow: /" to ask for no visits`)
	findManyWindows = define("many-windows", Warning, "the record has {number} rates with times already; the line is ignored",
		"write fewer")
	findBadVisit = define("bad-visit-time", Warning, `"{text}" is no span of time; the line is ignored`,
		`write two times of day in GMT, such as "Visit-time: 0600-0845"`)
	findSecondVisit = define("second-visit-time", Warning, "the record has a Visit-time already (line {number}); this one is ignored",
		"delete one of them")
	findWholeDay = define("whole-day", Warning, `"{text}" begins and ends at the same time; it is read as the whole day`,
		"write two different times, or none")
)

// What can be wrong with the lines of the Memento extensions.
var (
	findBadGate = define("bad-timegate", Warning, `"{text}" is no absolute http or https address; the TimeGate is ignored`,
		`write the whole address, such as "TimeGate: https://archive.example/timegate/"`)
	findManyGates = define("many-timegates", Warning, "the file has {number} TimeGates already; this one is ignored",
		"write fewer")
	findLoneGate = define("lone-timegate", Warning, "no Archived line follows the TimeGate, so it has no effect",
		`write "Archived: *", or the hosts it archives, below it`)
	findLoneArchived = define("lone-archived", Warning, "no TimeGate line stands before the Archived line; it is ignored",
		`write "TimeGate: " and its address above it`)
	findArchivedScheme = define("archived-scheme", Warning, `"{text}" begins with a scheme; the line is ignored`,
		`write "Archived: {fix}"`)
	findBadArchived = define("bad-archived", Warning, `"{text}" names no host; the line is ignored`,
		`write *, the end of a host name such as .be/, or a host and a path such as example.org/w/`)
)

// What can be wrong with the parts of a joined text.
var (
	findBigJoin = define("joined-too-long", Warning, "the joined text is {number} bytes long, of which a robot need not read more than 512000",
		"shorten it")
	findOpenEnd = define("joined-open-end", Warning, `the previous part ends with User-agent lines without a rule; "Disallow:" is added below them, so that the next part's rules do not bind these robots`,
		"write their rules below them")
	findOrphan = define("joined-orphan", Warning, `"{text}" is above the first User-agent or TimeGate line of its part; it becomes a comment, so that it does not belong to the previous part`,
		`write "User-agent: *" above it, or delete it`)
	findLeftOut     = define("left-out", Info, `line {number} of {field} is left out: "{text}"`, "")
	findMoreLeftOut = define("more-left-out", Info, "{number} more lines of {field} are left out", "")
	findForeignStar = define("foreign-star", Warning, "this part's record for * binds all robots that no record names",
		"limit the part to the records that disallow all, or delete the record")
	findNamedTwice = define("named-twice", Warning, `"{text}" is named in another part too ({field}, line {number}); their records are read as one`,
		"delete one of them")
	findNamedBefore = define("named-before", Warning, `"{text}" is named in a part before ({field}, line {number}); only that record is read`,
		"delete one of them")
)

// What can be wrong with a value that is repeated in a header.
var (
	findLongValue = define("long-value", Warning, "the value of {field} is longer than 2 KiB; it is ignored",
		"shorten it")
	findNotURI = define("not-uri", Warning, `"{text}" holds characters that no address has; it is ignored`,
		`write "{field}: {fix}"`)
	findNoLink = define("no-link", Warning, `"{text}" is no address; it is ignored`,
		"write {fix}")
	findLinks = define("several-links", Warning, `"{text}" is read as one address`,
		"write {fix}")
	findRelative = define("relative-link", Warning, `"{text}" is no whole address, which is what readers of {field} lines ask for`,
		`write "{field}: https://example.com{text}" with the name of your site`)
	findOtherWord = define("other-word", Warning, `"{text}" states nothing: {field} knows {example}`,
		`write "{field}: {fix}"`)
	findNoWord = define("no-word", Warning, `"{text}" states nothing: {field} knows {example}`,
		"write one of these words, or delete the line")
	findStarPath = define("star-path", Info, `"{text}" begins with a star; a path of a {field} line begins with /`,
		`write "{field}: {fix}"`)
	findNoPreference = define("no-preference", Warning, "the {field} line states no preference; it is ignored",
		`write it behind the path, such as "{field}: {fix}"`)
	findBadPreference = define("bad-preference", Warning, `"{text}" states no preference; it is ignored`,
		`write a path or none, and words in small letters, such as "{field}: / {fix}"`)
)
