package webbotauth

import (
	"errors"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Why a Signature-Agent header names no agent.
var (
	errAgentUnreadable = errors.New("the Signature-Agent header cannot be read")
	errAgentAmbiguous  = errors.New("the Signature-Agent header does not say which agent signed")
	errAgentParameters = errors.New("the Signature-Agent has parameters, and is ignored")
)

// claimedAgent returns the identifier of the key directory that a signature says it is made with
// ([Signers]), and whether the signature covers that statement. Three forms are in use: the
// Dictionary of the draft (`sig1="https://agent.example/keys.json"`), the String of its first
// versions, which ChatGPT's agent sends, and a URL without quotes, which DuckDuckBot sends.
func claimedAgent(values []string, label string, input httpsfv.InnerList) (id string, covered bool, err error) {
	var text string
	switch first := strings.TrimLeft(values[0], " \t"); {
	case strings.HasPrefix(first, `"`):
		text, err = stringAgent(values)
		covered = covers(input, "signature-agent")
	case strings.HasPrefix(first, "https://"):
		text = strings.TrimSpace(strings.Join(values, ", "))
		covered = covers(input, "signature-agent")
	default:
		text, covered, err = dictionaryAgent(values, label, input)
	}
	if err != nil {
		return "", false, err
	}
	directory, err := directoryOf(text)
	if err != nil {
		return "", false, err
	}
	return identifier(directory), covered, nil
}

func stringAgent(values []string) (string, error) {
	item, err := httpsfv.UnmarshalItem(values)
	if err != nil {
		return "", errAgentUnreadable
	}
	return agentText(item)
}

// dictionaryAgent picks the member that the signature speaks of. A signature may cover the members
// of other signers too, so its own label comes first.
func dictionaryAgent(values []string, label string, input httpsfv.InnerList) (text string, covered bool, err error) {
	all, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return "", false, errAgentUnreadable
	}
	whole, keys := covers(input, "signature-agent"), coveredAgents(input)
	_, hasLabel := all.Get(label)
	var name string
	switch {
	case hasLabel && (slices.Contains(keys, label) || len(keys) == 0):
		name = label
	case len(keys) == 1:
		name = keys[0]
	case len(keys) == 0 && len(all.Names()) == 1:
		name = all.Names()[0]
	default:
		return "", false, errAgentAmbiguous
	}
	member, _ := all.Get(name)
	item, ok := member.(httpsfv.Item)
	if !ok {
		return "", false, errAgentUnreadable
	}
	text, err = agentText(item)
	return text, whole || slices.Contains(keys, name), err
}

// coveredAgents returns the members of Signature-Agent that are signed by their key.
func coveredAgents(input httpsfv.InnerList) (keys []string) {
	for _, item := range input.Items {
		if key := stringParam(item.Params, "key"); item.Value == "signature-agent" && key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// agentText returns the String of a member. One that carries parameters is ignored, as the draft
// asks: earlier drafts said by them what else than a list of keys the URL leads to.
func agentText(item httpsfv.Item) (string, error) {
	text, ok := item.Value.(string)
	switch {
	case !ok:
		return "", errAgentUnreadable
	case len(item.Params.Names()) > 0:
		return "", errAgentParameters
	}
	return text, nil
}
