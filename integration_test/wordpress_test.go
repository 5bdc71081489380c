package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wordPressAt is where Debian's package has WordPress.
const wordPressAt = "/usr/share/wordpress"

// wordPressConfig has WordPress use our database, and fetch nothing but from itself.
const wordPressConfig = `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:SOCKET');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_CRON_LOCK_TIMEOUT', 1);
define('AUTH_KEY', 'not'); define('SECURE_AUTH_KEY', 'a'); define('LOGGED_IN_KEY', 'secret'); define('NONCE_KEY', 'here');
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`

// cronPlugin gives WordPress's cron something to do each time that somebody asks for it, which
// shows in a file, keeps the installer from sending mail, and lets the site have several names.
const cronPlugin = `<?php
add_action('robots_test', function ($name) { touch(ABSPATH . $name); });
add_action('init', function () {
	if (isset($_GET['schedule'])) wp_schedule_single_event(time() - 1, 'robots_test', array('cron-' . intval($_GET['schedule'])));
});
add_filter('pre_wp_mail', '__return_true');
remove_filter('template_redirect', 'redirect_canonical');
`

// wordPressSite has WordPress behind robots, which reads the robots.txt that WordPress makes.
const wordPressSite = `
http://:{$PORT} {
	log
	root * {$ROOT}
	robots {
		# options
	}
	php_fastcgi unix/{$SOCKET}
	file_server
}
`

// wordPress is a WordPress behind Caddy, and a person who is logged in to it.
type wordPress struct {
	*caddy
	root    string
	browser *http.Client
	nonce   string // for its REST API
	events  int    // of cron that were scheduled
}

// background runs a program until the test ends.
func background(t *testing.T, name string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	run := exec.Command(name, args...)
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Signal(syscall.SIGTERM) // it may be gone already
		kill := time.AfterFunc(farewell, func() { _ = run.Process.Kill() })
		_ = run.Wait() // a signal ended it
		kill.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, tail(out.String(), 3000))
		}
	})
}

// exists reports whether there is such a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// startWordPress installs a WordPress with a theme, and logs in to it.
func startWordPress(t *testing.T) *wordPress {
	t.Helper()
	home := prepareWordPress(t)
	c := start(t, wordPressSite, map[string]string{"ROOT": home + "/site", "SOCKET": home + "/php.sock"})
	return installWordPress(t, c, home+"/site")
}

// prepareWordPress returns a folder with WordPress's files in site, whose database and PHP, at
// php.sock, run until the test ends.
func prepareWordPress(t *testing.T) (home string) {
	t.Helper()
	installed(t, "mariadbd")
	installed(t, "mariadb")
	found, _ := filepath.Glob("/usr/sbin/php-fpm*")
	if len(found) == 0 {
		skip(t, "install php-fpm (apt-get install php-fpm php-mysql)")
	}
	fpm := slices.Max(found)
	if !exists(wordPressAt + "/wp-load.php") {
		skip(t, "install WordPress (apt-get install wordpress)")
	}

	// Sockets have short names.
	home, err := os.MkdirTemp("", "wp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	database, php, root := home+"/db.sock", home+"/php.sock", home+"/site"
	startDatabase(t, home+"/db", database)
	write(t, home+"/fpm.conf", "[global]\ndaemonize = no\nerror_log = /dev/stderr\n[site]\nlisten = "+php+"\npm = static\npm.max_children = 5\n")
	background(t, fpm, "-R", "-F", "-y", home+"/fpm.conf")
	eventually(t, "php-fpm listens", func() bool { return exists(php) })
	makeSite(t, root, database)
	return home
}

// installWordPress installs the WordPress in root, which a Caddy serves at its first port, and logs in.
func installWordPress(t *testing.T, c *caddy, root string) *wordPress {
	t.Helper()
	w := &wordPress{caddy: c, root: root}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.browser = &http.Client{Timeout: patience, Jar: jar}
	w.form(t, "/wp-admin/install.php?step=2", url.Values{
		"weblog_title": {"Site"}, "user_name": {"admin"}, "admin_password": {"secret"}, "admin_password2": {"secret"}, "pw_weak": {"on"},
		"admin_email": {"admin@example.com"}, "blog_public": {"1"}, "language": {""}}, "Success!")
	w.form(t, "/wp-login.php", url.Values{"log": {"admin"}, "pwd": {"secret"}, "redirect_to": {"/wp-admin/profile.php"}}, "admin@example.com")
	w.nonce = w.ask(t, "GET", "/wp-admin/admin-ajax.php?action=rest-nonce", nil, "")
	return w
}

// startDatabase runs a MariaDB with an empty database of WordPress's, to which anybody may log in
// who reaches its socket.
func startDatabase(t *testing.T, folder, socket string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"--no-defaults", "--datadir=" + folder, "--socket=" + socket, "--pid-file=" + folder + "/pid", "--skip-networking",
		"--skip-grant-tables", "--performance-schema=OFF", "--innodb-log-file-size=4M", "--innodb-flush-method=nosync",
		"--innodb-flush-log-at-trx-commit=0"}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	background(t, "mariadbd", args...)
	var out []byte
	eventually(t, "MariaDB answers", func() (ok bool) {
		var err error
		out, err = exec.Command("mariadb", "--no-defaults", "--socket="+socket, "--execute", "CREATE DATABASE IF NOT EXISTS wordpress").CombinedOutput()
		return err == nil
	})
	if len(out) > 0 {
		t.Logf("mariadb: %s", out)
	}
}

