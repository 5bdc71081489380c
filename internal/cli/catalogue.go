package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/crawler"
)

// catalogueCommand is caddy robots catalogue.
func catalogueCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "catalogue [flags] [<name|purpose>...]",
		Short: "Says who runs a robot, for what purpose, and how it is verified",
		Long: `
Prints what this build knows about robots: who runs each, for what purpose,
whether it reads Crawl-delay according to its operator, and how "verify known"
finds impostors. A name is a product token, in capitals or small letters, and
prints all facts; a purpose prints a table of its robots.

Purposes: search, ai-training, ai-search, ai-user, archive, seo, ads, preview,
feed, monitor, service, research, security.

Exit status: 0 all names are known, 1 at least one is not, 2 it could not be
run.`,
		Example: `  caddy robots catalogue Googlebot
  caddy robots catalogue ai-training
  caddy robots catalogue --json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var words []string
			for _, p := range crawler.Purposes() {
				words = append(words, string(p))
			}
			for _, c := range crawler.Catalogue() {
				words = append(words, c.Tokens...)
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each robot, one on each line")
	return runs(cmd, func(cmd *cobra.Command, out *bufio.Writer, args []string) error {
		found, byName, err := chosen(cmd, args)
		switch {
		case asJSON:
			for i := range found {
				printJSON(out, newCatalogued(&found[i]))
			}
		case byName:
			for i := range found {
				printCrawler(out, &found[i])
			}
		default:
			printCatalogue(out, found, terminalWidth(cmd.OutOrStdout()))
		}
		return err
	})
}

// chosen returns the crawlers that the arguments mean, each once, in the order of the catalogue;
// all of them without an argument. byName reports that one was named. The error says, once the
// rest is printed, that a name is unknown.
func chosen(cmd *cobra.Command, args []string) (found []crawler.Crawler, byName bool, err error) {
	names, purposes := make(map[string]bool), make(map[crawler.Purpose]bool)
	for _, arg := range args {
		if p, ok := crawler.ParsePurpose(arg); ok {
			purposes[p] = true
		} else if c, ok := crawler.Find(arg); ok {
			names[c.Name] = true
		} else {
			cmd.PrintErrf("%s: %q is not in the catalogue\n", cmd.CommandPath(), arg)
			err = errFound
		}
	}
	for _, c := range crawler.Catalogue() {
		if len(args) == 0 || names[c.Name] || purposes[c.Purpose] {
			found = append(found, c)
		}
	}
	return found, len(names) > 0, err
}

// printCatalogue prints a line for each crawler, of at most width columns.
func printCatalogue(out *bufio.Writer, all []crawler.Crawler, width int) {
	if len(all) == 0 {
		return
	}
	rows := [][]string{{"NAME", "PURPOSE", "OPERATOR", "CRAWL-DELAY", "VERIFIED BY"}}
	for i := range all {
		c := &all[i]
		rows = append(rows, []string{c.Name, string(c.Purpose), c.Operator, c.CrawlDelay.String(), proofs(c)})
	}
	printRows(out, rows, width)
}

// printRows prints a table, the first row of which is its head, in lines of at most width columns.
func printRows(out *bufio.Writer, rows [][]string, width int) {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a buffer takes everything
	for line := range strings.Lines(table.String()) {
		fmt.Fprintln(out, fit(strings.TrimRight(line, " \n"), width))
	}
}

// proofs names the ways in which a crawler can be verified.
func proofs(c *crawler.Crawler) string {
	var ways []string
	if len(c.DNS) > 0 {
		ways = append(ways, "dns")
	}
	if len(c.Ranges) > 0 {
		ways = append(ways, "ranges")
	}
	if len(c.Signers) > 0 {
		ways = append(ways, "signature")
	}
	if len(ways) == 0 {
		return "-"
	}
	return strings.Join(ways, ", ")
}

// printCrawler prints all that is known of a crawler.
func printCrawler(out *bufio.Writer, c *crawler.Crawler) {
	fmt.Fprintln(out, c.Name)
	say := func(what string, values ...string) {
		for _, value := range values {
			fmt.Fprintf(out, "  %-12s %s\n", what, value)
			what = ""
		}
	}
	if len(c.Tokens) > 1 {
		say("also", c.Tokens[1:]...)
	}
	say("operator", c.Operator)
	say("purpose", string(c.Purpose))
	if c.ByPerson {
		say("fetches", "when a person asks for it, each time")
	}
	say("Crawl-delay", map[crawler.Answer]string{
		crawler.Unknown: "unknown", crawler.Yes: "its operator says that it is read", crawler.No: "its operator says that it is not read",
	}[c.CrawlDelay])
	say("dns", c.DNS...)
	say("ranges", c.Ranges...)
	say("signs as", c.Signers...)
	say("source", c.Sources...)
	say("as of", c.Date)
}

// catalogued is a crawler as it is printed with --json.
type catalogued struct {
	Name       string   `json:"name"`
	Tokens     []string `json:"tokens"`
	Operator   string   `json:"operator"`
	Purpose    string   `json:"purpose"`
	ByPerson   bool     `json:"by_person"`
	CrawlDelay string   `json:"crawl_delay"`
	DNS        []string `json:"dns"`
	Ranges     []string `json:"ranges"`
	Signers    []string `json:"signers"`
	Sources    []string `json:"sources"`
	Date       string   `json:"date"`
}

func newCatalogued(c *crawler.Crawler) catalogued {
	list := func(values []string) []string { return append([]string{}, values...) }
	return catalogued{
		Name: c.Name, Tokens: list(c.Tokens), Operator: c.Operator, Purpose: string(c.Purpose), ByPerson: c.ByPerson,
		CrawlDelay: c.CrawlDelay.String(), DNS: list(c.DNS), Ranges: list(c.Ranges), Signers: list(c.Signers), Sources: list(c.Sources), Date: c.Date,
	}
}
