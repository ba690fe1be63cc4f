// Package docs holds the documents to the code: the README's program is
// compiled, the commands that a document names exist with their flags, and its
// links lead somewhere. It has tests only.
package docs
