// Package document reads the text of files that people attach: plain text, CSV,
// JSON, HTML, PDF, Word, Excel and PowerPoint. It is pure but for [Isolated],
// which reads in a process of its own. Start at [Isolated.Read] for files of
// strangers, and at [Read] for what [Isolated] runs.
//
// Files are hostile until proven otherwise. What is inflated, how many entries
// an archive has, how deep a tree goes and how long the text gets are limited
// here ([Limits]); what a parser does beyond that, such as a loop or a table of
// a billion rows, ends with the process that [Isolated] gives it.
//
// There is no OCR: of an image its size is told, of a scanned page nothing.
package document