// makeSite makes a folder that WordPress's files are in, of which it finds its own place by those
// of the root and of wp-admin, with a theme of two files.
func makeSite(t *testing.T, root, database string) {
	t.Helper()
	if err := os.CopyFS(root+"/wp-admin", os.DirFS(wordPressAt+"/wp-admin")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(wordPressAt+"/wp-includes", root+"/wp-includes"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(wordPressAt + "/*.php")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, filepath.Base(file)), string(text))
	}
	write(t, root+"/wp-config.php", strings.Replace(wordPressConfig, "SOCKET", database, 1))
	write(t, root+"/wp-content/mu-plugins/cron.php", cronPlugin)
	for _, theme := range []string{"twentytwentytwo", "twentytwentythree"} { // whichever is WordPress's default
		write(t, root+"/wp-content/themes/"+theme+"/style.css", "/* Theme Name: Small */")
		write(t, root+"/wp-content/themes/"+theme+"/index.php", "<?php wp_head(); while (have_posts()) { the_post(); the_title(); } wp_footer();")
		write(t, root+"/wp-content/themes/"+theme+"/functions.php", "<?php\n")
	}
}

// do sends a request of the person's browser, and returns the answer.
func (w *wordPress) do(t *testing.T, method, path string, body io.Reader, contentType string) answer {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+w.address()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", chrome)
	req.Header.Set("Content-Type", contentType)
	if w.nonce != "" {
		req.Header.Set("X-WP-Nonce", w.nonce)
	}
	resp, err := w.browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	a, err := readAnswer(resp)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask is do for JSON; it fails the test unless the answer is one of success that has this text.
func (w *wordPress) ask(t *testing.T, method, path string, body any, want string) string {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	a := w.do(t, method, path, bytes.NewReader(sent), "application/json")
	if a.status >= 300 || !strings.Contains(a.body, want) {
		t.Errorf("%s %s: got %d %q, want %q", method, path, a.status, tail(a.body, 500), want)
	}
	return a.body
}

// form is do for a form.
func (w *wordPress) form(t *testing.T, path string, values url.Values, want string) string {
	t.Helper()
	a := w.do(t, "POST", path, strings.NewReader(values.Encode()), "application/x-www-form-urlencoded")
	if a.status != 200 || !strings.Contains(a.body, want) {
		t.Fatalf("POST %s: got %d %q, want %q", path, a.status, tail(a.body, 1500), want)
	}
	return a.body
}

func TestAWordPressWorksBehindRobotsWithItsOwnRobotsTxt(t *testing.T) {
	full(t, "this drives WordPress")
	t.Parallel()
	w := startWordPress(t)
	text := w.ask(t, "GET", "/robots.txt", nil, "Disallow: /wp-admin/")
	t.Logf("WordPress's robots.txt:\n%s", text)
	w.works(t)
	for path, status := range map[string]int{"/": 200, "/wp-admin/": 403, "/wp-admin/theme-editor.php": 403, "/wp-admin/admin-ajax.php": 400,
		"/wp-json/": 200, "/wp-login.php": 200} {
		w.expect(t, "", path, gptbot, status)
	}
	w.refusedOnly(t, "GPTBot", 2)

	// The same WordPress with a robots.txt that no robot gets anything by.
	closed := strings.Replace(wordPressSite, "# options", "source text \"User-agent: *\n\t\tCrawl-delay: 10\n\t\tDisallow: /\n\t\t\"", 1)
	if status, body, err := w.load(closed); status != 200 {
		t.Fatalf("got %d %s %v", status, body, err)
	}
	w.works(t)
	w.expect(t, "", "/", gptbot, 403)
	w.refusedOnly(t, "GPTBot", 3)
}

// works fails the test unless a person can write, and WordPress can reach itself.
func (w *wordPress) works(t *testing.T) {
	t.Helper()
	// The editor: its page, a draft that it saves, what it saves by itself, and the post.
	w.ask(t, "GET", "/wp-admin/post-new.php", nil, "wp-block-editor")
	var post struct {
		ID   int
		Link string
	}
	draft := w.ask(t, "POST", "/wp-json/wp/v2/posts", map[string]string{"title": "A real post", "status": "draft"}, `"id":`)
	if err := json.Unmarshal([]byte(draft), &post); err != nil {
		t.Fatalf("%v in %s", err, tail(draft, 500))
	}
	path := fmt.Sprintf("/wp-json/wp/v2/posts/%d", post.ID)
	w.ask(t, "POST", path+"/autosaves", map[string]string{"content": "half a sentence"}, "half a sentence")
	published := w.ask(t, "PUT", path, map[string]string{"content": "A whole sentence.", "status": "publish"}, `"status":"publish"`)
	if err := json.Unmarshal([]byte(published), &post); err != nil {
		t.Fatal(err)
	}
	w.ask(t, "GET", strings.TrimPrefix(post.Link, "http://"+w.address()), nil, "A real post")
	w.form(t, "/wp-admin/admin-ajax.php", url.Values{"action": {"heartbeat"}, "_nonce": {"none"}, "screen_id": {"post"}}, "{")
	for _, app := range []string{curl, "wp-android/24.6 (Android 14)", "Jetpack by WordPress.com", "WordPress/6.1; https://another.example"} {
		w.expect(t, "", "/wp-json/", app, 200)
	}

	// The loopback that Site Health tests, and the two by which the theme editor looks whether
	// an edited file breaks the site.
	w.ask(t, "GET", "/wp-json/wp-site-health/v1/tests/loopback-requests", nil, `"status":"good"`)
	page := w.ask(t, "GET", "/wp-admin/theme-editor.php?file=functions.php", nil, "functions.php")
	nonce := regexp.MustCompile(`name="nonce" value="(\w+)"`).FindStringSubmatch(page)
	theme := regexp.MustCompile(`name="theme" value="(\w+)"`).FindStringSubmatch(page)
	if nonce == nil || theme == nil {
		t.Fatalf("the theme editor has no form: %s", tail(page, 2000))
	}
	w.form(t, "/wp-admin/admin-ajax.php", url.Values{"action": {"edit-theme-plugin-file"}, "nonce": nonce[1:], "theme": theme[1:],
		"file": {"functions.php"}, "newcontent": {fmt.Sprintf("<?php // edited %d times\n", w.events+1)}}, `"success":true`)

	// Its cron: whoever visits has WordPress ask itself for wp-cron.php.
	w.events++
	done := fmt.Sprintf("%s/cron-%d", w.root, w.events)
	w.ask(t, "GET", fmt.Sprintf("/?schedule=%d", w.events), nil, "")
	eventually(t, "WordPress's cron runs", func() bool {
		w.ask(t, "GET", "/?visit", nil, "")
		return exists(done)
	})
}

// refusedOnly fails the test unless Caddy refused so many requests, all of them of that robot, and
// WordPress asked itself for more than its cron.
func (w *wordPress) refusedOnly(t *testing.T, robot string, times int) {
	t.Helper()
	for i := range times {
		eventually(t, "the log has all refusals", func() bool { return len(w.log.all(message(msgRefused))) > i })
	}
	for _, l := range w.log.all(message(msgRefused)) {
		if l.text("robot") != robot {
			t.Errorf("refused: %v", l)
		}
	}
	asked := map[string]int{} // by path
	for _, l := range w.log.all(accessed("WordPress/")) {
		status, _ := l["status"].(float64)
		path, _, _ := strings.Cut(accessedURI(l), "?")
		asked[path]++
		if status == 403 || status == 429 {
			t.Errorf("refused to WordPress itself: %v", l)
		}
	}
	t.Logf("WordPress asked itself for %v", asked)
	for _, path := range []string{"/wp-cron.php", "/wp-admin/theme-editor.php", "/"} {
		if asked[path] == 0 {
			t.Errorf("WordPress did not ask itself for %s", path)
		}
	}
}
