// Package crawler tells who is behind a User-Agent: a person's browser, an app, a service,
// or a robot that says that it is one, and under which name.
//
// # What counts as a robot
//
// A robot is taken at its word, and only at its word: nothing here guesses from
// behaviour, and a client that claims to be a browser is one. The signs are
//
//   - a word that robots use of themselves (bot, crawl, spider, fetch, archiv);
//   - a way to reach its owner: a web address or an e-mail address, which the 1994
//     standard and RFC 9309, section 2.2.1, ask of robots and which people do not send;
//   - "compatible; Name" in a Mozilla/5.0 User-Agent, where no browser stands;
//   - a name after "(KHTML, like Gecko", where no browser puts one;
//   - a robot's word and an address together in a platform comment, where archive.org_bot
//     names itself;
//   - a few names that carry none of these signs;
//   - for what is not shaped like a browser, what github.com/mssola/useragent
//     takes for a robot: of what the rules above leave, that is a single product with "search"
//     or "worm" in it (WWWWorm/1.0), words that too many people's apps have to be rules here.
//     It also names robots that are called just as the library which they are made with
//     (python-requests/2.31 and an address). Cases in testdata fail without either.
//
// An app of a handset (CFNetwork, Dalvik, okhttp) and a game (Unity, Unreal) are not asked for
// these words unless they also give an address: games are called iRobot. Nor are programs of the
// desktop that are made of a browser (Electron, Qt WebEngine), and browsers inside of apps
// (Android's WebView, Apple's without Safari). In the browser of a handset a word
// for what robots do (survey, checker), or an e-mail address, needs the other beside it, and in an
// app of the desktop such a word needs an address.
//
// # What counts as a service
//
// A robot automatically traverses the web (the 1996 draft). A service fetches for somebody and
// does not crawl: health checks, monitors, validators of certificates and domains, webhooks, the
// site's own software, federation, feed readers, link previews, associations of apps, image
// proxies of mail. It is known by a product that its operator documents, or by a word of its
// kind (healthcheck, uptime, webhook, validation server), in its products and comments and not
// in addresses. Nothing of this outranks a crawler: whoever also has the name of a known robot,
// or a name with bot, crawler or spider in it that is no known service's, is a robot. A bot whose
// name says what it is for ("ExampleUptimeBot"), and that says nothing of crawling, is a service.
// A client that says that it is like another ("FreshRSS/1.11 (Linux) like Googlebot") is not the
// other one. What a person runs, such as a feed reader on a phone, is an app.
//
// The site's own server, too, may call itself with nothing but its address. Which host is asked
// does not stand in a User-Agent, so [Identity.GivesHost] answers whoever knows. A client that
// says that it is a robot, or has a crawler's name, gives no host: else a crawler would only
// have to write the host that it is at. What a robot without a name gains by that, it would also
// gain by leaving its address out.
//
// # Why browsers are safe
//
// Phones are called CUBOT, XBot, M bot 54 and DROID SPYDER. Their names stand in
// the platform comment, the parenthesis in which a browser states its system, so
// that comment is left out before any sign is looked for. Where a sign could also
// be an app's home page or a toolbar's address, it does not count. When in doubt
// the answer is Browser: a robot let through costs less than a person refused.
//
// The words themselves are in words.txt, with where each of them comes from.
//
// # The catalogue
//
// Of some two hundred robots and services more is known than they say: who runs them, what for, how
// they can be verified, and whether they read Crawl-delay. [Find] looks one up by a product token,
// [Identity.Crawler] by what a client says of itself. The data are in catalogue.txt, each line
// with the pages that were read for it.
//
// # Headless browsers
//
// A client that runs a headless browser without saying more (HeadlessChrome) is a
// Browser: people test their own sites with it, and it names no owner to whom a
// robots.txt could be addressed.
//
// # Robots in odd places
//
// A robot's name says nothing where no robot that means to be known writes it, and where phones,
// toolbars and people's texts may say anything: among the words of a browser's platform without an
// address, "(Linux; GPTBot)"; behind the word Android, "Android (GPTBot v1)"; in a browser's
// comment that is never closed; in Internet Explorer's, if it has no version; behind MaxLength
// bytes; and in other letters than ASCII, such as full-width ones. The client is then what the rest
// says, a browser or an app. In what is not shaped like a browser it counts everywhere else, in a
// comment that is never closed too. The cases are in testdata/oddities.txt.
package crawler
