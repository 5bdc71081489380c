package robotsrules

// IsCommonWord gives the twin the data of the words that are no robot's name.
var IsCommonWord = isCommonWord
