// Page writes docs/performance.md and its picture from what bench/run has measured. The text of the
// page is performance.md.tmpl: a template, in which every figure is named by the benchmark and the unit
// that it comes from. So the page never has figures of two runs, nor one that nothing measures.
//
//	go run ./page run.out ../docs
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"log"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed performance.md.tmpl
var text string

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("say which file of results to write, and into which folder: go run ./page run.out ../docs")
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// write writes the page and the picture of the results in a file into a folder.
func write(from, folder string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := read(file)
	if err != nil {
		return err
	}
	page, err := fill(text, r)
	if err != nil {
		return err
	}
	picture, err := draw(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "performance.md"), page, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "performance.svg"), picture, 0o644)
}

// fill returns the text of a template with figures of the results in it.
func fill(text string, r *results) ([]byte, error) {
	write := func(as func(float64) string) any {
		return func(what string) (string, error) {
			v, err := r.figure(what)
			return as(v), err
		}
	}
	over := func(what, of string) (string, error) {
		v, err1 := r.figure(what)
		w, err2 := r.figure(of)
		return figure(v / w), errors.Join(err1, err2)
	}
	t, err := template.New("performance.md.tmpl").Funcs(template.FuncMap{
		"fact": r.fact, "least": r.least, "most": r.most,
		"n": write(figure), "us": write(micros), "time": write(duration), "over": over,
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, nil); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
