package robots

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// documents are the YAML documents of a text.
func documents(t *testing.T, name string, text []byte) (all []map[string]any) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var one map[string]any
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
}

// at is what a document has at a path such as "spec.containers.0.name"; nil if there is nothing.
func at(document any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch d := document.(type) {
		case map[string]any:
			document = d[key]
		case []any:
			if key != "0" || len(d) == 0 {
				return nil
			}
			document = d[0]
		default:
			return nil
		}
	}
	return document
}

// The objects of docs/kubernetes.md fit together: each name that one of them uses, another has.
func TestTheObjectsForKubernetesFitTogether(t *testing.T) {
	page, err := os.ReadFile("docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/kubernetes.md has no YAML")
	}
	kinds := make(map[string]map[string]any)
	for _, object := range documents(t, "docs/kubernetes.md", block[1]) {
		kinds[object["kind"].(string)] = object
	}
	config, deployment, service := kinds["ConfigMap"], kinds["Deployment"], kinds["Service"]
	const pod = "spec.template.spec."
	for _, pair := range [][2]any{
		{at(config, "apiVersion"), "v1"},
		{at(service, "apiVersion"), "v1"},
		{at(deployment, "apiVersion"), "apps/v1"},
		{at(deployment, "spec.selector.matchLabels.app"), at(deployment, "spec.template.metadata.labels.app")},
		{at(service, "spec.selector.app"), at(deployment, "spec.template.metadata.labels.app")},
		{at(service, "spec.ports.0.targetPort"), at(deployment, pod+"containers.0.ports.0.name")},
		{at(deployment, pod+"containers.0.readinessProbe.httpGet.port"), at(deployment, pod+"containers.0.ports.0.name")},
		{at(deployment, pod+"containers.0.livenessProbe"), at(deployment, pod+"containers.0.readinessProbe")},
		{at(deployment, pod+"containers.0.ports.0.containerPort"), 8080},
		{at(deployment, pod+"volumes.0.configMap.name"), at(config, "metadata.name")},
	} {
		if pair[0] == nil || !equalYAML(t, pair[0], pair[1]) {
			t.Errorf("docs/kubernetes.md: got %v, want %v", pair[0], pair[1])
		}
	}
	mounts, _ := at(deployment, pod+"containers.0.volumeMounts").([]any)
	volumes, _ := at(deployment, pod+"volumes").([]any)
	var mounted, there []string
	for _, mount := range mounts {
		mounted = append(mounted, at(mount, "name").(string))
	}
	for _, volume := range volumes {
		there = append(there, at(volume, "name").(string))
	}
	if !slices.Equal(mounted, there) || len(there) != 3 {
		t.Errorf("docs/kubernetes.md mounts %q, and there are %q", mounted, there)
	}
	caddyfile, _ := at(config, "data.Caddyfile").(string)
	for _, part := range []string{":8080 {", "robots\n", "trusted_proxies_strict", at(deployment, pod+"containers.0.readinessProbe.httpGet.path").(string)} {
		if !strings.Contains(caddyfile, part) {
			t.Errorf("the Caddyfile of docs/kubernetes.md has no %q:\n%s", part, caddyfile)
		}
	}
}

func equalYAML(t *testing.T, a, b any) bool {
	t.Helper()
	one, err := yaml.Marshal(a)
	other, otherErr := yaml.Marshal(b)
	if err != nil || otherErr != nil {
		t.Fatal(err, otherErr)
	}
	return bytes.Equal(one, other)
}

// What containers, releases and workflows are made by can be read, and names files that exist.
func TestTheFilesOfInstallingAreRead(t *testing.T) {
	workflows, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(workflows) < 2 {
		t.Fatalf("got the workflows %q, %v", workflows, err)
	}
	read := make(map[string]map[string]any)
	for _, name := range append(workflows, "compose.yaml", ".goreleaser.yaml", ".github/dependabot.yml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := documents(t, name, text)
		if len(all) != 1 {
			t.Fatalf("%s: got %d documents, want one", name, len(all))
		}
		read[name] = all[0]
	}

	services, _ := read["compose.yaml"]["services"].(map[string]any)
	named, _ := read["compose.yaml"]["volumes"].(map[string]any)
	for name, service := range services {
		after, _ := at(service, "depends_on").([]any)
		for _, other := range after {
			if services[other.(string)] == nil {
				t.Errorf("compose.yaml: %s depends on %v, which is no service", name, other)
			}
		}
		volumes, _ := at(service, "volumes").([]any)
		for _, volume := range volumes {
			source, _, _ := strings.Cut(volume.(string), ":")
			if _, isNamed := named[source]; isNamed {
				continue
			}
			if _, err := os.Stat(source); err != nil {
				t.Errorf("compose.yaml: %s mounts %s, which is neither a file nor a volume", name, source)
			}
		}
	}

	release := read[".goreleaser.yaml"]
	systems, _ := at(release, "builds.0.goos").([]any)
	if !slices.Equal(systems, []any{"linux", "darwin", "windows"}) || at(release, "checksum.algorithm") != "sha256" {
		t.Errorf(".goreleaser.yaml: got %v and checksums %v", systems, at(release, "checksum.algorithm"))
	}
	if _, err := os.Stat(at(release, "builds.0.main").(string)); err != nil {
		t.Error(err)
	}
	files, _ := at(release, "archives.0.files").([]any)
	for _, file := range files {
		if _, err := os.Stat(strings.TrimSuffix(file.(string), "/**/*")); err != nil {
			t.Errorf(".goreleaser.yaml: %v", err)
		}
	}
}

// Each way to install has a target, which make understands and help tells. What "make debian" does stands in
// docs/operations.md.
func TestTheMakefileHasTheWaysToInstall(t *testing.T) {
	page, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, debian, _ := strings.Cut(string(text), "\ndebian:")
	debian, _, _ = strings.Cut(debian, "\n\n")
	steps := strings.Split(debian, "\n\t")[1:]
	for _, step := range steps {
		if !strings.Contains(string(page), "\nsudo "+step+"\n") {
			t.Errorf("docs/operations.md does not have %q of make debian", step)
		}
	}
	if len(steps) < 5 {
		t.Errorf("make debian: got %q", steps)
	}
	if _, err := exec.LookPath("make"); err != nil {
		return // Windows, where there may be none
	}
	for _, target := range []string{"build", "install", "debian", "image", "compose", "snapshot", "release"} {
		if out, err := exec.Command("make", "-n", target).CombinedOutput(); err != nil {
			t.Errorf("make %s: %v\n%s", target, err, out)
		}
		if !regexp.MustCompile(`(?m)^` + target + `:.* ## `).Match(text) {
			t.Errorf("make help does not tell of %s", target)
		}
	}
}
