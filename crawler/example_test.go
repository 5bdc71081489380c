package crawler_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/crawler"
)

func ExampleIdentify() {
	for _, userAgent := range []string{
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
		"curl/8.5.0",
		"Mozilla/5.0 (Linux; Android 9; CUBOT) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0 Mobile Safari/537.36",
		"",
	} {
		who := crawler.Identify(userAgent)
		fmt.Printf("%s %q %q\n", who.Class, who.Name, who.Products)
	}
	// Output:
	// robot "GPTBot" ["GPTBot"]
	// app "curl" ["curl"]
	// browser "" []
	// unstated "" []
}

// The owner of a site may know that a client is a robot although it does not say so.
func ExampleAsRobot() {
	const userAgent = "ExampleReader/4.2"
	fmt.Println(crawler.Identify(userAgent).Class, crawler.AsRobot(userAgent).Class, crawler.AsRobot(userAgent).Name)
	// Output: app robot ExampleReader
}

func ExampleCache() {
	cache := crawler.NewCache(4096)
	for range 2 { // the second time it is remembered
		who := cache.Identify("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
		fmt.Println(who.Class, who.Name, cache.Len())
	}
	// Output:
	// robot bingbot 1
	// robot bingbot 1
}

func ExampleTokenAdvice() {
	for _, token := range []string{"Google-Extended", "google"} {
		advice := crawler.TokenAdvice(token)
		fmt.Printf("%s: %s. %s.\n", advice.Code, advice.What, advice.Instead)
	}
	// Output:
	// control-token: "Google-Extended" is a control token: its operator reads it, and no request sends it, so Caddy cannot enforce it. you need not do anything; a record for "Googlebot" would be about what that robot is for, such as search.
	// crowd-token: "google" occurs in the User-Agents of many robots, and binds all that no longer token names. write the robot's whole name.
}

func ExampleWellKnown() {
	name, ok := crawler.WellKnown("gptbot")
	fmt.Println(name, ok)
	_, ok = crawler.WellKnown("examplebot")
	fmt.Println(ok)
	// Output:
	// GPTBot true
	// false
}

func ExampleFind() {
	for _, token := range []string{"Googlebot-Image", "claude-user"} {
		c, _ := crawler.Find(token)
		fmt.Printf("%s of %s is for %s; a person asks for each page: %v; reads Crawl-delay: %s\n",
			c.Name, c.Operator, c.Purpose, c.ByPerson, c.CrawlDelay)
	}
	// Output:
	// Googlebot of Google is for search; a person asks for each page: false; reads Crawl-delay: no
	// Claude-User of Anthropic is for ai-user; a person asks for each page: true; reads Crawl-delay: unknown
}
