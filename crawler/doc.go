// Package crawler says which client sends a User-Agent: a person's browser, an app, a service, or a
// robot that says that it is one, and the name of each.
//
// # What counts as a robot
//
// Only what a client says of itself counts: nothing here guesses from behaviour, and a client that
// claims to be a browser is one. The signs of a robot are
//
//   - a word that robots use of themselves (bot, crawl, spider, fetch, archiv);
//   - a way to reach its owner: a web address or an e-mail address, which the 1994
//     standard and RFC 9309, section 2.2.1, ask of robots and which people do not send;
//   - "compatible; Name" in a Mozilla/5.0 User-Agent that has no browser there;
//   - a name after "(KHTML, like Gecko", where no browser puts one;
//   - a robot's word together with an address in a platform comment, as archive.org_bot has it;
//   - a few names that have none of these signs;
//   - for a User-Agent that does not look like a browser's, the verdict of
//     github.com/mssola/useragent. Beyond the rules above, it finds single products with "search"
//     or "worm" in the name (WWWWorm/1.0): too many people's apps have these words for a rule here.
//     It also names robots that have the name of their library (python-requests/2.31 and an
//     address). Cases in testdata fail without either.
//
// In apps of a phone (CFNetwork, Dalvik, okhttp) and games (Unity, Unreal), these words count only
// together with an address: games are called iRobot. The same holds for desktop programs made of a
// browser (Electron, Qt WebEngine) and browsers inside apps (Android's WebView, Apple's without
// Safari). In a phone's browser, a word for what robots do (survey, checker) and an e-mail address
// count only together. In a desktop app such a word needs an address.
//
// # What counts as a service
//
// A robot automatically traverses the web (the 1996 draft). A service fetches for somebody and does
// not crawl: health checks, monitors, validators of certificates and domains, webhooks, the site's
// own software, federation, feed readers, link previews, associations of apps, image proxies of
// mail. A service has a product that its operator documents, or a word for its kind (healthcheck,
// uptime, webhook, validation server), in its products and comments and not in addresses. A
// crawler's name is stronger: a client that also has the name of a known robot, or a name with bot,
// crawler or spider in it that is not a known service's, is a robot. A bot whose name says its
// purpose ("ExampleUptimeBot"), and that says nothing about crawling, is a service. A client that
// says that it is like another one ("FreshRSS/1.11 (Linux) like Googlebot") is not the other one. A
// program that a person runs, such as a feed reader on a phone, is an app.
//
// The site's own server may also call itself, with only its address in the User-Agent. A User-Agent
// does not say which host is asked, so the caller, who knows, asks [Identity.GivesHost]. A client
// that says that it is a robot, or has a crawler's name, gives no host: otherwise a crawler could
// write the host that it visits. A robot without a name gains no more by that than by leaving out
// its address.
//
// # Why browsers are safe
//
// Phones are called CUBOT, XBot, M bot 54 and DROID SPYDER. Their names are in the platform
// comment, the parenthesis in which a browser states its system, so the signs are not looked for
// there. A sign that could also be an app's home page or a toolbar's address does not count. In
// doubt the answer is Browser: a robot that passes costs less than a person who is refused.
//
// The words are in words.txt, each with its source.
//
// # The catalogue
//
// The catalogue has facts about some two hundred robots and services: who runs them, for what
// purpose, how they can be verified, and whether they read Crawl-delay. [Find] looks one up by a
// product token, [Identity.Crawler] by what a client says of itself. The data are in catalogue.txt,
// each line with its sources.
//
// # Headless browsers
//
// A client that runs a headless browser and says no more (HeadlessChrome) is a Browser: people test
// their own sites with it, and it names no owner whom a robots.txt could address.
//
// # Robots in odd places
//
// In some places a robot's name does not count, since honest robots do not write it there, and
// phones, toolbars and people's texts may write anything there: in a browser's platform without an
// address, "(Linux; GPTBot)"; after the word Android, "Android (GPTBot v1)"; in a browser's comment
// that is never closed; in Internet Explorer's comment, if the name has no version; after MaxLength
// bytes; and in letters beyond ASCII, such as full-width ones. The client is then what the rest
// says, a browser or an app. In a User-Agent that does not look like a browser's, a name counts
// everywhere else, also in a comment that is never closed. The cases are in testdata/oddities.txt.
package crawler
