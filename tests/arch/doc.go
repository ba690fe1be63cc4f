// Package arch holds the rules about the shape of this module as data, and
// the tests that hold the module to them: which package may import which
// ([packages]), where each library may be used ([libraries]), what no file may
// contain, and how large the module graph and the worker binary may become.
//
// The rules are read from the source files, not from a build: a file for
// another operating system counts too, a package that does not compile is
// still judged, and `go test` sees the files it read, so a cached pass is
// never stale. To let a package import something new, change its row in
// table.go and say why there.
package arch
